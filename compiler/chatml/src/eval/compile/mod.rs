//! From a checked syntax tree to instructions.
//!
//! The tree is resolved in one pass: each name becomes a register, a captured value, a top-level
//! value, a module or a function of the library. A program that the checker refused is not compiled.

mod builder;
mod call;
mod condition;
mod expression;
mod pattern;
mod scope;
mod statement;

use std::collections::HashMap;
use std::sync::Arc;

use self::builder::FunctionBuilder;
use self::scope::Scope;
use super::program::{Program, RecordSite};
use crate::ast;
use crate::eval::Function;
use crate::library;
use crate::span::Span;
use crate::value::{Name, Symbols, Text, Value};

/// Why a program has no instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileError {
    /// `chatml.type.too_complex`, or `chatml.run.internal` for a tree that was not checked.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub span: Span,
}

impl CompileError {
    #[cold]
    fn too_complex(span: Span, message: &str) -> Box<Self> {
        Box::new(Self {
            code: "chatml.type.too_complex",
            message: message.to_owned(),
            span,
        })
    }

    #[cold]
    fn unchecked(span: Span, message: &str) -> Box<Self> {
        Box::new(Self {
            code: "chatml.run.internal",
            message: message.to_owned(),
            span,
        })
    }
}

/// Boxed, because the compiler recurses over the nesting of the program and small results keep its
/// frames small.
type Compiled<T> = Result<T, Box<CompileError>>;

/// Values that all closures of a program together may capture. Chains of `let*` nest one function in
/// the other; without a bound their captures grow with the square of the chain.
const MAX_CAPTURES: usize = 1_000_000;

/// Compiles a program that was checked without errors.
///
/// # Errors
/// `chatml.type.too_complex` when one function needs more than 65,000 registers or the program more
/// than a million captured values.
pub fn compile(tree: &ast::Program) -> Result<Program, CompileError> {
    let mut compiler = Compiler::new();
    let has_value = compiler.program(&tree.statements).map_err(|error| *error)?;
    Ok(compiler.finish(has_value))
}

struct Compiler {
    functions: Vec<Function>,
    constants: Vec<Value>,
    text: String,
    texts: HashMap<ast::Name, u32>,
    symbols: Symbols,
    fields: Vec<Name>,
    records: Vec<RecordSite>,
    updates: Vec<Box<[Name]>>,
    globals: u32,
    names: HashMap<Arc<str>, u32>,
    scope: Scope,
    /// The functions that are being compiled, outermost first.
    builders: Vec<FunctionBuilder>,
    captured: usize,
}

impl Compiler {
    fn new() -> Self {
        let mut symbols = Symbols::default();
        library::known::intern(&mut symbols);
        Self {
            functions: library::loops::functions(),
            constants: Vec::new(),
            text: String::new(),
            texts: HashMap::new(),
            symbols,
            fields: Vec::new(),
            records: Vec::new(),
            updates: Vec::new(),
            globals: 0,
            names: HashMap::new(),
            scope: Scope::default(),
            builders: vec![FunctionBuilder::new(0)],
            captured: 0,
        }
    }

    fn finish(mut self, has_value: bool) -> Program {
        let main = self.reserve_function();
        self.end_function(main);
        Program {
            functions: self.functions.into(),
            constants: self.constants,
            text: self.text,
            symbols: self.symbols,
            fields: self.fields,
            records: self.records,
            updates: self.updates,
            globals: self.globals,
            names: self.names,
            main,
            has_value,
        }
    }

    /// The constant of a string literal; equal literals share one.
    fn text_constant(&mut self, text: &ast::Name) -> u32 {
        if let Some(index) = self.texts.get(text) {
            return *index;
        }
        let start = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.text.push_str(text);
        let index = self.constant(Value::String(Text { start, len }));
        self.texts.insert(Arc::clone(text), index);
        index
    }

    fn constant(&mut self, value: Value) -> u32 {
        let index = u32::try_from(self.constants.len()).unwrap_or(u32::MAX);
        self.constants.push(value);
        index
    }

    fn new_global(&mut self) -> u32 {
        let index = self.globals;
        self.globals += 1;
        index
    }

    fn level(&self) -> usize {
        self.builders.len() - 1
    }

    fn begin_function(&mut self, parameters: u16) {
        self.builders.push(FunctionBuilder::new(parameters));
    }

    /// The number of a function whose code is still to come.
    fn reserve_function(&mut self) -> u32 {
        let index = u32::try_from(self.functions.len()).unwrap_or(u32::MAX);
        self.functions.push(Function {
            code: Box::default(),
            spans: Box::default(),
            parameters: 0,
            registers: 0,
            captures: Box::default(),
            library: false,
        });
        index
    }

    /// Ends the innermost function.
    fn end_function(&mut self, index: u32) {
        if let (Some(builder), Some(slot)) =
            (self.builders.pop(), self.functions.get_mut(index as usize))
        {
            *slot = builder.finish();
        }
    }
}
