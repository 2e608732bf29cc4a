//! Expressions.

use super::scope::Binding;
use super::{CompileError, Compiled, Compiler};
use crate::ast::{
    self, BinaryOp, BinaryStep, Block, Expr, ExprKind, Field, Lambda, PrefixOp, StepKind,
    SuffixKind,
};
use crate::eval::{Instr, Reg};
use crate::library;
use crate::span::Span;
use crate::value::Value;

/// Array literals up to this length are built from registers in one go.
const SHORT_ARRAY: usize = 64;

impl Compiler {
    /// Evaluates an expression into a register that holds nothing else.
    pub(super) fn expression(&mut self, expr: &Expr, dst: Reg) -> Compiled<()> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Unit => self.emit(Instr::Unit { dst }, span),
            ExprKind::Bool(value) => self.emit(Instr::Bool { dst, value: *value }, span),
            ExprKind::Int(value) => self.integer(*value, dst, span),
            ExprKind::Float(value) => {
                let index = self.constant(Value::Float(*value));
                self.emit(Instr::Const { dst, index }, span);
            }
            ExprKind::String(text) => {
                let index = self.text_constant(text);
                self.emit(Instr::Const { dst, index }, span);
            }
            ExprKind::Var(name) => {
                let binding = self.variable(name, span)?;
                self.load(binding, dst, span)?;
            }
            ExprKind::Member { path, name } => {
                let binding = self.member(path, name, span)?;
                self.load(binding, dst, span)?;
            }
            ExprKind::Module(_) => {
                return Err(CompileError::unchecked(span, "a module is not a value"));
            }
            ExprKind::Tag { tag, args } => self.variant(tag, args, dst, span)?,
            ExprKind::Array(items) => self.array(items, dst, span)?,
            ExprKind::Record(fields) => self.record(fields, dst, span)?,
            ExprKind::Update { base, fields } => self.update(base, fields, dst, span)?,
            ExprKind::Postfix { .. } => self.postfix(expr, dst)?,
            ExprKind::Prefix { ops, operand } => self.prefix(ops, operand, dst)?,
            ExprKind::Binary { first, rest } => self.binary(first, rest, dst)?,
            ExprKind::Ref(content) => {
                let floor = self.floor();
                let src = self.operand(content)?;
                self.emit(Instr::Ref { dst, src }, span);
                self.free(floor);
            }
            ExprKind::Assign { target, value } => {
                let floor = self.floor();
                let cell = self.operand(target)?;
                let src = self.operand(value)?;
                self.emit(Instr::SetRef { cell, src }, span);
                self.emit(Instr::Unit { dst }, span);
                self.free(floor);
            }
            ExprKind::SetIndex {
                array,
                index,
                value,
            } => {
                let floor = self.floor();
                let array = self.operand(array)?;
                let index = self.operand(index)?;
                let src = self.operand(value)?;
                self.emit(Instr::SetIndex { array, index, src }, span);
                self.emit(Instr::Unit { dst }, span);
                self.free(floor);
            }
            ExprKind::While { condition, body } => self.while_loop(condition, body, dst, span)?,
            ExprKind::Fun(lambda) => {
                let function = self.reserve_function();
                self.function(function, lambda, span)?;
                self.emit(Instr::Closure { dst, function }, span);
            }
            ExprKind::If { .. } | ExprKind::Match { .. } => self.branching(expr, Some(dst))?,
            ExprKind::Block(block) => self.block(block, Some(dst))?,
        }
        Ok(())
    }

    /// Evaluates an expression and returns from the function with its value.
    pub(super) fn tail(&mut self, expr: &Expr) -> Compiled<()> {
        match &expr.kind {
            ExprKind::If { .. } | ExprKind::Match { .. } => self.branching(expr, None),
            ExprKind::Block(block) => self.block(block, None),
            ExprKind::Postfix { base, suffixes }
                if matches!(
                    suffixes.last().map(|suffix| &suffix.kind),
                    Some(SuffixKind::Call(_))
                ) =>
            {
                self.tail_call(base, suffixes)
            }
            _ => {
                let floor = self.floor();
                let src = self.operand(expr)?;
                self.emit(Instr::Return { src }, expr.span);
                self.free(floor);
                Ok(())
            }
        }
    }

    /// Into a register, or out of the function when there is none.
    pub(super) fn deliver(&mut self, expr: &Expr, dst: Option<Reg>) -> Compiled<()> {
        match dst {
            Some(dst) => self.expression(expr, dst),
            None => self.tail(expr),
        }
    }

    /// A register with the value of an expression: the variable's own where it has one.
    pub(super) fn operand(&mut self, expr: &Expr) -> Compiled<Reg> {
        if let ExprKind::Var(name) = &expr.kind
            && let Binding::Local { level, register } = self.variable(name, expr.span)?
            && level == self.level()
        {
            return Ok(register);
        }
        let register = self.register(expr.span)?;
        self.expression(expr, register)?;
        Ok(register)
    }

    pub(super) fn variable(&self, name: &ast::Name, span: Span) -> Compiled<Binding> {
        self.scope
            .lookup(name)
            .ok_or_else(|| CompileError::unchecked(span, "the name is not defined"))
    }

    fn integer(&mut self, value: i64, dst: Reg, span: Span) {
        let instr = match i32::try_from(value) {
            Ok(value) => Instr::Int { dst, value },
            Err(_) => Instr::Const {
                dst,
                index: self.constant(Value::Int(value)),
            },
        };
        self.emit(instr, span);
    }

    /// Loads what a name means.
    pub(super) fn load(&mut self, binding: Binding, dst: Reg, span: Span) -> Compiled<()> {
        let instr = match binding {
            Binding::Global { index, .. } => Instr::Global { dst, index },
            Binding::Function(function) => Instr::Closure { dst, function },
            Binding::Local { level, register } if level == self.level() => {
                Instr::Move { dst, src: register }
            }
            Binding::Local { level, register } => Instr::Captured {
                dst,
                index: self.capture(level, register, span)?,
            },
            Binding::Builtin(builtin) => match library::loop_function(builtin) {
                Some(function) => Instr::Closure { dst, function },
                None => Instr::Const {
                    dst,
                    index: self.constant(Value::Builtin(builtin)),
                },
            },
            Binding::Module(_) | Binding::Library(_) => {
                return Err(CompileError::unchecked(span, "a module is not a value"));
            }
        };
        self.emit(instr, span);
        Ok(())
    }

    fn variant(&mut self, tag: &ast::Ident, args: &[Expr], dst: Reg, span: Span) -> Compiled<()> {
        let count = u32::try_from(args.len()).unwrap_or(u32::MAX);
        let case = self.symbols.case(&tag.name, count);
        if args.is_empty() {
            let index = self.constant(Value::Variant { case, at: 0 });
            self.emit(Instr::Const { dst, index }, span);
            return Ok(());
        }
        let floor = self.floor();
        let base = self.consecutive(args.iter(), args.len(), span)?;
        self.emit(
            Instr::Variant {
                dst,
                base,
                case: case.0,
            },
            span,
        );
        self.free(floor);
        Ok(())
    }

    /// Evaluates expressions in order into registers in a row.
    pub(super) fn consecutive<'a>(
        &mut self,
        exprs: impl Iterator<Item = &'a Expr>,
        count: usize,
        span: Span,
    ) -> Compiled<Reg> {
        let base = self.registers(count, span)?;
        for (register, expr) in (base..).zip(exprs) {
            self.expression(expr, register)?;
        }
        Ok(base)
    }

    fn array(&mut self, items: &[Expr], dst: Reg, span: Span) -> Compiled<()> {
        let floor = self.floor();
        if items.is_empty() {
            let index = self.constant(Value::EMPTY);
            self.emit(Instr::Const { dst, index }, span);
        } else if items.len() <= SHORT_ARRAY {
            let base = self.consecutive(items.iter(), items.len(), span)?;
            let len = u16::try_from(items.len()).unwrap_or(u16::MAX);
            self.emit(Instr::Array { dst, base, len }, span);
        } else {
            let array = self.register(span)?;
            let len = u32::try_from(items.len()).unwrap_or(u32::MAX);
            self.emit(Instr::NewArray { dst: array, len }, span);
            for (index, item) in (0u32..).zip(items) {
                let floor = self.floor();
                let src = self.operand(item)?;
                self.emit(Instr::InitItem { array, index, src }, item.span);
                self.free(floor);
            }
            self.emit(Instr::Move { dst, src: array }, span);
        }
        self.free(floor);
        Ok(())
    }

    fn record(&mut self, fields: &[Field], dst: Reg, span: Span) -> Compiled<()> {
        let floor = self.floor();
        let base = self.consecutive(fields.iter().map(|field| &field.value), fields.len(), span)?;
        let site = self.record_site(fields);
        self.emit(Instr::Record { dst, base, site }, span);
        self.free(floor);
        Ok(())
    }

    fn record_site(&mut self, fields: &[Field]) -> u32 {
        let labels: Vec<_> = fields
            .iter()
            .map(|field| self.symbols.name(&field.label.name))
            .collect();
        let (shape, _) = self.symbols.shape(&labels);
        let mut order = vec![0u16; fields.len()];
        if let Some(known) = self.symbols.shape_of(shape) {
            for (source, label) in labels.iter().enumerate() {
                let slot = known
                    .position(*label)
                    .and_then(|position| order.get_mut(position as usize));
                if let Some(slot) = slot {
                    *slot = u16::try_from(source).unwrap_or(u16::MAX);
                }
            }
        }
        let site = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        self.records.push(crate::eval::program::RecordSite {
            shape,
            order: order.into(),
        });
        site
    }

    fn update(&mut self, record: &Expr, fields: &[Field], dst: Reg, span: Span) -> Compiled<()> {
        let floor = self.floor();
        let src = self.operand(record)?;
        let base = self.consecutive(fields.iter().map(|field| &field.value), fields.len(), span)?;
        let labels = fields
            .iter()
            .map(|field| self.symbols.name(&field.label.name))
            .collect();
        let site = u32::try_from(self.updates.len()).unwrap_or(u32::MAX);
        self.updates.push(labels);
        self.emit(
            Instr::Update {
                dst,
                src,
                base,
                site,
            },
            span,
        );
        self.free(floor);
        Ok(())
    }

    /// A place that reads one label.
    pub(super) fn field_site(&mut self, label: &str) -> u32 {
        let label = self.symbols.name(label);
        let site = u32::try_from(self.fields.len()).unwrap_or(u32::MAX);
        self.fields.push(label);
        site
    }

    fn prefix(&mut self, ops: &[(PrefixOp, Span)], operand: &Expr, dst: Reg) -> Compiled<()> {
        let mut ops = ops.iter().rev().peekable();
        if let (ExprKind::Int(value), Some((PrefixOp::Negate, _))) = (&operand.kind, ops.peek()) {
            // Literals are never negative, so this can not overflow.
            let value = -*value;
            ops.next();
            self.integer(value, dst, operand.span);
            return self.apply_prefix(ops, dst, dst, operand.span);
        }
        let floor = self.floor();
        let src = self.operand(operand)?;
        self.apply_prefix(ops, src, dst, operand.span)?;
        self.free(floor);
        Ok(())
    }

    fn apply_prefix<'a>(
        &mut self,
        ops: impl Iterator<Item = &'a (PrefixOp, Span)>,
        mut src: Reg,
        dst: Reg,
        operand: Span,
    ) -> Compiled<()> {
        for (op, op_span) in ops {
            let instr = match op {
                PrefixOp::Deref => Instr::Deref { dst, src },
                PrefixOp::Negate => Instr::Neg { dst, a: src },
                PrefixOp::NegateFloat => Instr::NegFloat { dst, a: src },
            };
            self.emit(instr, op_span.to(operand));
            src = dst;
        }
        Ok(())
    }

    fn binary(&mut self, first: &Expr, rest: &[BinaryStep], dst: Reg) -> Compiled<()> {
        let floor = self.floor();
        let mut left = self.operand(first)?;
        for step in rest {
            let operands = self.floor();
            let result = if step.id == rest.last().map_or(step.id, |last| last.id) {
                dst
            } else {
                self.register(step.span)?
            };
            self.binary_step(left, step, result)?;
            if result == dst {
                break;
            }
            // Keeps the intermediate result and frees what the right operand needed.
            self.free(operands);
            left = self.register(step.span)?;
            debug_assert_eq!(left, result);
        }
        self.free(floor);
        Ok(())
    }

    fn binary_step(&mut self, a: Reg, step: &BinaryStep, dst: Reg) -> Compiled<()> {
        let span = step.span;
        if let (BinaryOp::Add | BinaryOp::Subtract, ExprKind::Int(value)) =
            (step.op, &step.right.kind)
            && let Ok(value) = i32::try_from(*value)
        {
            let value = if step.op == BinaryOp::Add {
                value
            } else {
                -value
            };
            self.emit(Instr::AddImm { dst, a, value }, span);
            return Ok(());
        }
        let b = self.operand(&step.right)?;
        let instr = match step.op {
            BinaryOp::Add => Instr::Add { dst, a, b },
            BinaryOp::Subtract => Instr::Sub { dst, a, b },
            BinaryOp::Multiply => Instr::Mul { dst, a, b },
            BinaryOp::Divide => Instr::Div { dst, a, b },
            BinaryOp::AddFloat => Instr::AddFloat { dst, a, b },
            BinaryOp::SubtractFloat => Instr::SubFloat { dst, a, b },
            BinaryOp::MultiplyFloat => Instr::MulFloat { dst, a, b },
            BinaryOp::DivideFloat => Instr::DivFloat { dst, a, b },
            BinaryOp::Concat => Instr::Concat { dst, a, b },
            BinaryOp::Less => Instr::Less { dst, a, b },
            BinaryOp::Greater => Instr::Less { dst, a: b, b: a },
            BinaryOp::LessEqual => Instr::LessEq { dst, a, b },
            BinaryOp::GreaterEqual => Instr::LessEq { dst, a: b, b: a },
            BinaryOp::LessFloat => Instr::LessFloat { dst, a, b },
            BinaryOp::GreaterFloat => Instr::LessFloat { dst, a: b, b: a },
            BinaryOp::LessEqualFloat => Instr::LessEqFloat { dst, a, b },
            BinaryOp::GreaterEqualFloat => Instr::LessEqFloat { dst, a: b, b: a },
            BinaryOp::Equal | BinaryOp::NotEqual => Instr::Equal {
                dst,
                a,
                b,
                negated: step.op == BinaryOp::NotEqual,
            },
        };
        self.emit(instr, span);
        Ok(())
    }

    fn while_loop(&mut self, condition: &Expr, body: &Expr, dst: Reg, span: Span) -> Compiled<()> {
        let start = self.here();
        let mut exits = Vec::new();
        self.condition(condition, &mut exits)?;
        self.emit(Instr::Step, span);
        let floor = self.floor();
        let ignored = self.register(span)?;
        self.expression(body, ignored)?;
        self.free(floor);
        self.emit(Instr::Jump { to: start }, span);
        self.land_all(exits);
        self.emit(Instr::Unit { dst }, span);
        Ok(())
    }

    /// Compiles a function under a reserved number.
    pub(super) fn function(&mut self, index: u32, lambda: &Lambda, span: Span) -> Compiled<()> {
        let parameters = u16::try_from(lambda.params.len())
            .map_err(|_| CompileError::too_complex(span, "the function has too many parameters"))?;
        self.begin_function(parameters);
        let mark = self.scope.mark();
        let level = self.level();
        for (register, param) in (0..).zip(&lambda.params) {
            if let Some(name) = &param.name {
                self.scope.bind(name, Binding::Local { level, register });
            }
        }
        self.tail(&lambda.body)?;
        self.scope.leave(mark);
        self.end_function(index);
        Ok(())
    }

    /// Steps and a result. Each `let*` and `let+` makes the rest of the block a function of its own;
    /// those are opened here one after the other and closed at the end, whatever their number.
    fn block(&mut self, block: &Block, dst: Option<Reg>) -> Compiled<()> {
        let mark = self.scope.mark();
        let floor = self.floor();
        let mut continuations = Vec::new();
        for step in &block.steps {
            match &step.kind {
                StepKind::Expr(expr) => {
                    let floor = self.floor();
                    let ignored = self.register(expr.span)?;
                    self.expression(expr, ignored)?;
                    self.free(floor);
                }
                StepKind::Let(binding) => self.local(binding)?,
                StepKind::LetRec(bindings) => self.local_recursive(bindings)?,
                StepKind::Bind(binding) | StepKind::Map(binding) => {
                    let task = matches!(&step.kind, StepKind::Bind(_));
                    let base = self.registers(2, step.span)?;
                    self.expression(&binding.task, base)?;
                    let function = self.reserve_function();
                    continuations.push((base, function, task, step.span));
                    self.begin_function(1);
                    if let Some(name) = &binding.binder.name {
                        let level = self.level();
                        let register = 0;
                        self.scope.bind(name, Binding::Local { level, register });
                    }
                }
            }
        }
        if continuations.is_empty() {
            self.deliver(&block.result, dst)?;
        } else {
            self.tail(&block.result)?;
        }
        while let Some((base, function, bind, span)) = continuations.pop() {
            self.end_function(function);
            self.emit(
                Instr::Closure {
                    dst: base + 1,
                    function,
                },
                span,
            );
            let target = if continuations.is_empty() { dst } else { None };
            let builtin = library::task_function(bind);
            let dst = target.unwrap_or(base);
            self.emit(
                Instr::CallBuiltin {
                    dst,
                    base,
                    count: 2,
                    builtin,
                },
                span,
            );
            if target.is_none() {
                self.emit(Instr::Return { src: dst }, span);
            }
        }
        self.scope.leave(mark);
        self.free(floor);
        Ok(())
    }

    fn local(&mut self, binding: &ast::Binding) -> Compiled<()> {
        let span = binding.value.span;
        let level = self.level();
        if let ExprKind::Fun(lambda) = &binding.value.kind {
            let function = self.reserve_function();
            self.function(function, lambda, span)?;
            let captures_nothing = self
                .functions
                .get(function as usize)
                .is_some_and(|function| function.captures.is_empty());
            let Some(name) = &binding.binder.name else {
                return Ok(());
            };
            if captures_nothing {
                self.scope.bind(name, Binding::Function(function));
                return Ok(());
            }
            let register = self.register(span)?;
            self.emit(
                Instr::Closure {
                    dst: register,
                    function,
                },
                span,
            );
            self.scope.bind(name, Binding::Local { level, register });
            return Ok(());
        }
        let register = self.register(span)?;
        self.expression(&binding.value, register)?;
        if let Some(name) = &binding.binder.name {
            self.scope.bind(name, Binding::Local { level, register });
        }
        Ok(())
    }

    /// Builds all closures of the group, then puts each into those that capture it.
    fn local_recursive(&mut self, bindings: &[ast::Binding]) -> Compiled<()> {
        let level = self.level();
        let mut group = Vec::new();
        for binding in bindings {
            let register = self.register(binding.value.span)?;
            if let Some(name) = &binding.binder.name {
                self.scope.bind(name, Binding::Local { level, register });
            }
            group.push((register, self.reserve_function()));
        }
        for (binding, (register, function)) in bindings.iter().zip(&group) {
            let span = binding.value.span;
            let ExprKind::Fun(lambda) = &binding.value.kind else {
                return Err(CompileError::unchecked(span, "no function after `let rec`"));
            };
            self.function(*function, lambda, span)?;
            self.emit(
                Instr::Closure {
                    dst: *register,
                    function: *function,
                },
                span,
            );
        }
        let members: std::collections::HashSet<Reg> =
            group.iter().map(|(register, _)| *register).collect();
        for (binding, (closure, function)) in bindings.iter().zip(&group) {
            let captures = self
                .functions
                .get(*function as usize)
                .map(|function| function.captures.clone())
                .unwrap_or_default();
            for (index, source) in (0..).zip(captures.iter()) {
                if let crate::eval::Source::Register(src) = source
                    && members.contains(src)
                {
                    self.emit(
                        Instr::Capture {
                            closure: *closure,
                            index,
                            src: *src,
                        },
                        binding.value.span,
                    );
                }
            }
        }
        Ok(())
    }
}
