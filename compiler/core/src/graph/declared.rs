//! The graph of declarations as written, for documents that have no manifest.

use std::collections::HashSet;

use super::NodeKind;
use super::collect::Facts;
use crate::decl::{
    BackendKindDecl, CommandDecl, Decl, ExtensionDecl, Field, HookDecl, MatcherDecl,
    MatcherKindDecl, ModeDecl, ReviewerKindDecl, RuntimeDecl, ScriptDecl, Sp, ToolDecl, ToolForm,
};
use crate::manifest::ScriptKind;
use crate::resolve::profiles;
use crate::resolve::reference::{BUILTIN, candidates, qualify};
use crate::resolve::{Expanded, ExpandedItem};

/// Qualified names of what is declared.
#[derive(Default)]
struct Names {
    runtimes: HashSet<String>,
    scripts: HashSet<String>,
}

pub(super) fn collect(document: &Expanded) -> Facts {
    let mut facts = Facts::default();
    let mut names = Names::default();
    for item in &document.items {
        let namespace = item.namespace.as_deref();
        match &item.decl.decl {
            Some(Decl::Runtime(decl)) => {
                if let Some(id) = decl.id.value() {
                    let id = qualify(namespace, &id.value);
                    facts.node(NodeKind::Runtime, &id);
                    names.runtimes.insert(id);
                }
            }
            Some(Decl::Script(decl)) => {
                if let Some(id) = script_id(decl) {
                    let id = qualify(namespace, id);
                    facts.node(NodeKind::Script, &id);
                    names.scripts.insert(id);
                }
            }
            _ => {}
        }
    }
    for item in &document.items {
        let mut one = One {
            item,
            names: &names,
            facts: &mut facts,
        };
        match &item.decl.decl {
            Some(Decl::Runtime(decl)) => one.runtime(decl),
            Some(Decl::Tool(decl)) => one.tool(decl),
            Some(Decl::Moderator(decl)) => {
                if let Some(runtime) = one.runtime_of(&decl.shell_runtime) {
                    one.facts.moderator(&runtime);
                }
            }
            _ => {}
        }
    }
    facts.finish();
    facts
}

fn script_id(decl: &ScriptDecl) -> Option<&str> {
    match (&decl.id, decl.kind) {
        (Field::Value(id), _) => Some(&id.value),
        (Field::Absent, Some(ScriptKind::Moderator)) => Some("main"),
        _ => None,
    }
}

/// One declaration with its surroundings.
struct One<'a> {
    item: &'a ExpandedItem,
    names: &'a Names,
    facts: &'a mut Facts,
}

impl One<'_> {
    /// The declaration that a reference means, if there is one.
    fn find(&self, declared: &HashSet<String>, reference: &str) -> Option<String> {
        let tried = candidates(self.item.namespace.as_deref(), reference);
        tried.into_iter().find(|name| declared.contains(name))
    }

    fn runtime_of(&self, reference: &Field<String>) -> Option<String> {
        let reference = reference.value()?;
        self.find(&self.names.runtimes, &reference.value)
    }

    fn runtime(&mut self, decl: &RuntimeDecl) {
        let Some(id) = decl.id.value() else { return };
        let id = qualify(self.item.namespace.as_deref(), &id.value);
        if let Some(parent) = decl.extends.value() {
            if parent.value.starts_with(BUILTIN) {
                if let Some(profile) = profiles::find(&parent.value) {
                    self.facts
                        .extends(&id, NodeKind::Profile, profile.versioned);
                }
            } else if let Some(parent) = self.find(&self.names.runtimes, &parent.value) {
                self.facts.extends(&id, NodeKind::Runtime, &parent);
            }
        }
        for executable in decl
            .resolver
            .iter()
            .flat_map(|section| &section.executables)
        {
            let name = format!("{id}/{}", executable.id.value);
            self.facts.node(NodeKind::Executable, &name);
        }
        let backends = decl.backends.iter().flat_map(|section| &section.entries);
        for (index, backend) in backends.enumerate() {
            let kind = match backend.kind {
                BackendKindDecl::Seatbelt { .. } => "seatbelt",
                BackendKindDecl::Bubblewrap { .. } => "bubblewrap",
                BackendKindDecl::Direct => "direct",
                BackendKindDecl::External { .. } => "external",
            };
            let name = backend.id.as_ref().map(|id| id.value.as_str());
            self.facts.backend(&id, name, kind, index + 1);
        }
        for rule in decl.policy.iter().flat_map(|section| &section.rules) {
            self.matcher(
                &id,
                rule.matcher.as_ref(),
                &format!("rule {}", rule.id.value),
            );
        }
        self.extensions(&id, decl);
    }

    fn extensions(&mut self, id: &str, decl: &RuntimeDecl) {
        for reviewer in decl.reviewers.iter().flat_map(|section| &section.entries) {
            let via = format!("reviewer {}", reviewer.id.value);
            match &reviewer.kind {
                ReviewerKindDecl::Ui => {}
                ReviewerKindDecl::Chatml { script, .. } => self.script(id, script, &via),
                ReviewerKindDecl::Model { agent, .. } => {
                    self.facts.agent(id, &agent.value, &via);
                }
                ReviewerKindDecl::Executable { hook, .. } => self.hook(id, hook, &via),
            }
        }
        for entry in decl
            .interceptors
            .iter()
            .flat_map(|section| &section.entries)
        {
            let via = format!("interceptor {}", entry.id.value);
            self.matcher(id, entry.matcher.as_ref(), &via);
            self.extension(id, &entry.extension, &via);
        }
        for entry in decl
            .effect_analysis
            .iter()
            .flat_map(|section| &section.entries)
        {
            let via = format!("analyzer {}", entry.id.value);
            self.extension(id, &entry.extension, &via);
        }
        if let Some(filter) = decl.audit.as_ref().and_then(|audit| audit.filter.as_ref()) {
            self.extension(id, &filter.value, "audit filter");
        }
    }

    fn extension(&mut self, id: &str, extension: &ExtensionDecl, via: &str) {
        match extension {
            ExtensionDecl::Chatml { script, .. } => self.script(id, script, via),
            ExtensionDecl::Executable(hook) => self.hook(id, hook, via),
        }
    }

    fn hook(&mut self, id: &str, hook: &HookDecl, via: &str) {
        if let Some(worker) = self.runtime_of(&hook.runtime) {
            self.facts.hook(id, &worker, via);
        }
    }

    fn script(&mut self, id: &str, script: &Sp<String>, via: &str) {
        if let Some(script) = self.find(&self.names.scripts, &script.value) {
            self.facts.script(id, &script, via);
        }
    }

    fn matcher(&mut self, id: &str, matcher: Option<&MatcherDecl>, via: &str) {
        let mut open: Vec<&MatcherDecl> = matcher.into_iter().collect();
        while let Some(matcher) = open.pop() {
            match &matcher.kind {
                MatcherKindDecl::ChatmlMatch { script, .. } => self.script(id, script, via),
                MatcherKindDecl::All(of) | MatcherKindDecl::Any(of) => open.extend(of),
                MatcherKindDecl::Not(of) => open.push(of),
                _ => {}
            }
        }
    }

    fn tool(&mut self, decl: &ToolDecl) {
        let Some(name) = decl.name.value() else {
            return;
        };
        let (shell, runtime) = match &decl.form {
            ToolForm::Shell(shell) => (shell, self.runtime_of(&shell.runtime)),
            ToolForm::Legacy(shell) => (shell, Some(profiles::LEGACY_ID.to_owned())),
            _ => return,
        };
        self.facts.node(NodeKind::Tool, &name.value);
        let Some(runtime) = runtime else { return };
        self.facts.tool(&name.value, &runtime);
        if let Some(ModeDecl::Fixed {
            command: CommandDecl::ExecutableRef(id),
            ..
        }) = &shell.mode
        {
            self.facts.executable(&name.value, &runtime, &id.value);
        }
    }
}
