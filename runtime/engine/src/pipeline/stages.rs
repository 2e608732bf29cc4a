//! The stages of every command, in order (spec 06 section 11, steps 5 to 14).

use std::future::Future;
use std::pin::Pin;

use chatmd_facts::policy_host::{LiveHost, RequestFacts, command_facts};
use chatmd_policy::bounds::check_argv;
use chatmd_policy::{Action, NoObserver, ScriptsNotRun, check_capabilities, decide, infer_effects};

use super::approval::approval;
use super::context::{Context, Invocation};
use super::plan::plan;
use crate::audit::{EventBody, RejectStage};
use crate::journal::blocking;
use crate::materialise::SelectedKind;
use crate::output::display_prose;
use crate::refusal::Refusal;

/// What follows a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The next stage.
    Continue,
    /// All stages again, from the first: the command was rewritten.
    Restart,
}

type Waiting<'a> = Pin<Box<dyn Future<Output = Result<Next, Refusal>> + Send + 'a>>;

/// How a stage runs.
#[derive(Clone, Copy)]
pub enum Run {
    /// Computes and reads; milliseconds.
    Now(fn(&Invocation, &mut Context) -> Result<Next, Refusal>),
    /// Waits for somebody.
    Wait(for<'a> fn(&'a Invocation, &'a mut Context) -> Waiting<'a>),
}

/// A named stage.
#[derive(Clone, Copy)]
pub struct Stage {
    /// For traces.
    pub name: &'static str,
    /// What it does.
    pub run: Run,
}

/// Everything that happens to a command before it may start. No other code prepares commands.
pub const PREPARATION: &[Stage] = &[
    Stage {
        name: "bounds",
        run: Run::Now(bounds),
    },
    Stage {
        name: "resolution",
        run: Run::Now(resolution),
    },
    Stage {
        name: "effects",
        run: Run::Now(effects),
    },
    Stage {
        name: "capability",
        run: Run::Now(capability),
    },
    Stage {
        name: "policy",
        run: Run::Now(policy),
    },
    Stage {
        name: "approval",
        run: Run::Wait(approval),
    },
    Stage {
        name: "capability after approval",
        run: Run::Now(capability_again),
    },
    Stage {
        name: "plan",
        run: Run::Now(plan),
    },
];

/// Most rewrites of one command.
const MAX_REWRITES: u32 = chatmd_policy::bounds::MAX_REWRITES;

/// Takes a command through all stages. A refusal has been audited when it is returned.
pub(super) async fn prepare(invocation: &Invocation, context: &mut Context) -> Result<(), Refusal> {
    let result = all_stages(invocation, context).await;
    if let Err(refusal) = &result {
        reject(invocation, context, refusal)?;
    }
    result
}

async fn all_stages(invocation: &Invocation, context: &mut Context) -> Result<(), Refusal> {
    loop {
        let mut next = Next::Continue;
        for stage in PREPARATION {
            invocation.check_time()?;
            next = match stage.run {
                Run::Now(run) => blocking(|| run(invocation, context))?,
                Run::Wait(run) => run(invocation, context).await?,
            };
            if next == Next::Restart {
                break;
            }
        }
        if next == Next::Continue {
            return Ok(());
        }
        context.depth += 1;
        if context.depth > MAX_REWRITES {
            return Err(Refusal::denied(
                RejectStage::Interceptor,
                "too many command rewrites",
            ));
        }
    }
}

/// Writes `rejected`. Limits and failures of the audit itself have events of their own.
pub(super) fn reject(
    invocation: &Invocation,
    context: &mut Context,
    refusal: &Refusal,
) -> Result<(), Refusal> {
    let Some(stage) = refusal.stage else {
        return Ok(());
    };
    if context.audit.is_none() {
        context.describe_for_audit(invocation);
    }
    let body = EventBody::Rejected {
        code: refusal.code.to_owned(),
        stage,
        subject: refusal.subject,
        reason: display_prose(&invocation.runtime.redactor, refusal.reason.as_bytes())
            .into_string(),
    };
    context.note(invocation, body)
}

/// Hard bounds of an argv (section 4.5); the only ones that a rewritten command meets.
fn bounds(invocation: &Invocation, context: &mut Context) -> Result<Next, Refusal> {
    let environment = invocation.runtime.environment_bytes();
    match check_argv(&context.argv, environment) {
        Ok(()) => Ok(Next::Continue),
        Err(fault) if context.depth > 0 => {
            Err(Refusal::denied(RejectStage::Interceptor, fault.to_string()))
        }
        Err(fault) => Err(Refusal::input(fault.code(), fault.to_string())),
    }
}

/// Finds and fingerprints the program.
fn resolution(invocation: &Invocation, context: &mut Context) -> Result<Next, Refusal> {
    let program = context.argv.first().ok_or_else(Refusal::internal)?;
    let resolved = invocation
        .runtime
        .resolver
        .resolve(program)
        .map_err(|error| Refusal::resolution(error.to_string()))?;
    context.resolved = Some(resolved);
    Ok(Next::Continue)
}

/// Infers what the command would do.
fn effects(invocation: &Invocation, context: &mut Context) -> Result<Next, Refusal> {
    let runtime = &invocation.runtime;
    let cwd = runtime.cwd.to_str().ok_or_else(|| {
        Refusal::resolution("the path of the working directory is not valid UTF-8")
    })?;
    let request = RequestFacts {
        cwd: cwd.to_owned(),
        kind: context.kind,
        script: None,
        stdin: context.stdin.kind,
        stdin_bytes: context.stdin.bytes,
    };
    let resolved = context.resolved()?;
    let (trusted, sha256) = (
        resolved.trusted(),
        resolved.fingerprint().sha256.to_string(),
    );
    let facts = command_facts(
        Some(resolved),
        context.argv.clone(),
        request,
        &runtime.environment,
    );
    let host = LiveHost::new(&runtime.resolver);
    let direct = matches!(runtime.backend.kind, SelectedKind::Direct);
    let effects = infer_effects(&facts, &host, direct);
    context.facts = Some(facts);
    context.effects = Some(effects);
    context.describe_for_audit(invocation);
    context.note(
        invocation,
        EventBody::Resolved {
            executable_sha256: sha256,
            trusted,
            command_index: context.index,
            rewrite_depth: u64::from(context.depth),
            analyzers: Vec::new(),
        },
    )?;
    Ok(Next::Continue)
}

/// Compares the effects with the ceilings; approval can not raise them.
fn capability(invocation: &Invocation, context: &mut Context) -> Result<Next, Refusal> {
    let runtime = &invocation.runtime;
    let host = LiveHost::new(&runtime.resolver);
    let failures = check_capabilities(runtime.policy.capabilities(), context.effects()?, &host);
    match failures.first() {
        Some(failure) => Err(Refusal::capability(failure.to_string())),
        None => Ok(Next::Continue),
    }
}

/// Applies the rules.
fn policy(invocation: &Invocation, context: &mut Context) -> Result<Next, Refusal> {
    let runtime = &invocation.runtime;
    let host = LiveHost::new(&runtime.resolver);
    let decision = decide(
        &runtime.policy,
        context.facts()?,
        context.effects()?,
        &host,
        &mut ScriptsNotRun,
        &mut NoObserver,
    );
    context.note(
        invocation,
        EventBody::PolicyDecided {
            action: decision.action.as_str(),
            matches: decision.fired.clone(),
            reason: Some(decision.reason.clone()),
        },
    )?;
    let denied = decision.action == Action::Deny;
    let reason = decision.reason.clone();
    let rationale = decision.deciding.first();
    let rationale = rationale.and_then(|rule| runtime.rationales.get(rule));
    context.decision = Some(decision);
    if denied {
        return Err(Refusal::denied(RejectStage::Policy, reason).beside(rationale));
    }
    Ok(Next::Continue)
}

/// Links may have moved while a person was thinking.
fn capability_again(invocation: &Invocation, context: &mut Context) -> Result<Next, Refusal> {
    if context.approved {
        capability(invocation, context)
    } else {
        Ok(Next::Continue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_the_stages_is_the_specified_one() {
        let names: Vec<_> = PREPARATION.iter().map(|stage| stage.name).collect();
        assert_eq!(
            names,
            [
                "bounds",
                "resolution",
                "effects",
                "capability",
                "policy",
                "approval",
                "capability after approval",
                "plan",
            ]
        );
    }
}
