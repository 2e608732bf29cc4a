#![allow(clippy::unwrap_used, clippy::expect_used)]

use serde_json::{Value, json};

use super::Class::{Mixed, Narrowing, Neutral, Widening};
use super::*;

fn base() -> Value {
    let path = |base: &str, path: &str| json!({"base": base, "path": path, "source": null});
    json!({
        "encoding": "chatmd.shell.manifest.v1", "platform": "linux",
        "sources": [{"path": "a.chatmd", "namespace": null, "role": "root", "sha256": "00"}],
        "runtimes": [{
            "id": "r", "source": "a.chatmd", "extends": [], "profile": null,
            "cwd": path("workspace", ""), "pipefail": false,
            "capabilities": {
                "sandbox": "preferred", "network": false, "child_processes": false,
                "arbitrary_code": false, "privilege_change": false,
                "read": [{"kind": "path", "path": path("workspace", "")}],
                "write": [{"kind": "path", "path": path("home", "out")}],
            },
            "resolver": {
                "search_path": [path("absolute", "/usr/bin")],
                "trusted_roots": [path("absolute", "/usr")],
                "executables": [
                    {"id": "x", "path": path("workspace", "x"), "sha256": null, "trusted": false}
                ],
                "allow_relative_search_path": false,
            },
            "environment": {"inherit": "safe", "operations": []},
            "limits": {
                "wall_time_ms": 10, "idle_time_ms": 10, "max_stdin_bytes": 10,
                "stdout_bytes": 10, "stderr_bytes": 10, "total_output_bytes": 10,
                "cpu_time_ms": 10, "memory_bytes": 10, "file_size_bytes": 10, "open_files": 10,
            },
            "backends": {"accept_declared_confinement": false, "entries": []},
            "policy": {"default": "ask", "rules": []},
            "approvals": {
                "provider": "ui", "unavailable": "deny", "scopes": ["once"], "durable": false
            },
            "reviewers": {"mode": "chain", "strategy": "first_terminal", "entries": []},
            "interceptors": [], "effect_analyzers": [],
            "secrets": {"replacement": "[REDACTED]", "sources": []},
            "audit": {
                "format": "session", "path": null, "content": "redacted",
                "failure": "terminate", "filter": null
            },
        }],
        "tools": [{
            "name": "t", "description": null, "runtime": "r", "source": "a.chatmd",
            "stdin": "none", "rationale": "none", "result": "combined",
            "stream": "finalized", "nonzero": "result",
            "mode": {"kind": "structured"},
        }],
        "moderator_runtime": null,
        "scripts": [{
            "id": "s", "kind": "shell_matcher", "language": "chatml",
            "source": {"kind": "inline", "file": "a.chatmd"}, "sha256": "00",
            "surface": "chatmd.shell.chatml.surface.v1", "entrypoints": ["match_command"],
            "limits": {
                "wall_time_ms": 1, "fuel": 1, "max_tasks": 1, "max_value_bytes": 1,
                "max_output_bytes": 1, "max_array_items": 1, "max_depth": 1
            },
        }],
        "dependencies": [], "features": [],
        "binding": null,
    })
}

/// A row of the table in the specification: a place, two values for it, the path of the change,
/// and its class from the first value to the second and back.
type Row = (&'static str, Value, Value, &'static str, Class, Class);

fn with(edits: &[(&str, &Value)]) -> Manifest {
    let mut value = base();
    for (pointer, edit) in edits {
        let place = value
            .pointer_mut(pointer)
            .unwrap_or_else(|| panic!("{pointer}"));
        *place = (*edit).clone();
    }
    serde_json::from_value(value).unwrap_or_else(|error| panic!("{edits:?}: {error}"))
}

fn check(rows: &[Row]) {
    for (pointer, first, second, path, there, back) in rows {
        check_with(&[], (pointer, first, second, path, *there, *back));
    }
}

fn check_with(context: &[(&str, &Value)], row: (&str, &Value, &Value, &str, Class, Class)) {
    let (pointer, first, second, path, there, back) = row;
    let side = |value| {
        let mut edits = context.to_vec();
        edits.push((pointer, value));
        with(&edits)
    };
    let (a, b) = (side(first), side(second));
    for (old, new, class) in [(&a, &b, there), (&b, &a, back)] {
        let found = diff(old, new).unwrap();
        let shown: Vec<(&str, Class)> = found
            .changes
            .iter()
            .map(|change| (change.path.as_str(), change.class))
            .collect();
        assert_eq!(shown, [(path, class)], "{pointer}: {first} / {second}");
        let verdict = match class {
            Widening | Mixed => Verdict::Widening,
            Narrowing => Verdict::Narrowing,
            Neutral => Verdict::Neutral,
        };
        assert_eq!(found.verdict, verdict, "{pointer}");
        assert!(text(&found).ends_with(&format!("\nauthority: {}\n", verdict.as_str())));
    }
    assert_eq!(diff(&a, &a).unwrap().verdict, Verdict::Equal);
}

fn p(base: &str, path: &str) -> Value {
    json!({"base": base, "path": path, "source": null})
}

fn root(base: &str, path: &str) -> Value {
    json!({"kind": "path", "path": p(base, path)})
}

fn hook() -> Value {
    json!({
        "executable": p("absolute", "/opt/h"), "sha256": null, "runtime": "w",
        "protocol": "p", "timeout_ms": null, "max_input_bytes": 1, "max_output_bytes": 1
    })
}

#[test]
fn whole_runtimes_and_tools() {
    let (runtimes, tools) = (base()["runtimes"].clone(), base()["tools"].clone());
    check(&[
        ("/runtimes", json!([]), runtimes, "runtimes.r", Widening, Narrowing),
        ("/tools", json!([]), tools, "tools.t", Widening, Narrowing),
    ]);
}

#[test]
fn tools() {
    let fixed = |members: Value| {
        let mut mode = json!({
            "kind": "fixed", "program": "ls", "executable_ref": null, "arguments": [],
            "model_arguments": {
                "mode": "optional", "min_count": 1, "max_count": 2, "max_item_bytes": 10
            }
        });
        for (name, value) in members.as_object().unwrap() {
            mode[name] = value.clone();
        }
        mode
    };
    let model = |mode: &str, min: u64, max: u64, bytes: u64| {
        fixed(json!({"model_arguments": {
            "mode": mode, "min_count": min, "max_count": max, "max_item_bytes": bytes
        }}))
    };
    let script = |members: Value| {
        let mut mode = json!({
            "kind": "script", "script": p("workspace", "s"), "interpreter": null,
            "fixed_arguments": [], "verification": "sha256", "max_source_bytes": 10
        });
        for (name, value) in members.as_object().unwrap() {
            mode[name] = value.clone();
        }
        mode
    };
    let raw = |executable: &str, argument: &str| {
        json!({
            "kind": "raw", "executable": p("absolute", executable),
            "arguments_before_script": [argument]
        })
    };
    let kind = |kind: &str| match kind {
        "fixed" => fixed(json!({})),
        "script" => script(json!({})),
        "raw" => raw("/bin/sh", "-c"),
        kind => json!({"kind": kind}),
    };
    check(&[
        ("/tools/0/runtime", json!("r"), json!("q"), "tools.t.runtime", Mixed, Mixed),
        ("/tools/0/stdin", json!("none"), json!("optional"), "tools.t.stdin", Widening, Narrowing),
        ("/tools/0/stdin", json!("required"), json!("optional"), "tools.t.stdin", Widening, Narrowing),
        ("/tools/0/stdin", json!("none"), json!("required"), "tools.t.stdin", Widening, Narrowing),
        ("/tools/0/rationale", json!("required"), json!("optional"), "tools.t.rationale", Widening, Narrowing),
        ("/tools/0/rationale", json!("required"), json!("none"), "tools.t.rationale", Widening, Narrowing),
        ("/tools/0/rationale", json!("optional"), json!("none"), "tools.t.rationale", Widening, Narrowing),
        ("/tools/0/result", json!("combined"), json!("structured"), "tools.t.result", Neutral, Neutral),
        ("/tools/0/stream", json!("finalized"), json!("sanitized"), "tools.t.stream", Widening, Neutral),
        ("/tools/0/nonzero", json!("result"), json!("error"), "tools.t.nonzero", Neutral, Neutral),
        ("/tools/0/description", json!(null), json!("x"), "tools.t.description", Neutral, Neutral),
        ("/tools/0/source", json!("a.chatmd"), json!("b.chatmd"), "tools.t.source", Neutral, Neutral),
        ("/tools/0/mode", fixed(json!({})), fixed(json!({"program": "rm"})), "tools.t.mode.program", Mixed, Mixed),
        ("/tools/0/mode", fixed(json!({})), fixed(json!({"arguments": [{"kind": "literal", "value": "x"}]})), "tools.t.mode.arguments", Mixed, Mixed),
        ("/tools/0/mode", fixed(json!({"program": null, "executable_ref": "x"})), fixed(json!({"program": null, "executable_ref": "y"})), "tools.t.mode.executable_ref", Mixed, Mixed),
        ("/tools/0/mode", model("none", 0, 0, 0), model("required", 1, 2, 10), "tools.t.mode.model_arguments", Widening, Narrowing),
        ("/tools/0/mode", model("required", 1, 2, 10), model("optional", 1, 2, 10), "tools.t.mode.model_arguments.mode", Widening, Narrowing),
        ("/tools/0/mode", model("optional", 1, 2, 10), model("optional", 0, 2, 10), "tools.t.mode.model_arguments.min_count", Widening, Narrowing),
        ("/tools/0/mode", model("optional", 1, 2, 10), model("optional", 1, 3, 10), "tools.t.mode.model_arguments.max_count", Widening, Narrowing),
        ("/tools/0/mode", model("optional", 1, 2, 10), model("optional", 1, 2, 11), "tools.t.mode.model_arguments.max_item_bytes", Widening, Narrowing),
        ("/tools/0/mode", raw("/bin/sh", "-c"), raw("/bin/bash", "-c"), "tools.t.mode.executable", Mixed, Mixed),
        ("/tools/0/mode", raw("/bin/sh", "-c"), raw("/bin/sh", "-ec"), "tools.t.mode.arguments_before_script", Mixed, Mixed),
        ("/tools/0/mode", script(json!({})), script(json!({"script": p("workspace", "z")})), "tools.t.mode.script", Mixed, Mixed),
        ("/tools/0/mode", script(json!({})), script(json!({"interpreter": p("absolute", "/bin/sh")})), "tools.t.mode.interpreter", Mixed, Mixed),
        ("/tools/0/mode", script(json!({})), script(json!({"fixed_arguments": ["x"]})), "tools.t.mode.fixed_arguments", Mixed, Mixed),
        ("/tools/0/mode", script(json!({})), script(json!({"verification": "other"})), "tools.t.mode.verification", Mixed, Mixed),
        ("/tools/0/mode", script(json!({})), script(json!({"max_source_bytes": 11})), "tools.t.mode.max_source_bytes", Widening, Narrowing),
    ]);
    for (narrow, wide) in [
        ("fixed", "structured"), ("fixed", "chain"), ("fixed", "raw"), ("fixed", "script"),
        ("structured", "chain"), ("structured", "raw"), ("chain", "raw"),
        ("script", "structured"), ("script", "chain"), ("script", "raw"),
    ] {
        check(&[("/tools/0/mode", kind(narrow), kind(wide), "tools.t.mode", Widening, Narrowing)]);
    }
}

#[test]
fn runtimes() {
    let profile = |requested: &str, resolved: &str| json!({"requested": requested, "resolved": resolved});
    let source = |member: &str| format!("/runtimes/0/{member}");
    check(&[
        ("/runtimes/0/source", json!("a.chatmd"), json!("b.chatmd"), "runtimes.r.source", Neutral, Neutral),
        ("/runtimes/0/extends", json!([]), json!(["q"]), "runtimes.r.extends", Neutral, Neutral),
        ("/runtimes/0/profile", profile("a", "a@1"), profile("a", "a@2"), "runtimes.r.profile.resolved", Mixed, Mixed),
        ("/runtimes/0/profile", profile("a", "a@1"), profile("a@1", "a@1"), "runtimes.r.profile.requested", Neutral, Neutral),
        ("/runtimes/0/cwd", p("workspace", ""), p("home", ""), "runtimes.r.cwd", Mixed, Mixed),
        ("/runtimes/0/pipefail", json!(false), json!(true), "runtimes.r.pipefail", Mixed, Mixed),
        ("/runtimes/0/capabilities/sandbox", json!("required"), json!("preferred"), "runtimes.r.capabilities.sandbox", Widening, Narrowing),
        ("/runtimes/0/capabilities/sandbox", json!("preferred"), json!("direct_unsafe"), "runtimes.r.capabilities.sandbox", Widening, Narrowing),
        ("/runtimes/0/resolver/search_path", json!([]), json!([p("absolute", "/bin")]), "runtimes.r.resolver.search_path", Mixed, Mixed),
        ("/runtimes/0/resolver/trusted_roots", json!([]), json!([p("absolute", "/opt")]), "runtimes.r.resolver.trusted_roots./opt", Widening, Narrowing),
        ("/runtimes/0/resolver/allow_relative_search_path", json!(false), json!(true), "runtimes.r.resolver.allow_relative_search_path", Widening, Narrowing),
        ("/runtimes/0/resolver/executables/0/trusted", json!(false), json!(true), "runtimes.r.resolver.executables.x.trusted", Widening, Narrowing),
        ("/runtimes/0/resolver/executables/0/sha256", json!("aa"), json!(null), "runtimes.r.resolver.executables.x.sha256", Widening, Narrowing),
        ("/runtimes/0/resolver/executables/0/sha256", json!("aa"), json!("bb"), "runtimes.r.resolver.executables.x.sha256", Mixed, Mixed),
        ("/runtimes/0/resolver/executables/0/path", p("workspace", "x"), p("workspace", "y"), "runtimes.r.resolver.executables.x.path", Mixed, Mixed),
        ("/runtimes/0/resolver/executables", json!([]), base()["runtimes"][0]["resolver"]["executables"].clone(), "runtimes.r.resolver.executables.x", Widening, Narrowing),
    ]);
    for power in ["network", "child_processes", "arbitrary_code", "privilege_change"] {
        let path = format!("runtimes.r.capabilities.{power}");
        let pointer = source(&format!("capabilities/{power}"));
        check_with(&[], (&pointer, &json!(false), &json!(true), &path, Widening, Narrowing));
    }
    for (limit, clears) in [
        ("wall_time_ms", false), ("max_stdin_bytes", false), ("stdout_bytes", false),
        ("stderr_bytes", false), ("total_output_bytes", false), ("idle_time_ms", true),
        ("cpu_time_ms", true), ("memory_bytes", true), ("file_size_bytes", true), ("open_files", true),
    ] {
        let path = format!("runtimes.r.limits.{limit}");
        let pointer = source(&format!("limits/{limit}"));
        check_with(&[], (&pointer, &json!(10), &json!(11), &path, Widening, Narrowing));
        if clears {
            check_with(&[], (&pointer, &json!(10), &json!(null), &path, Widening, Narrowing));
        }
    }
}

#[test]
fn roots_are_wider_only_outside_of_what_was_there() {
    let env = |optional: bool| json!({"kind": "path_env", "name": "D", "optional": optional});
    let read = "/runtimes/0/capabilities/read";
    let write = "/runtimes/0/capabilities/write";
    let added = |pointer: &'static str, extra: Value, path: &'static str, class: Class| {
        let mut list = base().pointer(pointer).unwrap().clone();
        let old = list.clone();
        list.as_array_mut().unwrap().push(extra);
        check(&[(pointer, old, list, path, class, Narrowing)]);
    };
    let r = "runtimes.r.capabilities.read";
    added(read, root("cache_dir", ""), concat!("runtimes.r.capabilities.read", ".${cache_dir}"), Widening);
    added(read, root("workspace", "a/b"), "runtimes.r.capabilities.read.${workspace}/a/b", Neutral);
    // Inside of a write root, which permits reading as well; but not the other way round.
    added(read, root("home", "out/x"), "runtimes.r.capabilities.read.${home}/out/x", Neutral);
    added(write, root("workspace", "a"), "runtimes.r.capabilities.write.${workspace}/a", Widening);
    added(write, root("home", "out/x"), "runtimes.r.capabilities.write.${home}/out/x", Neutral);
    // Not inside: a sibling with the same beginning, and what climbs out.
    added(write, root("home", "outer"), "runtimes.r.capabilities.write.${home}/outer", Widening);
    added(read, root("workspace", "../x"), "runtimes.r.capabilities.read.${workspace}/../x", Widening);
    added(read, root("workspace", "a/../../x"), "runtimes.r.capabilities.read.${workspace}/a/../../x", Widening);
    added(read, root("workspace", ".."), "runtimes.r.capabilities.read.${workspace}/..", Widening);
    added(read, root("absolute", "/"), "runtimes.r.capabilities.read./", Widening);
    added(read, env(false), "runtimes.r.capabilities.read.value of D", Widening);
    check(&[
        (read, json!([env(false)]), json!([env(true)]), "runtimes.r.capabilities.read.value of D.optional", Widening, Narrowing),
        (read, json!([root("home", ""), root("workspace", "")]), json!([root("workspace", ""), root("home", "")]), "runtimes.r.capabilities.read.order", Neutral, Neutral),
    ]);
    // Everything lies below `/`.
    let everything = json!([root("absolute", "/")]);
    let more = json!([root("absolute", "/"), root("home", "../x"), env(false)]);
    let found = diff(&with(&[(read, &everything)]), &with(&[(read, &more)])).unwrap();
    assert_eq!(found.verdict, Verdict::Neutral, "{r}: {found:?}");
}

#[test]
fn environments() {
    let inherit = "/runtimes/0/environment/inherit";
    let path = "runtimes.r.environment.inherit";
    let words = ["selected", "safe", "all_sanitized", "raw"];
    for (index, narrow) in words.iter().enumerate() {
        for wide in &words[index + 1..] {
            check(&[(inherit, json!(narrow), json!(wide), path, Widening, Narrowing)]);
        }
    }
    check(&[(inherit, json!("none"), json!("selected"), path, Neutral, Neutral)]);

    let operations = "/runtimes/0/environment/operations";
    let pass = |required: bool, secret: bool| json!({"kind": "pass", "name": "A", "required": required, "secret": secret});
    let unset = json!({"kind": "unset", "name": "A"});
    let prefix = json!({"kind": "unset_prefix", "prefix": "A"});
    let set = |value: &str| json!({"kind": "set", "name": "A", "value": value});
    let path = |rest: &str| json!({"kind": "path", "position": "append", "path": p("workspace", rest)});
    let path_env = |suffix: &str| json!({"kind": "path_env", "name": "A", "suffix": suffix, "position": "append", "required": false});
    check(&[
        (operations, json!([]), json!([pass(false, false)]), "runtimes.r.environment.operations.pass A", Widening, Narrowing),
        // Still inherited, and then no longer secret.
        (operations, json!([]), json!([pass(false, true)]), "runtimes.r.environment.operations.pass A", Widening, Mixed),
        (operations, json!([unset]), json!([]), "runtimes.r.environment.operations.unset A", Widening, Narrowing),
        (operations, json!([prefix]), json!([]), "runtimes.r.environment.operations.unset_prefix A", Widening, Narrowing),
        (operations, json!([pass(false, true)]), json!([pass(false, false)]), "runtimes.r.environment.operations.pass A.secret", Widening, Narrowing),
        (operations, json!([pass(true, false)]), json!([pass(false, false)]), "runtimes.r.environment.operations.pass A.required", Widening, Narrowing),
        (operations, json!([]), json!([set("x")]), "runtimes.r.environment.operations.set A", Mixed, Mixed),
        (operations, json!([set("x")]), json!([set("y")]), "runtimes.r.environment.operations.set A", Mixed, Mixed),
        (operations, json!([]), json!([path("b")]), "runtimes.r.environment.operations.path append ${workspace}/b", Mixed, Mixed),
        (operations, json!([path_env("a")]), json!([path_env("b")]), "runtimes.r.environment.operations.path_env A", Mixed, Mixed),
        (operations, json!([set("x"), unset]), json!([unset, set("x")]), "runtimes.r.environment.operations.order", Mixed, Mixed),
        // The same variable twice: no entry hides another.
        (operations, json!([set("x"), set("y")]), json!([set("x")]), "runtimes.r.environment.operations.set A#2", Mixed, Mixed),
    ]);
}

#[test]
fn backends() {
    let entries = "/runtimes/0/backends/entries";
    let direct = json!({"kind": "direct", "id": "d", "when": "any"});
    let external = |members: Value| {
        let mut entry = json!({
            "kind": "external", "id": "e", "when": "any", "executable": p("absolute", "/opt/e"),
            "sha256": "aa", "confinement": "declared", "atoms": []
        });
        for (name, value) in members.as_object().unwrap() {
            entry[name] = value.clone();
        }
        entry
    };
    let bwrap = |id: Value, tmp: bool, proc: bool, dev: &str| {
        json!({
            "kind": "bubblewrap", "id": id, "when": "linux", "executable": null,
            "private_tmp": tmp, "proc": proc, "dev": dev
        })
    };
    let seatbelt = |reads: bool| {
        json!({
            "kind": "seatbelt", "id": null, "when": "macos", "executable": null,
            "allow_system_reads": reads
        })
    };
    let path = "runtimes.r.backends.entries.bubblewrap b";
    let b = |tmp, proc, dev| json!([bwrap(json!("b"), tmp, proc, dev)]);
    check(&[
        ("/runtimes/0/backends/accept_declared_confinement", json!(false), json!(true), "runtimes.r.backends.accept_declared_confinement", Widening, Narrowing),
        (entries, json!([]), json!([direct]), "runtimes.r.backends.entries.direct d", Widening, Narrowing),
        // Without it, what ran confined may run unconfined where a sandbox is only preferred.
        (entries, json!([]), json!([external(json!({}))]), "runtimes.r.backends.entries.external e", Widening, Mixed),
        (entries, json!([]), b(true, false, "none"), path, Neutral, Mixed),
        (entries, b(true, false, "none"), b(false, false, "none"), "runtimes.r.backends.entries.bubblewrap b.private_tmp", Widening, Narrowing),
        (entries, b(true, false, "none"), b(true, true, "none"), "runtimes.r.backends.entries.bubblewrap b.proc", Widening, Narrowing),
        (entries, b(true, false, "none"), b(true, false, "minimal"), "runtimes.r.backends.entries.bubblewrap b.dev", Widening, Narrowing),
        (entries, json!([bwrap(json!(null), true, false, "none")]), json!([bwrap(json!(null), false, false, "none")]), "runtimes.r.backends.entries.bubblewrap number 1.private_tmp", Widening, Narrowing),
        (entries, json!([seatbelt(false)]), json!([seatbelt(true)]), "runtimes.r.backends.entries.seatbelt number 1.allow_system_reads", Widening, Narrowing),
        (entries, json!([external(json!({}))]), json!([external(json!({"executable": p("absolute", "/x")}))]), "runtimes.r.backends.entries.external e.executable", Mixed, Mixed),
        (entries, json!([external(json!({}))]), json!([external(json!({"sha256": null}))]), "runtimes.r.backends.entries.external e.sha256", Widening, Narrowing),
        (entries, json!([external(json!({}))]), json!([external(json!({"confinement": "none"}))]), "runtimes.r.backends.entries.external e.confinement", Mixed, Mixed),
        (entries, json!([external(json!({}))]), json!([external(json!({"atoms": [{"kind": "command_argv"}]}))]), "runtimes.r.backends.entries.external e.atoms", Mixed, Mixed),
        (entries, json!([external(json!({}))]), json!([external(json!({"when": "linux"}))]), "runtimes.r.backends.entries.external e.when", Neutral, Neutral),
        (entries, json!([direct, external(json!({}))]), json!([external(json!({})), direct]), "runtimes.r.backends.entries.order", Mixed, Mixed),
    ]);
    let required = json!("required");
    let context = [("/runtimes/0/capabilities/sandbox", &required)];
    let some = json!([external(json!({}))]);
    check_with(&context, (entries, &json!([]), &some, "runtimes.r.backends.entries.external e", Widening, Narrowing));
    check_with(&context, (entries, &json!([]), &b(true, true, "none"), path, Neutral, Neutral));
}

#[test]
fn policies() {
    let rules = "/runtimes/0/policy/rules";
    let rule = |id: &str, action: &str, program: &str| {
        json!({"id": id, "action": action, "matcher": {"kind": "basename", "value": program}})
    };
    check(&[
        ("/runtimes/0/policy/default", json!("deny"), json!("ask"), "runtimes.r.policy.default", Widening, Narrowing),
        ("/runtimes/0/policy/default", json!("ask"), json!("allow"), "runtimes.r.policy.default", Widening, Narrowing),
        ("/runtimes/0/policy/default", json!("deny"), json!("allow"), "runtimes.r.policy.default", Widening, Narrowing),
        (rules, json!([rule("a", "deny", "x")]), json!([rule("a", "ask", "x")]), "runtimes.r.policy.rules.a.action", Widening, Narrowing),
        (rules, json!([rule("a", "ask", "x")]), json!([rule("a", "allow", "x")]), "runtimes.r.policy.rules.a.action", Widening, Narrowing),
        (rules, json!([rule("a", "ask", "x")]), json!([rule("a", "ask", "y")]), "runtimes.r.policy.rules.a.matcher", Mixed, Mixed),
        (rules, json!([rule("a", "ask", "x"), rule("b", "deny", "x")]), json!([rule("b", "deny", "x"), rule("a", "ask", "x")]), "runtimes.r.policy.rules.order", Neutral, Neutral),
        (rules, json!([rule("a", "ask", "x")]), json!([rule("b", "ask", "x")]), "runtimes.r.policy.rules.b.id", Neutral, Neutral),
    ].map(|mut row: Row| {
        // The path of a renamed rule names its new id, which differs on the way back.
        if row.3.ends_with("b.id") {
            let found = diff(&with(&[(rules, &row.2)]), &with(&[(rules, &row.1)])).unwrap();
            assert_eq!(found.changes[0].path, "runtimes.r.policy.rules.a.id");
            assert_eq!(found.verdict, Verdict::Neutral);
            row = ("/runtimes/0/pipefail", json!(false), json!(true), "runtimes.r.pipefail", Mixed, Mixed);
        }
        row
    }));
    for (default, action, there, back) in [
        ("ask", "allow", Widening, Narrowing),
        ("deny", "allow", Widening, Narrowing),
        ("allow", "allow", Widening, Narrowing),
        ("ask", "deny", Narrowing, Widening),
        ("allow", "deny", Narrowing, Widening),
        ("deny", "deny", Narrowing, Widening),
        ("allow", "ask", Narrowing, Widening),
        ("deny", "ask", Widening, Mixed),
        ("ask", "ask", Mixed, Mixed),
    ] {
        let default = json!(default);
        let context = [("/runtimes/0/policy/default", &default)];
        let some = json!([rule("a", action, "x")]);
        check_with(&context, (rules, &json!([]), &some, "runtimes.r.policy.rules.a", there, back));
    }
    check(&[
        ("/runtimes/0/approvals/provider", json!("none"), json!("ui"), "runtimes.r.approvals.provider", Widening, Narrowing),
        ("/runtimes/0/approvals/unavailable", json!("deny"), json!("error"), "runtimes.r.approvals.unavailable", Neutral, Neutral),
        ("/runtimes/0/approvals/scopes", json!(["once"]), json!(["once", "prefix_session"]), "runtimes.r.approvals.scopes.prefix_session", Widening, Narrowing),
        ("/runtimes/0/approvals/durable", json!(false), json!(true), "runtimes.r.approvals.durable", Widening, Narrowing),
    ]);
}

#[test]
fn extensions() {
    let ui = json!({"kind": "ui", "id": "u"});
    let model = |agent: &str| json!({"kind": "model", "id": "m", "agent": agent, "model": null, "failure": "deny"});
    let chatml = json!({"kind": "chatml", "script": "s", "lifecycle": "session"});
    let executable = json!({"kind": "executable", "hook": hook()});
    let pinned = {
        let mut pinned = executable.clone();
        pinned["hook"]["sha256"] = json!("aa");
        pinned
    };
    let interceptor = |phase: &str, matcher: Value, extension: &Value| {
        json!([{"id": "i", "phase": phase, "matcher": matcher, "failure": "deny", "extension": extension}])
    };
    let analyzer = |replace: bool, failure: &str, extension: &Value| {
        json!([{"id": "a", "replace": replace, "failure": failure, "extension": extension}])
    };
    let entries = "/runtimes/0/reviewers/entries";
    let interceptors = "/runtimes/0/interceptors";
    let analyzers = "/runtimes/0/effect_analyzers";
    let any = json!({"kind": "any_command"});
    let mut two = analyzer(false, "deny", &chatml);
    let mut other = two[0].clone();
    other["id"] = json!("b");
    two.as_array_mut().unwrap().push(other.clone());
    let mut swapped = json!([other]);
    swapped.as_array_mut().unwrap().push(two[0].clone());
    let mut lenient = interceptor("before", json!(null), &chatml);
    lenient[0]["failure"] = json!("error");
    check(&[
        ("/runtimes/0/reviewers/mode", json!("implicit_ui"), json!("chain"), "runtimes.r.reviewers.mode", Mixed, Mixed),
        (entries, json!([]), json!([ui]), "runtimes.r.reviewers.entries.u", Mixed, Mixed),
        (entries, json!([model("a")]), json!([model("b")]), "runtimes.r.reviewers.entries.m", Mixed, Mixed),
        (entries, json!([ui, model("a")]), json!([model("a"), ui]), "runtimes.r.reviewers.entries.order", Mixed, Mixed),
        (interceptors, json!([]), interceptor("before", json!(null), &chatml), "runtimes.r.interceptors.i", Mixed, Widening),
        (interceptors, json!([]), interceptor("after", json!(null), &chatml), "runtimes.r.interceptors.i", Mixed, Widening),
        (interceptors, interceptor("before", json!(null), &chatml), interceptor("before", any, &chatml), "runtimes.r.interceptors.i.matcher", Widening, Widening),
        (interceptors, interceptor("before", json!(null), &chatml), interceptor("after", json!(null), &chatml), "runtimes.r.interceptors.i.phase", Mixed, Mixed),
        (interceptors, interceptor("before", json!(null), &chatml), interceptor("before", json!(null), &executable), "runtimes.r.interceptors.i.extension", Mixed, Mixed),
        (interceptors, interceptor("before", json!(null), &executable), interceptor("before", json!(null), &pinned), "runtimes.r.interceptors.i.extension", Mixed, Mixed),
        (interceptors, interceptor("before", json!(null), &chatml), lenient, "runtimes.r.interceptors.i.failure", Neutral, Neutral),
        (analyzers, json!([]), analyzer(false, "deny", &chatml), "runtimes.r.effect_analyzers.a", Narrowing, Widening),
        (analyzers, json!([]), analyzer(true, "deny", &chatml), "runtimes.r.effect_analyzers.a", Widening, Widening),
        (analyzers, analyzer(false, "deny", &chatml), analyzer(true, "deny", &chatml), "runtimes.r.effect_analyzers.a.replace", Widening, Narrowing),
        (analyzers, analyzer(false, "unknown", &chatml), analyzer(false, "keep", &chatml), "runtimes.r.effect_analyzers.a.failure", Widening, Narrowing),
        (analyzers, analyzer(false, "deny", &chatml), analyzer(false, "unknown", &chatml), "runtimes.r.effect_analyzers.a.failure", Widening, Narrowing),
        (analyzers, analyzer(false, "deny", &chatml), analyzer(false, "error", &chatml), "runtimes.r.effect_analyzers.a.failure", Neutral, Neutral),
        (analyzers, analyzer(false, "deny", &chatml), analyzer(false, "deny", &executable), "runtimes.r.effect_analyzers.a.extension", Mixed, Mixed),
        (analyzers, two, swapped, "runtimes.r.effect_analyzers.order", Mixed, Mixed),
    ]);
}

#[test]
fn secrets_and_audit() {
    let sources = "/runtimes/0/secrets/sources";
    let env = |optional: bool| json!({"kind": "from_env", "name": "A", "optional": optional});
    let file = |optional: bool, strip: bool| json!({"kind": "from_file", "path": p("home", "k"), "optional": optional, "strip": strip});
    let filter = json!({"kind": "chatml", "script": "s", "lifecycle": "session"});
    let audit = "/runtimes/0/audit";
    let log = |format: &str, path: Value| {
        json!({"format": format, "path": path, "content": "redacted", "failure": "terminate", "filter": null})
    };
    check(&[
        ("/runtimes/0/secrets/replacement", json!("[REDACTED]"), json!("***"), "runtimes.r.secrets.replacement", Neutral, Neutral),
        (sources, json!([env(false)]), json!([]), "runtimes.r.secrets.sources.from_env A", Widening, Narrowing),
        (sources, json!([env(false)]), json!([env(true)]), "runtimes.r.secrets.sources.from_env A.optional", Widening, Narrowing),
        (sources, json!([file(false, true)]), json!([file(true, true)]), "runtimes.r.secrets.sources.from_file ${home}/k.optional", Widening, Narrowing),
        (sources, json!([file(false, true)]), json!([file(false, false)]), "runtimes.r.secrets.sources.from_file ${home}/k.strip", Mixed, Mixed),
        (sources, json!([env(false), file(false, true)]), json!([file(false, true), env(false)]), "runtimes.r.secrets.sources.order", Neutral, Neutral),
        (audit, log("session", json!(null)), log("none", json!(null)), "runtimes.r.audit.format", Widening, Narrowing),
        (audit, log("session", json!(null)), log("stderr", json!(null)), "runtimes.r.audit.format", Widening, Narrowing),
        (audit, log("stderr", json!(null)), log("none", json!(null)), "runtimes.r.audit.format", Mixed, Mixed),
        (audit, log("jsonl", p("home", "a")), log("jsonl", p("home", "b")), "runtimes.r.audit.path", Mixed, Mixed),
        ("/runtimes/0/audit/failure", json!("terminate"), json!("deny_start"), "runtimes.r.audit.failure", Widening, Narrowing),
        ("/runtimes/0/audit/failure", json!("deny_start"), json!("continue"), "runtimes.r.audit.failure", Widening, Narrowing),
        ("/runtimes/0/audit/content", json!("redacted"), json!("full"), "runtimes.r.audit.content", Widening, Narrowing),
        ("/runtimes/0/audit/content", json!("redacted"), json!("metadata"), "runtimes.r.audit.content", Neutral, Neutral),
        ("/runtimes/0/audit/filter", filter.clone(), json!(null), "runtimes.r.audit.filter", Widening, Narrowing),
        ("/runtimes/0/audit/filter", filter, json!({"kind": "executable", "hook": hook()}), "runtimes.r.audit.filter", Mixed, Mixed),
    ]);
}

#[test]
fn the_document() {
    let edge = json!([{"from": "tool:t", "to": "runtime:r", "kind": "tool_runtime", "via": null}]);
    let source = |namespace: Value| json!([{"path": "a.chatmd", "namespace": namespace, "role": "root", "sha256": "00"}]);
    check(&[
        ("/moderator_runtime", json!(null), json!("r"), "moderator_runtime", Widening, Narrowing),
        ("/moderator_runtime", json!("r"), json!("q"), "moderator_runtime", Mixed, Mixed),
        ("/platform", json!("linux"), json!("macos"), "platform", Mixed, Mixed),
        ("/features", json!([]), json!(["shell.tool.raw.v1"]), "features.shell.tool.raw.v1", Neutral, Neutral),
        ("/dependencies", json!([]), edge, "dependencies.tool:t -> runtime:r (tool_runtime)", Neutral, Neutral),
        ("/sources/0/sha256", json!("00"), json!("11"), "sources.a.chatmd (root).sha256", Neutral, Neutral),
        ("/scripts", json!([]), base()["scripts"].clone(), "scripts.s", Neutral, Neutral),
        ("/scripts/0/sha256", json!("00"), json!("11"), "scripts.s.sha256", Mixed, Mixed),
        ("/scripts/0/kind", json!("shell_matcher"), json!("shell_reviewer"), "scripts.s.kind", Mixed, Mixed),
        ("/scripts/0/entrypoints", json!(["match_command"]), json!(["other"]), "scripts.s.entrypoints", Mixed, Mixed),
        ("/scripts/0/limits/fuel", json!(1), json!(2), "scripts.s.limits", Mixed, Mixed),
    ]);
    let found = diff(&with(&[("/sources", &source(json!(null)))]), &with(&[("/sources", &source(json!("n")))])).unwrap();
    assert_eq!(found.verdict, Verdict::Neutral);
    assert_eq!(found.changes.len(), 2);
}

#[test]
fn values_of_the_machine_count_when_both_are_bound() {
    let bound = |workspace: &str, read: &[&str], sha256: &str| {
        json!({
            "variables": {"workspace": workspace}, "source_dirs": {}, "path_env": {},
            "roots": [{"runtime": "r", "read": read, "write": ["/home/u/out"]}],
            "files": [{"owner": "runtime:r/x", "role": "executable", "path": "/srv/x", "sha256": sha256}]
        })
    };
    let changes = |old: &Value, new: &Value| {
        let found = diff(&with(&[("/binding", old)]), &with(&[("/binding", new)])).unwrap();
        let all = found.changes.into_iter();
        all.map(|change| (change.path, change.class)).collect::<Vec<_>>()
    };
    let a = bound("/srv", &["/srv"], "00");
    let read = |path: &str| format!("runtimes.r.capabilities.read.{path}");
    assert_eq!(
        changes(&a, &bound("/srv", &["/srv", "/srv/x", "/etc"], "00")),
        [(read("/etc"), Widening), (read("/srv/x"), Neutral)]
    );
    assert_eq!(changes(&a, &bound("/srv", &[], "00")), [(read("/srv"), Narrowing)]);
    assert_eq!(
        changes(&a, &bound("/opt", &["/srv"], "11")),
        [
            ("binding.files.runtime:r/x executable.sha256".to_owned(), Mixed),
            ("binding.variables.workspace".to_owned(), Mixed),
        ]
    );
    // Another name of the same directory.
    let renamed = json!([root("absolute", "/srv")]);
    let found = diff(
        &with(&[("/binding", &a)]),
        &with(&[("/binding", &a), ("/runtimes/0/capabilities/read", &renamed)]),
    )
    .unwrap();
    assert_eq!(found.verdict, Verdict::Neutral);
    // A variable without a value here may have one tomorrow.
    let more = json!([root("workspace", ""), {"kind": "path_env", "name": "D", "optional": true}]);
    let found = diff(
        &with(&[("/binding", &a)]),
        &with(&[("/binding", &a), ("/runtimes/0/capabilities/read", &more)]),
    )
    .unwrap();
    assert_eq!(found.verdict, Verdict::Widening);
    // One side alone has no meaning for the other.
    let found = diff(&with(&[]), &with(&[("/binding", &a)])).unwrap();
    assert_eq!(found.verdict, Verdict::Equal);
}

/// Every leaf of every payload of the vectors, changed alone, is seen; whatever makes the digests
/// differ has at least one change that says so.
#[test]
fn no_member_is_overlooked() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/vectors/manifest");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read(entry.unwrap().path().join("expect.json")).unwrap();
        let mut expect: Value = serde_json::from_slice(&text).unwrap();
        let payload = expect["payload"].take();
        let manifest: Manifest = serde_json::from_value(payload.clone()).unwrap();
        let mut open = vec![(String::new(), &payload)];
        let mut leaves = Vec::new();
        while let Some((at, value)) = open.pop() {
            match value {
                Value::Object(members) => open.extend(members.iter().map(|(name, member)| {
                    (format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), member)
                })),
                Value::Array(list) => open.extend(
                    list.iter().enumerate().map(|(index, member)| (format!("{at}/{index}"), member)),
                ),
                _ => leaves.push(at),
            }
        }
        for leaf in leaves {
            let mut changed = payload.clone();
            let place = changed.pointer_mut(&leaf).unwrap();
            *place = match place.take() {
                Value::Bool(flag) => Value::Bool(!flag),
                Value::String(text) => Value::String(format!("{text}x")),
                Value::Number(number) => Value::from(number.as_u64().unwrap() + 1),
                Value::Null => Value::from(7),
                other => other,
            };
            // Words of enums and members with another type do not take the change.
            let Ok(other) = serde_json::from_value::<Manifest>(changed) else {
                continue;
            };
            let found = diff(&manifest, &other).unwrap();
            assert!(!found.changes.is_empty(), "{leaf}");
            assert_ne!(found.changes[0].path, "payload.sha256", "{leaf}");
            seen += 1;
        }
    }
    assert!(seen > 5_000, "{seen}");
}

#[test]
fn text_for_people() {
    let mut new = base();
    new["runtimes"][0]["capabilities"]["network"] = json!(true);
    new["runtimes"][0]["capabilities"]["write"] = json!([root("workspace", "out")]);
    new["runtimes"][0]["limits"]["memory_bytes"] = json!(null);
    new["sources"][0]["sha256"] = json!("ab".repeat(32));
    new["tools"][0]["description"] = json!("\u{1b}[31mred\u{202e}");
    let mut second = new["tools"][0].clone();
    second["name"] = json!("u");
    new["tools"].as_array_mut().unwrap().push(second);
    let new: Manifest = serde_json::from_value(new).unwrap();
    let found = diff(&with(&[]), &new).unwrap();
    assert_eq!(
        text(&found),
        "runtime r\n\
         \x20 ~ widening  capabilities.network: false -> true\n\
         \x20 - narrowing capabilities.write.${home}/out\n\
         \x20 + widening  capabilities.write.${workspace}/out\n\
         \x20 ~ widening  limits.memory_bytes: 10 -> none\n\
         tool t\n\
         \x20 ~ neutral   description: none -> \\u{1b}[31mred\\u{202e}\n\
         tool u\n\
         \x20 + widening  structured tool on runtime r\n\
         document\n\
         \x20 ~ neutral   sources.a.chatmd (root).sha256: 00 -> abababababab…\n\
         authority: widening\n"
    );
    assert_eq!(
        serde_json::to_string(&found.changes[1]).unwrap(),
        r#"{"path":"runtimes.r.capabilities.write.${home}/out","change":"removed","old":{"kind":"path","path":{"base":"home","path":"out","source":null}},"new":null,"class":"narrowing","runtime":"r"}"#
    );
}
