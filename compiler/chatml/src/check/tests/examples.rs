//! The six scripts of spec 05b section 7, whole.

use super::checked_as;
use crate::check::{EntryRequest, check_entries};
use crate::parse::parse;
use crate::surface::Kind;

const MATCHER: &str = r#"
let initial_state = ()

let base path =
  let parts = String.split(path, "/") in
  parts[Array.length(parts) - 1]

let match_command : shell_context -> unit -> unit task =
  fun ctx st ->
    let exe = Shell.executable(ctx) in
    if base(exe.canonical_path) == "find" then
      if Array.exists(Shell.argv(ctx), fun a -> a == "-exec") then
        let* () = Match.yes("find with -exec") in
        Task.pure(st)
      else
        let* () = Match.no("find without -exec") in
        Task.pure(st)
    else
      let* () = Match.no("not find") in
      Task.pure(st)
"#;

const REVIEWER: &str = r#"
type state = { used : int; last : string }

let initial_state : state = { used = 0; last = "" }

let budget = 3

let read_only effects =
  Array.for_all(effects, fun e -> String.starts_with(e, "read:"))

let rule_named policy id =
  match policy with
  | `None -> false
  | `Some(p) -> Array.exists(p.matches, fun m -> m.rule_id == id)

let review : shell_context -> state -> state task =
  fun ctx st ->
    let argv = Shell.argv(ctx) in
    if rule_named(Shell.policy(ctx), "never-auto") then
      let* () = Review.defer() in
      Task.pure(st)
    else if read_only(Shell.effects(ctx)) == false then
      let* () = Review.deny("only read effects are approved automatically") in
      Task.pure(st)
    else if st.used < budget then
      let* () = Review.approve() in
      Task.pure({ used = st.used + 1; last = argv[0] })
    else
      let* () = Review.defer() in
      Task.pure(st)
"#;

const BEFORE: &str = r#"
let initial_state = { rewrites = 0 }

let before ctx st =
  let argv = Shell.argv(ctx) in
  let offline = Array.exists(argv, fun a -> a == "--offline") in
  if argv[0] != "cargo" then
    Task.map(Intercept.continue(), fun _ -> st)
  else if offline then
    Task.map(Intercept.continue(), fun _ -> st)
  else if st.rewrites >= 50 then
    Task.map(Intercept.reject("too many rewrites in this session"), fun _ -> st)
  else
    Task.map(
      Intercept.rewrite(Array.append(argv, ["--offline"])),
      fun _ -> { st with rewrites = st.rewrites + 1 })
"#;

const AFTER: &str = r####"
let initial_state = ()

let drop_banner text =
  let kept = Array.filter(String.split(text, "\n"),
    fun line -> String.starts_with(line, "### ") == false) in
  Array.fold(kept, "", fun acc line ->
    if String.is_empty(acc) then line else acc ++ "\n" ++ line)

let after : shell_result -> unit -> unit task =
  fun res st ->
    if String.contains(res.stdout, "BEGIN PRIVATE KEY") then
      let* () = Result.reject_disclosure("output contains key material") in
      Task.pure(st)
    else if res.stdout_truncated then
      let* () = Result.keep() in
      Task.pure(st)
    else
      let* () = Result.replace(drop_banner(res.stdout), res.stderr) in
      Task.pure(st)
"####;

const ANALYZER: &str = r#"
let initial_state = ()

let networked = ["fetch", "pull", "push", "clone"]

let analyze ctx st =
  let argv = Shell.argv(ctx) in
  let uses_net =
    if Array.length(argv) < 2 then false
    else Array.exists(networked, fun name -> name == argv[1])
  in
  let action =
    if uses_net then Effect.network()
    else Effect.read_path(Shell.cwd(ctx))   (* already present: adds nothing *)
  in
  Task.map(action, fun _ -> st)
"#;

const FILTER: &str = r#"
type state = { seen : int }
let initial_state : state = { seen = 0 }

let field name fields =
  Array.find_map(fields, fun f -> if f.name == name then `Some(f.value) else `None)

let filter : shell_audit -> state -> state task =
  fun ev st ->
    let next = { seen = st.seen + 1 } in
    match field("command", ev.fields) with
    | `Some(text) ->
      if String.length(text) > 120 then
        let body = `Object([{ key = "command"; value = `String("(long command)") }]) in
        let* () = Audit.replace(Json.stringify(body)) in
        Task.pure(next)
      else
        let* () = Audit.keep() in
        Task.pure(next)
    | `None ->
      let* () = Audit.drop_field("backend") in
      Task.pure(next)
"#;

#[test]
fn all_six_examples_check_on_their_surface() {
    for (kind, source, entry, state) in [
        (Kind::ShellMatcher, MATCHER, "match_command", "unit"),
        (
            Kind::ShellReviewer,
            REVIEWER,
            "review",
            "{ last : string; used : int }",
        ),
        (
            Kind::ShellBeforeInterceptor,
            BEFORE,
            "before",
            "{ rewrites : int }",
        ),
        (Kind::ShellAfterInterceptor, AFTER, "after", "unit"),
        (Kind::ShellEffectAnalyzer, ANALYZER, "analyze", "unit"),
        (Kind::ShellAuditFilter, FILTER, "filter", "{ seen : int }"),
    ] {
        let checked = checked_as(source, kind);
        assert!(checked.is_ok(), "{}: {:#?}", kind.as_str(), checked.errors);
        assert!(
            checked.warnings.is_empty(),
            "{}: {:#?}",
            kind.as_str(),
            checked.warnings
        );
        let report = check_entries(&parse(source).program, &checked, &[EntryRequest::Default]);
        assert!(
            report.errors.is_empty(),
            "{}: {:#?}",
            kind.as_str(),
            report.errors
        );
        assert_eq!(&*report.points[0].name, entry);
        assert_eq!(report.points[0].state.to_string(), state);
    }
}

/// On another kind's surface every one of them fails.
#[test]
fn no_example_checks_on_a_foreign_surface() {
    for (own, source) in [
        (Kind::ShellMatcher, MATCHER),
        (Kind::ShellReviewer, REVIEWER),
        (Kind::ShellBeforeInterceptor, BEFORE),
        (Kind::ShellAfterInterceptor, AFTER),
        (Kind::ShellEffectAnalyzer, ANALYZER),
        (Kind::ShellAuditFilter, FILTER),
    ] {
        for kind in Kind::ALL.into_iter().filter(|kind| *kind != own) {
            assert!(
                !checked_as(source, kind).is_ok(),
                "{} on {}",
                own.as_str(),
                kind.as_str()
            );
        }
    }
}
