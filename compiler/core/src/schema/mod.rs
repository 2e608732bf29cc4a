//! The closed schema of the declaration language as data (spec 01 sections 5 to 13, 02, 03).
//!
//! Every element, attribute, type, default, bound, code and doc sentence is written once, here.
//! Lowering checks names, duplicates, bare and missing attributes and values against these rows;
//! completion, hover and the reference pages read the same rows.

pub mod backends;
pub mod document;
pub mod environment;
pub mod extensions;
pub mod policy;
pub mod samples;
pub mod sections;
pub mod tools;

/// An element in one of its positions: `read` below `capabilities` and `read` below a `read_file`
/// tool are two rows.
#[derive(Debug)]
pub struct Element {
    /// Name as written.
    pub name: &'static str,
    /// What it declares, one or two sentences.
    pub doc: &'static str,
    /// Attributes in the order in which they are documented. One name may have several rows when
    /// its type depends on a selector; their [`When`] clauses do not overlap.
    pub attributes: &'static [Attribute],
    /// What may stand between its tags.
    pub children: Children,
    /// Codes of the generic checks.
    pub codes: &'static Codes,
}

impl Element {
    /// The rows of that attribute name.
    pub fn rows<'n>(&self, name: &'n str) -> impl Iterator<Item = &'static Attribute> + use<'n> {
        self.attributes.iter().filter(move |row| row.name == name)
    }

    /// The child elements that this element lists, matchers included.
    pub fn child_elements(&self) -> Vec<&'static Element> {
        match self.children {
            Children::List(list) => list.iter().map(|child| child.element).collect(),
            Children::Matchers { .. } => policy::MATCHERS.to_vec(),
            Children::Empty | Children::Body(_) | Children::Script => Vec::new(),
        }
    }
}

/// Content model of an element.
#[derive(Clone, Copy, Debug)]
pub enum Children {
    /// Only whitespace and comments.
    Empty,
    /// The listed elements in any order.
    List(&'static [Child]),
    /// Matcher elements ([`policy::MATCHERS`]), at least `min`, at most `max`.
    Matchers {
        /// Least number.
        min: usize,
        /// Greatest number; `usize::MAX` for no bound.
        max: usize,
    },
    /// Message content of that class.
    Body(BodyClass),
    /// A program, not parsed as ChatMD.
    Script,
}

/// How a body treats the elements in it (spec 01 section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BodyClass {
    /// Imports are expanded, other elements without meaning warn.
    Authored,
    /// Imports and other elements are literal text.
    Transcript,
    /// Everything but `summary` is literal text.
    Reasoning,
}

/// A permitted child.
#[derive(Clone, Copy, Debug)]
pub struct Child {
    /// Its schema.
    pub element: &'static Element,
    /// At most one may occur.
    pub once: bool,
}

/// Any number of `element`.
pub const fn many(element: &'static Element) -> Child {
    Child {
        element,
        once: false,
    }
}

/// At most one `element`.
pub const fn once(element: &'static Element) -> Child {
    Child {
        element,
        once: true,
    }
}

/// Codes of the checks that every element of a family shares.
#[derive(Debug)]
pub struct Codes {
    /// An attribute outside the table.
    pub unknown_attribute: &'static str,
    /// The unknown attribute is only a warning.
    pub unknown_attribute_warns: bool,
    /// A bare attribute that needs a value.
    pub bare: &'static str,
    /// An attribute written twice.
    pub duplicate: &'static str,
    /// A required attribute is absent or empty.
    pub missing: &'static str,
    /// An attribute that exists on the element, but not for the selected kind, form or mode.
    pub incompatible: &'static str,
    /// A child element that is not listed.
    pub unknown_child: &'static str,
    /// A child element of an element that must be empty.
    pub child_of_empty: &'static str,
    /// Text or RAW between the tags.
    pub text: &'static str,
}

/// Closed shell elements (spec 02).
pub static SHELL: Codes = Codes {
    unknown_attribute: "shell.unknown_attribute",
    unknown_attribute_warns: false,
    bare: "shell.attribute_value_required",
    duplicate: "shell.duplicate_attribute",
    missing: "shell.missing_attribute",
    incompatible: "shell.incompatible_attribute",
    unknown_child: "shell.unknown_element",
    child_of_empty: "shell.unexpected_child",
    text: "shell.unexpected_text",
};

/// One attribute of an element.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// Name as written.
    pub name: &'static str,
    /// Value type.
    pub ty: Type,
    /// What it means, one sentence.
    pub doc: &'static str,
    /// Must be present.
    pub required: bool,
    /// Value when absent, as it would be written; `None` when absence means "inherit" or "none".
    pub default: Option<&'static str>,
    /// Inclusive bounds of a number (milliseconds, bytes or a count).
    pub range: Option<(u64, u64)>,
    /// An empty value is legal.
    pub may_be_empty: bool,
    /// Applies only for these words of a selector attribute of the same element.
    pub when: Option<When>,
    /// Code when required and absent or empty, instead of that of the element.
    pub missing: Option<&'static str>,
    /// Code when empty, instead of the missing code.
    pub empty: Option<&'static str>,
    /// Code of a bad value, instead of that of the type.
    pub invalid: Option<&'static str>,
    /// Code of a value outside `range`, instead of `shell.limit_out_of_range`.
    pub out_of_range: Option<&'static str>,
    /// Code of the word `none`, where a limit must stay finite.
    pub none: Option<&'static str>,
    /// A bare attribute counts as missing instead of having its own code.
    pub bare_is_missing: bool,
    /// Surrounding whitespace is dropped before anything else (spec 01 section 13.1).
    pub trimmed: bool,
    /// The value takes part in the authority diff (spec 04 section 11).
    pub authority: bool,
}

/// Condition of an attribute row.
#[derive(Clone, Copy, Debug)]
pub struct When {
    /// Selector attribute on the same element.
    pub attribute: &'static str,
    /// Its words for which the row applies.
    pub words: &'static [&'static str],
}

/// An optional attribute.
pub const fn attr(name: &'static str, ty: Type, doc: &'static str) -> Attribute {
    Attribute {
        name,
        ty,
        doc,
        required: false,
        default: None,
        range: None,
        may_be_empty: false,
        when: None,
        missing: None,
        empty: None,
        invalid: None,
        out_of_range: None,
        none: None,
        bare_is_missing: false,
        trimmed: false,
        authority: true,
    }
}

/// A required attribute.
pub const fn required(name: &'static str, ty: Type, doc: &'static str) -> Attribute {
    let mut row = attr(name, ty, doc);
    row.required = true;
    row
}

impl Attribute {
    /// Value when absent.
    pub const fn default(mut self, text: &'static str) -> Self {
        self.default = Some(text);
        self
    }

    /// Inclusive numeric bounds.
    pub const fn range(mut self, low: u64, high: u64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// Empty is legal.
    pub const fn may_be_empty(mut self) -> Self {
        self.may_be_empty = true;
        self
    }

    /// Applies only when `attribute` has one of `words`.
    pub const fn when(mut self, attribute: &'static str, words: &'static [&'static str]) -> Self {
        self.when = Some(When { attribute, words });
        self
    }

    /// Own code for absent or empty.
    pub const fn missing(mut self, code: &'static str) -> Self {
        self.missing = Some(code);
        self
    }

    /// Own code for empty.
    pub const fn empty(mut self, code: &'static str) -> Self {
        self.empty = Some(code);
        self
    }

    /// Own code for a bad value.
    pub const fn invalid(mut self, code: &'static str) -> Self {
        self.invalid = Some(code);
        self
    }

    /// Own code for a number out of range.
    pub const fn out_of_range(mut self, code: &'static str) -> Self {
        self.out_of_range = Some(code);
        self
    }

    /// Bare counts as missing.
    pub const fn bare_is_missing(mut self) -> Self {
        self.bare_is_missing = true;
        self
    }

    /// Own code for the word `none`.
    pub const fn finite(mut self) -> Self {
        self.none = Some("shell.required_limit_disabled");
        self
    }

    /// Surrounding whitespace is dropped.
    pub const fn trimmed(mut self) -> Self {
        self.trimmed = true;
        self
    }

    /// Not relevant for the authority diff.
    pub const fn identity(mut self) -> Self {
        self.authority = false;
        self
    }
}

/// Value types (spec 02 section 2 and the string types of 01).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Bare, or `true` or `false` (01 section 2.4).
    Flag,
    /// `true` or `false`.
    Bool,
    /// One of the words.
    Words(&'static [&'static str]),
    /// Comma list of distinct words.
    WordList(&'static [&'static str]),
    /// Milliseconds.
    Duration,
    /// Milliseconds or `none`.
    DurationOrNone,
    /// Bytes.
    Bytes,
    /// Bytes or `none`.
    BytesOrNone,
    /// Unsigned integer below 2^31.
    Uint,
    /// Unsigned integer or `none`.
    UintOrNone,
    /// 64 hexadecimal digits.
    Sha256,
    /// Path expression; a relative literal is taken below the declaring file's directory.
    Path,
    /// Path expression of a `read_file` root; a relative literal is taken below `${tool_dir}`.
    ToolPath,
    /// Relative suffix of a `path_env` entry.
    Suffix,
    /// Environment variable name.
    Env,
    /// Declared runtime id, strict.
    RuntimeId,
    /// Declared script id, strict.
    ScriptId,
    /// Declared id of a list entry, lenient.
    EntryId,
    /// Declared id of an executable: lenient, no `/`.
    ExecutableId,
    /// Name that only refers to an entry or agent, lenient.
    EntryRef,
    /// Reference to a runtime or script.
    Reference,
    /// Reference of `extends`, which may name a built-in profile.
    ParentReference,
    /// Comma list or JSON array whose first item is a program.
    ArgvPrefix,
    /// JSON array of strings.
    JsonArray,
    /// Regular expression of the linear-time engine.
    Regex,
    /// Name of a ChatML function.
    Function,
    /// `[A-Za-z0-9_-]{1,64}`.
    ToolName,
    /// One simple command of the chain grammar.
    FixedCommand,
    /// Literal text of at most so many bytes.
    Text(u32),
    /// Literal text that may be meant as a path: variable syntax in it warns.
    Literal(u32),
    /// Name of a path variable without `${}`.
    Variable,
    /// Decimal number within [0, 2].
    Temperature,
    /// Import namespace.
    Namespace,
    /// Anything; checked by the element itself.
    Any,
}

/// Largest text value in bytes.
pub const TEXT: Type = Type::Text(64 * 1024);
/// Largest literal value in bytes.
pub const LITERAL: Type = Type::Literal(64 * 1024);

/// Every element row, for reference pages, completion and tests.
pub fn all() -> Vec<&'static Element> {
    let mut seen: Vec<&'static Element> = Vec::new();
    let mut queue: Vec<&'static Element> = document::TOP_LEVEL.to_vec();
    queue.extend(tools::FORMS);
    queue.extend(document::CONTENT);
    while let Some(element) = queue.pop() {
        if seen.iter().any(|known| core::ptr::eq(*known, element)) {
            continue;
        }
        seen.push(element);
        queue.extend(element.child_elements());
    }
    seen.sort_by_key(|element| element.name);
    seen
}
