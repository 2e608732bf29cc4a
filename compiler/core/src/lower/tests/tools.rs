//! Tools of every form: a firing and a silent case per code.

use super::check;

fn fixed(fragment: &str) -> String {
    format!("<tool name=\"t\" runtime=\"r\">{fragment}</tool>")
}

#[test]
fn shell_tool_attributes() {
    check(
        &[
            (
                "<tool name=\"t\" runtime=\"r\" command=\"rg --json\"/>",
                &[],
            ),
            (
                "<tool type=\"shell\"/>",
                &[
                    "shell.tool_missing_attribute@tool",
                    "shell.tool_missing_attribute@tool",
                    "shell.tool_missing_command@tool",
                ],
            ),
            (
                "<tool name runtime=\"\" command=\"x\"/>",
                &[
                    "shell.tool_missing_attribute@name",
                    "shell.tool_missing_attribute@",
                ],
            ),
            (
                "<tool name=\"a b\" runtime=\"r\" command=\"x\"/>",
                &["shell.tool_invalid_name@a b"],
            ),
            (
                "<tool name=\"t\" runtime=\"builtin:x\" command=\"x\"/>",
                &["shell.invalid_reference@builtin:x"],
            ),
            (
                "<tool name=\"t\" type=\"bash\"/>",
                &["shell.tool_invalid_type@bash"],
            ),
            (
                "<tool name=\"t\" type=\"bash\" runtime=\"r\" command=\"x\"/>",
                &["shell.tool_invalid_type@bash"],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" mode=\"chains\"/>",
                &["shell.tool_invalid_mode@chains"],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" command=\"x\" stdin=\"yes\" result=\"all\" stream=\"raw\" nonzero=\"fail\" rationale=\"maybe\"/>",
                &[
                    "shell.tool_invalid_attribute@yes",
                    "shell.tool_invalid_attribute@all",
                    "shell.tool_invalid_attribute@raw",
                    "shell.tool_invalid_attribute@fail",
                    "shell.tool_invalid_attribute@maybe",
                ],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" command=\"x\" description=\"a\u{7}\"/>",
                &["shell.tool_invalid_attribute@a\u{7}"],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" command=\"x\" description=\" a\n\tb \"/>",
                &[],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" command=\"x\" local agent=\"y\"/>",
                &[
                    "shell.unknown_attribute@local",
                    "shell.unknown_attribute@agent",
                ],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" command=\"x\" stdin/>",
                &["shell.attribute_value_required@stdin"],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" mode=\"structured\" command=\"x\" nonzero=\"error\"/>",
                &["shell.tool_mode_attribute@command"],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" mode=\"chain\"/>",
                &["shell.tool_status_hidden@tool"],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" mode=\"chain\" result=\"structured\"/>",
                &[],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" mode=\"chain\" nonzero=\"error\"><command program=\"x\"/></tool>",
                &["shell.tool_mode_child@<command program=\"x\"/>"],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" mode=\"chain\" nonzero=\"error\"><wat/></tool>",
                &["shell.unknown_element@<wat/>"],
            ),
        ],
        str::to_owned,
    );
}

#[test]
fn raw_and_script_modes() {
    check(
        &[
            (
                "<tool name=\"t\" runtime=\"r\" mode=\"raw\" nonzero=\"error\"/>",
                &["shell.tool_missing_attribute@tool"],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" mode=\"raw\" nonzero=\"error\" executable=\"/bin/sh\" arguments_before_script='[\"-e\",\"-c\"]'/>",
                &[],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" mode=\"raw\" nonzero=\"error\" executable=\"${x}/sh\" arguments_before_script=\"-c\"/>",
                &[
                    "shell.tool_invalid_path@${x}",
                    "shell.tool_invalid_attribute@-c",
                ],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" mode=\"script\"/>",
                &["shell.tool_missing_attribute@tool"],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" mode=\"script\" script=\"s\"/>",
                &[],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" mode=\"script\" script=\"s\" executable=\"true\"/>",
                &[],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" mode=\"script\" script=\"s\" executable=\"/bin/sh\"/>",
                &["shell.tool_invalid_attribute@/bin/sh"],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" mode=\"script\" script=\"s\" interpreter=\"/bin/sh\" executable=\"true\"/>",
                &["shell.tool_conflicting_script@tool"],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" mode=\"script\" script=\"s\" executable=\"false\"/>",
                &["shell.script_not_executable@false"],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" mode=\"script\" script=\"s\" max_source_bytes=\"16777217\" fixed_arguments=\"x\" verification=\"md5\"/>",
                &[
                    "shell.tool_invalid_attribute@16777217",
                    "shell.tool_invalid_attribute@x",
                    "shell.tool_invalid_attribute@md5",
                ],
            ),
            (
                "<tool name=\"t\" runtime=\"r\" script=\"s\" command=\"x\"/>",
                &["shell.tool_mode_attribute@script"],
            ),
        ],
        str::to_owned,
    );
}

#[test]
fn fixed_commands() {
    check(
        &[
            ("", &["shell.tool_missing_command@tool"]),
            ("<command/>", &["shell.tool_missing_command@command"]),
            (
                "<command program=\"x\" executable_ref=\"y\"/>",
                &["shell.tool_conflicting_command@command"],
            ),
            (
                "<command program=\"x\"/><command program=\"y\"/>",
                &["shell.duplicate_section@<command program=\"y\"/>"],
            ),
            (
                "<command program=\"x\"><arg value=\"\"/><secret_arg env=\"A\" prefix=\"\"/><path_arg path=\"a\" base=\"home\"/></command>",
                &[],
            ),
            (
                "<command program=\"x\"><arg/><arg value=\"${workspace}/x\"/></command>",
                &[
                    "shell.missing_attribute@arg",
                    "shell.unexpanded_variable@${workspace}",
                ],
            ),
            (
                "<command program=\"x\"><path_arg path=\"/a\" base=\"home\"/><path_arg path=\"a\" base=\"hom\"/></command>",
                &["shell.invalid_path@/a", "shell.invalid_path@hom"],
            ),
            (
                "<command program=\"x\"><secret_arg env=\"A=\"/></command>",
                &["shell.invalid_env_name@="],
            ),
            (
                "<command program=\"x\"><argument value=\"y\"/></command>",
                &["shell.unknown_element@<argument value=\"y\"/>"],
            ),
            (
                "<command program=\"x\"/><arguments/>",
                &["shell.missing_attribute@arguments"],
            ),
            (
                "<command program=\"x\"/><arguments mode=\"some\"/>",
                &["shell.invalid_attribute@some"],
            ),
            (
                "<command program=\"x\"/><arguments mode=\"none\" min_count=\"0\"/>",
                &["shell.invalid_argument_bounds@arguments"],
            ),
            (
                "<command program=\"x\"/><arguments mode=\"required\" max_count=\"0\"/>",
                &["shell.invalid_argument_bounds@arguments"],
            ),
            (
                "<command program=\"x\"/><arguments mode=\"optional\" min_count=\"3\" max_count=\"2\"/>",
                &["shell.invalid_argument_bounds@arguments"],
            ),
            (
                "<command program=\"x\"/><arguments mode=\"optional\" max_count=\"4097\"/>",
                &["shell.invalid_argument_bounds@4097"],
            ),
            (
                "<command program=\"x\"/><arguments mode=\"optional\" max_item_bytes=\"0\"/>",
                &["shell.invalid_argument_bounds@0"],
            ),
            (
                "<command program=\"x\"/><arguments mode=\"optional\" min_count=\"x\"/>",
                &["shell.invalid_integer@x"],
            ),
            (
                "<command program=\"x\"/><arguments mode=\"required\" min_count=\"1\" max_count=\"4096\" max_item_bytes=\"131071\"/>",
                &[],
            ),
        ],
        fixed,
    );
    check(
        &[
            ("a | b", &["shell.tool_invalid_fixed_command@a | b"]),
            ("&amp;&amp; ls", &["shell.tool_invalid_fixed_command@&amp;"]),
            ("echo &quot;$x", &["shell.tool_invalid_fixed_command@$"]),
            ("echo $HOME", &["shell.tool_invalid_fixed_command@$"]),
            ("", &["shell.tool_missing_command@"]),
            ("rg -e 'a|b'", &[]),
        ],
        |command| format!("<tool name=\"t\" runtime=\"r\" command=\"{command}\"/>"),
    );
    check(
        &[(
            "<tool name=\"t\" runtime=\"r\" command=\"a\" executable_ref=\"b\"/>",
            &["shell.tool_conflicting_command@tool"],
        )],
        str::to_owned,
    );
}

#[test]
fn legacy_tools() {
    check(
        &[
            (
                "<tool name=\"t\" command=\"ls\"/>",
                &["shell.legacy_tool@tool"],
            ),
            (
                "<tool name=\" t \" command=\" ls \" description=\" \"/>",
                &["shell.legacy_tool@tool"],
            ),
            (
                "<tool name=\" \" command=\"\"/>",
                &[
                    "shell.legacy_tool@tool",
                    "shell.tool_missing_attribute@ ",
                    "shell.tool_missing_command@",
                ],
            ),
            (
                "<tool name=\"t\" command=\"ls\" stdin=\"none\" cmd=\"x\"/>",
                &[
                    "shell.legacy_tool@tool",
                    "shell.legacy_attribute@stdin",
                    "shell.unknown_attribute@cmd",
                ],
            ),
            (
                "<tool name=\"t\" command=\"  a;  b\"/>",
                &[
                    "shell.legacy_tool@tool",
                    "shell.tool_invalid_fixed_command@a;  b",
                ],
            ),
        ],
        |text| text.to_owned(),
    );
    // Without a scope the names of shell elements are text.
    assert_eq!(
        super::shown("<tool name=\"t\" command=\"ls\"><user>x</user></tool>"),
        ["shell.legacy_tool@tool", "shell.tool_mode_child@<user>"],
    );
}

#[test]
fn read_file() {
    check(
        &[
            ("<tool name=\"read_file\"/>", &[]),
            (
                "<tool name=\"read_file\" description><read id=\"a\" path=\"b\" description=\"x\"/></tool>",
                &["shell.attribute_value_required@description"],
            ),
            (
                "<tool name=\" get_contents\"/>",
                &["read_file.invalid_name@ get_contents"],
            ),
            (
                "<tool name=\"read_file\"><read/></tool>",
                &[
                    "shell.missing_attribute@read",
                    "shell.missing_attribute@read",
                ],
            ),
            (
                "<tool name=\"read_file\"><read id=\" \" path=\"b\"/></tool>",
                &["read_file.invalid_root_id@ "],
            ),
            (
                "<tool name=\"read_file\"><read id=\"a\" path=\"b\"/><read id=\" a \" path=\"c\"/></tool>",
                &["read_file.duplicate_root@ a "],
            ),
            (
                "<tool name=\"read_file\"><read id=\"a\" path=\"${x}\"/></tool>",
                &["read_file.invalid_path@${x}"],
            ),
            (
                "<tool name=\"read_file\"><read id=\"a\" path=\"/\"/></tool>",
                &["read_file.host_wide_root@/"],
            ),
            (
                "<tool name=\"read_file\"><read id=\"a\" path=\"//./\"/></tool>",
                &["read_file.host_wide_root@//./"],
            ),
            (
                "<tool name=\"read_file\"><command program=\"cat\"/></tool>",
                &["read_file.unexpected_child@<command program=\"cat\"/>"],
            ),
            (
                "<tool name=\"read_file\"><wat/>x</tool>",
                &[
                    "read_file.unexpected_child@<wat/>",
                    "read_file.unexpected_text@x",
                ],
            ),
            (
                "<tool name=\"read_file\" runtim=\"x\"/>",
                &["shell.unknown_attribute@runtim"],
            ),
        ],
        str::to_owned,
    );
}

#[test]
fn other_tools() {
    check(
        &[
            (
                "<tool name=\"t\" agent=\"a.md\" local description=\"x\"/>",
                &[],
            ),
            ("<tool name=\"t\" agent=\"https://e.test/a\"/>", &[]),
            (
                "<tool name=\"t\" agent=\"a.md\"/>",
                &["chatmd.tool_invalid_agent@a.md"],
            ),
            (
                "<tool name=\"t\" agent=\"${x}/a\" local/>",
                &["chatmd.tool_invalid_agent@${x}/a"],
            ),
            (
                "<tool name=\"t\" agent=\" \"/>",
                &["chatmd.tool_empty_agent@ "],
            ),
            (
                "<tool agent=\"https://e.test/a\" local=\"maybe\"/>",
                &[
                    "chatmd.tool_name_required@tool",
                    "chatmd.invalid_flag@maybe",
                ],
            ),
            (
                "<tool name=\"a b\" agent=\"https://e.test/a\"/>",
                &["chatmd.tool_invalid_name@a b"],
            ),
            (
                "<tool name=\"t\" agent=\"https://e.test/a\" x=\"y\">z</tool>",
                &[
                    "chatmd.tool_unknown_attribute@x",
                    "chatmd.unexpected_content@z",
                ],
            ),
            (
                "<tool name=\"t\" agent=\"a\" mcp_server=\"b\"/>",
                &["chatmd.tool_conflicting_source@tool"],
            ),
            (
                "<tool mcp_server=\"https://e.test\" include=\"a, b\" strict/>",
                &[],
            ),
            (
                "<tool mcp_server=\"stdio:x\"/>",
                &["chatmd.mcp_stdio_unmanaged@stdio:x"],
            ),
            (
                "<tool mcp_server=\"ftp://x\"/>",
                &["chatmd.tool_invalid_mcp_server@ftp://x"],
            ),
            (
                "<tool mcp_server=\"\"/>",
                &["chatmd.tool_empty_mcp_server@"],
            ),
            (
                "<tool mcp_server=\"https://e.test\" include=\"a,,b,a\"/>",
                &[
                    "chatmd.tool_invalid_include@",
                    "chatmd.tool_invalid_include@a",
                ],
            ),
            (
                "<tool mcp_server=\"https://e.test\" name=\"a\" include=\"b\" includes=\"c\"/>",
                &[
                    "chatmd.attribute_ignored@include",
                    "chatmd.attribute_ignored@includes",
                ],
            ),
            (
                "<tool mcp_server=\"https://e.test\" include=\"b\" includes=\"c\"/>",
                &["chatmd.attribute_ignored@includes"],
            ),
            (
                "<tool mcp_server=\"https://e.test\" client_id_env=\"A=B\"/>",
                &["chatmd.tool_invalid_env_name@="],
            ),
            ("<tool name=\"apply_patch\"/><tool name=\"read_dir\"/>", &[]),
            ("<tool name=\"fork\"/>", &["chatmd.tool_reserved@fork"]),
            (
                "<tool name=\"aply_patch\"/>",
                &["chatmd.tool_unknown_builtin@aply_patch"],
            ),
            (
                "<tool name=\"apply_patch\" description=\"x\"/>",
                &["chatmd.attribute_ignored@description"],
            ),
            (
                "<tool name=\"apply_patch\" comand=\"x\"/>",
                &["chatmd.tool_unknown_attribute@comand"],
            ),
            ("<tool/>", &["chatmd.tool_name_required@tool"]),
        ],
        str::to_owned,
    );
}
