//! The evaluator's loop.
//!
//! It has no recursion: calls push frames, library loops are code of the same kind, and a tail call
//! reuses the registers of its caller. Everything that can repeat counts fuel.

use std::sync::Arc;

use super::fault::Trouble;
use super::instr::Instr;
use super::machine::{Current, Frame, Machine, read, write};
use super::operate::{self, ArithmeticError, arithmetic, other_kind};
use crate::library;
use crate::limits::{Budget, MAX_CALL_DEPTH, Stop};
use crate::value::{CaseId, Items, Value, equal};

/// Runs from `machine.current` until the outermost call returns. When it fails, `machine.current`
/// and the frames say where.
#[allow(clippy::too_many_lines)] // One arm per instruction; splitting them costs the speed.
pub(crate) fn run(machine: &mut Machine, budget: &mut Budget<'_>) -> Result<Value, Trouble> {
    let program = Arc::clone(&machine.program);
    'call: loop {
        let Current {
            function,
            pc,
            base,
            captures,
        } = machine.current;
        let mut pc = pc as usize;

        // Ends the call with the place of this instruction.
        macro_rules! fail {
            ($trouble:expr) => {{
                let trouble = Trouble::from($trouble);
                machine.current.pc = pc as u32;
                return Err(trouble);
            }};
        }
        macro_rules! check {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(error) => fail!(error),
                }
            };
        }

        let Some(running) = program.functions.get(function as usize) else {
            fail!(Trouble::internal("the function does not exist"));
        };
        let code = &*running.code;
        let Machine {
            heap,
            stack,
            symbols,
            globals,
            fields,
            updates,
            output,
            ..
        } = &mut *machine;
        let Some(registers) =
            stack.get_mut(base as usize..base as usize + running.registers as usize)
        else {
            fail!(Trouble::internal("the registers of a call are missing"));
        };

        macro_rules! get {
            ($register:expr) => {
                read(registers, $register)
            };
        }
        macro_rules! set {
            ($register:expr, $value:expr) => {{
                let value = $value;
                write(registers, $register, value)
            }};
        }
        macro_rules! int {
            ($register:expr) => {
                match get!($register) {
                    Value::Int(value) => value,
                    other => fail!(other_kind("an int", other)),
                }
            };
        }
        macro_rules! float {
            ($register:expr) => {
                match get!($register) {
                    Value::Float(value) => value,
                    other => fail!(other_kind("a float", other)),
                }
            };
        }
        macro_rules! array {
            ($register:expr) => {
                match get!($register) {
                    Value::Array(items) => items,
                    other => fail!(other_kind("an array", other)),
                }
            };
        }
        macro_rules! arguments {
            ($base:expr, $count:expr) => {
                registers
                    .get($base as usize..$base as usize + $count as usize)
                    .unwrap_or_default()
            };
        }
        macro_rules! branch {
            ($holds:expr, $to:expr) => {
                if !$holds {
                    pc = $to as usize;
                }
            };
        }
        // Makes `callee` the running function; its arguments start at the caller's register `at`.
        macro_rules! enter {
            ($callee:expr, $captures:expr, $at:expr, $dst:expr) => {{
                let callee: u32 = $callee;
                let Some(target) = program.functions.get(callee as usize) else {
                    fail!(Trouble::internal("the function does not exist"));
                };
                let captured: u32 = $captures;
                let first = base + u32::from($at);
                if machine.frames.len() >= MAX_CALL_DEPTH {
                    fail!(Stop::Depth);
                }
                machine.frames.push(Frame {
                    function,
                    pc: pc as u32,
                    base,
                    captures,
                    dst: $dst,
                });
                if let Err(stop) = machine.room(first as usize + target.registers as usize) {
                    machine.frames.pop();
                    fail!(stop);
                }
                machine.current = Current {
                    function: callee,
                    pc: 0,
                    base: first,
                    captures: captured,
                };
                continue 'call;
            }};
        }
        // The same in place of the running call.
        macro_rules! replace {
            ($callee:expr, $captures:expr, $at:expr, $count:expr) => {{
                let callee: u32 = $callee;
                let Some(target) = program.functions.get(callee as usize) else {
                    fail!(Trouble::internal("the function does not exist"));
                };
                let captured: u32 = $captures;
                let from = $at as usize;
                let to = from + $count as usize;
                if to <= registers.len() {
                    registers.copy_within(from..to, 0);
                }
                check!(machine.room(base as usize + target.registers as usize));
                machine.current = Current {
                    function: callee,
                    pc: 0,
                    base,
                    captures: captured,
                };
                continue 'call;
            }};
        }
        macro_rules! finish {
            ($value:expr) => {{
                let value = $value;
                let Some(frame) = machine.frames.pop() else {
                    return Ok(value);
                };
                let at = frame.base as usize + frame.dst as usize;
                if let Some(slot) = machine.stack.get_mut(at) {
                    *slot = value;
                }
                machine.current = Current {
                    function: frame.function,
                    pc: frame.pc,
                    base: frame.base,
                    captures: frame.captures,
                };
                continue 'call;
            }};
        }
        macro_rules! builtin {
            ($builtin:expr, $base:expr, $count:expr) => {{
                let mut context = library::Context {
                    heap,
                    symbols,
                    budget,
                    program: &program,
                    output,
                };
                let arguments = arguments!($base, $count);
                check!(library::call($builtin, &mut context, arguments))
            }};
        }

        loop {
            let Some(instr) = code.get(pc) else {
                fail!(Trouble::internal("the code of a function ended"));
            };
            pc += 1;
            match *instr {
                Instr::Move { dst, src } => set!(dst, get!(src)),
                Instr::Unit { dst } => set!(dst, Value::Unit),
                Instr::Bool { dst, value } => set!(dst, Value::Bool(value)),
                Instr::Int { dst, value } => set!(dst, Value::Int(i64::from(value))),
                Instr::Const { dst, index } => {
                    let Some(value) = program.constants.get(index as usize) else {
                        fail!(Trouble::internal("the constant does not exist"));
                    };
                    set!(dst, *value);
                }
                Instr::Global { dst, index } => {
                    let Some(value) = globals.get(index as usize) else {
                        fail!(Trouble::internal("the name does not exist"));
                    };
                    set!(dst, *value);
                }
                Instr::SetGlobal { index, src } => {
                    if let Some(slot) = globals.get_mut(index as usize) {
                        *slot = get!(src);
                    }
                }
                Instr::Captured { dst, index } => {
                    let Some(value) = heap.get(captures + u32::from(index)) else {
                        fail!(Trouble::internal("the captured value does not exist"));
                    };
                    set!(dst, value);
                }

                Instr::Add { dst, a, b } => {
                    let Some(sum) = int!(a).checked_add(int!(b)) else {
                        fail!(ArithmeticError::Overflow);
                    };
                    set!(dst, Value::Int(sum));
                }
                Instr::AddImm { dst, a, value } => {
                    let Some(sum) = int!(a).checked_add(i64::from(value)) else {
                        fail!(ArithmeticError::Overflow);
                    };
                    set!(dst, Value::Int(sum));
                }
                Instr::Sub { dst, a, b } => {
                    let Some(difference) = int!(a).checked_sub(int!(b)) else {
                        fail!(ArithmeticError::Overflow);
                    };
                    set!(dst, Value::Int(difference));
                }
                Instr::Mul { dst, a, b } => {
                    let Some(product) = int!(a).checked_mul(int!(b)) else {
                        fail!(ArithmeticError::Overflow);
                    };
                    set!(dst, Value::Int(product));
                }
                Instr::Div { dst, a, b } => {
                    let quotient = check!(arithmetic::divide(int!(a), int!(b)));
                    set!(dst, Value::Int(quotient));
                }
                Instr::Neg { dst, a } => {
                    let Some(negated) = int!(a).checked_neg() else {
                        fail!(ArithmeticError::Overflow);
                    };
                    set!(dst, Value::Int(negated));
                }
                Instr::AddFloat { dst, a, b } => set!(dst, Value::Float(float!(a) + float!(b))),
                Instr::SubFloat { dst, a, b } => set!(dst, Value::Float(float!(a) - float!(b))),
                Instr::MulFloat { dst, a, b } => set!(dst, Value::Float(float!(a) * float!(b))),
                Instr::DivFloat { dst, a, b } => {
                    let quotient = check!(arithmetic::divide_float(float!(a), float!(b)));
                    set!(dst, Value::Float(quotient));
                }
                Instr::NegFloat { dst, a } => set!(dst, Value::Float(-float!(a))),
                Instr::Concat { dst, a, b } => {
                    let (Value::String(left), Value::String(right)) = (get!(a), get!(b)) else {
                        fail!(Trouble::internal("expected two strings"));
                    };
                    check!(budget.data(u64::from(left.len) + u64::from(right.len)));
                    let joined = check!(heap.concat(left, right));
                    set!(dst, joined);
                }

                Instr::Less { dst, a, b } => set!(dst, Value::Bool(int!(a) < int!(b))),
                Instr::LessEq { dst, a, b } => set!(dst, Value::Bool(int!(a) <= int!(b))),
                Instr::LessFloat { dst, a, b } => set!(dst, Value::Bool(float!(a) < float!(b))),
                Instr::LessEqFloat { dst, a, b } => {
                    set!(dst, Value::Bool(float!(a) <= float!(b)));
                }
                Instr::Equal { dst, a, b, negated } => {
                    let same = match (get!(a), get!(b)) {
                        (Value::Int(left), Value::Int(right)) => left == right,
                        (left, right) => check!(equal(heap, symbols, budget, left, right)),
                    };
                    set!(dst, Value::Bool(same != negated));
                }

                Instr::Jump { to } => pc = to as usize,
                Instr::JumpUnless { cond, expected, to } => match get!(cond) {
                    Value::Bool(value) => branch!(value == expected, to),
                    other => fail!(Trouble::internal(format!(
                        "expected a bool, found {}",
                        other.kind()
                    ))),
                },
                Instr::JumpUnlessLess { a, b, to } => branch!(int!(a) < int!(b), to),
                Instr::JumpUnlessLessEq { a, b, to } => branch!(int!(a) <= int!(b), to),
                Instr::JumpUnlessLessImm { a, value, to } => {
                    branch!(int!(a) < i64::from(value), to);
                }
                Instr::JumpUnlessLessEqImm { a, value, to } => {
                    branch!(int!(a) <= i64::from(value), to);
                }
                Instr::JumpUnlessMoreImm { a, value, to } => {
                    branch!(int!(a) > i64::from(value), to);
                }
                Instr::JumpUnlessMoreEqImm { a, value, to } => {
                    branch!(int!(a) >= i64::from(value), to);
                }
                Instr::JumpUnlessEqImm { a, value, to } => {
                    branch!(int!(a) == i64::from(value), to);
                }
                Instr::JumpUnlessNotEqImm { a, value, to } => {
                    branch!(int!(a) != i64::from(value), to);
                }
                Instr::JumpUnlessConst { src, index, to } => {
                    let Some(literal) = program.constants.get(index as usize) else {
                        fail!(Trouble::internal("the constant does not exist"));
                    };
                    let same = check!(equal(heap, symbols, budget, get!(src), *literal));
                    branch!(same, to);
                }
                Instr::JumpUnlessCase { src, case, to } => match get!(src) {
                    Value::Variant { case: found, .. } => branch!(found == CaseId(case), to),
                    other => fail!(Trouble::internal(format!(
                        "expected a variant, found {}",
                        other.kind()
                    ))),
                },
                Instr::NoMatch => {
                    fail!(Trouble::run(
                        "chatml.run.no_match",
                        "no arm of the match applies to the value",
                    ));
                }

                Instr::Argument { dst, src, index } => {
                    let Value::Variant { at, .. } = get!(src) else {
                        fail!(Trouble::internal("expected a variant"));
                    };
                    let Some(value) = heap.get(at + u32::from(index)) else {
                        fail!(Trouble::internal("the argument does not exist"));
                    };
                    set!(dst, value);
                }
                Instr::Field { dst, src, site } => {
                    let Value::Record { shape, at } = get!(src) else {
                        fail!(Trouble::internal("expected a record"));
                    };
                    let Some(cache) = fields.get_mut(site as usize) else {
                        fail!(Trouble::internal("the field access does not exist"));
                    };
                    if cache.0 != shape {
                        *cache = (
                            shape,
                            check!(operate::position(&program, symbols, shape, site)),
                        );
                    }
                    let Some(value) = heap.get(at + cache.1) else {
                        fail!(Trouble::internal("the field does not exist"));
                    };
                    set!(dst, value);
                }
                Instr::Record {
                    dst,
                    base: first,
                    site,
                } => {
                    let built = operate::record(&program, heap, registers, first, site);
                    set!(dst, check!(built));
                }
                Instr::Update {
                    dst,
                    src,
                    base: first,
                    site,
                } => {
                    let old = get!(src);
                    let built = operate::update(
                        &program, heap, symbols, updates, registers, old, first, site,
                    );
                    set!(dst, check!(built));
                }
                Instr::Variant {
                    dst,
                    base: first,
                    case,
                } => {
                    let case = CaseId(case);
                    let count = symbols.arguments(case);
                    let built = heap.variant(case, arguments!(first, count));
                    set!(dst, check!(built));
                }
                Instr::Array {
                    dst,
                    base: first,
                    len,
                } => {
                    let built = heap.array(arguments!(first, len));
                    set!(dst, check!(built));
                }
                Instr::NewArray { dst, len } => {
                    let start = check!(heap.store_repeated(Value::Unit, len));
                    set!(dst, Value::Array(Items { start, len }));
                }
                Instr::InitItem { array, index, src } => {
                    let items = array!(array);
                    heap.set(items.start + index, get!(src));
                }
                Instr::Index { dst, array, index } => {
                    let items = array!(array);
                    let at = check!(operate::index(items, int!(index)));
                    let Some(value) = heap.get(at) else {
                        fail!(Trouble::internal("the item does not exist"));
                    };
                    set!(dst, value);
                }
                Instr::SetIndex { array, index, src } | Instr::SetItem { array, index, src } => {
                    let items = array!(array);
                    let at = check!(operate::index(items, int!(index)));
                    heap.set(at, get!(src));
                }
                Instr::Ref { dst, src } => {
                    let at = check!(heap.store(&[get!(src)]));
                    set!(dst, Value::Ref(at));
                }
                Instr::Deref { dst, src } => {
                    let Value::Ref(at) = get!(src) else {
                        fail!(Trouble::internal("expected a ref"));
                    };
                    let Some(value) = heap.get(at) else {
                        fail!(Trouble::internal("the cell does not exist"));
                    };
                    set!(dst, value);
                }
                Instr::SetRef { cell, src } => {
                    let Value::Ref(at) = get!(cell) else {
                        fail!(Trouble::internal("expected a ref"));
                    };
                    heap.set(at, get!(src));
                }

                Instr::Closure { dst, function } => {
                    let built = operate::closure(&program, heap, registers, captures, function);
                    set!(dst, check!(built));
                }
                Instr::Capture {
                    closure,
                    index,
                    src,
                } => {
                    if let Value::Closure { at, .. } = get!(closure) {
                        heap.set(at + u32::from(index), get!(src));
                    }
                }

                Instr::Call {
                    dst,
                    callee,
                    base: first,
                    count,
                } => match get!(callee) {
                    Value::Closure { function, at } => {
                        check!(budget.step());
                        check!(operate::arity(&program, function, count));
                        enter!(function, at, first, dst)
                    }
                    Value::Builtin(builtin) => {
                        check!(budget.step());
                        let value = builtin!(builtin, first, count);
                        set!(dst, value);
                    }
                    other => fail!(Trouble::internal(format!(
                        "{} can not be called",
                        other.kind()
                    ))),
                },
                Instr::CallKnown {
                    dst,
                    base: first,
                    function,
                } => {
                    check!(budget.step());
                    enter!(function, 0, first, dst)
                }
                Instr::CallBuiltin {
                    dst,
                    base: first,
                    count,
                    builtin,
                } => {
                    check!(budget.step());
                    let value = builtin!(builtin, first, count);
                    set!(dst, value);
                }
                Instr::TailCall {
                    callee,
                    base: first,
                    count,
                } => match get!(callee) {
                    Value::Closure { function, at } => {
                        check!(budget.step());
                        check!(operate::arity(&program, function, count));
                        replace!(function, at, first, count)
                    }
                    Value::Builtin(builtin) => {
                        check!(budget.step());
                        let value = builtin!(builtin, first, count);
                        finish!(value)
                    }
                    other => fail!(Trouble::internal(format!(
                        "{} can not be called",
                        other.kind()
                    ))),
                },
                Instr::TailKnown {
                    base: first,
                    function,
                } => {
                    check!(budget.step());
                    let count = program
                        .functions
                        .get(function as usize)
                        .map_or(0, |function| function.parameters);
                    replace!(function, 0, first, count)
                }
                Instr::Return { src } => finish!(get!(src)),
                Instr::Step => check!(budget.step()),

                Instr::Length { dst, array } => {
                    let items = array!(array);
                    set!(dst, Value::Int(i64::from(items.len)));
                }
                Instr::Copy { dst, array } => {
                    let items = array!(array);
                    let start = check!(heap.store_copy(items));
                    set!(
                        dst,
                        Value::Array(Items {
                            start,
                            len: items.len
                        })
                    );
                }
                Instr::NewDynamic { dst, len } => {
                    let Ok(len) = u32::try_from(int!(len)) else {
                        fail!(Stop::Memory);
                    };
                    let start = check!(heap.store_repeated(Value::Unit, len));
                    set!(dst, Value::Array(Items { start, len }));
                }
                Instr::Item { dst, array, index } => {
                    let items = array!(array);
                    let at = check!(operate::index(items, int!(index)));
                    set!(dst, heap.get(at).unwrap_or(Value::Unit));
                }
                Instr::Shorten { dst, array, len } => {
                    let items = array!(array);
                    let len = u32::try_from(int!(len)).unwrap_or(0).min(items.len);
                    set!(
                        dst,
                        Value::Array(Items {
                            start: items.start,
                            len
                        })
                    );
                }
                Instr::CheckCount { src, message } => {
                    if int!(src) < 0 {
                        fail!(library::negative_count(message));
                    }
                }
            }
        }
    }
}
