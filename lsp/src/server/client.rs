//! Messages to the client that nothing waits for.

use std::time::Duration;

use camino::Utf8PathBuf;
use crossbeam_channel::Sender;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tower_lsp::Client;
use tower_lsp::ls_types::{
    ConfigurationItem, DidChangeWatchedFilesRegistrationOptions, FileSystemWatcher, GlobPattern,
    MessageType, Registration,
};

use super::convert;
use super::log::Log;
use super::writer::Event;

/// How long the client may take to answer.
const LIMIT: Duration = Duration::from_secs(5);

/// Sends from tasks of their own.
#[derive(Clone)]
pub struct ClientTasks {
    client: Client,
    runtime: Handle,
    log: Log,
}

impl ClientTasks {
    /// For a client and the runtime of the framework.
    pub fn new(client: Client, runtime: Handle, log: Log) -> Self {
        Self {
            client,
            runtime,
            log,
        }
    }

    /// Shows a message to the user.
    pub fn show_message(&self, kind: MessageType, message: String) {
        let client = self.client.clone();
        self.runtime
            .spawn(async move { client.show_message(kind, message).await });
    }

    /// Asks to be told of changed files (spec 11 section 1.5).
    pub fn watch_files(&self) {
        let watcher = |glob: &str| FileSystemWatcher {
            glob_pattern: GlobPattern::String(glob.to_owned()),
            kind: None,
        };
        let options = DidChangeWatchedFilesRegistrationOptions {
            watchers: [
                "**/*.{chatmd,chatml,md,markdown}",
                "**/chatmd.toml",
                "**/*.tests.jsonl",
            ]
            .map(watcher)
            .into(),
        };
        self.register(
            "chatmd.files",
            "workspace/didChangeWatchedFiles",
            serde_json::to_value(options).ok(),
        );
    }

    /// Asks to be told of changed settings (spec 11 section 1.6).
    pub fn watch_settings(&self) {
        self.register(
            "chatmd.settings",
            "workspace/didChangeConfiguration",
            Some(json!({"section": SECTION})),
        );
    }

    fn register(&self, id: &str, method: &'static str, options: Option<Value>) {
        let registration = Registration {
            id: id.to_owned(),
            method: method.to_owned(),
            register_options: options,
        };
        let (client, log) = (self.client.clone(), self.log.clone());
        self.runtime.spawn(async move {
            let asked = client.register_capability(vec![registration]);
            match tokio::time::timeout(LIMIT, asked).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => log.warn(&format!(
                    "the client did not register {method}: {}",
                    error.message
                )),
                Err(_) => log.warn(&late(method)),
            }
        });
    }

    /// Asks for the settings of the client and of each folder; the answer becomes an event with that
    /// number. Without an answer the settings stay as they are.
    pub fn pull_settings(&self, number: u64, folders: Vec<Utf8PathBuf>, events: Sender<Event>) {
        const METHOD: &str = "workspace/configuration";
        let scopes =
            std::iter::once(None).chain(folders.iter().map(|folder| convert::file_uri(folder)));
        let items = scopes.map(|scope_uri| ConfigurationItem {
            scope_uri,
            section: Some(SECTION.to_owned()),
        });
        let items: Vec<_> = items.collect();
        let (client, log) = (self.client.clone(), self.log.clone());
        self.runtime.spawn(async move {
            let asked = client.configuration(items);
            match tokio::time::timeout(LIMIT, asked).await {
                Ok(Ok(values)) => {
                    let mut values = values.into_iter();
                    let default = values.next().unwrap_or_default();
                    let folders = folders.into_iter().zip(values).collect();
                    let _ = events.send(Event::Pulled {
                        number,
                        default,
                        folders,
                    });
                }
                Ok(Err(error)) => log.warn(&format!(
                    "the client did not answer {METHOD}: {}",
                    error.message
                )),
                Err(_) => log.warn(&late(METHOD)),
            }
        });
    }
}

/// Name of our settings.
const SECTION: &str = "chatmd";

fn late(method: &str) -> String {
    format!(
        "the client did not answer {method} within {} s",
        LIMIT.as_secs()
    )
}
