//! Settings, workspace folders and trust.

use std::sync::Arc;

use camino::Utf8PathBuf;
use chatmd_compiler::db::Database;
use salsa::Database as _;
use serde_json::Value;
use tower_lsp::ls_types::MessageType;

use super::{Configuration, Writer};
use crate::server::settings::{AllSettings, Settings};

impl Writer {
    pub(super) fn configure(&mut self, configuration: Configuration) {
        let (settings, complaints) = Settings::read(&configuration.settings, &Settings::default());
        self.configuration = configuration;
        self.settings = AllSettings::everywhere(settings);
        self.complain(complaints);
        self.apply_trust();
    }

    /// Settings that came with a notification. Clients that answer questions send nothing of worth
    /// here, or what they will answer anyway.
    pub(super) fn settings_sent(&mut self, value: &Value) {
        if !value.is_null() {
            let (settings, complaints) = Settings::read(value, &self.settings.default);
            self.complain(complaints);
            self.change_settings(AllSettings::everywhere(settings));
        }
        self.pull_settings();
    }

    /// Asks the client for its settings, if it answers such questions.
    pub(super) fn pull_settings(&mut self) {
        if self.configuration.answers_settings {
            self.pulls += 1;
            let folders = self.configuration.folders.clone();
            self.client
                .pull_settings(self.pulls, folders, self.events.clone());
        }
    }

    /// The answer. One that was overtaken by another question is out of date.
    pub(super) fn settings_pulled(
        &mut self,
        number: u64,
        default: &Value,
        folders: Vec<(Utf8PathBuf, Value)>,
    ) {
        if number != self.pulls {
            return;
        }
        // Who has nothing to say leaves in force what was said before.
        let mut complaints = Vec::new();
        let mut read = |value: &Value, before: &Arc<Settings>| {
            if value.is_null() {
                return Arc::clone(before);
            }
            let (settings, more) = Settings::read(value, before);
            complaints.extend(more);
            Arc::new(settings)
        };
        let default = read(default, &self.settings.default);
        let folders = folders.into_iter();
        let all = AllSettings {
            folders: folders
                .map(|(folder, value)| (folder, read(&value, &default)))
                .collect(),
            default: Arc::clone(&default),
        };
        self.complain(complaints);
        self.change_settings(all);
    }

    /// Tells the user once of each set of wrong settings.
    fn complain(&mut self, mut complaints: Vec<String>) {
        let mut seen = std::collections::HashSet::new();
        complaints.retain(|complaint| seen.insert(complaint.clone()));
        for complaint in &complaints {
            self.log.warn(complaint);
        }
        if !complaints.is_empty() && complaints != self.complaints {
            let message = format!("ChatMD: {}", complaints.join("\n"));
            self.client.show_message(MessageType::WARNING, message);
        }
        self.complaints = complaints;
    }

    fn change_settings(&mut self, settings: AllSettings) {
        let trust_changed = self.settings.trusted() != settings.trusted();
        self.settings = settings;
        self.last = Arc::default();
        self.setups += 1;
        if trust_changed {
            self.apply_trust();
        }
        // A revision of its own, so that what runs starts again.
        self.write(|db| db.synthetic_write(salsa::Durability::LOW));
    }

    pub(super) fn change_folders(&mut self, added: Vec<Utf8PathBuf>, removed: &[Utf8PathBuf]) {
        let folders = &mut self.configuration.folders;
        folders.retain(|folder| !removed.contains(folder));
        folders.extend(added);
        self.setups += 1;
        self.apply_trust();
        self.pull_settings();
    }

    fn apply_trust(&mut self) {
        let folders = self.configuration.folders.clone();
        self.confined
            .restrict((!self.settings.trusted()).then_some(folders.as_slice()));
        self.write(Database::reload);
    }
}
