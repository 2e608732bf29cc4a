//! From source text to something that can be started.

use std::sync::Arc;

use super::Script;
use crate::check::{EntryRequest, check, check_entries};
use crate::diagnostic::{Code, Diagnostic};
use crate::eval::{CompileError, Program, compile};
use crate::limits::Limits;
use crate::parse::parse;
use crate::surface::Kind;
use crate::types::TypeGraph;

impl From<CompileError> for Diagnostic {
    fn from(error: CompileError) -> Self {
        // A checked tree can only be too large.
        Self::new(Code::TooComplex, error.span, error.message)
    }
}

/// Parses, checks and compiles a program on the surface of a kind, without entry checks; also its type
/// (spec 05 section 5.9).
///
/// # Errors
/// What the parser found, else what the checker found.
pub fn prepare(
    source: &str,
    kind: Kind,
) -> Result<(Arc<Program>, Option<TypeGraph>), Vec<Diagnostic>> {
    let parsed = parse(source);
    if !parsed.is_ok() {
        return Err(parsed.errors);
    }
    let checked = check(&parsed.program, kind);
    if !checked.is_ok() {
        return Err(checked.errors);
    }
    let program = compile(&parsed.program).map_err(|error| vec![error.into()])?;
    Ok((Arc::new(program), checked.program_type()))
}

impl Script {
    /// Parses, checks and compiles a script of a kind with one entry function.
    ///
    /// # Errors
    /// What the parser found, else what the checker found, else what the entry checks found.
    pub fn prepare(
        source: &str,
        kind: Kind,
        request: EntryRequest<'_>,
        limits: Limits,
    ) -> Result<Self, Vec<Diagnostic>> {
        let parsed = parse(source);
        if !parsed.is_ok() {
            return Err(parsed.errors);
        }
        let checked = check(&parsed.program, kind);
        if !checked.is_ok() {
            return Err(checked.errors);
        }
        let mut report = check_entries(&parsed.program, &checked, &[request]);
        let point = match report.points.pop() {
            Some(point) if report.errors.is_empty() => point,
            _ => return Err(report.errors),
        };
        let program = compile(&parsed.program).map_err(|error| vec![error.into()])?;
        Ok(Self {
            program: Arc::new(program),
            kind,
            entry: point.name,
            state: Some(Arc::new(point.state)),
            limits,
        })
    }
}
