//! `<shell_access>` and its plain sections: a firing and a silent case per code.

use super::check;

fn runtime(fragment: &str) -> String {
    format!("<shell_access id=\"r\">{fragment}</shell_access>")
}

#[test]
fn root() {
    check(
        &[
            ("<shell_access/>", &["shell.missing_attribute@shell_access"]),
            ("<shell_access id=\"\"/>", &["shell.missing_attribute@"]),
            ("<shell_access id/>", &["shell.attribute_value_required@id"]),
            ("<shell_access id=\"9\"/>", &["shell.invalid_runtime_id@9"]),
            ("<shell_access id=\"ns:r\"/>", &[]),
            (
                "<shell_access id=\"builtin:r\"/>",
                &["shell.reserved_namespace@builtin"],
            ),
            (
                "<shell_access id=\"r\" extends=\"\"/>",
                &["shell.invalid_reference@"],
            ),
            (
                "<shell_access id=\"r\" extends=\"a@1\"/>",
                &["shell.invalid_reference@@1"],
            ),
            ("<shell_access id=\"r\" extends=\"builtin:x@1\"/>", &[]),
            (
                "<shell_access id=\"r\" pipefail=\"yes\"/>",
                &["shell.invalid_attribute@yes"],
            ),
            ("<shell_access id=\"r\" pipefail=\"false\"/>", &[]),
            (
                "<shell_access id=\"r\" cwd=\"${workspac}/x\"/>",
                &["shell.invalid_path@${workspac}"],
            ),
            (
                "<shell_access id=\"r\" cwd=\"a/${home}\"/>",
                &["shell.invalid_path@${home}"],
            ),
            (
                "<shell_access id=\"r\" cwd=\"../x\"/>",
                &["shell.path_escapes_base@../x"],
            ),
            (
                "<shell_access id=\"r\" cwd=\"\"/>",
                &["shell.invalid_path@"],
            ),
            (
                "<shell_access id=\"r\" cdw=\"/x\"/>",
                &["shell.unknown_attribute@cdw"],
            ),
            (
                "<shell_access id=\"r\" id=\"s\" cwd=\"a/${x}\"/>",
                &["shell.duplicate_attribute@id", "shell.invalid_path@${x}"],
            ),
            (
                "<shell_access id=\"r\">words\nmore</shell_access>",
                &["shell.unexpected_text@words"],
            ),
            ("<shell_access id=\"r\"><!-- words --></shell_access>", &[]),
            (
                "<shell_access id=\"r\">RAW|x|RAW</shell_access>",
                &["shell.unexpected_text@RAW|x|RAW"],
            ),
            (
                "<shell_access id=\"r\"><user>x</user></shell_access>",
                &["shell.unknown_element@<user>"],
            ),
            (
                "<shell_access id=\"r\"><limit/></shell_access>",
                &["shell.unknown_element@<limit/>"],
            ),
            (
                "<shell_access id=\"r\"><audit format=\"none\"/><audit format=\"none\"/></shell_access>",
                &["shell.duplicate_section@<audit format=\"none\"/>"],
            ),
        ],
        str::to_owned,
    );
}

#[test]
fn capabilities() {
    check(
        &[
            (
                "<capabilities sandbox=\"require\" network=\"TRUE\"/>",
                &[
                    "shell.invalid_attribute@require",
                    "shell.invalid_attribute@TRUE",
                ],
            ),
            (
                "<capabilities sandbox=\"required\" network=\"true\" merge=\"replace\"/>",
                &[],
            ),
            (
                "<capabilities><read/></capabilities>",
                &["shell.invalid_root@read"],
            ),
            (
                "<capabilities><write path=\"/a\" path_env=\"B\"/></capabilities>",
                &["shell.invalid_root@write"],
            ),
            (
                "<capabilities><read path_env=\"A=\"/></capabilities>",
                &["shell.invalid_env_name@="],
            ),
            (
                "<capabilities><read path=\"/a\" optional=\"true\"/></capabilities>",
                &["shell.incompatible_attribute@optional"],
            ),
            (
                "<capabilities><read path_env=\"A\" optional=\"true\"/></capabilities>",
                &[],
            ),
            (
                "<capabilities><read path=\"/a\"><write path=\"/b\"/></read></capabilities>",
                &["shell.unexpected_child@<write path=\"/b\"/>"],
            ),
            (
                "<capabilities><read path=\"/a\">x</read></capabilities>",
                &["shell.unexpected_text@x"],
            ),
            (
                "<capabilities><execute path=\"/a\"/></capabilities>",
                &["shell.unknown_element@<execute path=\"/a\"/>"],
            ),
        ],
        runtime,
    );
}

#[test]
fn resolver() {
    check(
        &[
            (
                "<resolver><trusted_root path=\"t\"/></resolver>",
                &["shell.relative_search_path@t"],
            ),
            (
                "<resolver><trusted_root path=\"${home}/t\"/><search_path path=\"/b\"/></resolver>",
                &[],
            ),
            (
                "<resolver><executable id=\"a/b\" path=\"/x\"/></resolver>",
                &["shell.invalid_identifier@/"],
            ),
            (
                "<resolver><executable id=\"a b\" path=\"/x\"/></resolver>",
                &["shell.identifier_style@a b"],
            ),
            (
                "<resolver><executable id=\" a\" path=\"/x\"/></resolver>",
                &["shell.invalid_identifier@ a"],
            ),
            (
                "<resolver><executable id=\"a\" path=\"/x\" sha256=\"12\"/></resolver>",
                &["shell.invalid_sha256@12"],
            ),
            (
                "<resolver><executable id=\"a\" path=\"/x\"/><executable id=\"a\" path=\"/y\" override=\"true\"/></resolver>",
                &["shell.duplicate_named_entry@a"],
            ),
            (
                "<resolver><executable id=\"a\" path=\"/x\"/><executable id=\"b\" path=\"/x\"/></resolver>",
                &[],
            ),
            (
                "<resolver><search_path/><trusted_root path=\"\"/></resolver>",
                &[
                    "shell.missing_attribute@search_path",
                    "shell.missing_attribute@",
                ],
            ),
        ],
        runtime,
    );
}

#[test]
fn environment() {
    check(
        &[
            (
                "<environment inherit=\"save\"/>",
                &["shell.invalid_attribute@save"],
            ),
            (
                "<environment><set name=\"A\" value=\"\"/><set name=\"B\"/></environment>",
                &["shell.missing_attribute@set"],
            ),
            (
                "<environment><set name=\"A\" value=\"${home}/x\"/></environment>",
                &["shell.unexpanded_variable@${home}"],
            ),
            (
                "<environment><set name=\"A\" value=\"${HOME}/x\"/></environment>",
                &[],
            ),
            (
                "<environment><set name=\"A\" value=\"&quot;${home}\"/></environment>",
                &["shell.unexpanded_variable@${home}"],
            ),
            (
                "<environment><pass name=\"LD_PRELOAD\"/><unset name=\"LD_PRELOAD\"/></environment>",
                &["shell.environment_sensitive_name@LD_PRELOAD"],
            ),
            (
                "<environment><pass name=\"LANG\" secret=\"true\" required=\"false\"/></environment>",
                &[],
            ),
            (
                "<environment><unset name=\"\"/><unset_prefix value=\"\"/></environment>",
                &["shell.missing_attribute@", "shell.missing_attribute@"],
            ),
            (
                "<environment><path/><path prepend=\"/a\" append=\"/b\"/></environment>",
                &[
                    "shell.invalid_path_operation@path",
                    "shell.invalid_path_operation@path",
                ],
            ),
            ("<environment><path append=\"/b\"/></environment>", &[]),
            (
                "<environment><path_env name=\"A\" suffix=\"/bin\"/></environment>",
                &["shell.invalid_path@/"],
            ),
            (
                "<environment><path_env name=\"A\" suffix=\"x/../y\"/></environment>",
                &["shell.invalid_path@.."],
            ),
            (
                "<environment><path_env name=\"A\" suffix=\"x..y/\" position=\"prepend\"/></environment>",
                &[],
            ),
        ],
        runtime,
    );
}

#[test]
fn limits() {
    check(
        &[
            (
                "<limits wall_time=\"5sec\" memory=\"1GB\" open_files=\"many\"/>",
                &[
                    "shell.invalid_duration@5sec",
                    "shell.invalid_bytes@1GB",
                    "shell.invalid_integer@many",
                ],
            ),
            ("<limits wall_time=\"0s\"/>", &["shell.invalid_duration@0s"]),
            (
                "<limits stdout=\"0\" stderr=\"2GiB\" memory=\"1KiB\" open_files=\"7\" file_size=\"0\"/>",
                &[
                    "shell.limit_out_of_range@0",
                    "shell.limit_out_of_range@2GiB",
                    "shell.limit_out_of_range@1KiB",
                    "shell.limit_out_of_range@7",
                    "shell.limit_out_of_range@0",
                ],
            ),
            (
                "<limits max_stdin=\"0\" stdout=\"1\" stderr=\"1GiB\" memory=\"1MiB\" open_files=\"8\" file_size=\"1\"/>",
                &[],
            ),
            (
                "<limits wall_time=\"none\" max_stdin=\"none\" stdout=\"none\" stderr=\"none\" total_output=\"none\"/>",
                &[
                    "shell.required_limit_disabled@none",
                    "shell.required_limit_disabled@none",
                    "shell.required_limit_disabled@none",
                    "shell.required_limit_disabled@none",
                    "shell.required_limit_disabled@none",
                ],
            ),
            (
                "<limits idle_time=\"none\" cpu_time=\"none\" memory=\"none\" file_size=\"none\" open_files=\"none\"/>",
                &[],
            ),
            (
                "<limits idle_time=\"2m\" wall_time=\"1m\"/>",
                &["shell.limit_ineffective@2m"],
            ),
            ("<limits idle_time=\"1m\" wall_time=\"1m\"/>", &[]),
            (
                "<limits stdout=\"1\" stderr=\"1\" total_output=\"3\"/>",
                &["shell.limit_ineffective@3"],
            ),
            ("<limits stdout=\"1\" total_output=\"3\"/>", &[]),
            (
                "<limits merge=\"replace\"/>",
                &["shell.unknown_attribute@merge"],
            ),
        ],
        runtime,
    );
}

#[test]
fn approvals_secrets_and_audit() {
    check(
        &[
            (
                "<approvals scopes=\"once,,durable_exact\"/>",
                &["shell.invalid_list@"],
            ),
            (
                "<approvals scopes=\"once, once\"/>",
                &["shell.invalid_list@once"],
            ),
            (
                "<approvals scopes=\"once, forever\"/>",
                &["shell.invalid_attribute@forever"],
            ),
            (
                "<approvals scopes=\"durable_exact, once\" durable=\"true\" provider=\"ui\" unavailable=\"error\"/>",
                &[],
            ),
            (
                "<secrets replacement=\"a\tb\"/>",
                &["shell.invalid_attribute@a\tb"],
            ),
            (
                "<secrets replacement=\"[x]\"><from_env name=\"A\"/><from_file path=\"a\" strip=\"false\"/></secrets>",
                &[],
            ),
            (
                "<secrets><literal value=\"x\"/></secrets>",
                &["shell.literal_secret_in_source@literal"],
            ),
            (
                "<secrets><literal value=\"${home}\"/></secrets>",
                &[
                    "shell.literal_secret_in_source@literal",
                    "shell.unexpanded_variable@value",
                ],
            ),
            (
                "<secrets><literal/></secrets>",
                &[
                    "shell.literal_secret_in_source@literal",
                    "shell.missing_attribute@literal",
                ],
            ),
            ("<audit/>", &["shell.missing_attribute@audit"]),
            (
                "<audit format=\"jsonl\"/>",
                &["shell.audit_path_required@audit"],
            ),
            (
                "<audit format=\"jsonl\" path=\"a\" content=\"redacted\" failure=\"terminate\"/>",
                &[],
            ),
            (
                "<audit format=\"stderr\" path=\"a\"/>",
                &["shell.incompatible_attribute@path"],
            ),
            (
                "<audit format=\"json\" path=\"${q}\"/>",
                &["shell.invalid_attribute@json", "shell.invalid_path@${q}"],
            ),
            (
                "<audit format=\"stderr\" content=\"full\"/>",
                &["shell.audit_full_content@full"],
            ),
            (
                "<audit format=\"none\"><filter script=\"f\"/></audit>",
                &["shell.audit_filter_unused@filter"],
            ),
            (
                "<audit format=\"stderr\"><filter script=\"f\"/></audit>",
                &[],
            ),
            (
                "<audit format=\"stderr\"><filter script=\"f\"/><filter script=\"g\"/></audit>",
                &["shell.duplicate_section@<filter script=\"g\"/>"],
            ),
            (
                "<audit format=\"stderr\"><filter/></audit>",
                &["shell.invalid_extension@filter"],
            ),
            (
                "<audit format=\"stderr\"><filter script=\"f\" failure=\"deny\"/></audit>",
                &["shell.unknown_attribute@failure"],
            ),
        ],
        runtime,
    );
}

#[test]
fn backends() {
    check(
        &[
            (
                "<backends><bubblewrap when=\"macos\"/><seatbelt when=\"linux\"/></backends>",
                &[
                    "shell.backend_platform@macos",
                    "shell.backend_platform@linux",
                ],
            ),
            (
                "<backends><bubblewrap when=\"any\"/><seatbelt/><direct when=\"windows\"/></backends>",
                &[],
            ),
            (
                "<backends><bubblewrap dev=\"full\" proc=\"1\"/></backends>",
                &["shell.invalid_attribute@full", "shell.invalid_attribute@1"],
            ),
            (
                "<backends><direct executable=\"/x\"/></backends>",
                &["shell.unknown_attribute@executable"],
            ),
            (
                "<backends><direct id=\"a\"/><bubblewrap id=\"a\"/></backends>",
                &["shell.duplicate_named_entry@a"],
            ),
            ("<backends><direct/><direct/></backends>", &[]),
            (
                "<backends><external_backend executable=\"/w\" confinement=\"verified\"><command_argv/></external_backend></backends>",
                &["shell.external_backend_unverifiable@verified"],
            ),
            (
                "<backends><external_backend executable=\"/w\" confinement=\"declared\"><command_argv/></external_backend></backends>",
                &["shell.external_backend_roots_unused@external_backend"],
            ),
            (
                "<backends><external_backend executable=\"/w\" confinement=\"declared\"><read_roots flag=\"-r\"/><command_argv/></external_backend></backends>",
                &[],
            ),
            (
                "<backends><external_backend executable=\"/w\"/></backends>",
                &["shell.external_backend_command_argv@external_backend"],
            ),
            (
                "<backends><external_backend executable=\"/w\"><command_argv/><command_argv/></external_backend></backends>",
                &["shell.external_backend_command_argv@external_backend"],
            ),
            (
                "<backends><external_backend executable=\"/w\"><command_argv/><arg value=\"x\"/></external_backend></backends>",
                &["shell.external_backend_command_argv@external_backend"],
            ),
            (
                "<backends><external_backend executable=\"/w\"><cwd_value/><cwd_value/><command_argv/></external_backend></backends>",
                &["shell.external_backend_atom_arity@<cwd_value/>"],
            ),
            (
                "<backends><external_backend executable=\"/w\"><arg value=\"\"/><arg value=\"\"/><network_flag/><command_argv/></external_backend></backends>",
                &["shell.missing_attribute@network_flag"],
            ),
            (
                "<backends><external_backend><command_argv/></external_backend></backends>",
                &["shell.missing_attribute@external_backend"],
            ),
        ],
        runtime,
    );
}
