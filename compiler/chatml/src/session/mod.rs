//! A script that grows input by input, as an interactive session does (spec 10 section 2.12).
//!
//! Evaluation is deterministic and has no effect outside, so every input evaluates the whole script
//! so far again and shows what is new. An input that fails leaves no trace, not even in refs that it
//! wrote to before it failed.

mod complete;
mod ready;

use std::sync::Arc;

pub use complete::Candidate;
pub use ready::{Completeness, completeness};

use crate::ast::StatementKind;
use crate::check::{BindingKind, Checked, check};
use crate::diagnostic::Diagnostic;
use crate::eval::{Fault, compile};
use crate::instance::evaluate;
use crate::limits::{Limits, Stopwatch};
use crate::parse::{Parsed, parse_pieces};
use crate::surface::Kind;
use crate::types::TypeGraph;

/// Most bytes of a session: that of a script (spec 01 section 11).
pub const MAX_SESSION: usize = 1 << 20;

/// Inputs that have an allowance of memory of their own; later ones share it. 256 MiB in all.
const MAX_ALLOWANCES: u64 = 16;

/// Inputs that have a wall time of their own; later ones share it.
const MAX_WALL_TIMES: u32 = 5;

/// A name that an input defined.
#[derive(Clone, Debug)]
pub struct Defined {
    /// The name.
    pub name: Arc<str>,
    /// What it names.
    pub kind: BindingKind,
    /// The scheme of a value or the declared type; a module has none.
    pub ty: Option<TypeGraph>,
}

/// What an input led to.
#[derive(Clone, Debug)]
pub struct Step {
    /// Warnings about this input; spans count from the start of the session.
    pub warnings: Vec<Diagnostic>,
    /// What `print` wrote.
    pub output: String,
    /// Names it defined, in source order.
    pub defined: Vec<Defined>,
    /// Whether its last statement is an expression, whose value has no name.
    pub is_expression: bool,
    /// The type of its last statement.
    pub ty: Option<TypeGraph>,
    /// The value of its last statement as text.
    pub text: Option<String>,
}

/// Why an input was not taken. Spans count from the start of the session.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// Errors of parsing or checking, the first one first.
    Compile(Vec<Diagnostic>),
    /// It failed while it was evaluated.
    Run(Fault),
    /// The session would be larger than [`MAX_SESSION`].
    Full,
}

/// The inputs that were taken so far.
#[derive(Clone, Debug)]
pub struct Session {
    kind: Kind,
    limits: Limits,
    /// All inputs, each followed by a line end.
    source: String,
    /// Where each input begins.
    starts: Vec<u32>,
    fuel: u64,
    printed: usize,
    names: Vec<Defined>,
}

impl Session {
    /// An empty session on the surface of a kind; each input has these limits for itself.
    pub fn new(kind: Kind, limits: Limits) -> Self {
        Self {
            kind,
            limits,
            source: String::new(),
            starts: Vec::new(),
            fuel: 0,
            printed: 0,
            names: Vec::new(),
        }
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// How many inputs were taken.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// The inputs with one more, which need not be taken: what spans of its findings refer to.
    pub fn texts<'a>(&'a self, input: &'a str) -> impl Iterator<Item = &'a str> {
        let ends = self.starts.iter().skip(1).copied();
        let ends = ends.chain([u32::try_from(self.source.len()).unwrap_or(u32::MAX)]);
        let taken = self.starts.iter().zip(ends).map(|(start, end)| {
            let text = self.source.get(*start as usize..end as usize);
            text.and_then(|text| text.strip_suffix('\n')).unwrap_or("")
        });
        taken.chain([input])
    }

    /// Values, types and modules defined so far, the last definition of a name last.
    pub fn names(&self) -> &[Defined] {
        &self.names
    }

    /// The type of an input that is not evaluated; its warnings are left out.
    ///
    /// # Errors
    /// What parser and checker found.
    pub fn type_of(&self, input: &str) -> Result<Option<TypeGraph>, Refusal> {
        let checked = self.checked(input)?.1;
        Ok(checked.program_type())
    }

    fn checked(&self, input: &str) -> Result<(Parsed, Checked), Refusal> {
        let start = u32::try_from(self.source.len()).unwrap_or(u32::MAX);
        let mut source = String::with_capacity(self.source.len() + input.len() + 1);
        source.push_str(&self.source);
        source.push_str(input);
        source.push('\n');
        if source.len() > MAX_SESSION {
            return Err(Refusal::Full);
        }
        let mut breaks = self.starts.clone();
        breaks.push(start);
        let parsed = parse_pieces(&source, &breaks);
        if !parsed.is_ok() {
            return Err(Refusal::Compile(parsed.errors));
        }
        let checked = check(&parsed.program, self.kind);
        match checked.is_ok() {
            true => Ok((parsed, checked)),
            false => Err(Refusal::Compile(checked.errors)),
        }
    }

    /// The limits of the session with one more input.
    fn limits(&self) -> Limits {
        let inputs = self.starts.len() as u64 + 1;
        let own = self.limits.allocation() / 16;
        let times = u32::try_from(inputs).unwrap_or(u32::MAX);
        let wall_time = self
            .limits
            .wall_time
            .saturating_mul(times.min(MAX_WALL_TIMES));
        Limits {
            fuel: self.fuel.saturating_add(self.limits.fuel),
            max_value: own.saturating_mul(inputs.min(MAX_ALLOWANCES)),
            wall_time,
            ..self.limits.clone()
        }
    }

    /// Checks and evaluates an input.
    ///
    /// # Errors
    /// Why the session is as it was.
    pub fn input(&mut self, input: &str, stopwatch: &dyn Stopwatch) -> Result<Step, Refusal> {
        let (parsed, checked) = self.checked(input)?;
        let start = u32::try_from(self.source.len()).unwrap_or(u32::MAX);
        let new = |span: crate::span::Span| span.start >= start;
        let program = compile(&parsed.program)
            .map_err(|error| Refusal::Compile(vec![Diagnostic::from(error)]))?;
        let evaluation =
            evaluate(&Arc::new(program), &self.limits(), stopwatch).map_err(Refusal::Run)?;
        let warnings = parsed.warnings.iter().chain(&checked.warnings);
        let warnings = warnings.filter(|found| new(found.span)).cloned().collect();
        let defined: Vec<Defined> = checked
            .bindings
            .iter()
            .filter(|binding| new(binding.span))
            .map(|binding| Defined {
                name: binding.name.clone(),
                kind: binding.kind,
                ty: checked.scheme(binding),
            })
            .collect();
        let last = parsed.program.statements.last();
        let last = last.filter(|statement| new(statement.span));
        let step = Step {
            warnings,
            output: evaluation
                .output
                .get(self.printed..)
                .unwrap_or("")
                .to_owned(),
            is_expression: last
                .is_some_and(|statement| matches!(statement.kind, StatementKind::Expr(_))),
            ty: last.and_then(|_| checked.program_type()),
            text: last.and(evaluation.text),
            defined,
        };
        self.names.extend(step.defined.iter().cloned());
        self.fuel = evaluation.fuel;
        self.printed = evaluation.output.len();
        self.starts.push(start);
        self.source.push_str(input);
        self.source.push('\n');
        Ok(step)
    }
}

#[cfg(test)]
mod tests;
