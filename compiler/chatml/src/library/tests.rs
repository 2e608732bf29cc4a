#![allow(clippy::unwrap_used, clippy::expect_used)]
//! The library through source text.

use crate::eval::tests::table;
use crate::surface::{self, Kind, Operation};

/// Spec 05b section 7.7; the rows about other surfaces are the checker's.
#[test]
fn the_conformance_table() {
    table(&[
        ("String.find(\"abcabc\", \"ca\")", "`Some(2)"),
        ("String.replace_all(\"aaa\", \"aa\", \"b\")", "ba"),
        (
            "String.slice(\"hello\", 1, 9)",
            "chatml.run.invalid_argument",
        ),
        ("String.trim(\"  x \\n\")", "x"),
        ("String.split(\"x\", \"\")", "chatml.run.invalid_argument"),
        ("Array.sub([1, 2, 3], 1, 2)", "[|2, 3|]"),
        (
            "Array.mapi([\"a\", \"b\"], fun i s -> s ++ to_string(i))",
            "[|a0, b1|]",
        ),
        ("Array.find([1, 4, 6], fun n -> n > 3)", "`Some(4)"),
        ("Option.get_or(`None, 3)", "3"),
        (
            "let t = Hashtbl.create()\nHashtbl.set(t, \"k\", 1)\nHashtbl.set(t, \"k\", 2)\nHashtbl.get(t, \"k\")",
            "`Some(2)",
        ),
        ("Json.parse_opt(\"{\")", "`None"),
        (
            "Json.get_path(Json.parse(\"{\\\"a\\\":[true]}\"), [\"a\", \"0\"])",
            "`Some(`Bool(true))",
        ),
        ("record_keys({ b = 1; a = 2 })", "[|a, b|]"),
        ("variant_tag(`Went(1))", "Went"),
        ("Json.object_keys(Json.parse(\"[1]\"))", "[||]"),
        (
            "Json.remove_field(Json.parse(\"1\"), \"a\")",
            "chatml.run.invalid_argument",
        ),
    ]);
}

#[test]
fn every_function_of_a_shell_kind_is_implemented() {
    for builtin in surface::builtins() {
        let shell = Kind::ALL
            .into_iter()
            .any(|kind| kind != Kind::Moderator && builtin.kinds.contains(kind));
        let body = super::BODIES[usize::from(builtin.id.0)];
        let absent = matches!(body, super::Body::Absent);
        assert!(!(shell && absent), "{}", builtin.qualified);
        assert_eq!(
            matches!(body, super::Body::Operation),
            builtin.operation != Operation::Pure
        );
        if let super::Body::Loop(index) = body {
            let function = &super::loops::functions()[index as usize];
            assert_eq!(usize::from(function.parameters), builtin.arity);
        }
    }
}

#[test]
fn strings() {
    table(&[
        ("String.length(\"é\")", "2"),
        ("string_length(\"abc\")", "3"),
        ("string_is_empty(\"\")", "true"),
        ("String.is_empty(\"a\")", "false"),
        ("String.concat(\"a\", \"b\")", "ab"),
        ("String.equal(\"a\", \"a\")", "true"),
        ("String.contains(\"abc\", \"bc\")", "true"),
        ("String.contains(\"abc\", \"\")", "true"),
        ("String.contains(\"abc\", \"x\")", "false"),
        ("String.starts_with(\"abc\", \"ab\")", "true"),
        ("String.starts_with(\"abc\", \"b\")", "false"),
        ("String.ends_with(\"abc\", \"bc\")", "true"),
        ("\"<\" ++ String.trim(\"\\t a b \\n\") ++ \">\"", "<a b>"),
        ("\"<\" ++ String.trim(\"   \") ++ \">\"", "<>"),
        // A no-break space is no blank.
        ("String.length(String.trim(\"\u{a0}\"))", "2"),
        ("String.slice(\"hello\", 1, 3)", "ell"),
        ("String.slice(\"hello\", 5, 0)", ""),
        (
            "String.slice(\"hello\", 6, 0)",
            "chatml.run.invalid_argument",
        ),
        (
            "String.slice(\"hello\", -1, 1)",
            "chatml.run.invalid_argument",
        ),
        (
            "String.slice(\"hello\", 1, -1)",
            "chatml.run.invalid_argument",
        ),
        ("String.slice(\"é\", 0, 1)", "chatml.run.string_boundary"),
        ("String.slice(\"é\", 1, 1)", "chatml.run.string_boundary"),
        ("String.slice(\"xé\", 1, 2)", "é"),
        ("String.find(\"abc\", \"\")", "`Some(0)"),
        ("String.find(\"abc\", \"d\")", "`None"),
        ("String.split(\"\", \"-\")", "[||]"),
        ("length(String.split(\"\", \"-\"))", "1"),
        ("String.split(\"a--b\", \"--\")", "[|a, b|]"),
        ("String.split(\"aaa\", \"aa\")", "[|, a|]"),
        ("String.to_upper(\"aé1\")", "Aé1"),
        ("String.to_lower(\"AÉ1\")", "aÉ1"),
        ("String.replace_all(\"a.b.c\", \".\", \"\")", "abc"),
        (
            "String.replace_all(\"a\", \"\", \"x\")",
            "chatml.run.invalid_argument",
        ),
        ("hash_md5(\"abc\")", "900150983cd24fb0d6963f7d28e17f72"),
    ]);
}

#[test]
fn arrays() {
    table(&[
        ("Array.length([1, 2])", "2"),
        ("let a = [1]\nlet b = Array.copy(a)\nb[0] <- 2\na", "[|1|]"),
        ("array_copy([1])", "[|1|]"),
        ("Array.get([1, 2], 1)", "2"),
        ("Array.get([1], 1)", "chatml.run.invalid_argument"),
        ("Array.get([1], -1)", "chatml.run.invalid_argument"),
        ("let a = [1]\nArray.set(a, 0, 5)\na", "[|5|]"),
        ("Array.set([1], 1, 5)", "chatml.run.invalid_argument"),
        ("Array.make(3, \"x\")", "[|x, x, x|]"),
        ("Array.make(0, 1)", "[||]"),
        ("Array.make(-1, 1)", "chatml.run.invalid_argument"),
        ("Array.append([1], [2, 3])", "[|1, 2, 3|]"),
        ("Array.sub([1], 0, 0)", "[||]"),
        ("Array.sub([1], 1, 0)", "[||]"),
        ("Array.sub([1], 2, 0)", "chatml.run.invalid_argument"),
        ("Array.sub([1], 0, 2)", "chatml.run.invalid_argument"),
        ("Array.reverse([1, 2, 3])", "[|3, 2, 1|]"),
        (
            "let a = [1, 2, 3]\nArray.reverse_in_place(a)\na",
            "[|3, 2, 1|]",
        ),
        ("let a = [1, 2, 3]\nArray.swap(a, 0, 2)\na", "[|3, 2, 1|]"),
        ("Array.swap([1], 0, 1)", "chatml.run.invalid_argument"),
        ("let a = [1, 2]\nArray.fill(a, 7)\na", "[|7, 7|]"),
        ("Array.init(3, fun i -> i * i)", "[|0, 1, 4|]"),
        ("Array.init(0, fun i -> i)", "[||]"),
        ("Array.init(-1, fun i -> i)", "chatml.run.invalid_argument"),
        ("Array.map([1, 2], fun x -> x + 1)", "[|2, 3|]"),
        (
            "let s = ref(0)\nArray.iter([1, 2], fun x -> s := !s + x)\n!s",
            "3",
        ),
        (
            "let s = ref(0)\nArray.iteri([5, 6], fun i x -> s := !s + i * x)\n!s",
            "6",
        ),
        ("Array.fold([1, 2, 3], 10, fun a x -> a - x)", "4"),
        ("Array.filter([1, 2, 3, 4], fun x -> x > 2)", "[|3, 4|]"),
        ("Array.exists([], fun x -> true)", "false"),
        ("Array.for_all([], fun x -> false)", "true"),
        ("Array.for_all([1, 2], fun x -> x > 1)", "false"),
        (
            "let n = ref(0)\nArray.exists([1, 2, 3], fun x -> n := x; x == 2)\n!n",
            "2",
        ),
        (
            "let n = ref(0)\nArray.for_all([1, 2, 3], fun x -> n := x; x < 2)\n!n",
            "2",
        ),
        ("Array.find([1], fun x -> false)", "`None"),
        (
            "Array.find_map([1, 2], fun x -> if x == 2 then `Some(\"t\") else `None)",
            "`Some(t)",
        ),
        ("Array.find_map([1], fun x -> `None)", "`None"),
        (
            "Array.map([1, 0], fun x -> 1 / x)",
            "chatml.run.division_by_zero",
        ),
        // Callbacks that change the array do not change the traversal.
        (
            "let a = [1, 2, 3]\nArray.map(a, fun x -> a[2] <- 9; x)",
            "[|1, 2, 3|]",
        ),
        (
            "let a = [1, 2, 3]\nArray.fold(a, 0, fun s x -> Array.fill(a, 0); s + x)",
            "6",
        ),
    ]);
}

#[test]
fn options_and_tables() {
    table(&[
        ("Option.none()", "`None"),
        ("Option.some(1)", "`Some(1)"),
        ("Option.is_none(`None)", "true"),
        ("Option.is_none(`Some(1))", "false"),
        ("Option.is_some(`Some(1))", "true"),
        ("Option.get_or(`Some(1), 2)", "1"),
        ("Hashtbl.get(Hashtbl.create(), \"a\")", "`None"),
        (
            "let t = Hashtbl.create()\nHashtbl.set(t, \"b\", 1)\nHashtbl.set(t, \"a\", 2)\nHashtbl.set(t, \"b\", 3)\nt",
            "ref([|{ key = b; value = 3 }, { key = a; value = 2 }|])",
        ),
        (
            "let t = Hashtbl.create()\nHashtbl.set(t, \"b\", 1)\nHashtbl.remove(t, \"b\")\nHashtbl.remove(t, \"x\")\nHashtbl.mem(t, \"b\")",
            "false",
        ),
        (
            "let t = Hashtbl.create()\nHashtbl.set(t, \"b\", 1)\nlet old = !t\nHashtbl.set(t, \"c\", 1)\nlength(old)",
            "1",
        ),
        // A join hides a field of the entry; the table still finds key and value.
        (
            "let t = ref([if true then { key = \"k\"; a = 0; value = 1 } else { key = \"k\"; value = 1 }])\nHashtbl.get(t, \"k\")",
            "`Some(1)",
        ),
    ]);
}

#[test]
fn json() {
    let object = "let o = Json.parse(\"{\\\"a\\\":1,\\\"b\\\":[2],\\\"a\\\":3}\")\n";
    for (source, expected) in [
        ("Json.stringify(o)", "{\"a\":1,\"b\":[2],\"a\":3}"),
        (
            "Json.pretty(o)",
            "{\n  \"a\": 1,\n  \"b\": [\n    2\n  ],\n  \"a\": 3\n}",
        ),
        ("Json.get_field(o, \"a\")", "`Some(`Number(1.))"),
        ("Json.get_field(o, \"x\")", "`None"),
        ("Json.object_keys(o)", "[|a, b, a|]"),
        (
            "Json.stringify(Json.set_field(o, \"a\", `Null))",
            "{\"a\":null,\"b\":[2]}",
        ),
        (
            "Json.stringify(Json.set_field(o, \"c\", `Bool(true)))",
            "{\"a\":1,\"b\":[2],\"a\":3,\"c\":true}",
        ),
        ("Json.stringify(Json.remove_field(o, \"a\"))", "{\"b\":[2]}"),
        ("Json.get_path(o, [\"b\", \"0\"])", "`Some(`Number(2.))"),
        ("Json.get_path(o, [\"b\", \"00\"])", "`None"),
        ("Json.get_path(o, [\"b\", \"1\"])", "`None"),
        ("Json.get_path(o, []) == `Some(o)", "chatml.run.equality"),
    ] {
        table(&[(&format!("{object}{source}"), expected)]);
    }
    table(&[
        ("Json.tag(`Null)", "Null"),
        ("Json.tag(Json.parse(\"[]\"))", "Array"),
        ("Json.as_bool(`Bool(true))", "`Some(true)"),
        ("Json.as_bool(`Null)", "`None"),
        ("Json.as_number(`Number(1.5))", "`Some(1.5)"),
        ("Json.as_string(`String(\"x\"))", "`Some(x)"),
        ("Json.as_array(`Array([]))", "`Some([||])"),
        ("Json.as_object(`Array([]))", "`None"),
        (
            "let a = [`Null]\nlet j = `Array(a)\nmatch Json.as_array(j) with | `Some(b) -> (b[0] <- `Bool(true); a) | `None -> a",
            "[|`Bool(true)|]",
        ),
        ("Json.validate(\"[1]\")", "true"),
        ("Json.validate(\"[1,]\")", "false"),
        ("Json.parse(\"01\")", "chatml.run.json"),
        ("Json.parse(\"1 2\")", "chatml.run.json"),
        ("Json.parse(\"1e999\")", "chatml.run.json"),
        ("Json.stringify(`Number(1.0))", "1"),
        ("Json.stringify(`Number(0.1))", "0.1"),
        ("Json.stringify(`String(\"a\\\"\\n\"))", "\"a\\\"\\n\""),
        ("Json.pretty(`Array([]))", "[]"),
        ("Json.pretty(`Object([]))", "{}"),
        (
            "let big = ref(1.0)\nlet n = ref(0)\nwhile !n < 2000 do big := !big *. 10.0; n := !n + 1 done\nJson.stringify(`Number(!big))",
            "chatml.run.json",
        ),
    ]);
    let nested = |depth: usize| {
        format!(
            "Json.validate(\"{}{}\")",
            "[".repeat(depth),
            "]".repeat(depth)
        )
    };
    table(&[(&nested(128), "true"), (&nested(129), "false")]);
}
