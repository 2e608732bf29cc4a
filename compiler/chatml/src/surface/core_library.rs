//! Global functions and the modules every kind has (spec 05b sections 1 and 2).

use super::{KindSet, ModuleTable, pure};

pub(super) static MODULES: &[ModuleTable] = &[
    ModuleTable {
        name: "",
        doc: "",
        kinds: KindSet::ALL,
        functions: &[
            pure(
                "to_string",
                "'a -> string",
                "Text of any value. Strings stay as they are, also inside other values.",
            ),
            pure("length", "'a array -> int", "Number of items."),
            pure("string_length", "string -> int", "Length in bytes."),
            pure(
                "string_is_empty",
                "string -> bool",
                "Whether the text has no bytes.",
            ),
            pure(
                "array_copy",
                "'a array -> 'a array",
                "A new array with the same items.",
            ),
            pure(
                "record_keys",
                "{ .. } -> string array",
                "The labels of a record, or the names of a module, in byte order.",
            ),
            pure(
                "variant_tag",
                "[ .. ] -> string",
                "The tag of a variant, without accent and arguments.",
            ),
            pure(
                "swap_ref",
                "'a ref -> 'a -> 'a",
                "Stores a value in a reference and returns the one it held.",
            ),
            pure(
                "fail",
                "string -> 'a",
                "Ends the call with `chatml.run.fail` and this message. Nothing catches it.",
            ),
            pure(
                "hash_md5",
                "string -> string",
                "MD5 digest as 32 lowercase hexadecimal digits. Not for security.",
            ),
            pure(
                "print",
                "'a -> unit",
                "Writes the text of a value and a line end to the host's output.",
            ),
        ],
    },
    ModuleTable {
        name: "String",
        doc: "Text. Lengths and positions count bytes; upper and lower case are those of ASCII.",
        kinds: KindSet::ALL,
        functions: &[
            pure("length", "string -> int", "Length in bytes."),
            pure(
                "is_empty",
                "string -> bool",
                "Whether the text has no bytes.",
            ),
            pure(
                "concat",
                "string -> string -> string",
                "Both texts, one after the other; the same as `++`.",
            ),
            pure(
                "equal",
                "string -> string -> bool",
                "Whether both texts are the same bytes.",
            ),
            pure(
                "contains",
                "string -> string -> bool",
                "Whether the second text occurs in the first. The empty text always does.",
            ),
            pure(
                "starts_with",
                "string -> string -> bool",
                "Whether the first text begins with the second.",
            ),
            pure(
                "ends_with",
                "string -> string -> bool",
                "Whether the first text ends with the second.",
            ),
            pure(
                "trim",
                "string -> string",
                "The text without white space at both ends.",
            ),
            pure(
                "slice",
                "string -> int -> int -> string",
                "`slice(text, start, len)`: that many bytes from `start`. Fails outside the text and inside a character.",
            ),
            pure(
                "find",
                "string -> string -> option int",
                "Position of the first occurrence of the second text in the first.",
            ),
            pure(
                "split",
                "string -> string -> string array",
                "The parts between separators, empty ones included. Fails for an empty separator.",
            ),
            pure(
                "to_upper",
                "string -> string",
                "ASCII letters in upper case.",
            ),
            pure(
                "to_lower",
                "string -> string",
                "ASCII letters in lower case.",
            ),
            pure(
                "replace_all",
                "string -> string -> string -> string",
                "`replace_all(text, pattern, replacement)`, from left to right. Fails for an empty pattern.",
            ),
        ],
    },
    ModuleTable {
        name: "Array",
        doc: "Mutable arrays, shared by reference. A function that walks an array walks the items it had at the start.",
        kinds: KindSet::ALL,
        functions: &[
            pure("length", "'a array -> int", "Number of items."),
            pure(
                "copy",
                "'a array -> 'a array",
                "A new array with the same items.",
            ),
            pure(
                "get",
                "'a array -> int -> 'a",
                "The item at an index. Fails outside the array.",
            ),
            pure(
                "set",
                "'a array -> int -> 'a -> unit",
                "Replaces the item at an index in place. Fails outside the array.",
            ),
            pure(
                "make",
                "int -> 'a -> 'a array",
                "An array of that many shares of one value. Fails for a negative number.",
            ),
            pure(
                "append",
                "'a array -> 'a array -> 'a array",
                "A new array with the items of both.",
            ),
            pure(
                "sub",
                "'a array -> int -> int -> 'a array",
                "`sub(array, start, len)`: a new array of that part. Fails outside the array.",
            ),
            pure(
                "reverse",
                "'a array -> 'a array",
                "A new array in reverse order.",
            ),
            pure(
                "reverse_in_place",
                "'a array -> unit",
                "Reverses the array itself.",
            ),
            pure(
                "swap",
                "'a array -> int -> int -> unit",
                "Exchanges two items in place. Fails outside the array.",
            ),
            pure(
                "fill",
                "'a array -> 'a -> unit",
                "Sets every item in place.",
            ),
            pure(
                "init",
                "int -> (int -> 'a) -> 'a array",
                "An array of what the function gives for 0, 1, … Fails for a negative number.",
            ),
            pure(
                "map",
                "'a array -> ('a -> 'b) -> 'b array",
                "What the function gives for each item.",
            ),
            pure(
                "mapi",
                "'a array -> (int -> 'a -> 'b) -> 'b array",
                "What the function gives for each index and item.",
            ),
            pure(
                "iter",
                "'a array -> ('a -> unit) -> unit",
                "Calls the function for each item.",
            ),
            pure(
                "iteri",
                "'a array -> (int -> 'a -> unit) -> unit",
                "Calls the function for each index and item.",
            ),
            pure(
                "fold",
                "'a array -> 'b -> ('b -> 'a -> 'b) -> 'b",
                "`fold(array, initial, f)`: carries a value through all items, from the left.",
            ),
            pure(
                "filter",
                "'a array -> ('a -> bool) -> 'a array",
                "The items the function accepts.",
            ),
            pure(
                "exists",
                "'a array -> ('a -> bool) -> bool",
                "Whether the function accepts some item; stops at the first.",
            ),
            pure(
                "for_all",
                "'a array -> ('a -> bool) -> bool",
                "Whether the function accepts all items; stops at the first it does not.",
            ),
            pure(
                "find",
                "'a array -> ('a -> bool) -> option 'a",
                "The first item the function accepts.",
            ),
            pure(
                "find_map",
                "'a array -> ('a -> option 'b) -> option 'b",
                "The first `` `Some `` the function gives.",
            ),
        ],
    },
    ModuleTable {
        name: "Option",
        doc: "Helpers for `` [ `None | `Some(t) ] ``. Options are plain variants: match on them directly.",
        kinds: KindSet::ALL,
        functions: &[
            pure("none", "unit -> option 'a", "`` `None ``."),
            pure("some", "'a -> option 'a", "`` `Some `` of the value."),
            pure("is_none", "option 'a -> bool", "Whether it is `` `None ``."),
            pure("is_some", "option 'a -> bool", "Whether it is `` `Some ``."),
            pure(
                "get_or",
                "option 'a -> 'a -> 'a",
                "What is inside `` `Some ``, or the second value.",
            ),
        ],
    },
    ModuleTable {
        name: "Hashtbl",
        doc: "Tables with text keys, in order of insertion. A table can not be part of the state.",
        kinds: KindSet::ALL,
        functions: &[
            pure("create", "unit -> tbl 'a", "An empty table."),
            pure(
                "set",
                "tbl 'a -> string -> 'a -> unit",
                "Replaces the entry at its place, or adds it at the end.",
            ),
            pure(
                "get",
                "tbl 'a -> string -> option 'a",
                "The value of a key.",
            ),
            pure(
                "mem",
                "tbl 'a -> string -> bool",
                "Whether the key has a value.",
            ),
            pure(
                "remove",
                "tbl 'a -> string -> unit",
                "Removes an entry; nothing happens when there is none.",
            ),
        ],
    },
    ModuleTable {
        name: "Task",
        doc: "Descriptions of host work. Building one performs nothing; the task a call returns is performed.",
        kinds: KindSet::ALL,
        functions: &[
            pure(
                "pure",
                "'a -> 'a task",
                "A task that does nothing and gives the value.",
            ),
            pure(
                "bind",
                "'a task -> ('a -> 'b task) -> 'b task",
                "First one task, then the one made from its result; written `let* x = t in …`.",
            ),
            pure(
                "map",
                "'a task -> ('a -> 'b) -> 'b task",
                "Changes the result of a task; written `let+ x = t in …`.",
            ),
            pure(
                "fail",
                "string -> 'a task",
                "A task that fails with this message.",
            ),
            pure(
                "catch",
                "'a task -> (string -> 'a task) -> 'a task",
                "The task, or when it fails the one made from the message. Actions of the failed part are dropped.",
            ),
        ],
    },
    ModuleTable {
        name: "Json",
        doc: "JSON text and values.",
        kinds: KindSet::ALL,
        functions: &[
            pure(
                "parse",
                "string -> json",
                "The value of a JSON text. Fails with `chatml.run.json` for any other text.",
            ),
            pure(
                "parse_opt",
                "string -> option json",
                "The value of a JSON text, or `` `None ``.",
            ),
            pure("validate", "string -> bool", "Whether the text is JSON."),
            pure(
                "stringify",
                "json -> string",
                "Compact text; members keep their order.",
            ),
            pure(
                "pretty",
                "json -> string",
                "Text with one item a line and an indent of two.",
            ),
            pure(
                "tag",
                "json -> string",
                "`Null`, `Bool`, `Number`, `String`, `Array` or `Object`.",
            ),
            pure(
                "as_bool",
                "json -> option bool",
                "The value of a `` `Bool ``.",
            ),
            pure(
                "as_number",
                "json -> option float",
                "The value of a `` `Number ``.",
            ),
            pure(
                "as_string",
                "json -> option string",
                "The value of a `` `String ``.",
            ),
            pure(
                "as_array",
                "json -> option (json array)",
                "The items of an `` `Array ``: the same array, not a copy.",
            ),
            pure(
                "as_object",
                "json -> option ({ key : string; value : json } array)",
                "The members of an `` `Object ``: the same array, not a copy.",
            ),
            pure(
                "object_keys",
                "json -> string array",
                "The member names in order; none for another value.",
            ),
            pure(
                "get_field",
                "json -> string -> option json",
                "The first member of that name.",
            ),
            pure(
                "get_path",
                "json -> string array -> option json",
                "Walks member names and decimal indices; the empty path is the value itself.",
            ),
            pure(
                "set_field",
                "json -> string -> json -> json",
                "A new object with the member replaced or added. Fails for another value.",
            ),
            pure(
                "remove_field",
                "json -> string -> json",
                "A new object without the members of that name. Fails for another value.",
            ),
        ],
    },
];
