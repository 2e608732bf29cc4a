//! What a command knows about itself on its way through the stages.

use std::sync::{Arc, Mutex, PoisonError};

use chatmd_facts::resolver::ResolvedExecutable;
use chatmd_policy::facts::{RequestKind, StdinKind};
use chatmd_policy::{CommandFacts, Decision, Effects};
use tokio::time::Instant;

use super::plan::Plan;
use crate::audit::{self, CommandContext, Event, EventBody};
use crate::journal::Moment;
use crate::materialise::{PreparedTool, Registry, Runtime};
use crate::output::SafeText;
use crate::refusal::Refusal;

/// What stays the same for all commands of a request.
pub struct Invocation {
    pub(super) registry: Arc<Registry>,
    pub(super) runtime: Arc<Runtime>,
    pub(super) tool: Arc<PreparedTool>,
    pub(super) request_id: String,
    /// Redacted and cut.
    pub(super) rationale: Option<SafeText>,
    /// Wall time of the request, in milliseconds.
    pub(super) wall_ms: u64,
    deadline: Mutex<Instant>,
}

impl Invocation {
    pub(super) fn new(
        registry: Arc<Registry>,
        runtime: Arc<Runtime>,
        tool: Arc<PreparedTool>,
        request_id: String,
    ) -> Self {
        let own = runtime.limits.supervision.wall_time;
        let wall = registry.timeout.map_or(own, |bound| own.min(bound));
        Self {
            registry,
            runtime,
            tool,
            request_id,
            rationale: None,
            wall_ms: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX),
            deadline: Mutex::new(Instant::now() + wall),
        }
    }

    /// When the wall time ends. It moves while a person is asked.
    pub(super) fn deadline(&self) -> Instant {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the time that a person took back to the request.
    pub(super) fn pause(&self, waited: std::time::Duration) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) += waited;
    }

    pub(super) fn check_time(&self) -> Result<(), Refusal> {
        if Instant::now() >= self.deadline() {
            return Err(Refusal::timed_out(self.wall_ms));
        }
        Ok(())
    }

    /// An event of this request without a command.
    pub(super) fn event(&self, body: EventBody) -> Event {
        Event::request(self.runtime.id(), &self.request_id, body)
    }
}

/// Where a command reads from, and what is known of it.
#[derive(Clone, Debug, Default)]
pub(super) struct StdinFacts {
    pub(super) kind: StdinKind,
    pub(super) bytes: u64,
    pub(super) sha256: Option<String>,
    /// It holds a registered secret, or may.
    pub(super) secret: bool,
}

/// One command. Stages fill the optional parts in order.
pub struct Context {
    /// Position in the request.
    pub(super) index: u64,
    /// How often it was rewritten.
    pub(super) depth: u32,
    pub(super) argv: Vec<String>,
    pub(super) kind: RequestKind,
    pub(super) stdin: StdinFacts,
    pub(super) resolved: Option<ResolvedExecutable>,
    pub(super) facts: Option<CommandFacts>,
    pub(super) effects: Option<Effects>,
    pub(super) audit: Option<Arc<audit::CommandFacts>>,
    pub(super) decision: Option<Decision>,
    pub(super) approved: bool,
    pub(super) plan: Option<Plan>,
}

impl Context {
    pub(super) fn new(index: u64, argv: Vec<String>, stdin: StdinFacts) -> Self {
        Self {
            index,
            depth: 0,
            argv,
            kind: RequestKind::Structured,
            stdin,
            resolved: None,
            facts: None,
            effects: None,
            audit: None,
            decision: None,
            approved: false,
            plan: None,
        }
    }

    /// A part that an earlier stage must have filled.
    pub(super) fn resolved(&self) -> Result<&ResolvedExecutable, Refusal> {
        self.resolved.as_ref().ok_or_else(Refusal::internal)
    }

    pub(super) fn facts(&self) -> Result<&CommandFacts, Refusal> {
        self.facts.as_ref().ok_or_else(Refusal::internal)
    }

    pub(super) fn effects(&self) -> Result<&Effects, Refusal> {
        self.effects.as_ref().ok_or_else(Refusal::internal)
    }

    pub(super) fn plan(&self) -> Result<&Plan, Refusal> {
        self.plan.as_ref().ok_or_else(Refusal::internal)
    }

    /// Makes the redacted facts for audit from what is known now.
    pub(super) fn describe_for_audit(&mut self, invocation: &Invocation) {
        let argv: Vec<Vec<u8>> = self
            .argv
            .iter()
            .map(|word| word.clone().into_bytes())
            .collect();
        let kinds: Vec<&'static str> = match &self.effects {
            Some(effects) => effects.kinds().iter().map(|kind| kind.as_str()).collect(),
            None => Vec::new(),
        };
        let details: Vec<String> = match &self.effects {
            Some(effects) => effects.iter().map(ToString::to_string).collect(),
            None => Vec::new(),
        };
        let context = CommandContext {
            request_kind: self.kind.as_str(),
            argv: &argv,
            cwd: invocation.runtime.cwd.as_bytes(),
            executable: self
                .resolved
                .as_ref()
                .map(|found| found.canonical().as_bytes()),
            effects: &kinds,
            effect_details: &details,
            display: None,
        };
        let facts = audit::CommandFacts::new(&invocation.runtime.redactor, &context);
        self.audit = Some(Arc::new(facts));
    }

    /// Writes an event about this command before it starts.
    pub(super) fn note(&self, invocation: &Invocation, body: EventBody) -> Result<(), Refusal> {
        invocation
            .runtime
            .journal
            .write(&self.event(invocation, body), Moment::BeforeStart)
    }

    /// An event about this command.
    pub(super) fn event(&self, invocation: &Invocation, body: EventBody) -> Event {
        let mut event = invocation.event(body);
        if let Some(facts) = &self.audit {
            event = event.with_command(facts);
        }
        if let Some(plan) = &self.plan {
            event = event.with_plan(&plan.id);
        }
        event
    }
}
