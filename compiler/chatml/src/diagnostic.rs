//! What the front half reports: code, severity, place, message, and how to repair it.

use crate::span::Span;

/// Most diagnostics one script can produce (spec 05 section 1).
pub const MAX_DIAGNOSTICS: usize = 100;

/// Source text quoted in a message is cut to this many characters.
const MAX_QUOTED_CHARS: usize = 40;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The script does not compile.
    Error,
    /// The script compiles and means what it says, which is probably not what was meant.
    Warning,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal, $severity:ident;)*) => {
        /// Every diagnostic code of the front half (spec 05 sections 2, 3.2, 5.8 and 8.1).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[$doc])* $variant,)* }

        impl Code {
            /// All codes, in the order of the specification.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The stable identifier, such as `chatml.type.mismatch`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The severity every finding of this code has.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    /// A character starts no token.
    UnknownChar = "chatml.lex.unknown_char", Error;
    /// A comment is not closed.
    UnterminatedComment = "chatml.lex.unterminated_comment", Error;
    /// A string is not closed.
    UnterminatedString = "chatml.lex.unterminated_string", Error;
    /// An integer literal does not fit 64 bits.
    IntRange = "chatml.lex.int_range", Error;
    /// A float literal overflows.
    FloatRange = "chatml.lex.float_range", Error;
    /// A grave accent without a tag name.
    EmptyTag = "chatml.lex.empty_tag", Error;
    /// An unknown escape stays two characters.
    UnknownEscape = "chatml.lex.unknown_escape", Warning;
    /// No production accepts this token.
    UnexpectedToken = "chatml.syntax.unexpected_token", Error;
    /// The program ends inside a construct.
    UnexpectedEnd = "chatml.syntax.unexpected_end", Error;
    /// A type declaration inside a module or an expression.
    MisplacedType = "chatml.syntax.misplaced_type", Error;
    /// Nesting deeper than 256.
    TooDeep = "chatml.syntax.too_deep", Error;
    /// The left side of `<-` is no array element.
    InvalidAssignment = "chatml.syntax.invalid_assignment", Error;
    /// A value or module name is not in scope.
    UnknownVariable = "chatml.type.unknown_variable", Error;
    /// A closed record or a module lacks the label.
    UnknownField = "chatml.type.unknown_field", Error;
    /// A closed variant lacks the tag.
    UnknownCase = "chatml.type.unknown_case", Error;
    /// Two types do not unify.
    Mismatch = "chatml.type.mismatch", Error;
    /// A call has the wrong number of arguments.
    Arity = "chatml.type.arity", Error;
    /// The callee is no function.
    NotCallable = "chatml.type.not_callable", Error;
    /// An annotated lambda has another parameter count.
    AnnotationArity = "chatml.type.annotation_arity", Error;
    /// One tag is used with two argument counts.
    VariantArity = "chatml.type.variant_arity", Error;
    /// An infinite type without a guarding record, variant or task.
    Recursive = "chatml.type.recursive", Error;
    /// Equality at a type that does not support it.
    Equality = "chatml.type.equality", Error;
    /// The right side of `let rec` is no lambda.
    RecNotFunction = "chatml.type.rec_not_function", Error;
    /// A label or tag is repeated.
    DuplicateField = "chatml.type.duplicate_field", Error;
    /// A name is bound twice in one pattern, parameter list or recursive group.
    DuplicateBinder = "chatml.type.duplicate_binder", Error;
    /// The same literal or tag pattern occurs twice.
    DuplicateArm = "chatml.type.duplicate_arm", Error;
    /// A match arm can never apply.
    RedundantArm = "chatml.type.redundant_arm", Error;
    /// A match does not cover every case.
    NonExhaustive = "chatml.type.non_exhaustive", Error;
    /// A type name is not declared.
    UnknownType = "chatml.type.unknown_type", Error;
    /// A postfix type constructor other than `array` and `task`.
    UnknownConstructor = "chatml.type.unknown_constructor", Error;
    /// A type name is already declared.
    DuplicateType = "chatml.type.duplicate_type", Error;
    /// A primitive type name is declared again.
    PrimitiveType = "chatml.type.primitive_type", Error;
    /// A recursive type is not guarded.
    UnguardedType = "chatml.type.unguarded_type", Error;
    /// `open` would hide an existing name.
    OpenShadow = "chatml.type.open_shadow", Error;
    /// A module is used as a value.
    ModuleValue = "chatml.type.module_value", Error;
    /// Type checking exceeded its bounds.
    TooComplex = "chatml.type.too_complex", Error;
    /// `initial_state` is not defined.
    MissingState = "chatml.entry.missing_state", Error;
    /// The entry point is not defined.
    MissingFunction = "chatml.entry.missing_function", Error;
    /// The entry point does not have the required type.
    EntryType = "chatml.entry.type", Error;
    /// The state type contains a ref, a function or a task.
    StateNotData = "chatml.entry.state_not_data", Error;
    /// An array literal uses `;` and so has one element.
    ArraySequence = "chatml.lint.array_sequence", Warning;
    /// A line opening with a bracket continues the previous expression.
    LineContinues = "chatml.lint.line_continues", Warning;
    /// A statement starts on the line where the previous one ended.
    SameLineStatement = "chatml.lint.same_line_statement", Warning;
    /// A task value is thrown away by a sequence.
    DiscardedTask = "chatml.lint.discarded_task", Warning;
    /// A local binding is never used.
    UnusedBinding = "chatml.lint.unused_binding", Warning;
}

/// A second place that explains the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is there, such as `first defined here`.
    pub message: String,
}

/// Replaces the bytes of `span` by `text`; an empty span inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced.
    pub span: Span,
    /// What stands there afterwards.
    pub text: String,
}

/// A mechanical repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What the repair does, as an imperative.
    pub title: String,
    /// The edits, none overlapping another.
    pub edits: Vec<Edit>,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its code; the severity follows from it.
    pub code: Code,
    /// The primary place.
    pub span: Span,
    /// What is wrong, in one sentence without a full stop at the end.
    pub message: String,
    /// Other places that matter.
    pub labels: Vec<Label>,
    /// Facts that do not fit the message, one a line.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
    /// Repairs, the best first.
    pub fixes: Vec<Fix>,
}

impl Diagnostic {
    /// A finding with nothing but its message.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            span,
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
            fixes: Vec::new(),
        }
    }

    /// The severity of the code.
    pub const fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// Whether it keeps the script from compiling.
    pub fn is_error(&self) -> bool {
        self.severity() == Severity::Error
    }

    /// Adds a second place.
    #[must_use]
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label {
            span,
            message: message.into(),
        });
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a repair of one edit.
    #[must_use]
    pub fn fix(mut self, title: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        self.fixes.push(Fix {
            title: title.into(),
            edits: vec![Edit {
                span,
                text: text.into(),
            }],
        });
        self
    }
}

/// Source text for a message: one line, at most 40 characters.
pub fn quoted(text: &str) -> String {
    let mut short = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == MAX_QUOTED_CHARS {
            short.push('…');
            break;
        }
        short.push(if c.is_control() { ' ' } else { c });
    }
    short
}
