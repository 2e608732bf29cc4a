//! Messages to the client that nothing waits for.

use std::time::Duration;

use tokio::runtime::Handle;
use tower_lsp::Client;
use tower_lsp::ls_types::{
    DidChangeWatchedFilesRegistrationOptions, FileSystemWatcher, GlobPattern, MessageType,
    Registration,
};

use super::log::Log;

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
    pub fn show_message(&self, kind: MessageType, message: &'static str) {
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
        let registration = Registration {
            id: "chatmd.files".to_owned(),
            method: "workspace/didChangeWatchedFiles".to_owned(),
            register_options: serde_json::to_value(options).ok(),
        };
        let (client, log) = (self.client.clone(), self.log.clone());
        self.runtime.spawn(async move {
            let asked = client.register_capability(vec![registration]);
            match tokio::time::timeout(LIMIT, asked).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => log.warn(&format!("files are not watched: {}", error.message)),
                Err(_) => log.warn("the client did not answer within 5 s"),
            }
        });
    }
}
