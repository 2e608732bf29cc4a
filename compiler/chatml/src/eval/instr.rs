//! Instructions of the evaluator: three-address code over the registers of one call.
//!
//! Names are resolved before anything runs: a local is a register, a top-level name a global, a
//! captured name an index. A call passes its arguments in the registers where the callee finds them.

/// A register of the running call.
pub(crate) type Reg = u16;

/// A place in the code of the same function.
pub(crate) type Target = u32;

/// One instruction. Operands are read before `dst` is written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Instr {
    /// Copies a register.
    Move { dst: Reg, src: Reg },
    /// `()`.
    Unit { dst: Reg },
    /// A truth value.
    Bool { dst: Reg, value: bool },
    /// A small integer.
    Int { dst: Reg, value: i32 },
    /// Any other constant.
    Const { dst: Reg, index: u32 },
    /// A top-level value.
    Global { dst: Reg, index: u32 },
    /// Defines a top-level value.
    SetGlobal { index: u32, src: Reg },
    /// A captured value.
    Captured { dst: Reg, index: u16 },

    /// Integer sum.
    Add { dst: Reg, a: Reg, b: Reg },
    /// Integer sum with a small constant.
    AddImm { dst: Reg, a: Reg, value: i32 },
    /// Integer difference.
    Sub { dst: Reg, a: Reg, b: Reg },
    /// Integer product.
    Mul { dst: Reg, a: Reg, b: Reg },
    /// Integer quotient.
    Div { dst: Reg, a: Reg, b: Reg },
    /// Integer negation.
    Neg { dst: Reg, a: Reg },
    /// Float sum.
    AddFloat { dst: Reg, a: Reg, b: Reg },
    /// Float difference.
    SubFloat { dst: Reg, a: Reg, b: Reg },
    /// Float product.
    MulFloat { dst: Reg, a: Reg, b: Reg },
    /// Float quotient.
    DivFloat { dst: Reg, a: Reg, b: Reg },
    /// Float negation.
    NegFloat { dst: Reg, a: Reg },
    /// String concatenation.
    Concat { dst: Reg, a: Reg, b: Reg },

    /// Integer `<`.
    Less { dst: Reg, a: Reg, b: Reg },
    /// Integer `<=`.
    LessEq { dst: Reg, a: Reg, b: Reg },
    /// Float `<`.
    LessFloat { dst: Reg, a: Reg, b: Reg },
    /// Float `<=`.
    LessEqFloat { dst: Reg, a: Reg, b: Reg },
    /// Structural equality, or its negation.
    Equal {
        dst: Reg,
        a: Reg,
        b: Reg,
        negated: bool,
    },

    /// Goes on elsewhere.
    Jump { to: Target },
    /// Goes on elsewhere when the register is not `expected`.
    JumpUnless {
        cond: Reg,
        expected: bool,
        to: Target,
    },
    /// Goes on elsewhere unless integer `a < b`.
    JumpUnlessLess { a: Reg, b: Reg, to: Target },
    /// Goes on elsewhere unless integer `a <= b`.
    JumpUnlessLessEq { a: Reg, b: Reg, to: Target },
    /// Goes on elsewhere unless integer `a < value`.
    JumpUnlessLessImm { a: Reg, value: i16, to: Target },
    /// Goes on elsewhere unless integer `a <= value`.
    JumpUnlessLessEqImm { a: Reg, value: i16, to: Target },
    /// Goes on elsewhere unless integer `a > value`.
    JumpUnlessMoreImm { a: Reg, value: i16, to: Target },
    /// Goes on elsewhere unless integer `a >= value`.
    JumpUnlessMoreEqImm { a: Reg, value: i16, to: Target },
    /// Goes on elsewhere unless integer `a == value`.
    JumpUnlessEqImm { a: Reg, value: i16, to: Target },
    /// Goes on elsewhere unless integer `a != value`.
    JumpUnlessNotEqImm { a: Reg, value: i16, to: Target },
    /// Goes on elsewhere unless the register equals a literal.
    JumpUnlessConst { src: Reg, index: u32, to: Target },
    /// Goes on elsewhere unless the register is a variant of the case.
    JumpUnlessCase { src: Reg, case: u32, to: Target },
    /// No arm of a match applied.
    NoMatch,

    /// An argument of a variant.
    Argument { dst: Reg, src: Reg, index: u16 },
    /// A field of a record.
    Field { dst: Reg, src: Reg, site: u32 },
    /// A record from registers in source order.
    Record { dst: Reg, base: Reg, site: u32 },
    /// A copy of a record with fields from registers in source order.
    Update {
        dst: Reg,
        src: Reg,
        base: Reg,
        site: u32,
    },
    /// A variant from registers.
    Variant { dst: Reg, base: Reg, case: u32 },
    /// An array from registers.
    Array { dst: Reg, base: Reg, len: u16 },
    /// An array of units, to be filled.
    NewArray { dst: Reg, len: u32 },
    /// Puts an item into an array that no one else has seen.
    InitItem { array: Reg, index: u32, src: Reg },
    /// An item of an array.
    Index { dst: Reg, array: Reg, index: Reg },
    /// Replaces an item of an array.
    SetIndex { array: Reg, index: Reg, src: Reg },
    /// A new cell.
    Ref { dst: Reg, src: Reg },
    /// The content of a cell.
    Deref { dst: Reg, src: Reg },
    /// Replaces the content of a cell.
    SetRef { cell: Reg, src: Reg },

    /// A function with its captured values.
    Closure { dst: Reg, function: u32 },
    /// Puts a value into a closure of a recursive group.
    Capture { closure: Reg, index: u16, src: Reg },

    /// Calls the value of a register.
    Call {
        dst: Reg,
        callee: Reg,
        base: Reg,
        count: u16,
    },
    /// Calls a function that captures nothing.
    CallKnown { dst: Reg, base: Reg, function: u32 },
    /// Calls a library function.
    CallBuiltin {
        dst: Reg,
        base: Reg,
        count: u16,
        builtin: u16,
    },
    /// Calls the value of a register in place of this call.
    TailCall { callee: Reg, base: Reg, count: u16 },
    /// Calls a function that captures nothing in place of this call.
    TailKnown { base: Reg, function: u32 },
    /// Ends the call.
    Return { src: Reg },
    /// Counts one iteration of a loop, or one array item that the library visits.
    Step,

    /// Library: the number of items of an array.
    Length { dst: Reg, array: Reg },
    /// Library: a copy of an array.
    Copy { dst: Reg, array: Reg },
    /// Library: an array of `()` with as many items as `len` says.
    NewDynamic { dst: Reg, len: Reg },
    /// Library: an item of an array at an index that was checked.
    Item { dst: Reg, array: Reg, index: Reg },
    /// Library: replaces an item at an index that was checked.
    SetItem { array: Reg, index: Reg, src: Reg },
    /// Library: the first `len` items of an array that no one else has seen.
    Shorten { dst: Reg, array: Reg, len: Reg },
    /// Library: fails with a message about an argument unless the integer is at least 0.
    CheckCount { src: Reg, message: u32 },
}
