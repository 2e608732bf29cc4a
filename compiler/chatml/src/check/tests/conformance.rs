//! The tables of spec 05 section 9.1 and 05b section 7.7.

use super::{first_error, result};
use crate::surface::Kind;

#[test]
fn checking_table() {
    for (number, program, want) in [
        ("C1", "1 + 2 * 3", "int"),
        ("C2", "1.5 + 2.0", "chatml.type.mismatch"),
        ("C3", "let k a b = a", "'a -> 'b -> 'a"),
        ("C4", "let pick r = r.port", "{ port : 'a; .. } -> 'a"),
        ("C5", "let z () = 3", "unit -> int"),
        ("C6", "let id x = x\nid(1, 2)", "chatml.type.arity"),
        ("C7", "7(\"x\")", "chatml.type.not_callable"),
        (
            "C8",
            "let r = { host = \"h\" }\nr.port",
            "chatml.type.unknown_field",
        ),
        ("C9", "{ a = 1; a = 2 }", "chatml.type.duplicate_field"),
        (
            "C10",
            "let q = { a = 1 }\n{ q with a = \"s\"; b = true }",
            "{ a : string; b : bool }",
        ),
        (
            "C11",
            "let f v = match v with | `On -> 1 | `Off -> 0",
            "[ `Off | `On ] -> int",
        ),
        (
            "C12",
            "let f v = match v with | `On -> 1 | `Off -> 0\nf(`Dim)",
            "chatml.type.unknown_case",
        ),
        (
            "C13",
            "match 3 with | 3 -> \"t\"",
            "chatml.type.non_exhaustive",
        ),
        (
            "C14",
            "match true with | _ -> 1 | false -> 2",
            "chatml.type.redundant_arm",
        ),
        (
            "C15",
            "match \"a\" with | \"a\" -> 1 | \"a\" -> 2 | _ -> 3",
            "chatml.type.duplicate_arm",
        ),
        (
            "C16",
            "match `P(1, 2) with | `P(n, n) -> n",
            "chatml.type.duplicate_binder",
        ),
        ("C17", "[1, true]", "chatml.type.mismatch"),
        ("C18", "[1] == [1]", "chatml.type.equality"),
        (
            "C19",
            "let eq a b = a == b\neq([1], [1])",
            "chatml.type.equality",
        ),
        ("C20", "let w x = x(x)", "chatml.type.recursive"),
        (
            "C21",
            "let c = ref([])\nc := [1]\nc := [\"s\"]",
            "chatml.type.mismatch",
        ),
        ("C22", "let rec n = 5", "chatml.type.rec_not_function"),
        (
            "C23",
            "type t = [ `Leaf | `Node(t, int, t) ]\nlet x : t = `Node(`Leaf, 1, `Leaf)",
            "t",
        ),
        ("C24", "type t = t", "chatml.type.unguarded_type"),
        (
            "C25",
            "let x : int list = 1",
            "chatml.type.unknown_constructor",
        ),
        (
            "C26",
            "let f : int -> int -> int = fun a -> a",
            "chatml.type.annotation_arity",
        ),
        (
            "C27",
            "let g b r = if b then r else { r with on = true }\ng(true, { n = 1 }).on",
            "chatml.type.unknown_field",
        ),
        (
            "C28",
            "let length = 1\nopen Array",
            "chatml.type.open_shadow",
        ),
        ("C29", "let x =", "chatml.syntax.unexpected_end"),
        ("C30", "if true then 1", "chatml.syntax.unexpected_end"),
        ("C31", "let a = 1 && 2", "chatml.lex.unknown_char"),
        (
            "C32",
            "let a = `T(1)\nmatch a with | `T -> 0 | _ -> 1",
            "chatml.type.variant_arity",
        ),
        (
            "C33",
            "let t = Task.map(Task.pure(1), fun n -> n == 1)",
            "bool task",
        ),
        (
            "C34",
            "module M = struct let a = 1 let b = M.a + 1 end\nM.b",
            "int",
        ),
        (
            "C35",
            "let put st x = st.items[0] <- x; st\nput({ items = [{ a = 1; b = 2 }] }, { a = 3 })",
            "chatml.type.unknown_field",
        ),
    ] {
        assert_eq!(result(program), want, "{number}: {program}");
    }
}

/// The programs of the evaluation tables have types, too.
#[test]
fn programs_that_run_also_check() {
    for (number, program, want) in [
        ("V1", "2 + 3 * 4 - 1", "int"),
        ("V3", "8 / -2 * 2", "int"),
        ("V4", "7.0 /. 2.0", "float"),
        ("V6", "let f x = x; x + 1\nf(4)", "int"),
        ("V7", "let a = [1, 2]\nlet b = a\nb[0] <- 9\na", "int array"),
        (
            "V8",
            "let p = { x = 1; y = \"k\" }\n{ p with x = 2 }",
            "{ x : int; y : string }",
        ),
        (
            "V9",
            "[`A, `B(1, true)]",
            "[ `A | `B(int, bool) | .. ] array",
        ),
        (
            "V10",
            "let n = ref(0)\nwhile !n < 4 do n := !n + 2 done\n!n",
            "int",
        ),
        ("V11", "let x = 1\nlet g () = x\nlet x = 5\ng()", "int"),
        (
            "V12",
            "let n = ref(0)\nif true then 0 else n := 1; !n",
            "int",
        ),
        (
            "V13",
            "let rec up n a = if n == 0 then a else up(n - 1, a + 2)\nup(20000, 0)",
            "int",
        ),
        ("V14", "1 / 0", "int"),
        ("V15", "[1, 2][2]", "int"),
        ("V16", "{ k = `A(1) } == { k = `A(1) }", "bool"),
        ("V17", "let r = ref(1)\nswap_ref(r, 5) + !r", "int"),
        ("V18", "[1; 2]", "int array"),
        ("V19", "String.split(\"a--b-\", \"-\")", "string array"),
        (
            "V20",
            "Array.fold([1, 2, 3], \"\", fun acc n -> acc ++ to_string(n))",
            "string",
        ),
        ("V21", "Json.stringify(Json.parse(\"{}\"))", "string"),
        ("V22", "fail(\"stop\")", "'_a"),
        ("V24", "let rec spin () = spin()\nspin()", "'_a"),
        ("V25", "(* a (* b *) c *) 1", "int"),
        (
            "L1",
            "String.find(\"abcabc\", \"ca\")",
            "[ `None | `Some(int) ]",
        ),
        (
            "L7",
            "Array.mapi([\"a\", \"b\"], fun i s -> s ++ to_string(i))",
            "string array",
        ),
        (
            "L8",
            "Array.find([1, 4, 6], fun n -> n > 3)",
            "[ `None | `Some(int) ]",
        ),
        ("L9", "Option.get_or(`None, 3)", "int"),
        (
            "L10",
            "let t = Hashtbl.create()\nHashtbl.set(t, \"k\", 1)\nHashtbl.set(t, \"k\", 2)\nHashtbl.get(t, \"k\")",
            "[ `None | `Some(int) ]",
        ),
        (
            "L12",
            "Json.get_path(Json.parse(\"{}\"), [\"a\", \"0\"])",
            "[ `None | `Some(json) ]",
        ),
        ("L13", "record_keys({ b = 1; a = 2 })", "string array"),
        ("L14", "variant_tag(`Went(1))", "string"),
    ] {
        assert_eq!(result(program), want, "{number}: {program}");
    }
}

#[test]
fn surfaces_keep_foreign_names_out() {
    let shell = |kind: &Kind| kind.contract().is_some();
    for kind in Kind::ALL.iter().copied().filter(|kind| shell(kind)) {
        for name in [
            "print(1)",
            "Log.info(\"\")",
            "Item.id",
            "Tool_call.arg",
            "Context.last_item",
            "Turn.halt(\"\")",
            "Tool.approve()",
            "Model.call",
            "Process.run",
            "Schedule.cancel",
            "Runtime.emit(1)",
            "Ui.notify(\"\")",
            "Approval.ask_text",
        ] {
            let error = first_error(name, kind).unwrap();
            assert_eq!(
                error.code.as_str(),
                "chatml.type.unknown_variable",
                "{name} on {}",
                kind.as_str()
            );
            assert!(
                error.notes[0].contains("`moderator`"),
                "{name}: {:?}",
                error.notes
            );
            assert!(first_error(name, Kind::Moderator).is_none(), "{name}");
        }
    }
    for (number, source, kind) in [
        ("L16", "print(1)", Kind::ShellMatcher),
        ("L17", "Review.approve()", Kind::ShellMatcher),
        ("L18", "Shell.argv", Kind::ShellAuditFilter),
    ] {
        let code = first_error(source, kind).unwrap().code;
        assert_eq!(code.as_str(), "chatml.type.unknown_variable", "{number}");
    }
}
