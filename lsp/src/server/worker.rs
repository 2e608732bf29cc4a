//! What the threads of the pool do with a snapshot.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use chatmd_compiler::db::{self, Database, FileInput};
use crossbeam_channel::Sender;
use salsa::{Cancelled, Database as _};
use serde_json::{Value, json};
use tower_lsp::jsonrpc::{Error, ErrorCode};

use super::check::Check;
use super::log::Log;
use super::panics;
use super::requests::{Request, cancelled};
use super::writer::Event;
use crate::ide::syntax_tree;

/// A piece of work.
pub enum Work {
    /// A request.
    Answer(Answer),
    /// A check of all open documents.
    Check(Check),
}

/// A request with what it needs of the database.
pub struct Answer {
    /// The request.
    pub request: Arc<Request>,
    /// What to look at.
    pub target: Target,
}

/// What a request looks at.
pub enum Target {
    /// The tree of a file.
    SyntaxTree(FileInput),
    /// The clock.
    Slow(Duration),
    /// What is known already.
    Known(Value),
    /// Nothing.
    Panic,
}

/// Does the work. Neither cancellation nor a panic leaves this function.
pub fn run(work: Work, db: Database, events: &Sender<Event>, log: &Log) {
    match work {
        Work::Answer(answer) => run_answer(answer, db, events, log),
        Work::Check(check) => {
            let analysed = check.analyse(&db);
            // A write waits for this handle.
            drop(db);
            if let Some(analysed) = analysed {
                let _ = events.send(Event::Checked(check.finish(analysed)));
            }
        }
    }
}

fn run_answer(answer: Answer, db: Database, events: &Sender<Event>, log: &Log) {
    let Answer { request, target } = answer;
    request.begin(db.cancellation_token());
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        Cancelled::catch(AssertUnwindSafe(|| {
            db.unwind_if_revision_cancelled();
            compute(&db, &target)
        }))
    }));
    drop(db);
    match outcome {
        Ok(Ok(value)) => request.answer(Ok(value)),
        Ok(Err(Cancelled::Local)) => request.answer(Err(cancelled())),
        Ok(Err(Cancelled::PropagatedPanic)) | Err(_) => {
            let number = NEXT_ERROR.fetch_add(1, Ordering::Relaxed);
            log.error(&format!(
                "internal error {number} at {} in {}",
                panics::take_place(),
                request.ask.method()
            ));
            request.answer(Err(Error {
                code: ErrorCode::InternalError,
                message: format!("internal error {number}").into(),
                data: None,
            }));
            let _ = events.send(Event::Panicked);
        }
        Ok(Err(_)) => {
            let _ = events.send(Event::Interrupted(request));
        }
    }
}

static NEXT_ERROR: AtomicU64 = AtomicU64::new(1);

fn compute(db: &Database, target: &Target) -> Value {
    match target {
        Target::SyntaxTree(file) => {
            let parse = db::parse(db, *file);
            let check = || db.unwind_if_revision_cancelled();
            json!(syntax_tree::render(&parse.tree, &check))
        }
        Target::Slow(duration) => {
            let end = Instant::now() + *duration;
            while Instant::now() < end {
                db.unwind_if_revision_cancelled();
                std::thread::sleep(Duration::from_millis(1));
            }
            Value::Null
        }
        Target::Known(value) => value.clone(),
        #[allow(clippy::panic)]
        Target::Panic => panic!("a test asked for this panic"),
    }
}
