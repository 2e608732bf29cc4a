//! `chatmdc inspect` (spec 10 section 2.2).

mod human;
mod json;

pub(super) use human::binding_findings;

use chatmd_compiler::Compilation;
use chatmd_compiler::authority::{self, Summary};
use chatmd_compiler::manifest::{self, Manifest, PathBase};

use super::{complain, findings, print_human, refuse};
use crate::administration::{SUBJECTS, Subject};
use crate::args::{Common, Inspect, InspectFormat};
use crate::documents::{Documents, compilation};
use crate::live::{Live, Unavailable};
use crate::output::Output;
use crate::{exit, live, report};

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
    let environment = match live::environment(&args.reading) {
        Ok(environment) => environment,
        Err(message) => {
            complain(output, &message);
            return exit::IO;
        }
    };
    let compilation = match compilation(&documents.db, root, &args.reading, documents.cwd()) {
        Ok(compilation) => compilation,
        Err(why) if args.format == InspectFormat::Json => {
            output.result(super::refused("inspect", &why));
            return exit::FAILED;
        }
        Err(why) => return refuse(&args.document, &why, output),
    };
    let live = if args.no_live {
        Err(Unavailable::because("not asked for (--no-live)"))
    } else {
        let live = live::bind(&args.reading, environment, &compilation, &documents);
        live.map(|mut live| {
            live.examine(&compilation);
            live
        })
    };
    let view = View {
        args,
        compilation: &compilation,
        live,
        administration: administration(),
    };
    match args.format {
        InspectFormat::Human => view.print_human(common.quiet, output),
        InspectFormat::Json => output.result(json::answer(&view)),
    }
    view.exit_code()
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
    live: Result<Live, Unavailable>,
    administration: Vec<(&'static Subject, Option<String>)>,
}

impl View<'_> {
    fn exit_code(&self) -> u8 {
        let mismatch = self
            .live
            .as_ref()
            .err()
            .is_some_and(Unavailable::is_mismatch);
        if self.compilation.manifest.is_none() || mismatch {
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

    /// The authority of the bound manifest, else of the requested one.
    fn authority(&self, requested: &Manifest) -> Option<Summary> {
        match &self.live {
            Ok(live) => {
                let home = live.host.directory(PathBase::Home, None).ok();
                let home = home.as_ref().and_then(|home| home.to_str());
                authority::summarise_here(&live.manifest, home).ok()
            }
            Err(_) => authority::summarise(requested).ok(),
        }
    }

    fn canonical(&self) -> Option<Vec<u8>> {
        self.compilation
            .manifest
            .as_ref()
            .and_then(|manifest| manifest::to_bytes(manifest).ok())
    }

    fn print_human(&self, quiet: bool, output: &mut Output) {
        let shown = findings(self.compilation, quiet);
        let Some(requested) = &self.compilation.manifest else {
            print_human(&shown, output);
            if !quiet {
                output.message(report::Summary::of(&[shown]).line());
            }
            return;
        };
        if !quiet {
            output.result(human::text(self, requested));
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
        print_human(&shown, output);
        output.message(human::binding(self, quiet));
        for refusal in self.refusals() {
            complain(output, &refusal);
        }
    }
}
