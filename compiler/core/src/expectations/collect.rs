//! From the directives of all files of a document to its tests, facts and annotations (spec 12
//! sections 1.2, 1.3 and 2.1).

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use chatmd_policy::symbolic::SymbolicFacts;
use chatmd_syntax::Span;

use super::annotations::{Annotation, Annotations};
use super::case::{Case, CaseText, Target};
use super::directive::{Anchor, Directive, FileDirectives, Head, MAX_DIRECTIVE_BYTES};
use super::fault::Fault;
use super::grammar::{self, Test};
use super::names::Names;
use super::sidecar;
use crate::decl::{Decl, ToolForm};
use crate::diagnostics::{Diagnostic, FileIndex, Place, Severity, quote};
use crate::evaluation::Form;
use crate::expand::{Expansion, Reading};
use crate::resolve::ExpandedItem;

/// Most inline tests of a document with its imports; as many `expect-given` directives in a file.
pub const MAX_INLINE_CASES: usize = 2_000;

/// The tests of a document, before anything is evaluated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suite {
    /// Tests in the order of files and places.
    pub cases: Vec<Case>,
    /// Facts that [`Case::facts`] points into.
    pub facts: Vec<SymbolicFacts>,
    /// What `why` and `instead` say.
    pub annotations: Annotations,
    /// Faults of the directives themselves.
    pub diagnostics: Vec<Diagnostic>,
}

impl Suite {
    /// Adds the tests of a file beside the document.
    pub(crate) fn add_sidecar(&mut self, bytes: &[u8], file: FileIndex, expansion: &Expansion) {
        let names = Names::new(expansion);
        let source = expansion.document.files.first();
        let source = source.map_or("", |source| source.path.as_str());
        let mut read = sidecar::read(bytes, file, source, &names);
        let before = self.facts.len();
        self.facts.append(&mut read.facts);
        self.diagnostics.append(&mut read.diagnostics);
        self.cases.extend(read.cases.into_iter().map(|case| Case {
            facts: case.facts + before,
            ..case
        }));
    }
}

/// Collects the tests in the documents of an expansion. `directives` gives those of a file as it is
/// read.
pub(super) fn collect(
    expansion: &Expansion,
    mut directives: impl FnMut(FileIndex, Reading) -> Arc<FileDirectives>,
) -> Suite {
    let mut collector = Collector {
        names: Names::new(expansion),
        items: items_by_file(expansion),
        suite: Suite::default(),
        over_limit: false,
    };
    // Facts 0: none are given.
    collector.suite.facts.push(SymbolicFacts::default());
    for (index, file) in expansion.files.iter().enumerate() {
        let index = FileIndex(index as u32);
        for reading in [Reading::Document, Reading::Content] {
            if !file.readings.contains(&reading) {
                continue;
            }
            let found = directives(index, reading);
            for stray in &found.strays {
                let place = Place {
                    file: index,
                    item: stray.item,
                    span: stray.comment,
                };
                collector.suite.diagnostics.push(stray_test(place));
            }
            if !found.directives.is_empty() {
                let source = expansion.document.files.get(index.0 as usize);
                let source = source.map_or("", |source| source.path.as_str());
                collector.file(index, source, &found.directives);
            }
        }
    }
    collector.suite
}

/// Items of each file: by namespace of the reading, then by number.
type FileItems<'a> = HashMap<FileIndex, Vec<(Option<&'a str>, HashMap<u32, &'a ExpandedItem>)>>;

fn items_by_file(expansion: &Expansion) -> FileItems<'_> {
    let mut found: FileItems<'_> = HashMap::new();
    for item in &expansion.document.items {
        let readings = found.entry(item.file).or_default();
        let namespace = item.namespace.as_deref();
        let at = match readings.iter().position(|(known, _)| *known == namespace) {
            Some(at) => at,
            None => {
                readings.push((namespace, HashMap::new()));
                readings.len() - 1
            }
        };
        if let Some((_, items)) = readings.get_mut(at) {
            items.entry(item.item).or_insert(item);
        }
    }
    found
}

struct Collector<'a> {
    names: Names<'a>,
    items: FileItems<'a>,
    suite: Suite,
    over_limit: bool,
}

/// Facts of one file, parsed.
struct Given<'d> {
    anchor: &'d Anchor,
    text: &'d str,
}

/// What is known while the directives of a file are read.
struct File<'d> {
    index: FileIndex,
    source: Arc<str>,
    given: Vec<Given<'d>>,
    /// Facts by what a test is attached to.
    facts: HashMap<&'d Anchor, usize>,
}

impl<'a> Collector<'a> {
    fn file(&mut self, index: FileIndex, source: &str, directives: &[Directive]) {
        let mut file = File {
            index,
            source: source.into(),
            given: Vec::new(),
            facts: HashMap::new(),
        };
        let mut tests = Vec::new();
        for directive in directives {
            if directive.too_long {
                let place = place(index, directive, directive.comment);
                self.suite.diagnostics.push(too_long(place));
                continue;
            }
            match directive.head {
                Head::Expect => match grammar::parse(&directive.text) {
                    Ok(test) => tests.push((directive, test)),
                    Err(fault) => self.fault("chatmd.test_syntax", index, directive, &fault),
                },
                Head::Given => self.given(&mut file, directive),
                Head::Why | Head::Instead => {}
            }
        }
        // A file without items stands for itself once.
        let readings = self.items.remove(&index).unwrap_or_default();
        let readings = match readings.is_empty() {
            true => vec![(None, HashMap::new())],
            false => readings,
        };
        for (namespace, items) in &readings {
            for directive in directives {
                if matches!(directive.head, Head::Why | Head::Instead) && !directive.too_long {
                    self.annotation(index, directive, *namespace, items);
                }
            }
            for (directive, test) in &tests {
                self.test(&mut file, directive, test, *namespace, items);
            }
        }
    }

    fn fault(
        &mut self,
        code: &'static str,
        index: FileIndex,
        directive: &Directive,
        fault: &Fault,
    ) {
        let at = |range: &Range<usize>| place(index, directive, within(directive, range));
        self.suite
            .diagnostics
            .push(finding(code, at(&fault.at), fault));
    }

    fn given<'d>(&mut self, file: &mut File<'d>, directive: &'d Directive) {
        let text: &str = &directive.text;
        let start = text.find(':').map_or(text.len(), |colon| colon + 1);
        let facts = text.get(start..).unwrap_or_default();
        if file.given.len() >= MAX_INLINE_CASES {
            let place = place(file.index, directive, directive.comment);
            self.limit(place, "`expect-given` directives of a file");
            return;
        }
        if let Err(fault) = SymbolicFacts::default().add(facts) {
            let from = start + facts.find(fault.fact.as_str()).unwrap_or_default();
            let known = Fault::new(from..from + fault.fact.len(), fault.to_string());
            self.fault("chatmd.test_syntax", file.index, directive, &known);
            return;
        }
        file.given.push(Given {
            anchor: &directive.anchor,
            text: facts,
        });
    }

    fn limit(&mut self, place: Place, what: &str) {
        if !std::mem::replace(&mut self.over_limit, true) {
            self.suite.diagnostics.push(
                Diagnostic::new(
                    "chatmd.test_limit",
                    place,
                    format!("more than {MAX_INLINE_CASES} {what}"),
                )
                .label("not read from here on")
                .hint("move tests to a file `NAME.chatmd.tests.jsonl`, or split the document"),
            );
        }
    }

    fn test<'d>(
        &mut self,
        file: &mut File<'d>,
        directive: &'d Directive,
        test: &Test,
        namespace: Option<&str>,
        items: &HashMap<u32, &ExpandedItem>,
    ) {
        let Some((target, rule)) = self.target(file.index, directive, test, namespace, items)
        else {
            return;
        };
        let facts = self.facts(file, directive);
        let at = |range: &Range<usize>| place(file.index, directive, within(directive, range));
        let written = test.written.iter();
        let written: Arc<[(String, Place)]> = written
            .map(|(key, range)| (key.clone(), at(range)))
            .collect();
        let options = Arc::new(test.options.clone());
        for range in &test.cases {
            if self.suite.cases.len() >= MAX_INLINE_CASES {
                return self.limit(at(range), "tests in the document and its imports");
            }
            let text = directive.text.get(range.clone()).unwrap_or_default();
            let shown = if range.is_empty() {
                place(file.index, directive, directive.comment)
            } else {
                at(range)
            };
            let text = match case_text(text, test.options.form) {
                Ok(text) => text,
                Err(message) => {
                    let finding = Diagnostic::new("chatmd.test_syntax", shown, message);
                    self.suite
                        .diagnostics
                        .push(finding.hint("`as=argv` takes one JSON array of strings a line"));
                    continue;
                }
            };
            self.suite.cases.push(Case {
                at: shown,
                directive: place(file.index, directive, directive.comment),
                verb: test.verb,
                verb_at: at(&test.verb_at),
                written: Arc::clone(&written),
                options: Arc::clone(&options),
                text,
                target: target.clone(),
                rule: rule.clone(),
                facts,
                source: Arc::clone(&file.source),
                id: None,
            });
        }
    }

    /// What a test is about, and its rule.
    fn target(
        &mut self,
        index: FileIndex,
        directive: &Directive,
        test: &Test,
        namespace: Option<&str>,
        items: &HashMap<u32, &ExpandedItem>,
    ) -> Option<(Target, Option<String>)> {
        let value_at = |key: &str| {
            let written = test.written.iter().find(|(known, _)| known == key);
            let range = written.map(|(_, range)| within(directive, range));
            place(index, directive, range.unwrap_or(directive.comment))
        };
        let options = &test.options;
        if let (Some(_), Some(_)) = (&options.tool, &options.runtime) {
            let message = "`tool` and `runtime` are both given";
            let finding = Diagnostic::new("chatmd.test_syntax", value_at("runtime"), message);
            self.suite
                .diagnostics
                .push(finding.hint("a tool has its own runtime: leave `runtime` out"));
            return None;
        }
        if let Some(name) = &options.tool {
            return match self.names.tool(name) {
                Ok(found) => found.map(|name| (Target::Tool(name), None)),
                Err(near) => {
                    let finding = unknown("tool", name, near, value_at("tool"));
                    self.suite.diagnostics.push(finding);
                    None
                }
            };
        }
        if let Some(name) = &options.runtime {
            return match self.names.runtime(namespace, name) {
                Ok(found) => found.map(|id| (Target::Runtime(id), None)),
                Err(near) => {
                    let finding = unknown("runtime", name, near, value_at("runtime"));
                    self.suite.diagnostics.push(finding);
                    None
                }
            };
        }
        let comment = place(index, directive, directive.comment);
        match &directive.anchor {
            Anchor::Nothing => {
                self.suite.diagnostics.push(
                    Diagnostic::new(
                        "chatmd.test_unattached",
                        comment,
                        "this test stands at no tool and no runtime",
                    )
                    .label("what is it a test of?")
                    .hint(
                        "put it into or directly before a `<shell_access>` or a shell tool, or \
                         name one with `[tool=NAME]` or `[runtime=ID]`",
                    ),
                );
                None
            }
            Anchor::Tool { item } => {
                let item = items.get(item)?;
                let Some(Decl::Tool(tool)) = &item.decl.decl else {
                    return None;
                };
                let name = tool.name.value()?;
                match tool.form {
                    ToolForm::Shell(_) | ToolForm::Legacy(_) => {
                        Some((Target::Tool(name.value.clone()), None))
                    }
                    ToolForm::Invalid => None,
                    _ => {
                        let message = format!("the tool {} runs no commands", quote(&name.value));
                        self.suite.diagnostics.push(
                            Diagnostic::new("chatmd.test_unattached", comment, message)
                                .hint("tests are about shell tools and runtimes"),
                        );
                        None
                    }
                }
            }
            Anchor::Runtime { item } => runtime(items, *item).map(|id| (Target::Runtime(id), None)),
            Anchor::Rule { item, rule } => {
                runtime(items, *item).map(|id| (Target::Runtime(id), Some(rule.clone())))
            }
        }
    }

    /// The facts of a test: those of the whole file, of what it is attached to, and of what is
    /// around that, in the order of the document.
    fn facts<'d>(&mut self, file: &mut File<'d>, directive: &'d Directive) -> usize {
        if file.given.is_empty() {
            return 0;
        }
        if let Some(known) = file.facts.get(&directive.anchor) {
            return *known;
        }
        let mut facts = SymbolicFacts::default();
        let mut any = false;
        for given in &file.given {
            if reaches(given.anchor, &directive.anchor) {
                // It parsed once already.
                let _ = facts.add(given.text);
                any = true;
            }
        }
        let index = match any {
            true => {
                self.suite.facts.push(facts);
                self.suite.facts.len() - 1
            }
            false => 0,
        };
        file.facts.insert(&directive.anchor, index);
        index
    }

    fn annotation(
        &mut self,
        index: FileIndex,
        directive: &Directive,
        namespace: Option<&str>,
        items: &HashMap<u32, &ExpandedItem>,
    ) {
        let (runtime, rule, tool) = match &directive.annotates {
            Some(Anchor::Rule { item, rule }) => (runtime(items, *item), Some(rule.clone()), None),
            Some(Anchor::Tool { item }) => {
                let decl = items.get(item).and_then(|item| item.decl.decl.as_ref());
                let Some(Decl::Tool(tool)) = decl else { return };
                let Some(name) = tool.name.value() else {
                    return;
                };
                let reference = match &tool.form {
                    ToolForm::Shell(shell) => shell.runtime.value(),
                    _ => None,
                };
                let found = reference.map(|r| self.names.runtime(namespace, &r.value));
                (
                    found.and_then(Result::ok).flatten(),
                    None,
                    Some(name.value.clone()),
                )
            }
            _ => return,
        };
        let why = directive.head == Head::Why;
        let at = place(index, directive, directive.comment);
        match Annotation::text(&directive.text) {
            Ok(text) => {
                let key = (runtime, rule, tool);
                if let Some(first) = self.suite.annotations.add(key, why, text, at) {
                    self.suite
                        .diagnostics
                        .push(second_annotation(at, first, why));
                }
            }
            Err((code, message)) => {
                let hint = "one short paragraph: people read it beside a refusal";
                let finding = Diagnostic::new(code, at, message);
                self.suite.diagnostics.push(finding.hint(hint));
            }
        }
    }
}

/// Whether facts at one place count for a test at another.
fn reaches(given: &Anchor, test: &Anchor) -> bool {
    match (given, test) {
        (Anchor::Nothing, _) => true,
        (Anchor::Runtime { item }, Anchor::Rule { item: own, .. }) => item == own,
        (given, test) => given == test,
    }
}

/// The qualified id of the runtime that an item declares.
fn runtime(items: &HashMap<u32, &ExpandedItem>, item: u32) -> Option<String> {
    let item = items.get(&item)?;
    let Some(Decl::Runtime(runtime)) = &item.decl.decl else {
        return None;
    };
    let id = &runtime.id.value()?.value;
    Some(crate::resolve::reference::qualify(
        item.namespace.as_deref(),
        id,
    ))
}

/// Reads a case as its option `as` says.
pub(super) fn case_text(text: &str, form: Option<Form>) -> Result<CaseText, String> {
    Ok(match form {
        None => CaseText::Plain(text.to_owned()),
        Some(Form::Command) => CaseText::Command(text.to_owned()),
        Some(Form::Script) => CaseText::Script(text.to_owned()),
        Some(Form::Json) => CaseText::Json(text.to_owned()),
        Some(Form::Argv) => match serde_json::from_str::<Vec<String>>(text) {
            Ok(words) => CaseText::Argv(words),
            Err(_) => return Err(format!("{} is no JSON array of strings", quote(text))),
        },
    })
}

fn place(file: FileIndex, directive: &Directive, span: Span) -> Place {
    Place {
        file,
        item: Some(directive.item),
        span,
    }
}

/// The place of a part of the text of a directive.
fn within(directive: &Directive, range: &Range<usize>) -> Span {
    Span::new(
        directive.start + range.start as u32,
        directive.start + range.end as u32,
    )
}

/// A fault as a finding.
pub(super) fn finding(code: &'static str, at: Place, fault: &Fault) -> Diagnostic {
    let mut finding = Diagnostic::new(code, at, fault.message.clone());
    if let Some(hint) = &fault.hint {
        finding = finding.hint(hint.clone());
    }
    match &fault.replace {
        Some(word) => finding.fix(format!("replace by {}", quote(word)), at, word.clone()),
        None => finding,
    }
}

fn unknown(what: &str, name: &str, near: Option<String>, at: Place) -> Diagnostic {
    let message = format!("no {what} is named {}", quote(name));
    let finding = Diagnostic::new("chatmd.test_unknown_target", at, message).label("not declared");
    match near {
        Some(near) => finding.hint(format!("did you mean {}?", quote(&near))).fix(
            format!("replace by {}", quote(&near)),
            at,
            near,
        ),
        None => finding,
    }
}

fn stray_test(at: Place) -> Diagnostic {
    Diagnostic::new(
        "chatmd.test_unattached",
        at,
        "a test in the body of an element is an ordinary comment: it is not run",
    )
    .with_severity(Severity::Warning)
    .label("not a test here")
    .hint("move it to the top level, or into a `<shell_access>` or a shell tool")
}

fn too_long(at: Place) -> Diagnostic {
    let message = format!(
        "a directive holds at most {} KiB",
        MAX_DIRECTIVE_BYTES >> 10
    );
    Diagnostic::new("chatmd.test_limit", at, message)
        .label("too long")
        .hint("split it, or move its tests to a file `NAME.chatmd.tests.jsonl`")
}

fn second_annotation(at: Place, first: Place, why: bool) -> Diagnostic {
    let word = if why { "why" } else { "instead" };
    Diagnostic::new(
        "chatmd.annotation_duplicate",
        at,
        format!("a second `{word}:` for the same element; the first one counts"),
    )
    .label("not used")
    .related(first, "the first one")
    .hint("keep one")
}
