//! Every attribute of `<shell_access>` (spec 02): what its type accepts and refuses at the bounds, and
//! that it is required where the tables say so. The tables here are written from the specification,
//! not from `schema/`, so a wrong bound there is found.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "common/repair.rs"]
#[allow(dead_code)]
mod repair;

use chatmd_compiler::diagnostics::Severity;
use repair::{Files, compiled};

/// What an attribute takes.
#[derive(Clone, Copy, Debug)]
enum Type {
    Bool,
    /// Words.
    Enum(&'static str),
    /// Words, of an attribute without which the element is wrong.
    RequiredEnum(&'static str),
    Duration,
    DurationOrNone,
    /// Smallest and largest, as written, and the refused neighbours.
    Bytes(&'static [&'static str], &'static [&'static str]),
    BytesOrNone(&'static [&'static str], &'static [&'static str]),
    UintOrNone(&'static [&'static str], &'static [&'static str]),
    Sha256,
    Path,
    Env,
    /// An id of an entry.
    Lenient,
    /// Text; whether it may be empty.
    Text(bool),
    Csv(&'static str),
}

use Type::{
    Bool, Bytes, BytesOrNone, Csv, Duration, DurationOrNone, Enum, Env, Lenient, Path,
    RequiredEnum, Sha256, Text, UintOrNone,
};

const MERGE: Type = Enum("append replace");
const ACTION: Type = RequiredEnum("allow ask deny");
const WHEN_MAC: Type = Enum("macos any");
const WHEN_LINUX: Type = Enum("linux any");
const WHEN: Type = Enum("macos linux windows any");
const SIZES: Type = Bytes(
    &["1", "1B", "1KiB", "1GiB", "1073741824"],
    &["0", "1073741825", "2GiB"],
);

/// Attribute, its type, and the inside of a runtime with `@` where the attribute stands.
#[rustfmt::skip]
const ROWS: &[(&str, Type, &str)] = &[
    ("pipefail", Bool, ""),
    ("cwd", Path, ""),
    ("sandbox", Enum("required preferred"), "<capabilities @/>"),
    ("network", Bool, "<capabilities @/>"),
    ("child_processes", Bool, "<capabilities @/>"),
    ("arbitrary_code", Bool, "<capabilities @/>"),
    ("privilege_change", Bool, "<capabilities @/>"),
    ("merge", MERGE, "<capabilities @/>"),
    ("path", Path, "<capabilities><read @/></capabilities>"),
    ("path", Path, "<capabilities><write @/></capabilities>"),
    ("path_env", Env, "<capabilities><read @/></capabilities>"),
    ("path_env", Env, "<capabilities><write @/></capabilities>"),
    ("optional", Bool, "<capabilities><read path_env=\"A\" @/></capabilities>"),
    ("allow_relative_search_path", Bool, "<resolver @/>"),
    ("merge", MERGE, "<resolver @/>"),
    ("path", Path, "<resolver><search_path @/></resolver>"),
    ("path", Path, "<resolver><trusted_root @/></resolver>"),
    ("id", Lenient, "<resolver><executable path=\"/x\" @/></resolver>"),
    ("path", Path, "<resolver><executable id=\"e\" @/></resolver>"),
    ("sha256", Sha256, "<resolver><executable id=\"e\" path=\"/x\" @/></resolver>"),
    ("trusted", Bool, "<resolver><executable id=\"e\" path=\"/x\" @/></resolver>"),
    ("override", Bool, "<resolver><executable id=\"e\" path=\"/x\" @/></resolver>"),
    ("inherit", Enum("none safe selected all_sanitized raw"), "<environment @/>"),
    ("merge", MERGE, "<environment @/>"),
    ("name", Env, "<environment><set value=\"v\" @/></environment>"),
    ("value", Text(true), "<environment><set name=\"A\" @/></environment>"),
    ("name", Env, "<environment><pass @/></environment>"),
    ("required", Bool, "<environment><pass name=\"A\" @/></environment>"),
    ("secret", Bool, "<environment><pass name=\"A\" @/></environment>"),
    ("name", Env, "<environment><unset @/></environment>"),
    ("value", Text(false), "<environment><unset_prefix @/></environment>"),
    ("prepend", Path, "<environment><path @/></environment>"),
    ("append", Path, "<environment><path @/></environment>"),
    ("name", Env, "<environment><path_env @/></environment>"),
    ("position", Enum("prepend append"), "<environment><path_env name=\"A\" @/></environment>"),
    ("required", Bool, "<environment><path_env name=\"A\" @/></environment>"),
    ("wall_time", Duration, "<limits @/>"),
    ("idle_time", DurationOrNone, "<limits @/>"),
    ("max_stdin", Bytes(&["0", "1GiB"], &["1073741825"]), "<limits @/>"),
    ("stdout", SIZES, "<limits @/>"),
    ("stderr", SIZES, "<limits @/>"),
    ("total_output", SIZES, "<limits @/>"),
    ("cpu_time", DurationOrNone, "<limits @/>"),
    ("memory", BytesOrNone(&["1MiB", "1048576", "8GiB"], &["1048575", "0"]), "<limits @/>"),
    ("file_size", BytesOrNone(&["1", "8GiB"], &["0"]), "<limits @/>"),
    ("open_files", UintOrNone(&["8", "1048576"], &["7", "0", "1048577"]), "<limits @/>"),
    ("accept_declared_confinement", Bool, "<backends @/>"),
    ("merge", MERGE, "<backends @><bubblewrap/></backends>"),
    ("id", Lenient, "<backends><bubblewrap @/></backends>"),
    ("when", WHEN_LINUX, "<backends><bubblewrap @/></backends>"),
    ("when", WHEN_MAC, "<backends><seatbelt @/></backends>"),
    ("when", WHEN, "<backends><direct @/></backends>"),
    ("executable", Path, "<backends><seatbelt @/></backends>"),
    ("allow_system_reads", Bool, "<backends><seatbelt @/></backends>"),
    ("executable", Path, "<backends><bubblewrap @/></backends>"),
    ("private_tmp", Bool, "<backends><bubblewrap @/></backends>"),
    ("proc", Bool, "<backends><bubblewrap @/></backends>"),
    ("dev", Enum("minimal none"), "<backends><bubblewrap @/></backends>"),
    ("id", Lenient, "<backends><direct @/></backends>"),
    ("executable", Path, "<backends><external_backend @><command_argv/></external_backend></backends>"),
    ("sha256", Sha256, "<backends><external_backend executable=\"/w\" @><command_argv/></external_backend></backends>"),
    ("confinement", Enum("declared none"), "<backends><external_backend executable=\"/w\" @><command_argv/></external_backend></backends>"),
    ("when", WHEN, "<backends><external_backend executable=\"/w\" @><command_argv/></external_backend></backends>"),
    ("value", Text(true), "<backends><external_backend executable=\"/w\"><arg @/><command_argv/></external_backend></backends>"),
    ("flag", Text(false), "<backends><external_backend executable=\"/w\"><read_roots @/><command_argv/></external_backend></backends>"),
    ("flag", Text(false), "<backends><external_backend executable=\"/w\"><write_roots @/><command_argv/></external_backend></backends>"),
    ("value", Text(false), "<backends><external_backend executable=\"/w\"><network_flag @/><command_argv/></external_backend></backends>"),
    ("default", Enum("allow ask deny"), "<policy @/>"),
    ("merge", MERGE, "<policy @/>"),
    ("id", Lenient, "<policy><rule action=\"deny\" @><any_command/></rule></policy>"),
    ("action", ACTION, "<policy><rule id=\"a\" @><any_command/></rule></policy>"),
    ("override", Bool, "<policy><rule id=\"a\" action=\"deny\" @><any_command/></rule></policy>"),
    ("value", Text(false), "<policy><rule id=\"a\" action=\"deny\"><program @/></rule></policy>"),
    ("value", Text(false), "<policy><rule id=\"a\" action=\"deny\"><basename @/></rule></policy>"),
    ("value", Path, "<policy><rule id=\"a\" action=\"deny\"><resolved_path @/></rule></policy>"),
    ("value", Text(true), "<policy><rule id=\"a\" action=\"deny\"><argument @/></rule></policy>"),
    ("value", Text(false), "<policy><rule id=\"a\" action=\"deny\"><argument_contains @/></rule></policy>"),
    ("name", RequiredEnum("network child_processes arbitrary_code privilege_change unknown read_path write_path"), "<policy><rule id=\"a\" action=\"deny\"><effect @/></rule></policy>"),
    ("under", Path, "<policy><rule id=\"a\" action=\"deny\"><effect name=\"read_path\" @/></rule></policy>"),
    ("provider", Enum("ui none"), "<approvals @/>"),
    ("unavailable", Enum("deny error"), "<approvals @/>"),
    ("scopes", Csv("once exact_session prefix_session"), "<approvals @/>"),
    ("durable", Bool, "<approvals @/>"),
    ("name", Env, "<secrets><from_env @/></secrets>"),
    ("optional", Bool, "<secrets><from_env name=\"A\" @/></secrets>"),
    ("path", Path, "<secrets><from_file @/></secrets>"),
    ("optional", Bool, "<secrets><from_file path=\"/s\" @/></secrets>"),
    ("strip", Bool, "<secrets><from_file path=\"/s\" @/></secrets>"),
    ("value", Text(false), "<secrets><literal @/></secrets>"),
    ("format", RequiredEnum("none stderr session"), "<audit @/>"),
    ("path", Path, "<audit format=\"jsonl\" @/>"),
    ("content", Enum("metadata redacted full"), "<audit format=\"stderr\" @/>"),
    ("failure", Enum("continue deny_start terminate"), "<audit format=\"stderr\" @/>"),
];

/// Attributes whose element is wrong without them (`shell.missing_attribute`).
#[rustfmt::skip]
const REQUIRED: &[&str] = &[
    "<resolver><search_path/></resolver>",
    "<resolver><trusted_root/></resolver>",
    "<resolver><executable path=\"/x\"/></resolver>",
    "<resolver><executable id=\"e\"/></resolver>",
    "<environment><set value=\"v\"/></environment>",
    "<environment><set name=\"A\"/></environment>",
    "<environment><pass/></environment>",
    "<environment><unset/></environment>",
    "<environment><unset_prefix/></environment>",
    "<environment><path_env/></environment>",
    "<backends><external_backend><command_argv/></external_backend></backends>",
    "<backends><external_backend executable=\"/w\"><arg/><command_argv/></external_backend></backends>",
    "<backends><external_backend executable=\"/w\"><read_roots/><command_argv/></external_backend></backends>",
    "<backends><external_backend executable=\"/w\"><write_roots/><command_argv/></external_backend></backends>",
    "<backends><external_backend executable=\"/w\"><network_flag/><command_argv/></external_backend></backends>",
    "<policy><rule action=\"deny\"><any_command/></rule></policy>",
    "<policy><rule id=\"a\"><any_command/></rule></policy>",
    "<policy><rule id=\"a\" action=\"deny\"><program/></rule></policy>",
    "<policy><rule id=\"a\" action=\"deny\"><basename/></rule></policy>",
    "<policy><rule id=\"a\" action=\"deny\"><resolved_path/></rule></policy>",
    "<policy><rule id=\"a\" action=\"deny\"><program_regex/></rule></policy>",
    "<policy><rule id=\"a\" action=\"deny\"><argv_prefix/></rule></policy>",
    "<policy><rule id=\"a\" action=\"deny\"><argument/></rule></policy>",
    "<policy><rule id=\"a\" action=\"deny\"><argument_contains/></rule></policy>",
    "<policy><rule id=\"a\" action=\"deny\"><effect/></rule></policy>",
    "<policy><rule id=\"a\" action=\"deny\"><chatml_match/></rule></policy>",
    "<secrets><from_env/></secrets>",
    "<secrets><from_file/></secrets>",
    "<secrets><literal/></secrets>",
    "<audit/>",
    "<reviewers><reviewer id=\"x\" kind=\"model\"/></reviewers>",
    "<interceptors><interceptor id=\"x\" script=\"s\"/></interceptors>",
];

/// Values that a type takes, and those it refuses with the code.
fn values(ty: Type) -> (Vec<String>, Vec<(String, &'static str)>) {
    let owned = |list: &[&str]| {
        list.iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    };
    let refused = |list: &[&str], code| {
        let list = list.iter().map(|text| ((*text).to_owned(), code));
        list.collect::<Vec<_>>()
    };
    const ATTRIBUTE: &str = "shell.invalid_attribute";
    const RANGE: &str = "shell.limit_out_of_range";
    match ty {
        Bool => (
            owned(&["true", "false"]),
            refused(&["", "True", "yes", "1", " true", "truefalse"], ATTRIBUTE),
        ),
        Enum(words) | RequiredEnum(words) => {
            let empty = match ty {
                RequiredEnum(_) => "shell.missing_attribute",
                _ => ATTRIBUTE,
            };
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            let mut wrong = refused(&["nosuchword"], ATTRIBUTE);
            wrong.push((String::new(), empty));
            wrong.push((words[0].to_uppercase(), ATTRIBUTE));
            wrong.push((format!(" {}", words[0]), ATTRIBUTE));
            (words, wrong)
        }
        Duration | DurationOrNone => {
            let code = "shell.invalid_duration";
            let list = [
                "", "0s", "1", "s", "-1s", "1 s", "1S", "1d", "1e3s", ".5s", "1.s", "8761h", "1s2s",
            ];
            let mut right = owned(&["1ms", "0.5ms", "20s", "1.5m", "8760h"]);
            let mut wrong = refused(&list, code);
            if matches!(ty, DurationOrNone) {
                right.push("none".to_owned());
            } else {
                wrong.push(("none".to_owned(), "shell.required_limit_disabled"));
            }
            (right, wrong)
        }
        Bytes(right, outside) | BytesOrNone(right, outside) => {
            let code = "shell.invalid_bytes";
            let list = [
                "",
                "-1",
                "1.5MiB",
                "1KB",
                "1kib",
                "1 B",
                "B",
                "9007199254740992",
                "99999999999999999999",
            ];
            let (mut right, mut wrong) = (owned(right), refused(&list, code));
            wrong.extend(refused(outside, RANGE));
            if matches!(ty, BytesOrNone(..)) {
                right.push("none".to_owned());
            } else {
                wrong.push(("none".to_owned(), "shell.required_limit_disabled"));
            }
            (right, wrong)
        }
        UintOrNone(right, outside) => {
            let mut right = owned(right);
            right.push("none".to_owned());
            let mut wrong = refused(
                &["", "-1", "1.0", "0x8", "2147483648"],
                "shell.invalid_integer",
            );
            wrong.extend(refused(outside, RANGE));
            (right, wrong)
        }
        Sha256 => (
            vec!["a".repeat(64), "0123456789ABCDEF".repeat(4)],
            vec![
                ("a".repeat(63), "shell.invalid_sha256"),
                ("a".repeat(65), "shell.invalid_sha256"),
                ("g".repeat(64), "shell.invalid_sha256"),
                (String::new(), "shell.invalid_sha256"),
            ],
        ),
        Path => (
            vec![
                "/a".to_owned(),
                "${workspace}/a".to_owned(),
                format!("/{}", "a".repeat(4095)),
            ],
            vec![
                (format!("/{}", "a".repeat(4096)), "shell.invalid_path"),
                ("${nosuch}/a".to_owned(), "shell.invalid_path"),
                ("${workspace".to_owned(), "shell.invalid_path"),
            ],
        ),
        Env => (
            vec!["A".to_owned(), "a_1".to_owned(), "A".repeat(256)],
            vec![
                ("A=B".to_owned(), "shell.invalid_env_name"),
                ("A".repeat(257), "shell.invalid_env_name"),
            ],
        ),
        Lenient => (
            vec![
                "a".to_owned(),
                "a-b_c.1".to_owned(),
                "a b".to_owned(),
                "a".repeat(128),
            ],
            vec![
                ("a".repeat(129), "shell.invalid_identifier"),
                (" a".to_owned(), "shell.invalid_identifier"),
                ("a ".to_owned(), "shell.invalid_identifier"),
                ("a\tb".to_owned(), "shell.invalid_identifier"),
            ],
        ),
        Text(empty) => {
            let mut right = vec!["x".to_owned(), "é x".to_owned(), "x".repeat(65536)];
            let mut wrong = vec![("x".repeat(65537), ATTRIBUTE)];
            if empty {
                right.push(String::new());
            } else {
                wrong.push((String::new(), "shell.missing_attribute"));
            }
            (right, wrong)
        }
        Csv(words) => {
            let words: Vec<&str> = words.split(' ').collect();
            let right = vec![words[0].to_owned(), words.join(","), words.join(" , ")];
            let wrong = vec![
                (String::new(), "shell.invalid_list"),
                (format!("{},", words[0]), "shell.invalid_list"),
                (format!("{},{}", words[0], words[0]), "shell.invalid_list"),
                (format!("{},nosuchword", words[0]), ATTRIBUTE),
            ];
            (right, wrong)
        }
    }
}

/// Attribute, what it takes, what it refuses with which code, and the document with `@` where the
/// attribute stands. What a document needs beside it is [`BESIDE`].
type Whole = (
    &'static str,
    &'static [&'static str],
    &'static [(&'static str, &'static str)],
    &'static str,
);

/// A runtime for tools, and a worker for hooks.
const BESIDE: &str = r#"<shell_access id="w"><capabilities sandbox="required"/><policy default="allow"/><approvals provider="none"/></shell_access>
<shell_access id="t"><resolver><executable id="tar" path="/usr/bin/tar"/></resolver></shell_access>
<script id="review-script" language="chatml" kind="shell_reviewer">
let initial_state = ()
let review ctx st = Task.map(Review.defer(), fun _ -> st)
</script>
<script id="effect-script" language="chatml" kind="shell_effect_analyzer">
let initial_state = ()
let analyze ctx st = Task.map(Effect.network(), fun _ -> st)
</script>
"#;

const WORD: &str = "shell.invalid_attribute";
const TOOL: &str = "shell.tool_invalid_attribute";
const RANGE: &str = "shell.limit_out_of_range";
const MODE: &str = "shell.invalid_failure_mode";
const BOUNDS: &str = "shell.invalid_argument_bounds";
const HOOK: &str = "<shell_access id=\"r\"><reviewers><reviewer id=\"x\" kind=\"executable\" executable=\"/h\" runtime=\"w\" @/></reviewers></shell_access>";
const FIXED: &str = "<tool name=\"x\" runtime=\"t\" command=\"ls\" @/>";
const RAW: &str = "<tool name=\"x\" mode=\"raw\" runtime=\"t\" executable=\"/bin/sh\" @/>";
const SCRIPT: &str = "<tool name=\"x\" mode=\"script\" runtime=\"t\" script=\"/s\" @/>";
const ARGUMENTS: &str =
    "<tool name=\"x\" runtime=\"t\" command=\"ls\"><arguments mode=\"optional\" @/></tool>";

#[rustfmt::skip]
const WHOLE: &[Whole] = &[
    ("timeout", &["1ms", "5s"], &[("none", "shell.invalid_duration"), ("", "shell.invalid_duration"), ("0s", "shell.invalid_duration")], HOOK),
    ("max_input", &["1", "16MiB"], &[("0", RANGE), ("16777217", RANGE), ("none", "shell.invalid_bytes")], HOOK),
    ("max_output", &["1", "16MiB"], &[("0", RANGE), ("16777217", RANGE), ("none", "shell.invalid_bytes")], HOOK),
    ("protocol", &["shell-hook-json-v1"], &[("shell-hook-json-v2", WORD), ("", WORD)], HOOK),
    ("failure", &["deny", "error"], &[("no_match", MODE), ("keep", MODE), ("unknown", MODE), ("nosuchword", WORD), ("", WORD)], HOOK),
    ("sha256", &["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"], &[("a", "shell.invalid_sha256"), ("", "shell.invalid_sha256")], HOOK),
    ("lifecycle", &["session", "runtime", "invocation"], &[("forever", WORD), ("", WORD)],
        "<shell_access id=\"r\"><reviewers><reviewer id=\"x\" kind=\"chatml\" script=\"review-script\" @/></reviewers></shell_access>"),
    ("failure", &["deny", "error"], &[("defer", WORD)],
        "<shell_access id=\"r\"><reviewers><reviewer id=\"x\" kind=\"chatml\" script=\"review-script\" @/></reviewers></shell_access>"),
    ("kind", &["ui"], &[("nobody", WORD), ("", "shell.missing_attribute")],
        "<shell_access id=\"r\"><reviewers><reviewer id=\"x\" @/></reviewers></shell_access>"),
    ("phase", &["before", "after"], &[("during", WORD), ("", "shell.missing_attribute")],
        "<shell_access id=\"r\"><interceptors><interceptor id=\"x\" executable=\"/h\" runtime=\"w\" @/></interceptors></shell_access>"),
    ("failure", &["deny", "error"], &[("keep", MODE)],
        "<shell_access id=\"r\"><interceptors><interceptor id=\"x\" phase=\"after\" executable=\"/h\" runtime=\"w\" @/></interceptors></shell_access>"),
    ("replace", &["true", "false"], &[("maybe", WORD), ("", WORD)],
        "<shell_access id=\"r\"><effect_analysis><analyzer id=\"x\" script=\"effect-script\" @/></effect_analysis></shell_access>"),
    ("failure", &["unknown", "deny", "error", "keep"], &[("no_match", MODE)],
        "<shell_access id=\"r\"><effect_analysis><analyzer id=\"x\" script=\"effect-script\" @/></effect_analysis></shell_access>"),
    ("kind", &["chatml"], &[("model", WORD), ("", WORD)],
        "<shell_access id=\"r\"><effect_analysis><analyzer id=\"x\" script=\"effect-script\" @/></effect_analysis></shell_access>"),
    // Spec 03.
    ("name", &["a", "A-b_9", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"],
        &[("a.b", "shell.tool_invalid_name"), ("a b", "shell.tool_invalid_name"), ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "shell.tool_invalid_name")],
        "<tool runtime=\"t\" command=\"ls\" @/>"),
    ("type", &["shell"], &[("Shell", "shell.tool_invalid_type"), ("bash", "shell.tool_invalid_type")], FIXED),
    ("mode", &["structured", "chain"], &[("Fixed", "shell.tool_invalid_mode"), ("", "shell.tool_invalid_mode")], "<tool name=\"x\" runtime=\"t\" @/>"),
    ("stdin", &["none", "optional", "required"], &[("yes", TOOL), ("", TOOL)], FIXED),
    ("rationale", &["none", "optional", "required"], &[("yes", TOOL), ("", TOOL)], FIXED),
    ("result", &["combined", "stdout", "structured"], &[("stderr", TOOL), ("", TOOL)], FIXED),
    ("stream", &["finalized", "sanitized"], &[("raw", TOOL), ("", TOOL)], FIXED),
    ("nonzero", &["result", "error"], &[("ignore", TOOL), ("", TOOL)], FIXED),
    ("arguments_before_script", &["[]", "[&quot;-e&quot;,&quot;-c&quot;]"], &[("-c", TOOL), ("[1]", TOOL), ("{}", TOOL), ("", TOOL)], RAW),
    ("interpreter", &["/bin/sh", "${workspace}/x"], &[("${nosuch}/x", "shell.tool_invalid_path")], SCRIPT),
    ("fixed_arguments", &["[]", "[&quot;a b&quot;]"], &[("a", TOOL), ("[null]", TOOL), ("[[]]", TOOL)], SCRIPT),
    ("verification", &["sha256"], &[("md5", TOOL), ("", TOOL)], SCRIPT),
    ("max_source_bytes", &["1", "16777216"], &[("0", TOOL), ("16777217", TOOL), ("1KiB", TOOL), ("-1", TOOL), ("", TOOL)], SCRIPT),
    ("executable", &["true"], &[("yes", TOOL), ("", TOOL)], SCRIPT),
    ("min_count", &["0", "4096"], &[("4097", BOUNDS), ("-1", "shell.invalid_integer"), ("", "shell.invalid_integer")], ARGUMENTS),
    ("max_count", &["0", "4096"], &[("4097", BOUNDS), ("1.5", "shell.invalid_integer")], ARGUMENTS),
    ("max_item_bytes", &["1", "131071"], &[("0", BOUNDS), ("131072", BOUNDS), ("x", "shell.invalid_integer")], ARGUMENTS),
    ("mode", &["none", "optional", "required"], &[("some", WORD), ("", "shell.missing_attribute")],
        "<tool name=\"x\" runtime=\"t\" command=\"ls\"><arguments @/></tool>"),
    ("value", &["", "x"], &[], "<tool name=\"x\" runtime=\"t\"><command program=\"ls\"><arg @/></command></tool>"),
    ("env", &["A"], &[("A=B", "shell.invalid_env_name"), ("", "shell.missing_attribute")], "<tool name=\"x\" runtime=\"t\"><command program=\"ls\"><secret_arg @/></command></tool>"),
    ("prefix", &["", "x="], &[], "<tool name=\"x\" runtime=\"t\"><command program=\"ls\"><secret_arg env=\"A\" @/></command></tool>"),
    ("path", &["/a", "${workspace}/a"], &[("${nosuch}", "shell.invalid_path"), ("", "shell.missing_attribute")], "<tool name=\"x\" runtime=\"t\"><command program=\"ls\"><path_arg @/></command></tool>"),
    ("base", &["workspace", "home"], &[("nosuch", "shell.invalid_path"), ("${workspace}", "shell.invalid_path")], "<tool name=\"x\" runtime=\"t\"><command program=\"ls\"><path_arg path=\"a\" @/></command></tool>"),
    ("executable_ref", &["tar"], &[("nosuch", "shell.unknown_executable")], "<tool name=\"x\" runtime=\"t\" @/>"),
    ("command", &["ls", "ls -l 'a b'"], &[("ls | wc", "shell.tool_invalid_fixed_command"), ("", "shell.tool_missing_command"), ("ls $X", "shell.tool_invalid_fixed_command")], "<tool name=\"x\" runtime=\"t\" @/>"),
];

fn errors(inside: &str, on_runtime: &str) -> Vec<String> {
    errors_of(format!(
        "<shell_access id=\"r\"{on_runtime}>{inside}</shell_access>\n"
    ))
}

fn errors_of(document: String) -> Vec<String> {
    let files = Files::from([("agent.chatmd".to_owned(), document)]);
    let compilation = compiled(&files);
    let found = compilation.diagnostics.iter();
    found
        .filter(|found| found.severity == Severity::Error)
        .map(|found| found.code.to_owned())
        .collect()
}

#[test]
fn every_attribute_takes_what_its_type_says_and_nothing_else() {
    let mut wrong = Vec::new();
    for (name, ty, inside) in ROWS {
        let (accepted, refused) = values(*ty);
        let with = |value: &str| {
            let attribute = format!("{name}=\"{value}\"");
            match *inside {
                "" => errors("", &format!(" {attribute}")),
                inside => errors(&inside.replace('@', &attribute), ""),
            }
        };
        let shown = |value: &str| value.chars().take(24).collect::<String>();
        for value in accepted {
            let found = with(&value);
            if !found.is_empty() {
                wrong.push(format!(
                    "{name}={:?} in {inside}: refused with {found:?}",
                    shown(&value)
                ));
            }
        }
        for (value, code) in refused {
            let found = with(&value);
            if found != [code] {
                wrong.push(format!(
                    "{name}={:?} in {inside}: {found:?}, not {code}",
                    shown(&value)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_is_required_is_missed_once() {
    let mut wrong = Vec::new();
    for inside in REQUIRED {
        let found = errors(inside, "");
        if found != ["shell.missing_attribute"] {
            wrong.push(format!("{inside}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn hooks_scripts_and_tools_take_what_their_tables_say() {
    assert_eq!(errors_of(BESIDE.to_owned()), [""; 0]);
    let mut wrong = Vec::new();
    for (name, accepted, refused, document) in WHOLE {
        let with = |value: &str| {
            let attribute = format!("{name}=\"{value}\"");
            errors_of(format!("{BESIDE}{}", document.replace('@', &attribute)))
        };
        for value in *accepted {
            let found = with(value);
            if !found.is_empty() {
                wrong.push(format!(
                    "{name}={value:?} in {document}: refused with {found:?}"
                ));
            }
        }
        for (value, code) in *refused {
            let found = with(value);
            if found != [*code] {
                wrong.push(format!(
                    "{name}={value:?} in {document}: {found:?}, not {code}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}
