//! What every plan of a runtime has in common, for inspection: no command is needed to say it.

use std::ffi::OsStr;
use std::path::Path;

use super::{Features, Input, Note, Settings, plan};
use crate::error::PlanError;
use crate::facts::{ControlPath, Root, SystemFacts, Target};

/// The part of [`Input`] that does not depend on a command.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Standing<'a> {
    pub features: Features,
    pub settings: Settings,
    pub system: &'a SystemFacts,
    pub roots: &'a [Root],
    pub control: &'a [ControlPath],
    pub cwd: &'a Path,
}

impl Standing<'_> {
    /// What inspection says about the sandboxes of the runtime (06b B1 to B2.5).
    ///
    /// # Errors
    /// Why no command of it can be planned.
    pub fn notes(&self) -> Result<Vec<Note>, PlanError> {
        // The command that a probe would run.
        let program = "/usr/bin/true";
        let executable = Target {
            located: program.into(),
            canonical: program.into(),
            stable: true,
            size: 0,
            links: Vec::new(),
        };
        let plan = plan(&Input {
            features: self.features,
            settings: self.settings,
            system: self.system,
            roots: self.roots,
            state: &[],
            control: self.control,
            executable: &executable,
            interpreter: None,
            script: None,
            argv0: OsStr::new(program),
            arguments: &[],
            cwd: self.cwd,
            environment: &[],
        })?;
        Ok(plan.notes)
    }
}
