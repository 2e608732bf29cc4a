//! `chatmdc inspect` (spec 10 section 2.2).

use std::fmt::Write as _;

use chatmd_compiler::manifest::{self, Manifest, Runtime};
use chatmd_compiler::{Compilation, SafeText, compile};
use serde::Serialize;

use super::{JsonError, complain, findings, print_human, to_json};
use crate::administration::{SUBJECTS, Subject};
use crate::args::{Common, Inspect, InspectFormat};
use crate::documents::{Documents, compile_options};
use crate::output::Output;
use crate::report::json::{self, JsonDiagnostic};
use crate::report::{Findings, Summary};
use crate::{exit, live};

/// Runs the command.
pub fn run(args: &Inspect, common: Common, output: &mut Output) -> u8 {
    let opened = Documents::new(&args.reading).and_then(|mut documents| {
        let root = documents.open(&args.document, &args.reading, None)?;
        Ok((documents, root))
    });
    let (documents, root) = match opened {
        Ok(opened) => opened,
        Err(why) => {
            complain(output, &why.to_string());
            return exit::IO;
        }
    };
    let compilation = compile(&documents.db, root, &compile_options(&args.reading));
    let bound = if args.no_live {
        Err("not asked for (--no-live)".to_owned())
    } else {
        live::bind(&args.reading, &compilation, &documents)
    };
    let view = View {
        args,
        compilation: &compilation,
        bound,
        administration: administration(),
    };
    let code = view.exit_code();
    match args.format {
        InspectFormat::Human => view.print_human(common.quiet, output),
        InspectFormat::Json => output.result(view.json()),
    }
    code
}

/// What configures each subject here; `None`: nothing does.
fn administration() -> Vec<(&'static Subject, Option<String>)> {
    SUBJECTS
        .iter()
        .map(|subject| (subject, subject.configured_by()))
        .collect()
}

struct View<'a> {
    args: &'a Inspect,
    compilation: &'a Compilation,
    bound: Result<Manifest, String>,
    administration: Vec<(&'static Subject, Option<String>)>,
}

impl View<'_> {
    fn exit_code(&self) -> u8 {
        if self.compilation.manifest.is_none() {
            exit::FAILED
        } else if self.administration.iter().any(|(_, by)| by.is_some()) {
            exit::REFUSED
        } else {
            exit::OK
        }
    }

    fn refusals(&self) -> Vec<String> {
        let configured = self.administration.iter();
        configured
            .filter_map(|(subject, by)| Some(subject.refusal(by.as_deref()?)))
            .collect()
    }

    fn bound_digest(&self) -> Result<String, String> {
        let bound = self.bound.as_ref().map_err(Clone::clone)?;
        manifest::digest(bound).map_err(|error| error.to_string())
    }

    fn canonical(&self) -> Option<Vec<u8>> {
        self.compilation
            .manifest
            .as_ref()
            .and_then(|manifest| manifest::to_bytes(manifest).ok())
    }

    fn print_human(&self, quiet: bool, output: &mut Output) {
        let shown = findings(self.compilation, quiet);
        print_human(&shown, output);
        let Some(requested) = &self.compilation.manifest else {
            if !quiet {
                output.message(Summary::of(&[shown]).line());
            }
            return;
        };
        if !quiet {
            output.result(self.labels(requested));
            output.result(self.runtimes(requested));
        }
        if self.args.canonical
            && let Some(bytes) = self.canonical()
        {
            if !quiet {
                output.result("\n");
            }
            output.result(bytes);
            output.result("\n");
        }
        for refusal in self.refusals() {
            complain(output, &refusal);
        }
    }

    /// The labelled lines, labels padded.
    fn labels(&self, requested: &Manifest) -> String {
        let digest = self
            .compilation
            .requested_sha256
            .as_deref()
            .unwrap_or_default();
        let live = self
            .bound_digest()
            .unwrap_or_else(|why| format!("unavailable ({why})"));
        let mut rows = vec![
            ("requested manifest", digest.to_owned()),
            ("live manifest", live),
        ];
        for (subject, by) in &self.administration {
            let state = match by {
                None => "not configured".to_owned(),
                Some(by) => format!("not evaluated (configured by {by})"),
            };
            rows.push((subject.label, state));
        }
        rows.push(("live runtimes", requested.runtimes.len().to_string()));
        let width = rows
            .iter()
            .map(|(label, _)| label.len() + 1)
            .max()
            .unwrap_or(0);
        let mut text = String::new();
        for (label, value) in rows {
            let _ = writeln!(
                text,
                "{:width$}  {}",
                format!("{label}:"),
                SafeText::line(&value)
            );
        }
        text
    }

    fn runtimes(&self, requested: &Manifest) -> String {
        let mut text = String::new();
        for runtime in &requested.runtimes {
            let _ = writeln!(text, "  {}", SafeText::line(&runtime_line(runtime)));
        }
        text
    }

    fn json(&self) -> String {
        let shown = findings(self.compilation, false);
        let summary = Summary::of(std::slice::from_ref(&shown));
        let diagnostics = json::diagnostics(&[Findings { ..shown }]);
        let bound = self.bound_digest();
        let refusals = self.refusals();
        let failed = self.compilation.manifest.is_none();
        let message = if failed {
            Some("the document has errors".to_owned())
        } else {
            (!refusals.is_empty()).then(|| refusals.join("; "))
        };
        let canonical = self.args.canonical.then(|| self.canonical()).flatten();
        to_json(&Answer {
            version: 1,
            command: "inspect",
            ok: self.exit_code() == exit::OK,
            requested_sha256: self.compilation.requested_sha256.clone(),
            manifest_sha256: bound.as_ref().ok().cloned(),
            live_unavailable: bound.err(),
            encoding_version: manifest::ENCODING,
            platform: self
                .compilation
                .manifest
                .as_ref()
                .map(|m| m.platform.as_str()),
            diagnostics,
            summary,
            canonical: canonical.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
            error: message.map(|message| JsonError {
                code: None,
                message,
            }),
        })
    }
}

/// `ID  profile=…  sandbox=…  network=…  policy=…  audit=…`.
fn runtime_line(runtime: &Runtime) -> String {
    let profile = runtime
        .profile
        .as_ref()
        .map_or("custom", |profile| profile.resolved.as_str());
    format!(
        "{}  profile={profile}  sandbox={}  network={}  policy={}  audit={}",
        runtime.id,
        runtime.capabilities.sandbox.as_str(),
        runtime.capabilities.network,
        runtime.policy.default.as_str(),
        runtime.audit.format.as_str(),
    )
}

/// The JSON answer (spec 10 section 1.3).
#[derive(Serialize)]
struct Answer {
    version: u32,
    command: &'static str,
    ok: bool,
    requested_sha256: Option<String>,
    manifest_sha256: Option<String>,
    live_unavailable: Option<String>,
    encoding_version: &'static str,
    platform: Option<&'static str>,
    diagnostics: Vec<JsonDiagnostic>,
    summary: Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    canonical: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<JsonError>,
}
