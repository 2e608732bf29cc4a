//! The handlers of the framework. They push into one queue and do nothing else; the first thing
//! that any of them does is push, so the queue has the order of arrival.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use camino::Utf8PathBuf;
use crossbeam_channel::Sender;
use serde::Deserialize;
use serde_json::Value;
use tower_lsp::LanguageServer;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{
    DidChangeConfigurationParams, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, InitializeParams, InitializeResult, InitializedParams, OneOf,
    SaveOptions, ServerCapabilities, ServerInfo, TextDocumentIdentifier,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, WorkspaceFolder, WorkspaceFoldersServerCapabilities,
    WorkspaceServerCapabilities,
};

use super::client::ClientTasks;
use super::convert;
use super::life::{self, End};
use super::pool::Lane;
use super::requests::{Ask, CancelOnDrop, Request, cancelled};
use super::writer::{Configuration, Event};

/// The handlers.
pub struct Handlers {
    /// The queue of the writer.
    pub events: Sender<Event>,
    /// Messages to the client.
    pub client: ClientTasks,
    /// How the process ends.
    pub end: End,
    /// Whether the client lets files be watched.
    pub watches_files: AtomicBool,
    /// Whether the client lets settings be watched.
    pub watches_settings: AtomicBool,
    /// The parent is watched already.
    pub parent: OnceLock<u32>,
}

/// Parameters of `chatmd/syntaxTree`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SyntaxTreeParams {
    text_document: TextDocumentIdentifier,
}

/// Parameters of the test request that takes its time.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SlowParams {
    milliseconds: u64,
    #[serde(default)]
    urgent: bool,
    #[serde(default)]
    background: bool,
    text_document: Option<TextDocumentIdentifier>,
}

/// Parameters of the test notification that lowers the limit of memory.
#[derive(Deserialize)]
pub struct MemoryParams {
    bytes: u64,
}

impl Handlers {
    fn push(&self, event: Event) {
        // Without a writer the process is about to end.
        let _ = self.events.send(event);
    }

    async fn ask(&self, ask: Ask) -> Result<Value> {
        let (request, answer) = Request::new(ask);
        let guard = CancelOnDrop(Arc::clone(&request));
        self.push(Event::Asked(request));
        let answer = answer.await.unwrap_or_else(|_| Err(cancelled()));
        drop(guard);
        answer
    }

    /// `chatmd/syntaxTree`.
    pub async fn syntax_tree(&self, params: SyntaxTreeParams) -> Result<Value> {
        self.ask(Ask::SyntaxTree(params.text_document.uri)).await
    }

    /// `chatmd/test/slow`.
    pub async fn slow(&self, params: SlowParams) -> Result<Value> {
        let lane = match (params.urgent, params.background) {
            (true, _) => Lane::Urgent,
            (_, true) => Lane::Background,
            _ => Lane::Normal,
        };
        let milliseconds = params.milliseconds;
        let document = params.text_document.map(|document| document.uri);
        let ask = Ask::Slow {
            lane,
            milliseconds,
            document,
        };
        self.ask(ask).await
    }

    /// `chatmd/test/waited`.
    pub async fn waited(&self, _: Value) -> Result<Value> {
        self.ask(Ask::Waited).await
    }

    /// `chatmd/test/panicAtNextEdit`.
    pub async fn panic_at_next_edit(&self, _: Value) {
        self.push(Event::PanicAtNextEdit);
    }

    /// `chatmd/test/memoryLimit`.
    pub async fn memory_limit(&self, params: MemoryParams) {
        self.push(Event::MemoryLimit(params.bytes));
    }

    /// `chatmd/test/panic`.
    pub async fn panic(&self, _: Value) -> Result<Value> {
        self.ask(Ask::Panic).await
    }
}

fn folders(folders: &[WorkspaceFolder]) -> Vec<Utf8PathBuf> {
    let paths = folders.iter();
    paths
        .filter_map(|folder| convert::file_path(&folder.uri))
        .collect()
}

fn root_folders(params: &InitializeParams) -> Vec<Utf8PathBuf> {
    if let Some(given) = &params.workspace_folders {
        return folders(given);
    }
    #[allow(deprecated)] // The fallback for old clients (spec 11 section 1.5).
    let root = params.root_uri.as_ref();
    root.and_then(convert::file_path).into_iter().collect()
}

impl LanguageServer for Handlers {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let general = params.capabilities.general.as_ref();
        let offered = general.and_then(|general| general.position_encodings.as_deref());
        let encoding = convert::negotiate(offered);
        let workspace = params.capabilities.workspace.as_ref();
        let watches_files = workspace
            .and_then(|workspace| workspace.did_change_watched_files.as_ref())
            .and_then(|watched| watched.dynamic_registration)
            .unwrap_or(false);
        self.watches_files.store(watches_files, Ordering::SeqCst);
        let watches_settings = workspace
            .and_then(|workspace| workspace.did_change_configuration.as_ref())
            .and_then(|changed| changed.dynamic_registration)
            .unwrap_or(false);
        self.watches_settings
            .store(watches_settings, Ordering::SeqCst);
        let answers_settings = workspace.and_then(|workspace| workspace.configuration);
        self.push(Event::Configure(Configuration {
            encoding,
            folders: root_folders(&params),
            settings: params.initialization_options.clone().unwrap_or_default(),
            watches_files,
            answers_settings: answers_settings.unwrap_or(false),
        }));
        if let Some(process) = params.process_id
            && self.parent.set(process).is_ok()
        {
            life::watch_parent(process, self.end.clone());
        }
        Ok(InitializeResult {
            capabilities: ServerCapabilities {
                position_encoding: Some(convert::encoding_kind(encoding)),
                text_document_sync: Some(text_document_sync()),
                workspace: Some(WorkspaceServerCapabilities {
                    workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                        supported: Some(true),
                        change_notifications: Some(OneOf::Left(true)),
                    }),
                    ..WorkspaceServerCapabilities::default()
                }),
                ..ServerCapabilities::default()
            },
            server_info: Some(ServerInfo {
                name: "chatmd-lsp".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
            offset_encoding: None,
        })
    }

    async fn initialized(&self, _: InitializedParams) {
        self.push(Event::Ready);
        if self.watches_settings.load(Ordering::SeqCst) {
            self.client.watch_settings();
        }
        if self.watches_files.load(Ordering::SeqCst) {
            self.client.watch_files();
        }
    }

    async fn shutdown(&self) -> Result<()> {
        self.push(Event::ShutDown);
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        self.push(Event::Opened {
            uri: document.uri,
            language: document.language_id,
            version: document.version,
            text: document.text,
        });
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        self.push(Event::Changed {
            uri: params.text_document.uri,
            version: params.text_document.version,
            changes: convert::changes(params.content_changes),
        });
    }

    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        self.push(Event::Saved(params.text_document.uri));
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.push(Event::Closed(params.text_document.uri));
    }

    async fn did_change_watched_files(&self, params: DidChangeWatchedFilesParams) {
        let changes = params.changes.into_iter();
        self.push(Event::FilesChanged(
            changes.map(|change| change.uri).collect(),
        ));
    }

    async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        self.push(Event::Settings(params.settings));
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        self.push(Event::Folders {
            added: folders(&params.event.added),
            removed: folders(&params.event.removed),
        });
    }
}

fn text_document_sync() -> TextDocumentSyncCapability {
    TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        will_save: None,
        will_save_wait_until: None,
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions {
            include_text: Some(false),
        })),
    })
}
