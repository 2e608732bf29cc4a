//! Statements and bindings.

use super::Parse;
use super::cursor::Parser;
use super::hints::AN_EXPRESSION;
use crate::ast::{
    Binder, Binding, Expr, ExprKind, Ident, Lambda, Program, Statement, StatementKind, Step,
    StepKind, TypeDecl, TypeExpr,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::lex::TokenKind;
use crate::span::Span;

/// What stands before the `=` of a binding.
struct Head {
    binder: Binder,
    annotation: Option<TypeExpr>,
    /// Parameters and where they start.
    params: Option<(Vec<Binder>, u32)>,
}

impl Parser<'_> {
    pub(super) fn program(&mut self) -> Program {
        let statements = self.statements(true);
        self.program_of(statements)
    }

    /// A program of these statements, which this parser has read.
    pub(super) fn program_of(&self, statements: Vec<Statement>) -> Program {
        Program {
            statements,
            expr_count: self.expr_count(),
            source_len: u32::try_from(self.source.len()).unwrap_or(u32::MAX),
        }
    }

    /// Statements up to the end of the program or, in a module, up to `end`.
    pub(super) fn statements(&mut self, top_level: bool) -> Vec<Statement> {
        let mut statements: Vec<Statement> = Vec::new();
        loop {
            match self.kind() {
                TokenKind::End => return statements,
                TokenKind::EndKeyword if !top_level => return statements,
                _ => {}
            }
            let first = self.at;
            match self.statement(top_level) {
                Ok(statement) => {
                    self.lint_same_line(&statement, first, statements.last());
                    statements.push(statement);
                }
                Err(_) => {
                    let statement = self.recover(first, top_level);
                    statements.push(statement);
                    if self.gave_up() {
                        return statements;
                    }
                }
            }
        }
    }

    fn lint_same_line(
        &mut self,
        statement: &Statement,
        first: usize,
        previous: Option<&Statement>,
    ) {
        let follows =
            previous.is_some_and(|previous| !matches!(previous.kind, StatementKind::Error { .. }));
        if !follows
            || !matches!(statement.kind, StatementKind::Expr(_))
            || self.token_at(first).first_on_line
        {
            return;
        }
        let before = first.checked_sub(1).map(|at| self.token_at(at));
        let callee = before
            .filter(|token| matches!(token.kind, TokenKind::LowerName | TokenKind::RightParen));
        let mut found = Diagnostic::new(
            Code::SameLineStatement,
            statement.span,
            "a new statement starts here, on the line where the previous one ends",
        );
        found = match callee.map(|token| self.text(token.span)) {
            Some("not") => found.help("there is no `not`: write `e == false`"),
            Some(name) if name != ")" => found.help(format!(
                "a call is written `{name}(…)`; otherwise start a new line"
            )),
            _ => found.help("a call is written `f(x)`; otherwise start a new line"),
        };
        self.warn(found);
    }

    fn statement(&mut self, top_level: bool) -> Parse<Statement> {
        let token = self.token();
        let kind = self.opened(token.span, |p| match token.kind {
            TokenKind::Type if top_level => p.type_declaration(),
            TokenKind::Type => Err(p.misplaced_type(token.span)),
            TokenKind::Let => p.let_statement(),
            TokenKind::Module => p.module(),
            TokenKind::Open => p.open(),
            _ => Ok(StatementKind::Expr(p.block()?)),
        })?;
        Ok(Statement {
            kind,
            span: self.span_from(token.span.start),
        })
    }

    fn type_declaration(&mut self) -> Parse<StatementKind> {
        self.bump();
        let name = self.expect(TokenKind::LowerName, &["a type name"])?;
        let name = self.ident(name);
        self.expect(TokenKind::Equal, &["`=`"])?;
        let definition = self.type_expr()?;
        Ok(StatementKind::Type(TypeDecl { name, definition }))
    }

    fn open(&mut self) -> Parse<StatementKind> {
        self.bump();
        let name = self.expect(TokenKind::UpperName, &["a module name"])?;
        Ok(StatementKind::Open(self.ident(name)))
    }

    fn module(&mut self) -> Parse<StatementKind> {
        let opening = self.bump().span;
        let name = self.expect(TokenKind::UpperName, &["a module name"])?;
        let name = self.ident(name);
        self.expect(TokenKind::Equal, &["`=`"])?;
        self.expect(TokenKind::Struct, &["`struct`"])?;
        let body = self.bracketed(opening, |p| {
            let body = p.statements(false);
            p.expect(TokenKind::EndKeyword, &["a statement", "`end`"])?;
            Ok(body)
        })?;
        Ok(StatementKind::Module { name, body })
    }

    /// A `let` that `in` follows is the first step of an expression statement.
    fn let_statement(&mut self) -> Parse<StatementKind> {
        let start = self.token().span.start;
        let kind = self.let_binding()?;
        if self.eat(TokenKind::In).is_some() {
            let step = Step {
                kind,
                span: self.span_from(start),
            };
            return Ok(StatementKind::Expr(self.block_after(start, vec![step])?));
        }
        Ok(match kind {
            StepKind::LetRec(bindings) => StatementKind::LetRec(bindings),
            StepKind::Let(binding) => StatementKind::Let(binding),
            // `let_binding` gives no other step.
            StepKind::Expr(expr) => StatementKind::Expr(expr),
            StepKind::Bind(binding) | StepKind::Map(binding) => StatementKind::Expr(binding.task),
        })
    }

    /// `let …` or `let rec … and …` without what follows.
    pub(super) fn let_binding(&mut self) -> Parse<StepKind> {
        self.bump();
        if self.eat(TokenKind::Rec).is_none() {
            return Ok(StepKind::Let(self.binding(true)?));
        }
        let mut bindings = vec![self.binding(false)?];
        while self.eat(TokenKind::And).is_some() {
            bindings.push(self.binding(false)?);
        }
        Ok(StepKind::LetRec(bindings))
    }

    fn binding(&mut self, wildcard: bool) -> Parse<Binding> {
        let head = self.binding_head(wildcard)?;
        let mut value = self.right_side()?;
        if let Some((params, start)) = head.params {
            value = self.lambda(params, value, start);
        }
        Ok(Binding {
            binder: head.binder,
            annotation: head.annotation,
            value,
        })
    }

    /// A binding up to its `=`.
    fn binding_head(&mut self, wildcard: bool) -> Parse<Head> {
        let token = self.token();
        let binder = match token.kind {
            TokenKind::LowerName => self.binder(),
            TokenKind::Underscore if wildcard => self.binder(),
            _ => {
                return Err(self.unexpected(if wildcard {
                    &["a name", "`_`"]
                } else {
                    &["a name"]
                }));
            }
        };
        let named = binder.name.is_some();
        let mut head = Head {
            binder,
            annotation: None,
            params: None,
        };
        let start = self.token().span.start;
        let mut expected: &[&str] = if named {
            &["a parameter", "`()`", "`:`", "`=`"]
        } else {
            &["`:`", "`=`"]
        };
        match self.kind() {
            TokenKind::Colon => {
                self.bump();
                head.annotation = Some(self.type_expr()?);
                expected = &["`=`", "`->`"];
            }
            TokenKind::LowerName | TokenKind::Underscore if named => {
                head.params = Some((self.params(), start));
                expected = &["a parameter", "`=`"];
            }
            TokenKind::LeftParen if named && self.kind_at(1) == TokenKind::RightParen => {
                self.bump();
                self.bump();
                head.params = Some((Vec::new(), start));
                expected = &["`=`"];
            }
            _ => {}
        }
        self.expect(TokenKind::Equal, expected)?;
        Ok(head)
    }

    fn right_side(&mut self) -> Parse<Expr> {
        if self.kind() == TokenKind::Equal {
            return Err(self.unexpected(AN_EXPRESSION));
        }
        self.block()
    }

    pub(super) fn lambda(&mut self, params: Vec<Binder>, body: Expr, start: u32) -> Expr {
        self.make(
            ExprKind::Fun(Lambda {
                params,
                body: Box::new(body),
            }),
            start,
        )
    }

    /// The current token, a name or `_`.
    pub(super) fn binder(&mut self) -> Binder {
        let token = self.bump();
        let name = (token.kind == TokenKind::LowerName).then(|| self.ident(token).name);
        Binder {
            name,
            span: token.span,
        }
    }

    /// All names and `_` from here.
    pub(super) fn params(&mut self) -> Vec<Binder> {
        let mut params = Vec::new();
        while matches!(self.kind(), TokenKind::LowerName | TokenKind::Underscore) {
            params.push(self.binder());
        }
        params
    }

    pub(super) fn ident_at(&mut self, index: usize) -> Ident {
        let token = self.token_at(index);
        self.ident(token)
    }

    pub(super) fn error_statement(&mut self, names: Vec<Ident>, span: Span) -> Statement {
        Statement {
            kind: StatementKind::Error { names },
            span,
        }
    }
}
