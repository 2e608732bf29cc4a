//! The syntax tree of a program (spec 05 section 3).
//!
//! Every node has a span. Whatever may be long without brackets is a list here, never a chain of
//! nodes: statements, `a; b; c`, `let … in let … in`, `let* … in let* … in`, operators of one
//! level, call and field suffixes, prefix operators, `else if`. What does nest, nests at most
//! [`MAX_NESTING`] deep, so a pass may recurse over nodes without a bound of its own, and
//! dropping a program can not overflow the stack either.

use std::sync::Arc;

use crate::span::Span;

/// Deepest nesting of brackets and keyword bodies (spec 05 S21).
pub const MAX_NESTING: u32 = 256;

/// Text of a name, label or tag (tags without their accent). Equal names of one program share
/// one allocation.
pub type Name = Arc<str>;

/// A name with its place. The span of a tag includes the grave accent.
#[derive(Clone, Debug, PartialEq)]
pub struct Ident {
    /// The name.
    pub name: Name,
    /// Where it stands.
    pub span: Span,
}

/// Number of an expression within its program: dense from 0, so that a pass may keep a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);

/// A whole script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Statements in source order.
    pub statements: Vec<Statement>,
    /// One more than the largest [`ExprId`] in the program.
    pub expr_count: u32,
    /// Bytes of the source text; the entry checks report there.
    pub source_len: u32,
}

/// A top-level or module statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// From its first to its last token.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `type t = …`; at the top level only.
    Type(TypeDecl),
    /// `let x = …`
    Let(Binding),
    /// `let rec f … = … and g … = …`
    LetRec(Vec<Binding>),
    /// `module M = struct … end`
    Module {
        /// Its name.
        name: Ident,
        /// Its items; never [`StatementKind::Type`].
        body: Vec<Statement>,
    },
    /// `open M`
    Open(Ident),
    /// An expression statement, a [`Block`] when it is a sequence.
    Expr(Expr),
    /// A statement with a syntax error, already reported. A program that has one is not run.
    Error {
        /// Names it would have defined, as far as they are known.
        names: Vec<Ident>,
    },
}

/// `type t = …`
#[derive(Clone, Debug, PartialEq)]
pub struct TypeDecl {
    /// Its name.
    pub name: Ident,
    /// The right side.
    pub definition: TypeExpr,
}

/// `name = value`, `name : type = value`, `name p1 … pn = value` or `name () = value`. The
/// parameter forms hold a [`ExprKind::Fun`] as value.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The name or `_`.
    pub binder: Binder,
    /// The annotation.
    pub annotation: Option<TypeExpr>,
    /// The right side.
    pub value: Expr,
}

/// A place where one name may be bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Binder {
    /// The name; nothing for `_` and for the `()` of `let*` and `let+`, which bind nothing.
    pub name: Option<Name>,
    /// The name, the `_` or the `()`.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// From its first to its last token, without parentheses around the whole.
    pub span: Span,
    /// Its number.
    pub id: ExprId,
    /// Whether parentheses stand around the whole.
    pub parenthesized: bool,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `()`
    Unit,
    /// An integer literal, never negative.
    Int(i64),
    /// A float literal, never negative.
    Float(f64),
    /// `true` or `false`
    Bool(bool),
    /// A string literal with its escapes resolved.
    String(Name),
    /// A value name.
    Var(Name),
    /// `M` or `M.N` without a member: legal only as the argument of the built-in `record_keys`.
    Module(Vec<Ident>),
    /// `M.x` or `M.N.x`: the path is not empty.
    Member {
        /// Module names, outermost first.
        path: Vec<Ident>,
        /// The value.
        name: Ident,
    },
    /// `` `T `` or `` `T(a, b) ``; `` `T() `` has no arguments either.
    Tag {
        /// The tag; its span includes the accent.
        tag: Ident,
        /// Its arguments.
        args: Vec<Expr>,
    },
    /// `[a, b]`
    Array(Vec<Expr>),
    /// `{ l = e; … }` in source order; labels may repeat until the checker refuses them.
    Record(Vec<Field>),
    /// `{ base with l = e; … }`
    Update {
        /// The record that is copied.
        base: Box<Expr>,
        /// The changes, never empty.
        fields: Vec<Field>,
    },
    /// `base(args).field[index]…`: applied left to right, never empty.
    Postfix {
        /// What the first suffix applies to; no [`ExprKind::Postfix`] unless parenthesised.
        base: Box<Expr>,
        /// The suffixes.
        suffixes: Vec<Suffix>,
    },
    /// Prefix operators, outermost first: `!-x` is `[Deref, Negate]` over `x`.
    Prefix {
        /// The operators with their places, never empty.
        ops: Vec<(PrefixOp, Span)>,
        /// What the innermost applies to.
        operand: Box<Expr>,
    },
    /// `first op a op b …`, left-associative, all operators of one level; never empty.
    Binary {
        /// The leftmost operand.
        first: Box<Expr>,
        /// Operators with their right operands.
        rest: Vec<BinaryStep>,
    },
    /// `ref e`
    Ref(Box<Expr>),
    /// `target := value`
    Assign {
        /// The reference.
        target: Box<Expr>,
        /// The new content.
        value: Box<Expr>,
    },
    /// `array[index] <- value`
    SetIndex {
        /// The array.
        array: Box<Expr>,
        /// The index.
        index: Box<Expr>,
        /// The new item.
        value: Box<Expr>,
    },
    /// `while condition do body done`
    While {
        /// Evaluated before each round.
        condition: Box<Expr>,
        /// The body.
        body: Box<Expr>,
    },
    /// `fun p1 … pn -> body`, `fun () -> body`, or the parameter form of a binding.
    Fun(Lambda),
    /// `if … then … else if … then … else …`
    If {
        /// Conditions with their branches, never empty; `else if` adds one.
        branches: Vec<Branch>,
        /// The last `else`.
        otherwise: Box<Expr>,
    },
    /// `match scrutinee with | pattern -> body …`
    Match {
        /// What is matched.
        scrutinee: Box<Expr>,
        /// The arms, never empty.
        arms: Vec<Arm>,
    },
    /// Steps and a result; never without steps.
    Block(Block),
}

/// One suffix of a postfix chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Suffix {
    /// What it is.
    pub kind: SuffixKind,
    /// From the start of the chain to the end of this suffix.
    pub span: Span,
    /// The number of the expression that ends with this suffix. The last one of a chain differs
    /// from the id of the whole chain.
    pub id: ExprId,
}

/// The kinds of suffixes.
#[derive(Clone, Debug, PartialEq)]
pub enum SuffixKind {
    /// `(a, b)`
    Call(Vec<Expr>),
    /// `.label`
    Field(Ident),
    /// `[i]`
    Index(Box<Expr>),
}

/// A prefix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefixOp {
    /// `!`: content of a reference.
    Deref,
    /// `-` on integers.
    Negate,
    /// `-.` on floats.
    NegateFloat,
}

/// An operator and its right operand.
#[derive(Clone, Debug, PartialEq)]
pub struct BinaryStep {
    /// The operator.
    pub op: BinaryOp,
    /// Where it stands.
    pub op_span: Span,
    /// The right operand.
    pub right: Expr,
    /// From the start of the chain to the end of the right operand.
    pub span: Span,
    /// The number of the expression that ends with this step.
    pub id: ExprId,
}

macro_rules! operators {
    ($($variant:ident = $text:literal;)*) => {
        /// A binary operator.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum BinaryOp { $(#[doc = concat!("`", $text, "`")] $variant,)* }

        impl BinaryOp {
            /// The operator as written.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

operators! {
    Equal = "=="; NotEqual = "!=";
    Less = "<"; Greater = ">"; LessEqual = "<="; GreaterEqual = ">=";
    LessFloat = "<."; GreaterFloat = ">."; LessEqualFloat = "<=."; GreaterEqualFloat = ">=.";
    Add = "+"; Subtract = "-"; Concat = "++"; AddFloat = "+."; SubtractFloat = "-.";
    Multiply = "*"; Divide = "/"; MultiplyFloat = "*."; DivideFloat = "/.";
}

/// `label = value`
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The label.
    pub label: Ident,
    /// Its value.
    pub value: Expr,
}

/// Parameters and body of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Lambda {
    /// The parameters; none for `fun ()`.
    pub params: Vec<Binder>,
    /// The body.
    pub body: Box<Expr>,
}

/// `if condition then body`
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The condition.
    pub condition: Expr,
    /// What `then` leads to.
    pub body: Expr,
}

/// `| pattern -> body`
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// The pattern.
    pub pattern: Pattern,
    /// The body.
    pub body: Expr,
}

/// `a; let x = e in b; let* y = t in c`: steps in order, then the value. A name bound by a step is
/// visible in all later steps and in the result.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The steps.
    pub steps: Vec<Step>,
    /// The value of the block; for a block with `let*` or `let+` steps see [`StepKind::Bind`].
    pub result: Box<Expr>,
}

impl Block {
    /// Whether a `;` separates some of it.
    pub fn is_sequence(&self) -> bool {
        self.steps
            .iter()
            .any(|step| matches!(step.kind, StepKind::Expr(_)))
    }
}

/// One step of a block.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it is.
    pub kind: StepKind,
    /// The expression, or from `let` to `in`.
    pub span: Span,
}

/// The kinds of steps.
#[derive(Clone, Debug, PartialEq)]
pub enum StepKind {
    /// `e;`
    Expr(Expr),
    /// `let x = e in`
    Let(Binding),
    /// `let rec f = … and g = … in`
    LetRec(Vec<Binding>),
    /// `let* x = task in`: the rest of the block becomes the body of a one-parameter function
    /// `k`, and the block from here on is `Task.bind(task, k)` of the built-in `Task` (S16).
    Bind(TaskBinding),
    /// `let+ x = task in`: the same with `Task.map`.
    Map(TaskBinding),
}

/// The middle of `let*` and `let+`.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskBinding {
    /// The name, `_` or `()`.
    pub binder: Binder,
    /// The task.
    pub task: Expr,
}

/// A pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of patterns.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternKind {
    /// `_`
    Wildcard,
    /// A variable.
    Var(Name),
    /// `()`
    Unit,
    /// An integer, possibly negative.
    Int(i64),
    /// A float, possibly negative.
    Float(f64),
    /// `true` or `false`
    Bool(bool),
    /// A string.
    String(Name),
    /// `` `T `` or `` `T(p, q) ``
    Tag {
        /// The tag; its span includes the accent.
        tag: Ident,
        /// Its arguments.
        args: Vec<Pattern>,
    },
    /// `{ l = p; … }`, open when it ends in `; _`
    Record {
        /// Labels with their patterns.
        fields: Vec<(Ident, Pattern)>,
        /// Whether other labels are allowed.
        open: bool,
    },
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeExpr {
    /// What it is.
    pub kind: TypeExprKind,
    /// Where it stands.
    pub span: Span,
    /// Whether parentheses stand around the whole.
    pub parenthesized: bool,
}

/// The kinds of types as written.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeExprKind {
    /// A primitive, an alias or a declared type.
    Name(Name),
    /// `t array`, `t task array`: constructors in source order, innermost first; not empty.
    Postfix {
        /// What the first constructor applies to.
        base: Box<TypeExpr>,
        /// The constructors.
        constructors: Vec<Ident>,
    },
    /// `a -> b -> r`: the parameters as written, so `unit -> r` has one here.
    Arrow {
        /// At least one.
        params: Vec<TypeExpr>,
        /// The result.
        result: Box<TypeExpr>,
    },
    /// `{ l : t; … }`
    Record(Vec<(Ident, TypeExpr)>),
    /// `` [ `A | `B(t, u) ] ``
    Variant(Vec<(Ident, Vec<TypeExpr>)>),
}
