//! Requests: when they start, start again, and give up.

use std::sync::Arc;
use std::time::Duration;

use super::Writer;
use crate::server::pool::{Job, Lane};
use crate::server::requests::{self, Ask, MAX_RESTARTS, MAX_WAITING, Request};
use crate::server::worker::{Answer, Target, Work};

impl Writer {
    pub(super) fn ask(&mut self, request: Arc<Request>) {
        self.flush();
        let serial = request
            .ask
            .document()
            .and_then(|uri| self.documents.get(uri));
        request.set_serial(serial.map(|document| document.serial));
        request.set_setup(self.setups);
        self.live
            .retain(|request| request.upgrade().is_some_and(|request| request.is_open()));
        if self.live.len() >= MAX_WAITING && !self.make_room(&request) {
            return request.answer(Err(requests::busy()));
        }
        self.live.push(Arc::downgrade(&request));
        self.dispatch(request);
    }

    /// Refuses a request that nobody waits for in favour of one that somebody does.
    fn make_room(&mut self, request: &Request) -> bool {
        if request.ask.lane() == Lane::Background {
            return false;
        }
        while let Some(work) = self.pool.take_newest(Lane::Background) {
            if let Work::Answer(answer) = work {
                answer.request.answer(Err(requests::busy()));
                return true;
            }
        }
        false
    }

    /// Sends a request to the pool with a snapshot of the present state.
    pub(super) fn dispatch(&mut self, request: Arc<Request>) {
        if request.is_cancelled() {
            return request.answer(Err(requests::cancelled()));
        }
        let document = request.ask.document().map(|uri| self.documents.get(uri));
        if document.flatten().map(|document| document.serial) != request.serial() {
            return request.answer(Err(requests::content_modified()));
        }
        let target = match &request.ask {
            Ask::SyntaxTree(_) => match document.flatten().and_then(|document| document.file) {
                Some(file) => Target::SyntaxTree(file),
                None => return request.answer(Ok(serde_json::Value::Null)),
            },
            Ask::Slow { milliseconds, .. } => Target::Slow(Duration::from_millis(*milliseconds)),
            Ask::Waited => {
                let waited = std::mem::take(&mut self.waited).as_micros();
                Target::Known(u64::try_from(waited).unwrap_or(u64::MAX).into())
            }
            Ask::Panic => Target::Panic,
        };
        self.pool.push(Job {
            lane: request.ask.lane(),
            work: Work::Answer(Answer { request, target }),
            snapshot: self.db.clone(),
        });
    }

    /// After an interruption: from the start on a new snapshot, a few times.
    pub(super) fn restart(&mut self, request: Arc<Request>) {
        // Other settings or folders are no reason to give up.
        if request.set_setup(self.setups) {
            request.forgive();
        }
        // Work for the whole workspace starts again as often as it takes.
        if request.ask.document().is_some() && request.count_start() > MAX_RESTARTS {
            return request.answer(Err(requests::content_modified()));
        }
        self.flush();
        self.dispatch(request);
    }

    pub(super) fn shut_down(&mut self) {
        for request in self.live.drain(..).filter_map(|request| request.upgrade()) {
            request.answer(Err(requests::cancelled()));
            request.cancel();
        }
        self.pool.take_back();
    }
}
