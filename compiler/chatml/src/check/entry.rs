//! What a script of a kind has to define (spec 05 section 8.1).

use super::graph::{Graph, Shape, TOP, Ty, for_each_part};
use super::{BindingKind, Checked, TopBinding};
use crate::ast::{Name, Program};
use crate::diagnostic::{Code, Diagnostic};
use crate::span::Span;
use crate::surface::{self, Kind};
use crate::types::TypeGraph;

/// Name of the state.
const STATE: &str = "initial_state";
/// Entry name used when a kind's default is not defined.
const FALLBACK: &str = "on_event";

/// Which function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryRequest<'a> {
    /// The kind's default name, or `on_event` where that is not defined.
    Default,
    /// A function the document names; taken literally.
    Named(&'a str),
}

/// A function that can be called with an event and a state.
#[derive(Clone, Debug)]
pub struct EntryPoint {
    /// Its name.
    pub name: Name,
    /// Where it is bound.
    pub span: Span,
    /// Its type, with the state filled in.
    pub ty: TypeGraph,
    /// The type of the state. Variables in it fit any data.
    pub state: TypeGraph,
}

/// The result of the entry checks.
#[derive(Clone, Debug, Default)]
pub struct EntryReport {
    /// The entry points without errors, in the order of the requests.
    pub points: Vec<EntryPoint>,
    /// Errors, each once.
    pub errors: Vec<Diagnostic>,
}

/// The name a default request stands for in a checked program: what the manifest records.
pub fn default_entry(checked: &Checked, kind: Kind) -> &'static str {
    let default = match kind.contract() {
        Some(contract) => contract.default_name,
        None => FALLBACK,
    };
    if value(checked, default).is_none() && value(checked, FALLBACK).is_some() {
        FALLBACK
    } else {
        default
    }
}

/// Checks the state and the requested functions of a program that was checked on the surface of
/// its kind. All functions share the state, so its type has to suit them together. Names whose
/// own statement failed are not reported again. A script of [`Kind::Core`] has no entry.
pub fn check_entries(
    program: &Program,
    checked: &Checked,
    requests: &[EntryRequest<'_>],
) -> EntryReport {
    let mut check = EntryCheck {
        checked,
        graph: checked.graph.clone(),
        end: Span::empty(program.source_len),
        report: EntryReport::default(),
    };
    if checked.kind != Kind::Core && !checked.is_exhausted() {
        check.run(requests);
    }
    check.report
}

fn value<'c>(checked: &'c Checked, name: &str) -> Option<&'c TopBinding> {
    checked
        .bindings
        .iter()
        .rev()
        .find(|binding| &*binding.name == name && binding.kind == BindingKind::Value)
}

struct EntryCheck<'c> {
    checked: &'c Checked,
    graph: Graph,
    end: Span,
    report: EntryReport,
}

impl EntryCheck<'_> {
    fn run(&mut self, requests: &[EntryRequest<'_>]) {
        let state = match value(self.checked, STATE) {
            Some(binding) => binding
                .ty
                .map(|ty| (self.graph.instantiate(ty, TOP), binding.span)),
            None => {
                let found = Diagnostic::new(
                    Code::MissingState,
                    self.end,
                    format!("the script does not define `{STATE}`"),
                )
                .help("a script without state defines `let initial_state = ()`")
                .fix(
                    "Define an empty state",
                    Span::empty(0),
                    "let initial_state = ()\n\n",
                );
                self.report.errors.push(found);
                None
            }
        };
        let mut names: Vec<&str> = Vec::new();
        for request in requests {
            let name = match request {
                EntryRequest::Default => default_entry(self.checked, self.checked.kind),
                EntryRequest::Named(name) => name,
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        for name in names {
            self.entry(name, state);
        }
        if let Some((state, span)) = state {
            self.state_is_data(state, span);
        }
        if self.report.errors.is_empty() {
            // Only now is the state as the last function left it.
            let points = std::mem::take(&mut self.report.points);
            self.report.points = points
                .into_iter()
                .map(|point| self.settled(point, state))
                .collect();
        } else {
            self.report.points.clear();
        }
    }

    fn entry(&mut self, name: &str, state: Option<(Ty, Span)>) {
        let Some(binding) = value(self.checked, name) else {
            self.report.errors.push(self.missing(name));
            return;
        };
        let (Some(scheme), Some((state, _))) = (binding.ty, state) else {
            return;
        };
        let expected = self.expected(state);
        let found = self.graph.instantiate(scheme, TOP);
        if self.graph.unify(found, expected).is_err() {
            let [found_text, expected_text] = self.graph.print_together([found, expected]);
            let found = Diagnostic::new(
                Code::EntryType,
                binding.span,
                format!("the entry function `{name}` has type `{found_text}`, needed is `{expected_text}`"),
            )
            .help("it takes the event and the state, and returns a task that gives the next state");
            self.report.errors.push(found);
            return;
        }
        self.report.points.push(EntryPoint {
            name: binding.name.clone(),
            span: binding.span,
            ty: self.graph.export(found),
            state: self.graph.export(state),
        });
    }

    /// `event -> state -> state task`, with the moderator's own event in between.
    fn expected(&mut self, state: Ty) -> Ty {
        let result = self.graph.task(state);
        let params = match self.checked.kind.contract() {
            Some(contract) => vec![self.library_type(contract.event), state],
            None => {
                let event = self.graph.add(Shape::Variable { equality: false }, TOP);
                vec![self.library_type("context"), state, event]
            }
        };
        self.graph.function(params, result)
    }

    fn library_type(&mut self, name: &str) -> Ty {
        match surface::alias(name) {
            Some(alias) => self.graph.import(alias.graph()),
            None => Graph::UNIT,
        }
    }

    fn missing(&self, name: &str) -> Diagnostic {
        let found = Diagnostic::new(
            Code::MissingFunction,
            self.end,
            format!("the script does not define its entry function `{name}`"),
        );
        let kind = self.checked.kind;
        match kind.contract() {
            Some(contract) => {
                let call = contract.harmless;
                let text = format!(
                    "\nlet {name} event state =\n  let* () = {call} in\n  Task.pure(state)\n"
                );
                found
                    .help(format!("define `let {name} event state = …`, which returns a task that gives the next state"))
                    .fix("Insert a skeleton", self.end, text)
            }
            None => found.help(format!("define `let {name} context state event = …`")),
        }
    }

    /// A state is stored between calls, so it holds nothing but data.
    fn state_is_data(&mut self, state: Ty, span: Span) {
        self.graph.start_walk();
        let mut stack = vec![state];
        while let Some(at) = stack.pop() {
            let at = self.graph.find(at);
            if !self.graph.visit(at) {
                continue;
            }
            let what = match self.graph.shape(at) {
                Shape::Ref(_) => "a reference",
                Shape::Function(..) => "a function",
                Shape::Task(_) => "a task",
                shape => {
                    for_each_part(shape, |part| stack.push(part));
                    continue;
                }
            };
            let text = self.graph.print(at);
            let found = Diagnostic::new(
                Code::StateNotData,
                span,
                format!("the state holds {what}, of type `{text}`, which can not be stored"),
            )
            .help("keep numbers, texts, arrays, records and variants in the state");
            self.report.errors.push(found);
            return;
        }
    }

    fn settled(&self, point: EntryPoint, state: Option<(Ty, Span)>) -> EntryPoint {
        EntryPoint {
            state: match state {
                Some((state, _)) => self.graph.export(state),
                None => point.state,
            },
            ..point
        }
    }
}
