//! A document of its own in a folder of its own, compiled, authorised and made live.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chatmd_compiler::db::{Database, OsFileSystem};
use chatmd_compiler::{CompileOptions, compile};
use chatmd_facts::bind::HostDirs;
use chatmd_facts::{Host, HostInput, Snapshot};
use chatmd_runtime::approval::{Answer, Answering, ApprovalProvider, ApprovalRequest, Nobody};
use chatmd_runtime::audit::{ValidationOptions, validate};
use chatmd_runtime::authorise::{AuthorizedManifest, BoundDocument, authorize};
use chatmd_runtime::materialise::{HostSettings, Problem, Registry, materialise};
use chatmd_runtime::pipeline::{Invoked, invoke};
use chatmd_runtime::session::StatePlaces;
use chatmd_runtime::warnings::Warnings;

/// Outside `/tmp`, which is private inside.
pub struct Project {
    pub folder: tempfile::TempDir,
    pub root: PathBuf,
    pub environment: Vec<String>,
    pub approvals: Arc<dyn ApprovalProvider>,
    pub approval_timeout: Duration,
    /// The integrity key, where it does not lie in the state folder.
    pub key: Option<PathBuf>,
}

impl Project {
    pub fn new(document: &str) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("chatmd-call")
            .tempdir_in("/var/tmp")
            .unwrap();
        let root = folder.path().canonicalize().unwrap().join("work");
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::write(root.join("agent.chatmd"), document).unwrap();
        std::fs::write(
            root.join("src/a.txt"),
            "one TODO: greet\ntwo TODO; rm -rf /\n",
        )
        .unwrap();
        Self {
            folder,
            root,
            environment: vec!["PATH=/usr/bin:/bin".into(), "HOME=/nonexistent".into()],
            approvals: Arc::new(Nobody),
            approval_timeout: Duration::from_secs(5),
            key: None,
        }
    }

    pub fn with(mut self, entry: &str) -> Self {
        self.environment.push(entry.to_owned());
        self
    }

    pub fn state(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("state")
    }

    pub fn audit_file(&self) -> PathBuf {
        self.state().join("sessions/s/.chatmd/shell-audit.jsonl")
    }

    pub async fn try_live(&self) -> Result<Arc<Registry>, Vec<Problem>> {
        let (authorized, host, settings) = self.authorized()?;
        materialise(authorized, &host, settings).await
    }

    /// The document as a host authorised it, before anything is live.
    pub fn authorized(&self) -> Result<(AuthorizedManifest, Host, HostSettings), Vec<Problem>> {
        let mut db = Database::new(OsFileSystem::with_limit(1 << 20));
        let cwd = camino::Utf8PathBuf::from_path_buf(self.root.clone()).unwrap();
        let root = db.root_from_path("agent.chatmd".into(), &cwd).unwrap();
        let compilation = compile(&db, root, &CompileOptions::for_this_machine());
        let errors: Vec<_> = compilation
            .diagnostics
            .iter()
            .map(|d| (d.code, &d.message))
            .collect();
        let manifest = compilation
            .manifest
            .clone()
            .unwrap_or_else(|| panic!("{errors:?}"));
        let environment = Snapshot::from_entries(&self.environment);
        let session_dir = self.state().join("sessions/s");
        std::fs::create_dir_all(&session_dir).unwrap();
        let mut dirs = HostDirs::defaults(&self.root, &self.root, &environment);
        dirs.session_dir = Some(session_dir.clone());
        let host = Host::new(HostInput {
            directories: dirs.directories(),
            source_dirs: dirs.source_dirs(&manifest),
            environment,
            session_id: Some("s".into()),
        });
        let warnings = Arc::new(Warnings::default());
        let bound =
            BoundDocument::new(&host, &manifest, (*compilation.material).clone(), &warnings)?;
        let digest = bound.bound_sha256.clone();
        let authorized = authorize(bound, Some(&digest), None).unwrap();
        let settings = HostSettings {
            state: StatePlaces {
                root: self.state(),
                integrity_key: self
                    .key
                    .clone()
                    .unwrap_or(self.state().join("integrity.key")),
            },
            session_dir,
            approvals: Arc::clone(&self.approvals),
            approval_timeout: self.approval_timeout,
            timeout: None,
            sources: vec![self.root.join("agent.chatmd")],
            warnings,
        };
        Ok((authorized, host, settings))
    }

    pub async fn live(&self) -> Arc<Registry> {
        self.try_live()
            .await
            .unwrap_or_else(|problems| panic!("{problems:#?}"))
    }

    pub async fn call(&self, tool: &str, input: &str) -> Invoked {
        let registry = self.live().await;
        let invoked = invoke(&registry, tool, input.as_bytes()).await.unwrap();
        registry.close("test");
        invoked
    }

    /// The audit events, without those of log and runtime, of the last request.
    pub fn records(&self) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.audit_file()).unwrap();
        let lines: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let received = lines
            .iter()
            .rposition(|l| l["event"] == "request_received")
            .unwrap();
        let id = &lines[received]["request_id"];
        let of = lines[received..]
            .iter()
            .filter(|line| line["request_id"] == *id);
        of.cloned().collect()
    }

    /// Their names.
    pub fn events(&self) -> Vec<String> {
        let name = |record: &serde_json::Value| record["event"].as_str().unwrap().to_owned();
        self.records().iter().map(name).collect()
    }

    /// Every command that was started has exactly one end, and the last record counts what the
    /// others tell. Returns that record.
    pub fn assert_balanced(&self) -> serde_json::Value {
        let records = self.records();
        let count = |name: &str| records.iter().filter(|r| r["event"] == name).count();
        let mut live = std::collections::BTreeSet::new();
        for record in &records {
            let plan = record["plan_id"].as_str().unwrap_or_default().to_owned();
            match record["event"].as_str().unwrap() {
                "started" => assert!(live.insert(plan), "{record}"),
                "finished" | "terminated" => assert!(live.remove(&plan), "{record}"),
                // A sandbox whose command could not be executed.
                "rejected" => {
                    live.remove(&plan);
                }
                _ => {}
            }
        }
        assert!(live.is_empty(), "{live:?}");
        let last = records.last().unwrap().clone();
        assert_eq!(last["event"], "request_completed");
        assert_eq!(last["commands"], count("finished") + count("terminated"));
        for channel in ["stdout", "stderr"] {
            let of = records
                .iter()
                .filter(|r| r["event"] == "output" && r["channel"] == channel);
            let bytes: u64 = of.map(|record| record["bytes"].as_u64().unwrap()).sum();
            assert_eq!(last[format!("{channel}_bytes")], bytes, "{channel}");
        }
        last
    }

    pub fn audit_text(&self) -> String {
        std::fs::read_to_string(self.audit_file()).unwrap()
    }

    pub fn assert_audit_is_valid(&self) {
        let report = validate(&self.audit_file(), ValidationOptions::default()).unwrap();
        assert!(report.is_valid(), "{:?}", report.errors);
    }
}

/// The code of a failed call.
pub fn code(invoked: &Invoked) -> &str {
    match &invoked.result {
        Ok(result) => panic!("it succeeded: {result:?}"),
        Err(error) => error.code,
    }
}

/// Standard output of a call that was delivered.
pub fn stdout(invoked: &Invoked) -> String {
    match &invoked.result {
        Ok(result) => result.stdout.as_str().to_owned(),
        Err(error) => panic!("{error}"),
    }
}

/// A person with a fixed answer, who remembers what was shown.
pub struct Person {
    pub answer: Answer,
    pub seen: Mutex<Vec<ApprovalRequest>>,
    pub meanwhile: Option<Box<dyn Fn() + Send + Sync>>,
}

impl Person {
    pub fn who_says(answer: Answer) -> Arc<Self> {
        Arc::new(Self {
            answer,
            seen: Mutex::default(),
            meanwhile: None,
        })
    }

    pub fn who_meanwhile(answer: Answer, act: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        let meanwhile: Box<dyn Fn() + Send + Sync> = Box::new(act);
        Arc::new(Self {
            answer,
            seen: Mutex::default(),
            meanwhile: Some(meanwhile),
        })
    }
}

impl ApprovalProvider for Person {
    fn available(&self) -> bool {
        true
    }

    fn ask(&self, request: ApprovalRequest, _: Duration) -> Answering<'_> {
        self.seen.lock().unwrap().push(request);
        if let Some(act) = &self.meanwhile {
            act();
        }
        Box::pin(std::future::ready(self.answer))
    }
}

/// A small program of its own: a shell script that nobody but the owner can change.
pub fn script(path: &Path, text: &str) {
    let write = "cat > \"$0.new\" && chmod 755 \"$0.new\" && mv \"$0.new\" \"$0\"";
    let mut child = std::process::Command::new("sh")
        .args(["-c", write])
        .arg(path)
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}
