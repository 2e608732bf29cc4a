//! Checks of the open documents, and what of their results is sent.

use std::sync::Arc;

use super::{Sent, Writer};
use crate::server::check::{Check, Checked, Open};
use crate::server::pool::{Job, Lane};
use crate::server::worker::Work;

impl Writer {
    pub(super) fn schedule_check(&mut self) {
        if !std::mem::take(&mut self.check_due) {
            return;
        }
        let mut open: Vec<_> = self
            .documents
            .values()
            .map(|document| Open {
                uri: document.uri.clone(),
                version: document.version,
                key: document.key.clone(),
                root: document.root.filter(|_| !document.skip),
                due: self
                    .sent
                    .get(&document.uri)
                    .is_none_or(|sent| sent.version != document.version || sent.set.is_none()),
                sent: self.sent.contains_key(&document.uri),
                settings: Arc::clone(self.settings.of(&document.path)),
            })
            .collect();
        // What the user looks at comes first; the rest in a fixed order.
        open.sort_by(|a, b| (!a.due, &a.uri).cmp(&(!b.due, &b.uri)));
        let check = Check {
            generation: self.generation,
            open,
            previous: Arc::clone(&self.last),
            encoding: self.configuration.encoding,
        };
        self.pool.push(Job {
            lane: Lane::Check,
            work: Work::Check(check),
            snapshot: self.db.clone(),
        });
    }

    pub(super) fn checked(&mut self, checked: Checked) {
        if !checked.panicked.is_empty() {
            for uri in &checked.panicked {
                if let Some(document) = self.documents.get_mut(uri) {
                    document.skip = true;
                }
            }
            return self.rebuild();
        }
        // An edit arrived in the meantime, or will be known to have: a newer check is on its way.
        let outdated = self.documents.values().any(|document| document.dirty);
        if checked.generation != self.generation || outdated {
            self.check_due = true;
            return;
        }
        self.last = Arc::new(checked.results);
        for set in checked.sets {
            let version = self
                .documents
                .get(&set.uri)
                .map(|document| document.version);
            let (Some(version), true) = (version, version == set.version) else {
                continue;
            };
            let known = self.sent.get(&set.uri).is_some_and(|sent| {
                sent.version == version && sent.set.as_ref() == Some(&set.diagnostics)
            });
            if !known {
                let sent = Sent {
                    version,
                    set: Some(set.diagnostics.clone()),
                };
                self.sent.insert(set.uri.clone(), sent);
                self.outbox.push(set);
            }
        }
    }
}
