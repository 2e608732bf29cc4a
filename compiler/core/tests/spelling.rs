//! Who misspells a name gets the right one offered, and the repair works: after its edits the
//! document compiles.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "common/repair.rs"]
mod repair;

use chatmd_compiler::diagnostics::Severity;
use repair::{Files, compiled, repaired};

/// Code, document with the misspelt word between `«` and `»`, right word.
type Row = (&'static str, &'static str, &'static str);

const RUNTIME: &str = r#"<shell_access id="r"/>"#;

/// What stands beside every document.
const LIBRARY: &str = r#"<shell_access id="base" extends="builtin:workspace-readonly@1"/>
<script id="matcher" language="chatml" kind="shell_matcher">
let initial_state = ()
let match_command ctx st = Task.map(Match.yes("m"), fun _ -> st)
</script>
"#;

#[rustfmt::skip]
const ELEMENTS: &[Row] = &[
    ("chatmd.unknown_element", "<«usr»>Hello</usr>", "user"),
    ("chatmd.unknown_element", "<«User»>Hello</User>", "user"),
    ("chatmd.unknown_element", "<«asistant»>Hello</asistant>", "assistant"),
    ("chatmd.unknown_element", "<«confg» model=\"gpt-5\"/>", "config"),
    ("chatmd.unknown_element", "<«shell_acess» id=\"x\"/>", "shell_access"),
    ("chatmd.unknown_element", "<«moderator-runtime» shell_runtime=\"r\"/>", "moderator_runtime"),
    ("shell.unknown_element", "<shell_access id=\"x\"><«capabilites» network=\"true\"/></shell_access>", "capabilities"),
    ("shell.unknown_element", "<shell_access id=\"x\"><«enviroment» inherit=\"safe\"/></shell_access>", "environment"),
    ("shell.unknown_element", "<shell_access id=\"x\"><«Limits» wall_time=\"1s\"/></shell_access>", "limits"),
    ("shell.unknown_element", "<shell_access id=\"x\"><capabilities><«raed» path=\"/srv\"/></capabilities></shell_access>", "read"),
    ("shell.unknown_element", "<shell_access id=\"x\"><resolver><«executeable» id=\"e\" path=\"/e\"/></resolver></shell_access>", "executable"),
    ("shell.unknown_element", "<tool name=\"t\" runtime=\"r\" command=\"ls\"><«argumets» mode=\"none\"/></tool>", "arguments"),
    ("shell.unknown_matcher", "<shell_access id=\"x\"><policy><rule id=\"a\" action=\"deny\"><«base_name» value=\"rm\"/></rule></policy></shell_access>", "basename"),
    ("shell.unknown_matcher", "<shell_access id=\"x\"><policy><rule id=\"a\" action=\"deny\"><any><«progam» value=\"rm\"/></any></rule></policy></shell_access>", "program"),
    ("read_file.unexpected_child", "<tool name=\"read_file\"><«reed» id=\"a\" path=\"src\"/></tool>", "read"),
    ("chatmd.unknown_element", "<«sytem»>Hello</sytem>", "system"),
    ("chatmd.unknown_element", "<«develper»>Hello</develper>", "developer"),
    ("chatmd.unknown_element", "<«mgs» role=\"user\">Hello</mgs>", "msg"),
    ("chatmd.unknown_element", "<«tol» name=\"t\" runtime=\"r\" command=\"ls\"/>", "tool"),
    ("chatmd.unknown_element", "<«SHELL_ACCESS» id=\"x\"/>", "shell_access"),
    ("chatmd.unknown_element", "<«shell-access» id=\"x\"/>", "shell_access"),
    ("chatmd.unknown_element", "<«improt» src=\"lib.chatmd\" namespace=\"other\"/>", "import"),
    ("shell.unknown_element", "<shell_access id=\"x\"><«resolvr» allow_relative_search_path=\"false\"/></shell_access>", "resolver"),
    ("shell.unknown_element", "<shell_access id=\"x\"><«polcy» default=\"ask\"/></shell_access>", "policy"),
    ("shell.unknown_element", "<shell_access id=\"x\"><«approval» provider=\"ui\"/></shell_access>", "approvals"),
    ("shell.unknown_element", "<shell_access id=\"x\"><«secret» replacement=\"x\"/></shell_access>", "secrets"),
    ("shell.unknown_element", "<shell_access id=\"x\"><«audits» format=\"session\"/></shell_access>", "audit"),
    ("shell.unknown_element", "<shell_access id=\"x\"><capabilities><«wirte» path=\"/srv\"/></capabilities></shell_access>", "write"),
    ("shell.unknown_element", "<shell_access id=\"x\"><resolver><«search-path» path=\"/opt/bin\"/></resolver></shell_access>", "search_path"),
    ("shell.unknown_element", "<shell_access id=\"x\"><environment><«pas» name=\"LANG\"/></environment></shell_access>", "pass"),
    ("shell.unknown_matcher", "<shell_access id=\"x\"><policy><rule id=\"a\" action=\"deny\"><«argv_prefx» values=\"rm\"/></rule></policy></shell_access>", "argv_prefix"),
    ("shell.unknown_matcher", "<shell_access id=\"x\"><policy><rule id=\"a\" action=\"deny\"><«argument_contain» value=\"x\"/></rule></policy></shell_access>", "argument_contains"),
];

#[rustfmt::skip]
const ATTRIBUTES: &[Row] = &[
    ("chatmd.unknown_attribute", "<config «modle»=\"gpt-5\"/>", "model"),
    ("chatmd.unknown_attribute", "<config model=\"gpt-5\" «temprature»=\"0\"/>", "temperature"),
    ("chatmd.unknown_attribute", "<import src=\"lib.chatmd\" «namspace»=\"other\"/>", "namespace"),
    ("shell.unknown_attribute", "<shell_access id=\"x\"><limits «walltime»=\"2m\"/></shell_access>", "wall_time"),
    ("shell.unknown_attribute", "<shell_access id=\"x\"><limits «idle_tiem»=\"2m\"/></shell_access>", "idle_time"),
    ("shell.unknown_attribute", "<shell_access id=\"x\"><capabilities «netwrok»=\"true\"/></shell_access>", "network"),
    ("shell.unknown_attribute", "<shell_access id=\"x\"><capabilities «childProcesses»=\"true\"/></shell_access>", "child_processes"),
    ("shell.unknown_attribute", "<shell_access id=\"x\" «extend»=\"builtin:yolo@1\"/>", "extends"),
    ("shell.unknown_attribute", "<shell_access id=\"x\"><policy «defualt»=\"deny\"/></shell_access>", "default"),
    ("shell.unknown_attribute", "<shell_access id=\"x\"><policy><rule id=\"a\" «acton»=\"deny\"><basename value=\"rm\"/></rule></policy></shell_access>", "action"),
    ("shell.unknown_attribute", "<tool name=\"t\" runtime=\"r\" «comand»=\"ls\"/>", "command"),
    ("shell.unknown_attribute", "<tool name=\"t\" runtime=\"r\" command=\"ls\" «descripton»=\"List\"/>", "description"),
    ("chatmd.tool_unknown_attribute", "<tool name=\"ask\" agent=\"a.chatmd\" local «descripton»=\"Ask\"/>", "description"),
    ("shell.unknown_attribute", "<script id=\"s\" «langage»=\"chatml\" kind=\"shell_matcher\">let initial_state = ()\nlet match_command ctx st = Task.map(Match.yes(\"m\"), fun _ -> st)\n</script>", "language"),
    ("shell.unknown_attribute", "<shell_access id=\"x\"><limits «memry»=\"64MiB\"/></shell_access>", "memory"),
    ("shell.unknown_attribute", "<shell_access id=\"x\"><limits «stdot»=\"1MiB\"/></shell_access>", "stdout"),
    ("shell.unknown_attribute", "<shell_access id=\"x\"><limits «cpu-time»=\"1s\"/></shell_access>", "cpu_time"),
    ("shell.unknown_attribute", "<shell_access id=\"x\"><limits «openFiles»=\"64\"/></shell_access>", "open_files"),
    ("shell.unknown_attribute", "<shell_access id=\"x\"><environment «inherits»=\"safe\"/></shell_access>", "inherit"),
    ("shell.unknown_attribute", "<shell_access id=\"x\"><approvals «provder»=\"ui\"/></shell_access>", "provider"),
    ("shell.unknown_attribute", "<shell_access id=\"x\"><approvals «scope»=\"once\"/></shell_access>", "scopes"),
    ("shell.unknown_attribute", "<shell_access id=\"x\"><audit «fromat»=\"session\"/></shell_access>", "format"),
    ("shell.unknown_attribute", "<shell_access id=\"x\"><capabilities «sandbx»=\"required\"/></shell_access>", "sandbox"),
    ("shell.unknown_attribute", "<shell_access id=\"x\"><resolver><executable «ID»=\"e\" path=\"/e\"/></resolver></shell_access>", "id"),
    ("shell.unknown_attribute", "<shell_access id=\"x\"><environment><set name=\"LANG\" «vaule»=\"C\"/></environment></shell_access>", "value"),
    ("shell.unknown_attribute", "<tool name=\"t\" «runtme»=\"r\" type=\"shell\" command=\"ls\"/>", "runtime"),
    ("shell.unknown_attribute", "<tool «nmae»=\"t\" runtime=\"r\" command=\"ls\"/>", "name"),
];

#[rustfmt::skip]
const WORDS: &[Row] = &[
    ("chatmd.invalid_role", "<msg role=\"«usr»\">Hello</msg>", "user"),
    ("chatmd.script_invalid_kind", "<script id=\"s\" language=\"chatml\" kind=\"«shell_macher»\">let initial_state = ()\nlet match_command ctx st = Task.map(Match.yes(\"m\"), fun _ -> st)\n</script>", "shell_matcher"),
    ("shell.invalid_attribute", "<shell_access id=\"x\"><capabilities sandbox=\"«requird»\"/></shell_access>", "required"),
    ("shell.invalid_attribute", "<shell_access id=\"x\"><environment inherit=\"«all_sanitised»\"/></shell_access>", "all_sanitized"),
    ("shell.invalid_attribute", "<shell_access id=\"x\"><policy default=\"«Deny»\"/></shell_access>", "deny"),
    ("shell.invalid_attribute", "<shell_access id=\"x\"><capabilities network=\"«ture»\"/></shell_access>", "true"),
    ("shell.invalid_attribute", "<shell_access id=\"x\"><approvals scopes=\"once,«exact_sesion»\"/></shell_access>", "exact_session"),
    ("shell.invalid_attribute", "<shell_access id=\"x\"><policy><rule id=\"a\" action=\"deny\"><effect name=\"«netwrok»\"/></rule></policy></shell_access>", "network"),
    ("shell.invalid_attribute", "<shell_access id=\"x\"><backends><bubblewrap when=\"«linus»\"/></backends></shell_access>", "linux"),
    ("shell.invalid_attribute", "<shell_access id=\"x\"><audit format=\"«sesion»\"/></shell_access>", "session"),
    ("shell.tool_invalid_mode", "<tool name=\"t\" runtime=\"r\" mode=\"«structred»\"/>", "structured"),
    ("shell.tool_invalid_attribute", "<tool name=\"t\" runtime=\"r\" command=\"ls\" stdin=\"«optionl»\"/>", "optional"),
    ("shell.tool_invalid_type", "<tool name=\"t\" runtime=\"r\" type=\"«shel»\" command=\"ls\"/>", "shell"),
    ("chatmd.tool_unknown_builtin", "<tool name=\"«aply_patch»\"/>", "apply_patch"),
    ("shell.invalid_attribute", "<shell_access id=\"x\"><reviewers><reviewer id=\"m\" kind=\"model\" agent=\"a\" failure=\"«dney»\"/></reviewers></shell_access>", "deny"),
    ("shell.invalid_attribute", "<shell_access id=\"x\"><policy default=\"«alow»\"/></shell_access>", "allow"),
    ("shell.invalid_attribute", "<shell_access id=\"x\"><approvals provider=\"«iu»\"/></shell_access>", "ui"),
    ("shell.invalid_attribute", "<shell_access id=\"x\"><environment inherit=\"«Safe»\"/></shell_access>", "safe"),
    ("shell.invalid_attribute", "<shell_access id=\"x\"><capabilities sandbox=\"«prefered»\"/></shell_access>", "preferred"),
    ("shell.invalid_attribute", "<shell_access id=\"x\"><capabilities merge=\"«apend»\"/></shell_access>", "append"),
    ("shell.invalid_attribute", "<shell_access id=\"x\"><audit format=\"session\" content=\"«metdata»\"/></shell_access>", "metadata"),
    ("shell.invalid_attribute", "<shell_access id=\"x\"><policy><rule id=\"a\" action=\"«dney»\"><basename value=\"rm\"/></rule></policy></shell_access>", "deny"),
    ("shell.invalid_attribute", "<shell_access id=\"x\"><policy><rule id=\"a\" action=\"deny\"><effect name=\"«write-path»\"/></rule></policy></shell_access>", "write_path"),
    ("shell.invalid_attribute", "<shell_access id=\"x\"><interceptors><interceptor id=\"i\" phase=\"«befor»\" executable=\"/opt/h\" runtime=\"lib:base\"/></interceptors></shell_access>", "before"),
    ("shell.invalid_attribute", "<shell_access id=\"x\"><interceptors><interceptor id=\"i\" phase=\"«aftr»\" executable=\"/opt/h\" runtime=\"lib:base\"/></interceptors></shell_access>", "after"),
    ("chatmd.invalid_role", "<msg role=\"«asistant»\">Hello</msg>", "assistant"),
    ("shell.tool_invalid_mode", "<tool name=\"t\" runtime=\"r\" mode=\"«chian»\"/>", "chain"),
    ("shell.tool_invalid_attribute", "<tool name=\"t\" runtime=\"r\" command=\"ls\" result=\"«combind»\"/>", "combined"),
];

#[rustfmt::skip]
const UNITS: &[Row] = &[
    ("shell.invalid_bytes", "<shell_access id=\"x\"><limits memory=\"«2GB»\"/></shell_access>", "2GiB"),
    ("shell.invalid_bytes", "<shell_access id=\"x\"><limits stdout=\"«512kb»\"/></shell_access>", "512KiB"),
    ("shell.invalid_bytes", "<shell_access id=\"x\"><limits stdout=\"«1MB»\"/></shell_access>", "1MiB"),
    ("shell.invalid_duration", "<shell_access id=\"x\"><limits wall_time=\"«90»\"/></shell_access>", "90s"),
    ("shell.invalid_duration", "<shell_access id=\"x\"><limits wall_time=\"«5sec»\"/></shell_access>", "5s"),
    ("shell.invalid_duration", "<shell_access id=\"x\"><limits wall_time=\"«2min»\"/></shell_access>", "2m"),
    ("shell.invalid_duration", "<shell_access id=\"x\"><limits wall_time=\"«1 h»\"/></shell_access>", "1h"),
    ("shell.invalid_integer", "<shell_access id=\"x\"><limits open_files=\"«1_024»\"/></shell_access>", "1024"),
    ("shell.invalid_bytes", "<shell_access id=\"x\"><limits memory=\"«64mb»\"/></shell_access>", "64MiB"),
    ("shell.invalid_bytes", "<shell_access id=\"x\"><limits stdout=\"«1 MiB»\"/></shell_access>", "1MiB"),
    ("shell.invalid_bytes", "<shell_access id=\"x\"><limits stdout=\"«10K»\"/></shell_access>", "10KiB"),
    ("shell.invalid_bytes", "<shell_access id=\"x\"><limits memory=\"«1gib»\"/></shell_access>", "1GiB"),
    ("shell.invalid_duration", "<shell_access id=\"x\"><limits wall_time=\"«30S»\"/></shell_access>", "30s"),
    ("shell.invalid_duration", "<shell_access id=\"x\"><limits wall_time=\"«10 seconds»\"/></shell_access>", "10s"),
    ("shell.invalid_duration", "<shell_access id=\"x\"><limits wall_time=\"«1hour»\"/></shell_access>", "1h"),
    ("shell.invalid_duration", "<shell_access id=\"x\"><limits wall_time=\"«500msec»\"/></shell_access>", "500ms"),
];

#[rustfmt::skip]
const NAMES: &[Row] = &[
    ("shell.invalid_path", "<shell_access id=\"x\" cwd=\"${«workspce»}/src\"/>", "workspace"),
    ("shell.invalid_path", "<shell_access id=\"x\" cwd=\"${«HOME»}\"/>", "home"),
    ("shell.invalid_path", "<shell_access id=\"x\"><capabilities><read path=\"${«source-dir»}/a\"/></capabilities></shell_access>", "source_dir"),
    ("shell.tool_invalid_path", "<tool name=\"t\" runtime=\"r\" mode=\"script\" script=\"${«tooldir»}/a.sh\"/>", "tool_dir"),
    ("read_file.invalid_path", "<tool name=\"read_file\"><read id=\"a\" path=\"${«hom»}/a\"/></tool>", "home"),
    ("shell.unknown_runtime", "<shell_access id=\"worker\"/><tool name=\"t\" runtime=\"«wroker»\" command=\"ls\"/>", "worker"),
    ("shell.unknown_runtime", "<shell_access id=\"x\" extends=\"«lib:bse»\"/>", "lib:base"),
    ("shell.unknown_runtime", "<tool name=\"t\" runtime=\"«lip:base»\" command=\"ls\"/>", "lib:base"),
    ("shell.unknown_builtin_profile", "<shell_access id=\"x\" extends=\"«builtin:workspace-readnly@1»\"/>", "builtin:workspace-readonly@1"),
    ("shell.unknown_script", "<shell_access id=\"x\"><policy><rule id=\"a\" action=\"ask\"><chatml_match script=\"«lib:macher»\"/></rule></policy></shell_access>", "lib:matcher"),
    ("shell.unknown_executable", "<shell_access id=\"x\"><resolver><executable id=\"linter\" path=\"/opt/lint\"/></resolver></shell_access><tool name=\"t\" runtime=\"x\" executable_ref=\"«lnter»\"/>", "linter"),
    ("shell.unknown_worker_runtime", "<shell_access id=\"x\"><interceptors><interceptor id=\"i\" phase=\"after\" executable=\"h\" runtime=\"«lib:bas»\"/></interceptors></shell_access>", "lib:base"),
    ("shell.invalid_path", "<shell_access id=\"x\" cwd=\"${«Workspace»}\"/>", "workspace"),
    ("shell.invalid_path", "<shell_access id=\"x\"><capabilities><write path=\"${«worksapce»}/out\"/></capabilities></shell_access>", "workspace"),
    ("shell.invalid_path", "<shell_access id=\"x\"><capabilities><read path=\"${«source_dr»}/a\"/></capabilities></shell_access>", "source_dir"),
    ("shell.unknown_runtime", "<tool name=\"t\" runtime=\"«lib:Base»\" command=\"ls\"/>", "lib:base"),
    ("shell.unknown_runtime", "<shell_access id=\"worker\"/><moderator_runtime shell_runtime=\"«workr»\"/>", "worker"),
    ("shell.unknown_script", "<shell_access id=\"x\"><policy><rule id=\"a\" action=\"ask\"><chatml_match script=\"«lib:matchr»\"/></rule></policy></shell_access>", "lib:matcher"),
    ("shell.unknown_script", "<shell_access id=\"x\"><policy><rule id=\"a\" action=\"ask\"><chatml_match script=\"«lbi:matcher»\"/></rule></policy></shell_access>", "lib:matcher"),
    ("shell.unknown_executable", "<shell_access id=\"x\"><resolver><executable id=\"formatter\" path=\"/opt/fmt\"/></resolver></shell_access><tool name=\"t\" runtime=\"x\"><command executable_ref=\"«formater»\"/></tool>", "formatter"),
    ("chatmd.tool_unknown_builtin", "<tool name=\"«markdown_serch»\"/>", "markdown_search"),
];

#[rustfmt::skip]
const PROFILES: &[Row] = &[
    ("shell.invalid_reference", "<shell_access id=\"x\" extends=\"«workspace-readonly@1»\"/>", "builtin:workspace-readonly@1"),
    ("shell.unknown_runtime", "<shell_access id=\"x\" extends=\"«workspace-readonly»\"/>", "builtin:workspace-readonly@1"),
    ("shell.unknown_runtime", "<shell_access id=\"x\" extends=\"«workspace_readonly»\"/>", "builtin:workspace-readonly@1"),
    ("shell.unknown_runtime", "<shell_access id=\"x\" extends=\"«readonly»\"/>", "builtin:workspace-readonly@1"),
    ("shell.invalid_reference", "<shell_access id=\"x\" extends=\"«workspace-readnly@1»\"/>", "builtin:workspace-readonly@1"),
    ("shell.invalid_reference", "<shell_access id=\"x\" extends=\"«buitin:workspace-readonly@1»\"/>", "builtin:workspace-readonly@1"),
    ("shell.invalid_reference", "<shell_access id=\"x\" extends=\"«Builtin:workspace-readonly@1»\"/>", "builtin:workspace-readonly@1"),
    ("shell.unknown_builtin_profile", "<shell_access id=\"x\" extends=\"«builtin:workspace-readonly@2»\"/>", "builtin:workspace-readonly@1"),
    ("shell.invalid_reference", "<shell_access id=\"x\" extends=\"«builtin:workspace-readonly@1.0»\"/>", "builtin:workspace-readonly@1"),
    ("shell.unknown_builtin_profile", "<shell_access id=\"x\" extends=\"«builtin:Workspace-Readonly@1»\"/>", "builtin:workspace-readonly@1"),
    ("shell.unknown_builtin_profile", "<shell_access id=\"x\" extends=\"«builtin:workspace_readonly@1»\"/>", "builtin:workspace-readonly@1"),
    ("shell.unknown_builtin_profile", "<shell_access id=\"x\" extends=\"«builtin:readonly»\"/>", "builtin:workspace-readonly@1"),
    ("shell.unknown_builtin_profile", "<shell_access id=\"x\" extends=\"«builtin:workspace-develpment@1»\"/>", "builtin:workspace-development@1"),
    ("shell.invalid_reference", "<shell_access id=\"x\" extends=\"«hook-worker@1»\"/>", "builtin:hook-worker@1"),
    ("shell.unknown_builtin_profile", "<shell_access id=\"x\" extends=\"«builtin:yollo@1»\"/>", "builtin:yolo@1"),
    ("shell.unknown_runtime", "<shell_access id=\"x\" extends=\"«yolo»\"/>", "builtin:yolo@1"),
];

/// What is wrong with the answer to a misspelling, or nothing.
fn problem((code, marked, right): &Row) -> Option<String> {
    let wrong = marked.split(['«', '»']).nth(1).unwrap();
    let closing = marked.replace(&format!("</{wrong}>"), &format!("</{right}>"));
    let (start, end) = (closing.split('«').next(), closing.split('»').nth(1));
    let corrected = format!("{}{right}{}", start.unwrap(), end.unwrap());
    let before = "<import src=\"lib.chatmd\" namespace=\"lib\"/>";
    let document = |text: &str| format!("{before}{RUNTIME}\n{text}\n");
    let files: Files = [
        (
            "agent.chatmd".to_owned(),
            document(&marked.replace(['«', '»'], "")),
        ),
        ("lib.chatmd".to_owned(), LIBRARY.to_owned()),
    ]
    .into();
    let compilation = compiled(&files);
    let Some(found) = compilation
        .diagnostics
        .iter()
        .find(|found| found.code == *code)
    else {
        let codes: Vec<_> = compilation
            .diagnostics
            .iter()
            .map(|found| found.code)
            .collect();
        return Some(format!("not found, but {codes:?}"));
    };
    let errors = compilation
        .diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Error);
    let errors: Vec<_> = errors.map(|found| found.code).collect();
    if errors.len() != 1 {
        return Some(format!("more than one error: {errors:?}"));
    }
    let titles: Vec<_> = found.fixes.iter().map(|fix| fix.title.as_str()).collect();
    let spoken = format!(
        "{} {} {}",
        found.message,
        found.hints.join(" "),
        titles.join(" ")
    );
    if !spoken.contains(right) {
        return Some(format!("`{right}` is not offered: {spoken}"));
    }
    let Some(fix) = found.fixes.first() else {
        return Some(format!("no repair: {spoken}"));
    };
    let after = repaired(&files, &compilation, fix);
    if after["agent.chatmd"] != document(&corrected) {
        return Some(format!("the repair gives {}", after["agent.chatmd"]));
    }
    let again = compiled(&after);
    let errors = again.diagnostics.iter();
    let errors: Vec<_> = errors
        .filter(|found| found.severity == Severity::Error)
        .collect();
    (!errors.is_empty()).then(|| format!("after the repair: {errors:?}"))
}

fn check(rows: &[Row]) {
    let mut report = String::new();
    for row in rows {
        if let Some(problem) = problem(row) {
            report += &format!("{}\n  {}: {problem}\n", row.1, row.0);
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn elements() {
    check(ELEMENTS);
}

#[test]
fn attributes() {
    check(ATTRIBUTES);
}

#[test]
fn words() {
    check(WORDS);
}

#[test]
fn units() {
    check(UNITS);
}

#[test]
fn profiles() {
    check(PROFILES);
}

#[test]
fn every_kind_of_name_has_its_rows() {
    let tables = [ELEMENTS, ATTRIBUTES, WORDS, UNITS, NAMES, PROFILES];
    assert!(tables.concat().len() >= 120, "{}", tables.concat().len());
}

#[test]
fn variables_references_and_namespaces() {
    check(NAMES);
}
