//! Digest laws of spec 04 section 8: every single edit of authority changes both digests, and the
//! payload exactly in the member that the edit speaks of.
//!
//! The digest of the edited file is part of the payload, so comparing digests alone would prove
//! nothing: each edit is also compared without `sources`.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::Utf8Path;
use chatmd_compiler::db::{Database, MemoryFileSystem};
use chatmd_compiler::manifest::{
    self, Binding, BoundFile, BoundRoots, FileRole, Manifest, Platform,
};
use chatmd_compiler::{Compilation, CompileOptions, compile};
use serde_json::Value;

const AGENT: &str = include_str!("digest_laws/agent.chatmd");
const LIBRARY: &str = include_str!("digest_laws/library.chatmd");
const PROGRAM: &str = "let initial_state = ()\nlet match_command c s = Task.pure(s)\nlet by_name c s = Task.pure(s)\n";

/// Compiles the documents; `edit` rewrites one of them.
fn compile_edited(platform: Platform, edit: impl Fn(&str, &str) -> String) -> Arc<Compilation> {
    let mut system = MemoryFileSystem::default();
    for (name, text) in [
        ("agent.chatmd", AGENT),
        ("lib/library.chatmd", LIBRARY),
        ("lib/copy.chatmd", LIBRARY),
        ("program.chatml", PROGRAM),
        ("same.chatml", PROGRAM),
    ] {
        system.insert(format!("/d/{name}"), edit(name, text).into_bytes());
    }
    let mut db = Database::new(system);
    let root = db
        .root_from_path("agent.chatmd".into(), Utf8Path::new("/d"))
        .unwrap();
    compile(&db, root, &CompileOptions::for_platform(platform))
}

fn manifest_of(platform: Platform, edit: impl Fn(&str, &str) -> String) -> Manifest {
    let compilation = compile_edited(platform, edit);
    match &compilation.manifest {
        Some(manifest) => Manifest::clone(manifest),
        None => panic!("does not compile: {:#?}", compilation.diagnostics),
    }
}

/// A binding such as a host would make; which one does not matter here.
fn bind(mut manifest: Manifest) -> Manifest {
    manifest.binding = Some(binding());
    manifest
}

fn binding() -> Binding {
    let map = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
    Binding {
        variables: map("workspace", "/srv/one"),
        source_dirs: map("agent.chatmd", "/srv/agents"),
        path_env: BTreeMap::from([("DATA".to_owned(), Some("/data".to_owned()))]),
        roots: vec![BoundRoots {
            runtime: "main".into(),
            read: vec!["/srv/one".into()],
            write: vec!["/srv/one/out".into()],
        }],
        files: vec![BoundFile {
            owner: "runtime:main/linter".into(),
            role: FileRole::Executable,
            path: "/srv/one/linter".into(),
            sha256: Some("ab".repeat(32)),
        }],
    }
}

/// The comparison form as pointers to leaves; entries that have an id or a name go by it.
fn leaves(manifest: &Manifest) -> BTreeMap<String, String> {
    let bytes = manifest::comparison_form(manifest).unwrap();
    let mut leaves = BTreeMap::new();
    let mut open = vec![(
        String::new(),
        serde_json::from_slice::<Value>(&bytes).unwrap(),
    )];
    while let Some((path, value)) = open.pop() {
        match value {
            Value::Object(members) if !members.is_empty() => {
                open.extend(members.into_iter().map(|(k, v)| (format!("{path}/{k}"), v)));
            }
            Value::Array(items) if !items.is_empty() => {
                open.extend(items.into_iter().enumerate().map(|(index, item)| {
                    let key = item["id"].as_str().or(item["name"].as_str());
                    let key = key.map_or_else(|| index.to_string(), str::to_owned);
                    (format!("{path}/{key}"), item)
                }));
            }
            leaf => {
                leaves.insert(path, leaf.to_string());
            }
        }
    }
    leaves
}

fn differing(a: &Manifest, b: &Manifest) -> BTreeSet<String> {
    let (a, b) = (leaves(a), leaves(b));
    let keys = a.keys().chain(b.keys());
    keys.filter(|key| a.get(*key) != b.get(*key))
        .cloned()
        .collect()
}

/// One edit: members that change (prefixes, the first must change), the text, its replacement.
type Edit = (&'static [&'static str], &'static str, &'static str);

#[rustfmt::skip] // one edit a line
const MAIN: &[Edit] = &[
    // 8.3 paths and roots, 8.4 runtime.
    (&["/runtimes/main/cwd/base"], "cwd=\"${workspace}/build\"", "cwd=\"${home}/build\""),
    (&["/runtimes/main/cwd/path"], "cwd=\"${workspace}/build\"", "cwd=\"${workspace}/build2\""),
    (&["/runtimes/main/cwd"], "cwd=\"${workspace}/build\"", "cwd=\"build\""),
    (&["/runtimes/main/pipefail"], "pipefail=\"true\"", "pipefail=\"false\""),
    (&["/runtimes/main/capabilities/sandbox"], "sandbox=\"preferred\"", "sandbox=\"required\""),
    (&["/runtimes/main/capabilities/network"], "network=\"false\"", "network=\"true\""),
    (&["/runtimes/main/capabilities/child_processes"], "child_processes=\"true\"", "child_processes=\"false\""),
    (&["/runtimes/main/capabilities/arbitrary_code"], "arbitrary_code=\"true\"", "arbitrary_code=\"false\""),
    (&["/runtimes/main/capabilities/privilege_change"], "privilege_change=\"false\"", "privilege_change=\"true\""),
    (&["/runtimes/main/capabilities/read"], "<read path=\"data\"/>", "<read path=\"datas\"/>"),
    (&["/runtimes/main/capabilities/read"], "<read path=\"data\"/>", ""),
    (&["/runtimes/main/capabilities/read"], "<read path=\"data\"/><read path=\"more\"/>", "<read path=\"more\"/><read path=\"data\"/>"),
    (&["/runtimes/main/capabilities"], "<read path=\"more\"/>", "<write path=\"more\"/>"),
    (&["/runtimes/main/capabilities/read/DATA"], "path_env=\"DATA\" optional=\"true\"", "path_env=\"DATA\" optional=\"false\""),
    (&["/runtimes/main/capabilities/read"], "path_env=\"DATA\" optional", "path_env=\"DATA2\" optional"),
    (&["/runtimes/main/capabilities/write"], "<write path=\"out\"/>", "<write path=\"/\"/>"),
    (&["/runtimes/main/capabilities"], "<capabilities merge=\"append\"", "<capabilities merge=\"replace\""),
    (&["/runtimes/main/resolver/search_path"], "<search_path path=\"/opt/bin\"/>", "<search_path path=\"/opt/sbin\"/>"),
    (&["/runtimes/main/resolver/search_path", "/runtimes/main/resolver/trusted_roots"], "<resolver merge=\"append\"", "<resolver merge=\"replace\""),
    (&["/runtimes/main/resolver/trusted_roots"], "<trusted_root path=\"/opt\"/>", "<trusted_root path=\"/\"/>"),
    (&["/runtimes/main/resolver/executables/linter/path/path"], "id=\"linter\" path=\"linter\"", "id=\"linter\" path=\"linter2\""),
    (&["/runtimes/main/resolver/executables/linter/sha256"], "sha256=\"1111", "sha256=\"1112"),
    (&["/runtimes/main/resolver/executables/linter/trusted"], "trusted=\"false\"", "trusted=\"true\""),
    (&["/runtimes/main/resolver/allow_relative_search_path"], "allow_relative_search_path=\"false\"", "allow_relative_search_path=\"true\""),
    (&["/runtimes/main/environment/inherit"], "inherit=\"selected\"", "inherit=\"all_sanitized\""),
    (&["/runtimes/main/environment/inherit"], "inherit=\"selected\"", "inherit=\"none\""),
    (&["/runtimes/main/environment/operations/MODE/value"], "name=\"MODE\" value=\"a\"", "name=\"MODE\" value=\"b\""),
    (&["/runtimes/main/environment/operations"], "name=\"MODE\" value", "name=\"MODEL\" value"),
    (&["/runtimes/main/environment/operations/TOKEN/required"], "required=\"true\" secret", "required=\"false\" secret"),
    (&["/runtimes/main/environment/operations/TOKEN/secret"], "secret=\"true\"", "secret=\"false\""),
    (&["/runtimes/main/environment/operations"], "<unset name=\"OLD\"/>", "<unset name=\"NEW\"/>"),
    (&["/runtimes/main/environment/operations"], "<unset_prefix value=\"AWS_\"/>", "<unset_prefix value=\"AZ_\"/>"),
    (&["/runtimes/main/environment/operations"], "<path prepend=\"tools\"/>", "<path append=\"tools\"/>"),
    (&["/runtimes/main/environment/operations"], "<path prepend=\"tools\"/>", "<path prepend=\"tool\"/>"),
    (&["/runtimes/main/environment/operations/SDK/suffix"], "suffix=\"bin\"", "suffix=\"sbin\""),
    (&["/runtimes/main/environment/operations/SDK/position"], "position=\"append\"", "position=\"prepend\""),
    (&["/runtimes/main/environment/operations/SDK/required"], "position=\"append\" required=\"true\"", "position=\"append\" required=\"false\""),
    (&["/runtimes/main/limits/wall_time_ms"], "wall_time=\"1m\"", "wall_time=\"61s\""),
    (&["/runtimes/main/limits/idle_time_ms"], "idle_time=\"30s\"", "idle_time=\"none\""),
    (&["/runtimes/main/limits/max_stdin_bytes"], "max_stdin=\"1KiB\"", "max_stdin=\"1025\""),
    (&["/runtimes/main/limits/stdout_bytes"], " stdout=\"2KiB\"", " stdout=\"3KiB\""),
    (&["/runtimes/main/limits/stderr_bytes"], "stderr=\"3KiB\"", "stderr=\"4KiB\""),
    (&["/runtimes/main/limits/total_output_bytes"], "total_output=\"4KiB\"", "total_output=\"5KiB\""),
    (&["/runtimes/main/limits/cpu_time_ms"], "cpu_time=\"5s\"", "cpu_time=\"5001ms\""),
    (&["/runtimes/main/limits/memory_bytes"], "memory=\"1GiB\"", "memory=\"none\""),
    (&["/runtimes/main/limits/file_size_bytes"], "file_size=\"1MiB\"", "file_size=\"2MiB\""),
    (&["/runtimes/main/limits/open_files"], "open_files=\"64\"", "open_files=\"65\""),
    // Backends of 8.5.
    (&["/runtimes/main/backends/accept_declared_confinement"], "accept_declared_confinement=\"true\"", "accept_declared_confinement=\"false\""),
    (&["/runtimes/main/backends/entries/bw/private_tmp"], "private_tmp=\"true\"", "private_tmp=\"false\""),
    (&["/runtimes/main/backends/entries/bw/proc"], "proc=\"true\"", "proc=\"false\""),
    (&["/runtimes/main/backends/entries/bw/dev"], "dev=\"minimal\"", "dev=\"none\""),
    (&["/runtimes/main/backends/entries/bw/executable"], "executable=\"/usr/bin/bwrap\" private_tmp", "private_tmp"),
    (&["/runtimes/main/backends/entries/jail/executable/path"], "executable=\"/opt/jail\"", "executable=\"/opt/jail2\""),
    (&["/runtimes/main/backends/entries/jail/sha256"], "sha256=\"2222", "sha256=\"2223"),
    (&["/runtimes/main/backends/entries/jail/confinement"], "confinement=\"declared\"", "confinement=\"none\""),
    (&["/runtimes/main/backends/entries/jail/when"], "id=\"jail\" when=\"any\"", "id=\"jail\" when=\"linux\""),
    (&["/runtimes/main/backends/entries/jail/atoms"], "<arg value=\"--go\"/>", "<arg value=\"--no\"/>"),
    (&["/runtimes/main/backends/entries/jail/atoms"], "<cwd_value/><target_executable/>", "<target_executable/><cwd_value/>"),
    (&["/runtimes/main/backends/entries/jail/atoms"], "<read_roots flag=\"-r\"/>", "<read_roots flag=\"-R\"/>"),
    (&["/runtimes/main/backends/entries/jail/atoms"], "<write_roots flag=\"-w\"/>", "<write_roots flag=\"-W\"/>"),
    (&["/runtimes/main/backends/entries/jail/atoms"], "<network_flag value=\"-n\"/>", "<network_flag value=\"-N\"/>"),
    (&["/runtimes/main/backends/entries/jail/atoms"], "<resource_limit_args/>", ""),
    (&["/runtimes/main/backends/entries", "/features"], "<direct id=\"bare\"/>", ""),
    // Policy and matchers.
    (&["/runtimes/main/policy/default"], "<policy default=\"deny\"", "<policy default=\"ask\""),
    (&["/runtimes/main/policy/rules/shape/action"], "id=\"shape\" action=\"ask\"", "id=\"shape\" action=\"deny\""),
    (&["/runtimes/main/policy/rules", "/dependencies"], "id=\"shape\" action", "id=\"shape2\" action"),
    (&["/runtimes/main/policy/rules/shape/matcher"], "<program value=\"p\"/>", "<program value=\"q\"/>"),
    (&["/runtimes/main/policy/rules/shape/matcher"], "<basename value=\"b\"/>", "<basename value=\"c\"/>"),
    (&["/runtimes/main/policy/rules/shape/matcher"], "<resolved_path value=\"/x\"/>", "<resolved_path value=\"/y\"/>"),
    (&["/runtimes/main/policy/rules/shape/matcher"], "<program_regex value=\"^x$\"/>", "<program_regex value=\"^x\"/>"),
    (&["/runtimes/main/policy/rules/shape/matcher"], "<argv_prefix values=\"git, log\"/>", "<argv_prefix values=\"git, log, -p\"/>"),
    (&["/runtimes/main/policy/rules/shape/matcher"], "<argument value=\"a\"/>", "<argument value=\"\"/>"),
    (&["/runtimes/main/policy/rules/shape/matcher"], "<argument_contains value=\"a\"/>", "<argument_contains value=\"b\"/>"),
    (&["/runtimes/main/policy/rules/shape/matcher"], "<effect name=\"write_path\" under=\"out\"/>", "<effect name=\"write_path\"/>"),
    (&["/runtimes/main/policy/rules/shape/matcher"], "<effect name=\"write_path\" under=\"out\"/>", "<effect name=\"read_path\" under=\"out\"/>"),
    (&["/runtimes/main/policy/rules/shape/matcher"], "<no_unknown_effects/>", "<raw_shell/>"),
    (&["/runtimes/main/policy/rules/shape/matcher"], "<not><trusted_executable/></not>", "<trusted_executable/>"),
    (&["/runtimes/main/policy/rules/shape/matcher"], "<any><any_command/></any>", "<all><any_command/></all>"),
    (&["/runtimes/main/policy/rules/shape/matcher", "/scripts/match/entrypoints"], "function=\"by_name\"", "function=\"match_command\""),
    (&["/runtimes/main/policy/rules/shape/matcher"], "failure=\"error\"/><program", "failure=\"deny\"/><program"),
    (&["/runtimes/main/policy/rules"], "<rule id=\"base-rule\" action=\"ask\" override=\"true\">", "<rule id=\"base-rule2\" action=\"ask\">"),
    // Approvals and reviewers.
    (&["/runtimes/main/approvals/provider"], "provider=\"ui\"", "provider=\"none\""),
    (&["/runtimes/main/approvals/unavailable"], "unavailable=\"error\"", "unavailable=\"deny\""),
    (&["/runtimes/main/approvals/scopes"], "scopes=\"once,durable_exact\"", "scopes=\"once,prefix_session,durable_exact\""),
    (&["/runtimes/main/approvals/scopes", "/runtimes/main/approvals/durable"], "scopes=\"once,durable_exact\" durable=\"true\"", "scopes=\"once\" durable=\"false\""),
    (&["/runtimes/main/reviewers", "/dependencies", "/features"], "<reviewer id=\"code\" kind=\"chatml\" script=\"review\"", "<reviewer id=\"code2\" kind=\"chatml\" script=\"review\""),
    (&["/runtimes/main/reviewers/entries/code/lifecycle"], "script=\"review\" lifecycle=\"session\"", "script=\"review\" lifecycle=\"runtime\""),
    (&["/runtimes/main/reviewers/entries/code/failure"], "lifecycle=\"session\" failure=\"deny\"/><reviewer", "lifecycle=\"session\" failure=\"error\"/><reviewer"),
    (&["/runtimes/main/reviewers/entries/second/agent", "/dependencies"], "agent=\"critic\" model", "agent=\"judge\" model"),
    (&["/runtimes/main/reviewers/entries/second/model"], "model=\"m1\"", "model=\"m2\""),
    (&["/runtimes/main/reviewers/entries/third/hook/executable"], "kind=\"executable\" executable=\"/opt/hook\"", "kind=\"executable\" executable=\"/opt/hook2\""),
    (&["/runtimes/main/reviewers/entries/third/hook/sha256"], "sha256=\"3333", "sha256=\"3334"),
    (&["/runtimes/main/reviewers/entries/third/hook/timeout_ms"], "timeout=\"1s\"", "timeout=\"2s\""),
    (&["/runtimes/main/reviewers/entries/third/hook/max_input_bytes"], "max_input=\"1KiB\"", "max_input=\"2KiB\""),
    (&["/runtimes/main/reviewers/entries/third/hook/max_output_bytes"], "max_output=\"1KiB\" failure", "max_output=\"2KiB\" failure"),
    (&["/runtimes/main/reviewers/entries/third/hook/runtime", "/dependencies"], "runtime=\"worker\" timeout", "runtime=\"lib:worker2\" timeout"),
    // Interceptors, analyzers, secrets, audit.
    (&["/runtimes/main/interceptors/guard/matcher"], "<match><basename value=\"rm\"/></match>", ""),
    (&["/runtimes/main/interceptors/guard/failure"], "script=\"before\" lifecycle=\"session\" failure=\"deny\"", "script=\"before\" lifecycle=\"session\" failure=\"error\""),
    (&["/runtimes/main/interceptors/guard/extension/lifecycle"], "script=\"before\" lifecycle=\"session\"", "script=\"before\" lifecycle=\"invocation\""),
    (&["/runtimes/main/interceptors", "/dependencies"], "<interceptor id=\"tidy\"", "<interceptor id=\"tidy2\""),
    (&["/runtimes/main/effect_analyzers/look/replace"], "replace=\"false\"", "replace=\"true\""),
    (&["/runtimes/main/effect_analyzers/look/failure"], "failure=\"unknown\"", "failure=\"deny\""),
    (&["/runtimes/main/effect_analyzers/look/extension/lifecycle"], "script=\"analyze\" lifecycle=\"invocation\"", "script=\"analyze\" lifecycle=\"session\""),
    (&["/runtimes/main/secrets/replacement"], "replacement=\"***\"", "replacement=\"+++\""),
    (&["/runtimes/main/secrets/sources"], "<from_env name=\"KEY\"", "<from_env name=\"KEYS\""),
    (&["/runtimes/main/secrets/sources/KEY/optional"], "name=\"KEY\" optional=\"true\"", "name=\"KEY\" optional=\"false\""),
    (&["/runtimes/main/secrets/sources"], "<from_file path=\"key\" optional=\"true\" strip=\"true\"/>", "<from_file path=\"key\" optional=\"true\" strip=\"false\"/>"),
    (&["/runtimes/main/secrets/sources"], "<from_file path=\"key\" optional=\"true\"", "<from_file path=\"key\" optional=\"false\""),
    (&["/runtimes/main/secrets/sources"], "<from_file path=\"key\"", "<from_file path=\"key2\""),
    (&["/runtimes/main/secrets/sources", "/features"], "<literal value=\"S3CR3T\"/>", ""),
    (&["/runtimes/main/audit/format", "/runtimes/main/audit/path"], "format=\"jsonl\" path=\"log.jsonl\"", "format=\"session\""),
    (&["/runtimes/main/audit/path/path"], "path=\"log.jsonl\"", "path=\"log2.jsonl\""),
    (&["/runtimes/main/audit/content"], "content=\"metadata\"", "content=\"full\""),
    (&["/runtimes/main/audit/failure"], "failure=\"terminate\"", "failure=\"continue\""),
    (&["/runtimes/main/audit/filter/lifecycle"], "<filter script=\"filter\" lifecycle=\"session\"/>", "<filter script=\"filter\" lifecycle=\"runtime\"/>"),
    // Identity of runtimes.
    (&["/runtimes/main/extends", "/runtimes/main", "/dependencies"], "id=\"main\" extends=\"base\"", "id=\"main\" extends=\"other\""),
    (&["/runtimes/base/profile/requested", "/runtimes/main/profile/requested"], "id=\"base\" extends=\"builtin:workspace-development@1\"", "id=\"base\" extends=\"builtin:workspace-development\""),
    (&["/moderator_runtime", "/dependencies"], "<moderator_runtime shell_runtime=\"worker\"/>", "<moderator_runtime shell_runtime=\"main\"/>"),
    // 8.7 tools.
    (&["/tools/fixed/description"], "description=\"Lists.\"", "description=\"Lists all.\""),
    (&["/tools/fixed/runtime", "/dependencies"], "name=\"fixed\" runtime=\"main\"", "name=\"fixed\" runtime=\"base\""),
    (&["/tools", "/dependencies"], "name=\"fixed\" runtime", "name=\"fixed2\" runtime"),
    (&["/tools/fixed/stdin"], "stdin=\"none\"", "stdin=\"optional\""),
    (&["/tools/fixed/rationale"], "rationale=\"required\"", "rationale=\"none\""),
    (&["/tools/fixed/result"], "result=\"stdout\"", "result=\"structured\""),
    (&["/tools/fixed/nonzero"], "nonzero=\"error\" description", "nonzero=\"result\" description"),
    (&["/tools/plain/stream"], "stream=\"finalized\"", "stream=\"sanitized\""),
    (&["/tools/fixed/mode/program"], "<command program=\"ls\">", "<command program=\"rm\">"),
    (&["/tools/fixed/mode/arguments"], "<arg value=\"-l\"/>", "<arg value=\"-la\"/>"),
    (&["/tools/fixed/mode/arguments"], "<secret_arg env=\"TOKEN\" prefix=\"t=\"/>", "<secret_arg env=\"TOKEN\" prefix=\"u=\"/>"),
    (&["/tools/fixed/mode/arguments"], "<secret_arg env=\"TOKEN\"", "<secret_arg env=\"MODE\""),
    (&["/tools/fixed/mode/arguments"], "<path_arg path=\"src\" base=\"workspace\"/>", "<path_arg path=\"src\"/>"),
    (&["/tools/fixed/mode/model_arguments/mode"], "<arguments mode=\"optional\" min_count=\"1\"", "<arguments mode=\"required\" min_count=\"1\""),
    (&["/tools/fixed/mode/model_arguments/min_count"], "min_count=\"1\"", "min_count=\"2\""),
    (&["/tools/fixed/mode/model_arguments/max_count"], "max_count=\"7\"", "max_count=\"8\""),
    (&["/tools/fixed/mode/model_arguments/max_item_bytes"], "max_item_bytes=\"99\"", "max_item_bytes=\"100\""),
    (&["/tools/plain/mode"], "command=\"git status\"", "command=\"git status -s\""),
    (&["/tools/byref/mode/executable_ref", "/dependencies", "/tools/byref/mode/program"], "executable_ref=\"linter\"", "command=\"linter\""),
    (&["/tools/open/mode/kind", "/features"], "mode=\"structured\"", "mode=\"chain\""),
    (&["/tools/shell/mode/executable/path"], "executable=\"/bin/sh\"", "executable=\"/bin/bash\""),
    (&["/tools/shell/mode/arguments_before_script"], "arguments_before_script='[\"-c\"]'", "arguments_before_script='[\"-ec\"]'"),
    (&["/tools/file/mode/script/path"], "script=\"go.sh\"", "script=\"go2.sh\""),
    (&["/tools/file/mode/interpreter/path"], "interpreter=\"/bin/dash\"", "interpreter=\"/bin/ash\""),
    (&["/tools/file/mode/fixed_arguments"], "fixed_arguments='[\"x\"]'", "fixed_arguments='[\"x\",\"\"]'"),
    (&["/tools/file/mode/max_source_bytes"], "max_source_bytes=\"1000\"", "max_source_bytes=\"1001\""),
    // 8.9 scripts.
    (&["/scripts/match/limits/wall_time_ms"], "wall_time=\"1s\" fuel", "wall_time=\"2s\" fuel"),
    (&["/scripts/match/limits/fuel"], "fuel=\"1000\"", "fuel=\"1001\""),
    (&["/scripts/match/limits/max_tasks"], "max_tasks=\"10\"", "max_tasks=\"11\""),
    (&["/scripts/match/limits/max_value_bytes"], "max_value=\"1KiB\"", "max_value=\"2KiB\""),
    (&["/scripts/match/limits/max_output_bytes"], "max_output=\"2KiB\" max_array", "max_output=\"3KiB\" max_array"),
    (&["/scripts/match/limits/max_array_items"], "max_array_items=\"11\"", "max_array_items=\"12\""),
    (&["/scripts/match/limits/max_depth"], "max_depth=\"12\"", "max_depth=\"13\""),
    (&["/scripts/match/source/file"], "src=\"program.chatml\"", "src=\"same.chatml\""),
    (&["/scripts/review/sha256"], "let review c s", "let review d s"),
    (&["/scripts", "/runtimes/main/reviewers/entries/code/script", "/dependencies"], "script=\"review\" lifecycle", "script=\"lib:review\" lifecycle"),
    // The imported file keeps its own name and namespace.
    (&["/runtimes", "/dependencies", "/tools/far"], "<import src=\"lib/library.chatmd\" namespace=\"lib\"/>", "<import src=\"lib/copy.chatmd\" namespace=\"lib\"/>"),
];

fn replace_once(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "`{from}` is not unique");
    text.replacen(from, to, 1)
}

#[rustfmt::skip]
const MACOS: &[Edit] = &[
    (&["/runtimes/main/backends/entries/belt/executable"], "<seatbelt id=\"belt\" executable=\"/usr/bin/sandbox-exec\"", "<seatbelt id=\"belt\""),
    (&["/runtimes/main/backends/entries/belt/allow_system_reads"], "allow_system_reads=\"true\"", "allow_system_reads=\"false\""),
    (&["/runtimes/main/backends/entries"], "<seatbelt id=\"belt\"", "<seatbelt id=\"belt2\""),
];

#[test]
fn every_edit_of_authority_changes_both_digests_and_its_own_member() {
    assert!(MAIN.len() >= 60);
    let mut problems = Vec::new();
    for (platform, edits) in [(Platform::Linux, MAIN), (Platform::Macos, MACOS)] {
        let plain = manifest_of(platform, |_, text| text.to_owned());
        for edit in edits {
            check(platform, &plain, edit, &mut problems);
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn check(platform: Platform, plain: &Manifest, edit: &Edit, problems: &mut Vec<String>) {
    let (members, from, to) = *edit;
    let edited = manifest_of(platform, |name, text| match name {
        "agent.chatmd" => replace_once(text, from, to),
        _ => text.to_owned(),
    });
    let changed = differing(plain, &edited);
    if !changed.iter().any(|path| path.starts_with(members[0])) {
        problems.push(format!("{from} -> {to}: {} is as before", members[0]));
    }
    let others = changed
        .iter()
        .filter(|path| !members.iter().any(|member| path.starts_with(member)));
    problems.extend(others.map(|path| format!("{from} -> {to}: changes {path} too")));
    // Without the digests of the documents as well: the edit itself is in what is hashed.
    for form in [
        |manifest: &Manifest| manifest.clone(),
        |manifest: &Manifest| Manifest {
            sources: Vec::new(),
            ..manifest.clone()
        },
    ] {
        let (a, b) = (form(plain), form(&edited));
        let requested = |manifest: &Manifest| manifest::requested_sha256(manifest).unwrap();
        let bound = |manifest: Manifest| manifest::digest(&bind(manifest)).unwrap();
        if requested(&a) == requested(&b) || bound(a) == bound(b) {
            problems.push(format!("{from} -> {to}: a digest stays"));
        }
    }
}

/// Edits that say the same: only the digest of the document tells them apart.
const SAME: &[(&str, &str)] = &[
    ("wall_time=\"1m\"", "wall_time=\"60s\""),
    ("memory=\"1GiB\"", "memory=\"1024MiB\""),
    ("cpu_time=\"5s\"", "cpu_time=\"4999.1ms\""),
    (
        "cwd=\"${workspace}/build\"",
        "cwd=\"${workspace}//./build/\"",
    ),
    (
        "<read path=\"data\"/>",
        "<read path=\"./data\"></read><read path=\"data\"/>",
    ),
    ("values=\"git, log\"", "values='[\"git\",\"log\"]'"),
    (
        "scopes=\"once,durable_exact\"",
        "scopes=\" durable_exact , once \"",
    ),
    (
        "command=\"git status\"",
        "command=\"'git'  s&quot;tatus&quot; \"",
    ),
    ("suffix=\"bin\"", "suffix=\"bin/\""),
    ("description=\"Lists.\"", "description=\" Lists.\n\""),
    (
        "sandbox=\"preferred\" network=\"false\"",
        "network='false'\n sandbox = \"preferred\"",
    ),
    (
        "<unset name=\"OLD\"/>",
        "<unset name=\"OLD\"/><!-- <unset name=\"NEW\"/> -->",
    ),
    (
        "<trusted_root path=\"/opt\"/>",
        "<trusted_root path=\"/usr\"/><trusted_root path=\"/opt\"/>",
    ),
];

#[test]
fn another_way_to_say_the_same_leaves_the_comparison_form() {
    let plain = manifest_of(Platform::Linux, |_, text| text.to_owned());
    for (from, to) in SAME {
        let edited = manifest_of(Platform::Linux, |name, text| match name {
            "agent.chatmd" => replace_once(text, from, to),
            _ => text.to_owned(),
        });
        assert_eq!(
            differing(&plain, &edited),
            BTreeSet::new(),
            "{from} -> {to}"
        );
        assert_ne!(
            manifest::digest(&plain).unwrap(),
            manifest::digest(&edited).unwrap(),
            "{from} -> {to}"
        );
    }
}

/// Every file that is read is covered, whatever it contributes.
#[test]
fn an_edit_of_any_file_changes_both_digests() {
    let plain = manifest_of(Platform::Linux, |_, text| text.to_owned());
    for (file, read) in [
        ("agent.chatmd", true),
        ("lib/library.chatmd", true),
        ("program.chatml", true),
        ("lib/copy.chatmd", false),
        ("same.chatml", false),
    ] {
        let edited = manifest_of(Platform::Linux, |name, text| {
            let end = if name == file { "\n" } else { "" };
            format!("{text}{end}")
        });
        let same = (
            manifest::digest(&plain).unwrap() == manifest::digest(&edited).unwrap(),
            manifest::digest(&bind(plain.clone())).unwrap()
                == manifest::digest(&bind(edited)).unwrap(),
        );
        assert_eq!(same, (!read, !read), "{file}");
    }
}

/// What a host adds changes the bound digest alone.
#[test]
fn every_member_of_the_binding_changes_the_bound_digest_alone() {
    type Change = fn(&mut Binding);
    let changes: [(&str, Change); 11] = [
        ("another workspace", |b| {
            b.variables.insert("workspace".into(), "/srv/two".into());
        }),
        ("one more variable", |b| {
            b.variables.insert("home".into(), "/home/a".into());
        }),
        ("another directory of a source", |b| {
            b.source_dirs
                .insert("agent.chatmd".into(), "/srv/others".into());
        }),
        ("an unset variable", |b| {
            b.path_env.insert("DATA".into(), None);
        }),
        ("another value of a variable", |b| {
            b.path_env.insert("DATA".into(), Some("/".into()));
        }),
        ("one more read root", |b| b.roots[0].read.push("/".into())),
        ("one more write root", |b| b.roots[0].write.push("/".into())),
        ("roots of another runtime", |b| {
            b.roots[0].runtime = "base".into();
        }),
        ("another file", |b| b.files[0].path = "/bin/linter".into()),
        ("other content", |b| {
            b.files[0].sha256 = Some("cd".repeat(32))
        }),
        ("no content", |b| b.files[0].sha256 = None),
    ];
    let plain = bind(manifest_of(Platform::Linux, |_, text| text.to_owned()));
    let mut seen = BTreeSet::from([manifest::digest(&plain).unwrap()]);
    for (what, change) in changes {
        let mut other = plain.clone();
        change(other.binding.as_mut().unwrap());
        assert!(seen.insert(manifest::digest(&other).unwrap()), "{what}");
        assert_eq!(
            manifest::requested_sha256(&plain).unwrap(),
            manifest::requested_sha256(&other).unwrap(),
            "{what}"
        );
    }
}
