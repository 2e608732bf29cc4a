//! Codes of ChatML. In documents those of the checker are the inner code of
//! `shell.chatml_compile`.

use super::Level::*;
use super::Row;

pub(super) const ROWS: &[Row] = &[
    (
        "chatml.entry.missing_function",
        Error,
        "The script does not define the function that the host calls.",
    ),
    (
        "chatml.entry.missing_state",
        Error,
        "The script does not define `initial_state`.",
    ),
    (
        "chatml.entry.state_not_data",
        Error,
        "The state of the script holds something that cannot be stored.",
    ),
    (
        "chatml.entry.type",
        Error,
        "The entry function does not take an event and a state, or does not return a task of the next state.",
    ),
    (
        "chatml.lex.empty_tag",
        Error,
        "A grave accent is not followed by the name of a tag.",
    ),
    (
        "chatml.lex.float_range",
        Error,
        "A number with a fraction is too large to be stored.",
    ),
    (
        "chatml.lex.int_range",
        Error,
        "A whole number does not fit 64 bits.",
    ),
    (
        "chatml.lex.unknown_char",
        Error,
        "A character begins no word, number or operator of ChatML.",
    ),
    (
        "chatml.lex.unknown_escape",
        Warning,
        "A backslash in a text does not begin an escape and stays as it is.",
    ),
    (
        "chatml.lex.unterminated_comment",
        Error,
        "A comment is never closed by `*)`.",
    ),
    (
        "chatml.lex.unterminated_string",
        Error,
        "A text is never closed by `\"`.",
    ),
    (
        "chatml.limit.depth",
        Runtime,
        "Too many calls were nested that were not the last thing their function did.",
    ),
    (
        "chatml.limit.fuel",
        Runtime,
        "A call used up its evaluation steps.",
    ),
    (
        "chatml.limit.memory",
        Runtime,
        "A call allocated too much memory.",
    ),
    (
        "chatml.limit.tasks",
        Runtime,
        "A call performed or spawned too many operations.",
    ),
    (
        "chatml.limit.time",
        Runtime,
        "A call took longer than its `wall_time`.",
    ),
    (
        "chatml.limit.value",
        Runtime,
        "An event, a state or an argument of an action is larger than a limit.",
    ),
    (
        "chatml.lint.array_sequence",
        Warning,
        "An array is written with `;`, so it has one element.",
    ),
    (
        "chatml.lint.discarded_task",
        Warning,
        "A task is made and thrown away, so it is never performed.",
    ),
    (
        "chatml.lint.line_continues",
        Warning,
        "A line that begins with a bracket continues the expression of the line before.",
    ),
    (
        "chatml.lint.same_line_statement",
        Warning,
        "A new statement begins on the line where the previous one ended.",
    ),
    (
        "chatml.lint.unused_binding",
        Warning,
        "A local name is never used.",
    ),
    (
        "chatml.run.division_by_zero",
        Runtime,
        "The script divided by zero.",
    ),
    (
        "chatml.run.equality",
        Runtime,
        "Two values were compared that hold an array, a ref, a function or a task.",
    ),
    (
        "chatml.run.fail",
        Runtime,
        "The script gave up by calling `fail`.",
    ),
    (
        "chatml.run.index_out_of_bounds",
        Runtime,
        "An array has no element at that index.",
    ),
    (
        "chatml.run.int_overflow",
        Runtime,
        "The result of an arithmetic operation does not fit 64 bits.",
    ),
    (
        "chatml.run.internal",
        Runtime,
        "The evaluator met a value of a type that the checker had ruled out.",
    ),
    (
        "chatml.run.invalid_argument",
        Runtime,
        "A library function was given an argument that it does not accept.",
    ),
    (
        "chatml.run.json",
        Runtime,
        "A text is no JSON, or a value has no JSON form.",
    ),
    (
        "chatml.run.no_match",
        Runtime,
        "No arm of a `match` applies to the value.",
    ),
    (
        "chatml.run.string_boundary",
        Runtime,
        "A position lies within a character of a text.",
    ),
    (
        "chatml.syntax.invalid_assignment",
        Error,
        "Only an element of an array can stand left of `<-`.",
    ),
    (
        "chatml.syntax.misplaced_type",
        Error,
        "A type is declared inside a module or an expression.",
    ),
    (
        "chatml.syntax.too_deep",
        Error,
        "The program nests more than 256 levels.",
    ),
    (
        "chatml.syntax.unexpected_end",
        Error,
        "The program ends inside a construct.",
    ),
    (
        "chatml.syntax.unexpected_token",
        Error,
        "A word or sign stands where it cannot be.",
    ),
    (
        "chatml.task.action_count",
        Runtime,
        "A call did not perform exactly one deciding action.",
    ),
    (
        "chatml.task.failed",
        Runtime,
        "The task of the script failed and nothing caught it.",
    ),
    (
        "chatml.task.invalid_action",
        Runtime,
        "An action was given an argument that it does not accept.",
    ),
    (
        "chatml.task.invalid_state",
        Runtime,
        "The state that the script returned cannot be kept.",
    ),
    (
        "chatml.type.annotation_arity",
        Error,
        "A function has another number of parameters than its annotation says.",
    ),
    (
        "chatml.type.arity",
        Error,
        "A call has the wrong number of arguments.",
    ),
    (
        "chatml.type.duplicate_arm",
        Error,
        "Two arms of a `match` have the same pattern.",
    ),
    (
        "chatml.type.duplicate_binder",
        Error,
        "One name is bound twice at the same place.",
    ),
    (
        "chatml.type.duplicate_field",
        Error,
        "A field or a tag is written twice.",
    ),
    (
        "chatml.type.duplicate_type",
        Error,
        "A type of that name exists already.",
    ),
    (
        "chatml.type.equality",
        Error,
        "Values of this type cannot be compared.",
    ),
    (
        "chatml.type.mismatch",
        Error,
        "Two types do not fit together.",
    ),
    (
        "chatml.type.module_value",
        Error,
        "A module is used as a value.",
    ),
    (
        "chatml.type.non_exhaustive",
        Error,
        "A `match` does not cover every case.",
    ),
    (
        "chatml.type.not_callable",
        Error,
        "Something is called that is no function.",
    ),
    (
        "chatml.type.open_shadow",
        Error,
        "`open` would hide a name that exists already.",
    ),
    (
        "chatml.type.primitive_type",
        Error,
        "The name of a built-in type is declared again.",
    ),
    (
        "chatml.type.rec_not_function",
        Error,
        "The right side of `let rec` is no function.",
    ),
    (
        "chatml.type.recursive",
        Error,
        "A type would have to contain itself without end.",
    ),
    (
        "chatml.type.redundant_arm",
        Error,
        "An arm of a `match` can never apply.",
    ),
    (
        "chatml.type.too_complex",
        Error,
        "Checking the types takes more work than is permitted.",
    ),
    (
        "chatml.type.unguarded_type",
        Error,
        "A type is defined as nothing but itself.",
    ),
    (
        "chatml.type.unknown_case",
        Error,
        "The value never has that tag.",
    ),
    (
        "chatml.type.unknown_constructor",
        Error,
        "Only `array` and `task` can stand behind a type.",
    ),
    (
        "chatml.type.unknown_field",
        Error,
        "The record or module has nothing of that name.",
    ),
    (
        "chatml.type.unknown_type",
        Error,
        "There is no type of that name.",
    ),
    (
        "chatml.type.unknown_variable",
        Error,
        "There is no value or module of that name.",
    ),
    (
        "chatml.type.variant_arity",
        Error,
        "One tag is used with different numbers of arguments.",
    ),
];
