//! The approval stage (spec 06 section 10).

use std::future::Future;
use std::pin::Pin;
use std::sync::PoisonError;

use chatmd_compiler::manifest::{ApprovalProvider as Provider, Scope, Unavailable};
use chatmd_policy::Action;
use tokio::time::Instant;

use super::context::{Context, Invocation};
use super::stages::Next;
use crate::approval::{Answer, ApprovalRequest};
use crate::audit::{AnswerKind, EventBody, RejectStage};
use crate::identity::CommandIdentity;
use crate::output::{SafeText, display_command};
use crate::refusal::Refusal;

/// Asks where the policy says so.
pub(super) fn approval<'a>(
    invocation: &'a Invocation,
    context: &'a mut Context,
) -> Pin<Box<dyn Future<Output = Result<Next, Refusal>> + Send + 'a>> {
    Box::pin(async move {
        let action = context
            .decision
            .as_ref()
            .ok_or_else(Refusal::internal)?
            .action;
        if action != Action::Ask {
            return Ok(Next::Continue);
        }
        ask(invocation, context).await?;
        context.approved = true;
        Ok(Next::Continue)
    })
}

async fn ask(invocation: &Invocation, context: &Context) -> Result<(), Refusal> {
    let identity = identity(invocation, context)?;
    if granted(invocation, &identity) {
        return answered(
            invocation,
            context,
            AnswerKind::Grant,
            Some("exact_session"),
        );
    }
    let scopes = offered(invocation, context);
    let declared = &invocation.runtime.declared.approvals;
    let rationale = invocation
        .rationale
        .as_ref()
        .map(|text| text.as_str().to_owned());
    let offered_scopes = scopes.clone();
    context.note(
        invocation,
        EventBody::ApprovalRequested {
            offered_scopes,
            rationale,
        },
    )?;
    let approvals = &invocation.registry.approvals;
    if declared.provider == Provider::None || !approvals.available() {
        answered(invocation, context, AnswerKind::Deny, None)?;
        return Err(match declared.unavailable {
            Unavailable::Deny => Refusal::denied(RejectStage::Approval, "approval is unavailable"),
            Unavailable::Error => {
                Refusal::permission_required(display(invocation, context).as_str())
            }
        });
    }
    if scopes.is_empty() {
        answered(invocation, context, AnswerKind::Deny, None)?;
        let reason = "the requested approval scope is not enabled for this runtime";
        return Err(Refusal::denied(RejectStage::Approval, reason));
    }
    let request = request(invocation, context, scopes.clone())?;
    let begun = Instant::now();
    let answer = approvals
        .ask(request, invocation.registry.approval_timeout)
        .await;
    // A person's thinking is not charged to the request.
    invocation.pause(begun.elapsed());
    act(invocation, context, answer, &scopes, identity)
}

fn act(
    invocation: &Invocation,
    context: &Context,
    answer: Answer,
    offered: &[&'static str],
    identity: String,
) -> Result<(), Refusal> {
    let deny = |reason: &str| {
        answered(invocation, context, AnswerKind::Deny, None)?;
        Err(Refusal::denied(RejectStage::Approval, reason))
    };
    match answer {
        Answer::Once if offered.contains(&"once") => {
            answered(invocation, context, AnswerKind::ApproveOnce, Some("once"))
        }
        Answer::ExactSession if offered.contains(&"exact_session") => {
            let grants = &invocation.registry.session_grants;
            grants
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(identity);
            answered(
                invocation,
                context,
                AnswerKind::ApproveScoped,
                Some("exact_session"),
            )
        }
        Answer::Once | Answer::ExactSession => {
            deny("the requested approval scope is not enabled for this runtime")
        }
        Answer::Deny => deny("the request was denied"),
        Answer::TimedOut => deny("approval timed out"),
    }
}

fn answered(
    invocation: &Invocation,
    context: &Context,
    answer: AnswerKind,
    scope: Option<&'static str>,
) -> Result<(), Refusal> {
    let body = EventBody::ApprovalAnswered {
        answer,
        reviewer_id: None,
        scope,
        expires_at: None,
        grant_id: None,
    };
    context.note(invocation, body)
}

fn granted(invocation: &Invocation, identity: &str) -> bool {
    let grants = &invocation.registry.session_grants;
    grants
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .contains(identity)
}

/// Scopes that this host can keep. A command that carries a secret offers `once` alone.
fn offered(invocation: &Invocation, context: &Context) -> Vec<&'static str> {
    let declared = &invocation.runtime.declared.approvals.scopes;
    let redactor = &invocation.runtime.redactor;
    let secret = context
        .argv
        .iter()
        .any(|word| redactor.occurs_in(word.as_bytes()));
    let possible = |scope: &Scope| match scope {
        Scope::Once => true,
        Scope::ExactSession => !secret,
        Scope::PrefixSession | Scope::DurableExact => false,
    };
    declared
        .iter()
        .filter(|scope| possible(scope))
        .map(|scope| scope.as_str())
        .collect()
}

fn identity(invocation: &Invocation, context: &Context) -> Result<String, Refusal> {
    let runtime = &invocation.runtime;
    let resolved = context.resolved()?;
    let identity = CommandIdentity {
        manifest_sha256: &invocation.registry.authorized().document().bound_sha256,
        runtime_id: runtime.id(),
        request_kind: context.kind.as_str(),
        executable_path: resolved.canonical().as_bytes(),
        executable_sha256: &resolved.fingerprint().sha256.to_string(),
        cwd_sha256: &runtime.cwd_sha256,
        environment_sha256: &runtime.environment_sha256,
        stdin_sha256: context.stdin.sha256.as_deref(),
        stdin_bytes: context.stdin.bytes,
        script_sha256: None,
    };
    Ok(identity.command_sha256(context.argv.iter().map(String::as_bytes)))
}

fn display(invocation: &Invocation, context: &Context) -> SafeText {
    display_command(
        &invocation.runtime.redactor,
        context.argv.iter().map(String::as_bytes),
    )
}

fn request(
    invocation: &Invocation,
    context: &Context,
    scopes: Vec<&'static str>,
) -> Result<ApprovalRequest, Refusal> {
    let runtime = &invocation.runtime;
    let resolved = context.resolved()?;
    let line = |text: &str| runtime.redactor.line(text.as_bytes());
    let decision = context.decision.as_ref().ok_or_else(Refusal::internal)?;
    let choice = &runtime.backend.choice;
    Ok(ApprovalRequest {
        request_id: invocation.request_id.clone(),
        runtime_id: runtime.id().to_owned(),
        manifest_sha256: invocation
            .registry
            .authorized()
            .document()
            .bound_sha256
            .clone(),
        tool: invocation.tool.declared.name.clone(),
        kind: context.kind.as_str(),
        command: display(invocation, context),
        executable: runtime.redactor.line(resolved.canonical().as_bytes()),
        executable_sha256: resolved.fingerprint().sha256.to_string(),
        trusted: resolved.trusted(),
        cwd: runtime.redactor.line(runtime.cwd.as_bytes()),
        effects: context
            .effects()?
            .iter()
            .map(|effect| line(&effect.to_string()))
            .collect(),
        reason: line(&decision.reason),
        rationale: invocation.rationale.clone(),
        stdin_bytes: context.stdin.bytes,
        stdin_sha256: context.stdin.sha256.clone(),
        backend: format!("{} ({})", choice.name, choice.class.as_str()),
        unconfined_fallback: choice.unconfined_fallback,
        scopes,
    })
}
