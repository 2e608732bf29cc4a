//! Expressions (spec 05 section 5.3).

use super::conflict::{Reason, too_complex};
use super::graph::{Graph, Shape, Slot, Ty};
use super::{Check, Checker, fail};
use crate::ast::{BinaryOp, BinaryStep, Branch, Expr, ExprKind, Ident, Lambda, PrefixOp};
use crate::span::Span;

impl Checker {
    /// The type of an expression.
    pub(super) fn infer(&mut self, expr: &Expr) -> Check<Ty> {
        if self.graph.exhausted() {
            return fail(too_complex(expr.span));
        }
        let ty = match &expr.kind {
            ExprKind::Unit => Graph::UNIT,
            ExprKind::Int(_) => Graph::INT,
            ExprKind::Float(_) => Graph::FLOAT,
            ExprKind::Bool(_) => Graph::BOOL,
            ExprKind::String(_) => Graph::STRING,
            ExprKind::Var(name) => self.variable(name, expr.span)?,
            ExprKind::Module(path) => return fail(self.module_as_value(path, expr.span)),
            ExprKind::Member { path, name } => self.member(path, name)?,
            ExprKind::Tag { tag, args } => self.tag(tag, args)?,
            ExprKind::Array(items) => self.array(items)?,
            ExprKind::Record(fields) => self.record(fields)?,
            ExprKind::Update { base, fields } => self.update(base, fields, expr.span)?,
            ExprKind::Postfix { base, suffixes } => self.postfix(base, suffixes)?,
            ExprKind::Prefix { ops, operand } => self.prefix(ops, operand)?,
            ExprKind::Binary { first, rest } => self.binary(first, rest)?,
            ExprKind::Ref(content) => self.reference(content)?,
            ExprKind::Assign { target, value } => self.assign(target, value)?,
            ExprKind::SetIndex {
                array,
                index,
                value,
            } => self.set_index(array, index, value)?,
            ExprKind::While { condition, body } => self.while_loop(condition, body)?,
            ExprKind::Fun(lambda) => self.lambda(lambda)?,
            ExprKind::If {
                branches,
                otherwise,
            } => self.conditional(branches, otherwise)?,
            ExprKind::Match { scrutinee, arms } => self.match_form(scrutinee, arms, expr.span)?,
            ExprKind::Block(block) => self.block(block)?,
        };
        self.record_type(expr.id, ty);
        Ok(ty)
    }

    pub(super) fn infer_all(&mut self, exprs: &[Expr]) -> Check<Vec<Ty>> {
        let mut types = Vec::with_capacity(exprs.len());
        for expr in exprs {
            types.push(self.infer(expr)?);
        }
        Ok(types)
    }

    fn tag(&mut self, tag: &Ident, args: &[Expr]) -> Check<Ty> {
        let types = self.infer_all(args)?;
        let label = self.graph.label(&tag.name);
        let tail = self.fresh_row();
        Ok(self
            .graph
            .variant(vec![(label, Slot::Types(types.into()))], tail))
    }

    fn array(&mut self, items: &[Expr]) -> Check<Ty> {
        let mut item_type = None;
        for item in items {
            let ty = self.infer(item)?;
            match item_type {
                None => item_type = Some(ty),
                Some(first) => self.expect(ty, first, item.span, Reason::ArrayItem)?,
            }
        }
        let item = match item_type {
            Some(item) => item,
            None => self.fresh(),
        };
        Ok(self.graph.array(item))
    }

    fn prefix(&mut self, ops: &[(PrefixOp, Span)], operand: &Expr) -> Check<Ty> {
        let mut ty = self.infer(operand)?;
        for (op, _) in ops.iter().rev() {
            match op {
                PrefixOp::Negate => {
                    self.expect(ty, Graph::INT, operand.span, Reason::Operand("-"))?;
                    ty = Graph::INT;
                }
                PrefixOp::NegateFloat => {
                    self.expect(ty, Graph::FLOAT, operand.span, Reason::Operand("-."))?;
                    ty = Graph::FLOAT;
                }
                PrefixOp::Deref => ty = self.content(ty, operand.span)?,
            }
        }
        Ok(ty)
    }

    /// The type inside a reference.
    fn content(&mut self, reference: Ty, span: Span) -> Check<Ty> {
        if let Shape::Ref(content) = self.graph.shape(reference) {
            return Ok(*content);
        }
        let content = self.fresh();
        let expected = self.graph.compose(Shape::Ref(content));
        self.expect(reference, expected, span, Reason::Content)?;
        Ok(content)
    }

    fn reference(&mut self, content: &Expr) -> Check<Ty> {
        let ty = self.infer(content)?;
        Ok(self.graph.compose(Shape::Ref(ty)))
    }

    fn assign(&mut self, target: &Expr, value: &Expr) -> Check<Ty> {
        let reference = self.infer(target)?;
        let value_type = self.infer(value)?;
        let content = self.content(reference, target.span)?;
        self.expect(value_type, content, value.span, Reason::Assigned)?;
        Ok(Graph::UNIT)
    }

    fn set_index(&mut self, array: &Expr, index: &Expr, value: &Expr) -> Check<Ty> {
        let array_type = self.infer(array)?;
        let index_type = self.infer(index)?;
        let item = self.item(array_type, array.span)?;
        self.expect(index_type, Graph::INT, index.span, Reason::Index)?;
        let value_type = self.infer(value)?;
        self.expect(value_type, item, value.span, Reason::Assigned)?;
        Ok(Graph::UNIT)
    }

    /// The type of an array's items.
    pub(super) fn item(&mut self, array: Ty, span: Span) -> Check<Ty> {
        if let Shape::Array(item) = self.graph.shape(array) {
            return Ok(*item);
        }
        let item = self.fresh();
        let expected = self.graph.array(item);
        self.expect(array, expected, span, Reason::ArrayValue)?;
        Ok(item)
    }

    fn while_loop(&mut self, condition: &Expr, body: &Expr) -> Check<Ty> {
        let ty = self.infer(condition)?;
        self.expect(ty, Graph::BOOL, condition.span, Reason::Condition)?;
        self.infer(body)?;
        Ok(Graph::UNIT)
    }

    fn lambda(&mut self, lambda: &Lambda) -> Check<Ty> {
        let mark = self.scope.mark();
        let params: Vec<Ty> = lambda.params.iter().map(|_| self.fresh()).collect();
        self.define_params(&lambda.params, &params)?;
        let result = self.infer(&lambda.body)?;
        self.scope.leave(mark);
        Ok(self.graph.function(params, result))
    }

    /// Joins from the right, as the nested form of `else if` would.
    fn conditional(&mut self, branches: &[Branch], otherwise: &Expr) -> Check<Ty> {
        let mut types = Vec::with_capacity(branches.len());
        for branch in branches {
            let condition = self.infer(&branch.condition)?;
            self.expect(
                condition,
                Graph::BOOL,
                branch.condition.span,
                Reason::Condition,
            )?;
            types.push((self.infer(&branch.body)?, &branch.body));
        }
        let mut joined = self.infer(otherwise)?;
        let mut span = super::binding::result_span(otherwise);
        for (ty, body) in types.into_iter().rev() {
            joined = self.join_branches(ty, joined, span, Reason::Branch)?;
            span = super::binding::result_span(body);
        }
        Ok(joined)
    }

    /// The type of a value from a branch before or from one at `span`.
    pub(super) fn join_branches(
        &mut self,
        before: Ty,
        next: Ty,
        span: Span,
        reason: Reason,
    ) -> Check<Ty> {
        let level = self.level;
        match self.graph.join(before, next, level) {
            Ok(ty) => Ok(ty),
            Err(mut conflict) => {
                std::mem::swap(&mut conflict.left, &mut conflict.right);
                Err(Box::new(self.explain(conflict, next, before, span, reason)))
            }
        }
    }

    fn binary(&mut self, first: &Expr, rest: &[BinaryStep]) -> Check<Ty> {
        let mut left = self.infer(first)?;
        let mut left_span = first.span;
        for step in rest {
            let right = self.infer(&step.right)?;
            left = self.operator(step, left, left_span, right)?;
            left_span = step.span;
            self.record_type(step.id, left);
        }
        Ok(left)
    }

    fn operator(&mut self, step: &BinaryStep, left: Ty, left_span: Span, right: Ty) -> Check<Ty> {
        let right_span = step.right.span;
        let (operand, result) = match step.op {
            BinaryOp::Equal | BinaryOp::NotEqual => {
                self.expect(right, left, right_span, Reason::Comparison)?;
                if let Err(conflict) = self.graph.compare(left) {
                    let span = step.span;
                    return Err(Box::new(self.explain(
                        conflict,
                        left,
                        right,
                        span,
                        Reason::Comparison,
                    )));
                }
                return Ok(Graph::BOOL);
            }
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide => {
                (Graph::INT, Graph::INT)
            }
            BinaryOp::AddFloat
            | BinaryOp::SubtractFloat
            | BinaryOp::MultiplyFloat
            | BinaryOp::DivideFloat => (Graph::FLOAT, Graph::FLOAT),
            BinaryOp::Concat => (Graph::STRING, Graph::STRING),
            BinaryOp::Less | BinaryOp::Greater | BinaryOp::LessEqual | BinaryOp::GreaterEqual => {
                (Graph::INT, Graph::BOOL)
            }
            BinaryOp::LessFloat
            | BinaryOp::GreaterFloat
            | BinaryOp::LessEqualFloat
            | BinaryOp::GreaterEqualFloat => (Graph::FLOAT, Graph::BOOL),
        };
        let reason = Reason::Operand(step.op.as_str());
        self.expect(left, operand, left_span, reason)?;
        self.expect(right, operand, right_span, reason)?;
        Ok(result)
    }
}
