//! The approval stage (spec 06 section 10).

use std::future::Future;
use std::pin::Pin;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use chatmd_compiler::manifest::{ApprovalProvider as Provider, Scope, Unavailable};
use chatmd_policy::Action;
use tokio::time::Instant;

use super::context::{Context, Invocation};
use super::invoke::ORIGIN;
use super::stages::Next;
use crate::approval::{Answer, ApprovalRequest};
use crate::audit::{AnswerKind, EventBody, RejectStage};
use crate::identity::CommandIdentity;
use crate::ids;
use crate::output::{SafeText, display_command, display_element, display_prose, display_words};
use crate::refusal::Refusal;

/// Number of the next question.
static NEXT: AtomicU64 = AtomicU64::new(1);

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
    if let Some(grant) = granted(invocation, &identity) {
        let scope = Some("exact_session");
        return answered(invocation, context, AnswerKind::Grant, scope, Some(grant));
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
    if invocation.runtime.declared.reviewers.is_empty_chain() {
        answered(invocation, context, AnswerKind::Deny, None, None)?;
        let reason = "all configured reviewers deferred";
        return Err(Refusal::denied(RejectStage::Approval, reason));
    }
    let approvals = &invocation.registry.approvals;
    if declared.provider == Provider::None || !approvals.available() {
        answered(invocation, context, AnswerKind::Deny, None, None)?;
        return Err(match declared.unavailable {
            Unavailable::Deny => Refusal::denied(RejectStage::Approval, "approval is unavailable"),
            Unavailable::Error => {
                let rules = context
                    .decision
                    .iter()
                    .flat_map(|decision| &decision.deciding);
                let rationale = rules
                    .take(1)
                    .find_map(|rule| invocation.runtime.rationales.get(rule));
                Refusal::permission_required(display(invocation, context).as_str())
                    .beside(rationale)
            }
        });
    }
    if scopes.is_empty() {
        answered(invocation, context, AnswerKind::Deny, None, None)?;
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
        answered(invocation, context, AnswerKind::Deny, None, None)?;
        Err(Refusal::denied(RejectStage::Approval, reason))
    };
    match answer {
        Answer::Once if offered.contains(&"once") => {
            let scope = Some("once");
            answered(invocation, context, AnswerKind::ApproveOnce, scope, None)
        }
        Answer::ExactSession if offered.contains(&"exact_session") => {
            grant(invocation, context, identity)
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
    grant_id: Option<String>,
) -> Result<(), Refusal> {
    let body = EventBody::ApprovalAnswered {
        answer,
        reviewer_id: None,
        scope,
        expires_at: None,
        grant_id,
    };
    context.note(invocation, body)
}

/// Keeps an approval for the session. It counts only once it is on record.
fn grant(invocation: &Invocation, context: &Context, identity: String) -> Result<(), Refusal> {
    const SCOPE: &str = "exact_session";
    let grant_id = ids::grant_id()
        .map_err(|_| Refusal::denied(RejectStage::Approval, "approval persistence failed"))?;
    answered(
        invocation,
        context,
        AnswerKind::ApproveScoped,
        Some(SCOPE),
        None,
    )?;
    let body = EventBody::GrantCreated {
        grant_id: grant_id.clone(),
        scope: SCOPE,
        expires_at_ns: None,
        store: "memory".to_owned(),
    };
    context.note(invocation, body)?;
    let grants = &invocation.registry.session_grants;
    let mut grants = grants.lock().unwrap_or_else(PoisonError::into_inner);
    grants.insert(identity, grant_id);
    Ok(())
}

/// The grant that covers a command.
fn granted(invocation: &Invocation, identity: &str) -> Option<String> {
    let grants = &invocation.registry.session_grants;
    let grants = grants.lock().unwrap_or_else(PoisonError::into_inner);
    grants.get(identity).cloned()
}

/// Scopes that this host can keep. A command that carries a secret offers `once` alone.
fn offered(invocation: &Invocation, context: &Context) -> Vec<&'static str> {
    let declared = &invocation.runtime.declared.approvals.scopes;
    let redactor = &invocation.runtime.redactor;
    let in_argv = |word: &String| redactor.occurs_in(word.as_bytes());
    let secret = context.stdin.secret || context.argv.iter().any(in_argv);
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
    let redactor = &runtime.redactor;
    let decision = context.decision.as_ref().ok_or_else(Refusal::internal)?;
    let choice = &runtime.backend.choice;
    Ok(ApprovalRequest {
        approval_id: format!("shell-approval-{}", NEXT.fetch_add(1, Ordering::Relaxed)),
        request_id: invocation.request_id.clone(),
        runtime_id: runtime.id().to_owned(),
        manifest_sha256: invocation
            .registry
            .authorized()
            .document()
            .bound_sha256
            .clone(),
        origin: ORIGIN,
        tool: invocation.tool.declared.name.clone(),
        kind: context.kind.as_str(),
        command: display(invocation, context),
        argv: display_words(redactor, context.argv.iter().map(String::as_bytes)),
        executable: display_element(redactor, resolved.canonical().as_bytes()),
        executable_sha256: resolved.fingerprint().sha256.to_string(),
        trusted: resolved.trusted(),
        cwd: display_element(redactor, runtime.cwd.as_bytes()),
        effects: context
            .effects()?
            .iter()
            .map(|effect| display_element(redactor, effect.to_string().as_bytes()))
            .collect(),
        reason: display_prose(redactor, decision.reason.as_bytes()),
        rationale: invocation.rationale.clone(),
        stdin_bytes: context.stdin.bytes,
        stdin_sha256: context.stdin.sha256.clone(),
        backend: format!("{} ({})", choice.name, choice.class.as_str()),
        unconfined_fallback: choice.unconfined_fallback,
        scopes,
    })
}
