//! The plan of one command (spec 06 section 11, steps 13 and 14).

use std::ffi::{OsStr, OsString};

use chatmd_plan::bubblewrap::{self, BubblewrapPlan, Input};

use super::context::{Context, Invocation};
use super::stages::Next;
use crate::audit::EventBody;
use crate::ids;
use crate::materialise::SelectedKind;
use crate::refusal::Refusal;
use crate::sandbox;

/// How one command will run.
pub(super) struct Plan {
    pub(super) id: String,
    pub(super) launch: PlannedLaunch,
}

/// What starts it.
pub(super) enum PlannedLaunch {
    /// In a sandbox.
    Bubblewrap(Box<BubblewrapPlan>),
    /// Without one.
    Direct,
}

/// Builds the plan and says so.
pub(super) fn plan(invocation: &Invocation, context: &mut Context) -> Result<Next, Refusal> {
    let runtime = &invocation.runtime;
    let mut created_roots = Vec::new();
    let launch =
        match &runtime.backend.kind {
            SelectedKind::Direct => PlannedLaunch::Direct,
            SelectedKind::Bubblewrap { .. } => PlannedLaunch::Bubblewrap(Box::new(
                bubblewrap_plan(invocation, context, &mut created_roots)?,
            )),
        };
    let id = ids::plan_id().map_err(|error| Refusal::spawn(error.to_string()))?;
    context.plan = Some(Plan { id, launch });
    let choice = &runtime.backend.choice;
    context.note(
        invocation,
        EventBody::PlanCreated {
            backend: choice.name.clone(),
            confinement: choice.class.as_str().to_owned(),
            created_roots,
        },
    )?;
    Ok(Next::Continue)
}

fn bubblewrap_plan(
    invocation: &Invocation,
    context: &Context,
    created_roots: &mut Vec<String>,
) -> Result<BubblewrapPlan, Refusal> {
    let runtime = &invocation.runtime;
    let SelectedKind::Bubblewrap { wrapper, settings } = &runtime.backend.kind else {
        return Err(Refusal::internal());
    };
    let resolved = context.resolved()?;
    let executable = resolved.target();
    let interpreter = resolved
        .interpreter()
        .map(|interpreter| interpreter.target());
    let build = || {
        let roots = runtime.roots.current().usable;
        let state = runtime.shared.state_paths();
        let control = runtime.shared.control_paths(&runtime.roots.write);
        let arguments: Vec<OsString> = context.argv.iter().skip(1).map(OsString::from).collect();
        let input = Input {
            features: wrapper.features(),
            settings: *settings,
            system: &runtime.shared.system,
            roots: &roots,
            state: &state,
            control: &control,
            executable: &executable,
            interpreter: interpreter.as_ref(),
            script: None,
            argv0: OsStr::new(resolved.located()),
            arguments: &arguments,
            cwd: runtime.cwd.as_path(),
            environment: runtime.environment.entries(),
        };
        bubblewrap::plan(&input).map_err(|error| Refusal::sandbox(error.to_string()))
    };
    let plan = build()?;
    if plan.create.is_empty() {
        return Ok(plan);
    }
    // Missing write roots are made, and the plan is made again from what now stands there.
    let made = sandbox::create_roots(&plan).map_err(|error| Refusal::sandbox(error.to_string()))?;
    created_roots.extend(made.iter().map(|path| path.display().to_string()));
    build()
}
