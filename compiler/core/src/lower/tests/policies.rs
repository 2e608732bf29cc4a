//! Policies, matchers and extensions: a firing and a silent case per code.

use super::check;

fn rule(fragment: &str) -> String {
    format!(
        "<shell_access id=\"r\"><policy><rule id=\"x\" action=\"allow\">{fragment}</rule></policy></shell_access>"
    )
}

fn section(fragment: &str) -> String {
    format!("<shell_access id=\"r\">{fragment}</shell_access>")
}

#[test]
fn rules() {
    check(
        &[
            (
                "<policy default=\"permit\"/>",
                &["shell.invalid_attribute@permit"],
            ),
            (
                "<policy><rule/></policy>",
                &[
                    "shell.missing_attribute@rule",
                    "shell.missing_attribute@rule",
                    "shell.rule_matcher_arity@rule",
                ],
            ),
            (
                "<policy><rule id=\"a\" action=\"ask\"><any_command/></rule><rule id=\"b\" action=\"ask\"><any_command/></rule></policy>",
                &[],
            ),
            (
                "<policy><rule id=\"a\" action=\"ask\"><any_command/></rule><rule id=\"a\" action=\"ask\"><any_command/></rule></policy>",
                &["shell.duplicate_named_entry@a"],
            ),
            (
                "<policy><rule id=\"a\" action=\"ask\"><any_command/><raw_shell/></rule></policy>",
                &["shell.rule_matcher_arity@rule"],
            ),
            (
                "<policy><rules/></policy>",
                &["shell.unknown_element@<rules/>"],
            ),
            (
                "<policy><rule id=\"a\" action=\"deny\"><program value=\"rm\"/></rule></policy>",
                &["shell.deny_by_text@rule"],
            ),
            (
                "<policy><rule id=\"a\" action=\"deny\"><any><argv_prefix values=\"rm\"/><program_regex value=\"rm\"/></any></rule></policy>",
                &["shell.deny_by_text@rule"],
            ),
            (
                "<policy><rule id=\"a\" action=\"deny\"><any><argv_prefix values=\"rm\"/><basename value=\"rm\"/></any></rule></policy>",
                &[],
            ),
            (
                "<policy><rule id=\"a\" action=\"deny\"><not><program value=\"rm\"/></not></rule></policy>",
                &[],
            ),
            (
                "<policy><rule id=\"a\" action=\"allow\"><program value=\"rm\"/></rule></policy>",
                &[],
            ),
            (
                "<policy><rule id=\"a\" action=\"deny\"><chatml_match script=\"m\" failure=\"no_match\"/></rule></policy>",
                &["shell.matcher_failure_clamped@no_match"],
            ),
            (
                "<policy default=\"allow\"><rule id=\"a\" action=\"ask\"><chatml_match script=\"m\" failure=\"no_match\"/></rule></policy>",
                &["shell.matcher_failure_clamped@no_match"],
            ),
            (
                "<policy default=\"deny\"><rule id=\"a\" action=\"ask\"><chatml_match script=\"m\" failure=\"no_match\"/></rule></policy>",
                &[],
            ),
        ],
        section,
    );
}

#[test]
fn matchers() {
    check(
        &[
            ("<any_command/>", &[]),
            ("<limits/>", &["shell.unknown_matcher@<limits/>"]),
            (
                "<basenam value=\"x\"/>",
                &["shell.unknown_matcher@<basenam value=\"x\"/>"],
            ),
            ("text<any_command/>", &["shell.unexpected_text@text"]),
            ("<all/>", &["shell.empty_matcher@all"]),
            ("<all></all>", &["shell.empty_matcher@all"]),
            ("<any><all/></any>", &["shell.empty_matcher@all"]),
            ("<not/>", &["shell.matcher_arity@not"]),
            (
                "<not><raw_shell/><raw_shell/></not>",
                &["shell.matcher_arity@not"],
            ),
            ("<not><wat/></not>", &["shell.unknown_matcher@<wat/>"]),
            (
                "<all of=\"x\"><raw_shell/></all>",
                &["shell.unknown_attribute@of"],
            ),
            ("<basename value=\"a/b\"/>", &["shell.invalid_attribute@/"]),
            ("<basename value=\"\"/>", &["shell.missing_attribute@"]),
            (
                "<basename value=\"x\"><argument value=\"y\"/></basename>",
                &["shell.unexpected_child@<argument value=\"y\"/>"],
            ),
            ("<argument value=\"\"/>", &[]),
            (
                "<argument_contains value=\"\"/>",
                &["shell.missing_attribute@"],
            ),
            ("<program_regex value=\"\"/>", &["shell.empty_regex@"]),
            (
                "<program_regex value=\"(a)\\1\"/>",
                &["shell.invalid_program_regex@\\1"],
            ),
            (
                "<program_regex value=\"&lt;(?=x)\"/>",
                &["shell.invalid_program_regex@(?="],
            ),
            ("<program_regex value=\"^(a|b)\\d+$\"/>", &[]),
            (
                "<argv_prefix values=\"\"/>",
                &["shell.invalid_argv_prefix@"],
            ),
            (
                "<argv_prefix values=\",x\"/>",
                &["shell.invalid_argv_prefix@,x"],
            ),
            ("<argv_prefix values=\"git,,x\"/>", &["shell.invalid_list@"]),
            ("<argv_prefix values='[\"git\",\"\"]'/>", &[]),
            ("<effect name=\"read\"/>", &["shell.invalid_attribute@read"]),
            (
                "<effect name=\"network\" under=\"/x\"/>",
                &["shell.incompatible_attribute@under"],
            ),
            ("<effect name=\"write_path\" under=\"/x\"/>", &[]),
            (
                "<effect name=\"wrong\" under=\"${x}\"/>",
                &["shell.invalid_attribute@wrong", "shell.invalid_path@${x}"],
            ),
            ("<chatml_match/>", &["shell.missing_attribute@chatml_match"]),
            (
                "<chatml_match script=\"builtin:x\"/>",
                &["shell.invalid_reference@builtin:x"],
            ),
            (
                "<chatml_match script=\"m\" failure=\"keep\"/>",
                &["shell.invalid_failure_mode@keep"],
            ),
            (
                "<chatml_match script=\"m\" failure=\"maybe\"/>",
                &["shell.invalid_attribute@maybe"],
            ),
            ("<chatml_match script=\"m\" failure=\"no_match\"/>", &[]),
            (
                "<chatml_match script=\"m\" function=\"a b\"/>",
                &["shell.invalid_attribute@a b"],
            ),
        ],
        rule,
    );
}

#[test]
fn depth_and_number_of_matchers_are_bounded() {
    let nested = |depth: usize| {
        rule(&format!(
            "{}<raw_shell/>{}",
            "<not>".repeat(depth),
            "</not>".repeat(depth)
        ))
    };
    assert_eq!(super::shown(&nested(63)), [""; 0]);
    assert_eq!(
        super::shown(&nested(64)),
        ["shell.matcher_too_deep@<raw_shell/>"]
    );
    assert_eq!(super::shown(&nested(200)), ["shell.matcher_too_deep@<not>"]);
    let wide = |count: usize| rule(&format!("<any>{}</any>", "<raw_shell/>".repeat(count)));
    assert_eq!(super::shown(&wide(4095)), [""; 0]);
    assert_eq!(
        super::shown(&wide(9000)),
        ["shell.matcher_too_deep@<raw_shell/>"]
    );
}

#[test]
fn reviewers() {
    check(
        &[
            (
                "<reviewers strategy=\"vote\"/>",
                &["shell.invalid_attribute@vote"],
            ),
            (
                "<reviewers><reviewer/></reviewers>",
                &[
                    "shell.missing_attribute@reviewer",
                    "shell.missing_attribute@reviewer",
                ],
            ),
            (
                "<reviewers><reviewer id=\"a\" kind=\"ui\"/><reviewer id=\"b\" kind=\"chatml\" script=\"s\" lifecycle=\"runtime\"/></reviewers>",
                &[],
            ),
            (
                "<reviewers><reviewer id=\"a\" kind=\"ui\" script=\"s\" failure=\"deny\"/></reviewers>",
                &[
                    "shell.incompatible_attribute@script",
                    "shell.incompatible_attribute@failure",
                ],
            ),
            (
                "<reviewers><reviewer id=\"a\" kind=\"chatml\"/></reviewers>",
                &["shell.missing_attribute@reviewer"],
            ),
            (
                "<reviewers><reviewer id=\"a\" kind=\"chatml\" script=\"s\" sha256=\"x\"/></reviewers>",
                &["shell.incompatible_attribute@sha256"],
            ),
            (
                "<reviewers><reviewer id=\"a\" kind=\"model\" agent=\"m\" failure=\"no_match\"/></reviewers>",
                &["shell.invalid_failure_mode@no_match"],
            ),
            (
                "<reviewers><reviewer id=\"a\" kind=\"model\" agent=\"m\" model=\"x\" failure=\"error\"/></reviewers>",
                &[],
            ),
            (
                "<reviewers><reviewer id=\"a\" kind=\"ui\"/><reviewer id=\"a\" kind=\"ui\"/></reviewers>",
                &["shell.duplicate_named_entry@a"],
            ),
            (
                "<reviewers><reviewer id=\"a\" kind=\"executable\"/></reviewers>",
                &[
                    "shell.missing_attribute@reviewer",
                    "shell.missing_attribute@reviewer",
                    "shell.unpinned_hook@reviewer",
                ],
            ),
            (
                "<reviewers><reviewer id=\"a\" kind=\"executable\" executable=\"h\" runtime=\"w\" sha256=\"x\" max_input=\"0\" timeout=\"none\" protocol=\"v2\"/></reviewers>",
                &[
                    "shell.invalid_sha256@x",
                    "shell.limit_out_of_range@0",
                    "shell.invalid_duration@none",
                    "shell.invalid_attribute@v2",
                ],
            ),
            (
                "<reviewers><reviewer id=\"a\" kind=\"human\" sha256=\"x\"/></reviewers>",
                &["shell.invalid_attribute@human", "shell.invalid_sha256@x"],
            ),
        ],
        section,
    );
}

#[test]
fn interceptors_and_analyzers() {
    check(
        &[
            (
                "<interceptors><interceptor id=\"a\" phase=\"before\" script=\"s\"><match><raw_shell/></match></interceptor></interceptors>",
                &[],
            ),
            (
                "<interceptors><interceptor id=\"a\" phase=\"before\"/></interceptors>",
                &["shell.invalid_extension@interceptor"],
            ),
            (
                "<interceptors><interceptor id=\"a\" phase=\"before\" script=\"s\" executable=\"/e\"/></interceptors>",
                &["shell.invalid_extension@interceptor"],
            ),
            (
                "<interceptors><interceptor id=\"a\" phase=\"during\" script=\"s\"/></interceptors>",
                &["shell.invalid_attribute@during"],
            ),
            (
                "<interceptors><interceptor id=\"a\" phase=\"after\" script=\"s\"><match><raw_shell/></match></interceptor></interceptors>",
                &["shell.after_interceptor_match@<match>"],
            ),
            (
                "<interceptors><interceptor id=\"a\" phase=\"before\" script=\"s\"><match/></interceptor></interceptors>",
                &["shell.matcher_arity@match"],
            ),
            (
                "<interceptors><interceptor id=\"a\" phase=\"before\" script=\"s\"><match><raw_shell/></match><match><raw_shell/></match></interceptor></interceptors>",
                &["shell.matcher_arity@<match>"],
            ),
            (
                "<interceptors><interceptor id=\"a\" phase=\"before\" script=\"s\"><match><chatml_match script=\"m\" failure=\"no_match\"/></match></interceptor></interceptors>",
                &["shell.matcher_failure_clamped@no_match"],
            ),
            (
                "<interceptors><interceptor id=\"a\" phase=\"before\" script=\"s\" sha256=\"x\" timeout=\"1s\"/></interceptors>",
                &[
                    "shell.invalid_sha256@x",
                    "shell.incompatible_attribute@timeout",
                ],
            ),
            (
                "<interceptors><interceptor id=\"a\" phase=\"before\" executable=\"/e\" lifecycle=\"session\"/></interceptors>",
                &[
                    "shell.missing_attribute@interceptor",
                    "shell.unpinned_hook@interceptor",
                    "shell.incompatible_attribute@lifecycle",
                ],
            ),
            (
                "<interceptors><interceptor id=\"a\" phase=\"after\" script=\"s\" failure=\"keep\"/></interceptors>",
                &["shell.invalid_failure_mode@keep"],
            ),
            (
                "<interceptors><interceptor id=\"a\" phase=\"after\" script=\"s\" failure=\"crash\"/></interceptors>",
                &["shell.invalid_attribute@crash"],
            ),
            (
                "<effect_analysis><analyzer id=\"a\" script=\"s\"/></effect_analysis>",
                &[],
            ),
            (
                "<effect_analysis><analyzer id=\"a\"/></effect_analysis>",
                &["shell.missing_attribute@analyzer"],
            ),
            (
                "<effect_analysis><analyzer id=\"a\" script=\"s\" failure=\"keep\"/></effect_analysis>",
                &["shell.analyzer_keep@keep"],
            ),
            (
                "<effect_analysis><analyzer id=\"a\" script=\"s\" failure=\"keep\" replace=\"true\"/></effect_analysis>",
                &["shell.invalid_failure_mode@keep"],
            ),
            (
                "<effect_analysis><analyzer id=\"a\" kind=\"executable\" executable=\"/e\" runtime=\"w\" script=\"s\"/></effect_analysis>",
                &[
                    "shell.unpinned_hook@analyzer",
                    "shell.incompatible_attribute@script",
                ],
            ),
            (
                "<effect_analysis><analyzer id=\"a\" script=\"s\"/><analyzer id=\"a\" script=\"s\"/></effect_analysis>",
                &["shell.duplicate_named_entry@a"],
            ),
        ],
        section,
    );
}
