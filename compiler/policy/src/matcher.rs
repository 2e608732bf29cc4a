//! Matcher trees as the compiler hands them over (spec 02 section 11.1).

use crate::effect::EffectKind;

/// Deepest nesting of a matcher tree.
pub const MAX_MATCHER_DEPTH: usize = 64;
/// Most matcher nodes of one policy.
pub const MAX_MATCHER_NODES: usize = 4096;

/// A matcher. Paths are resolved before they come here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matcher {
    /// Every command.
    AnyCommand,
    /// Requested program text equals the value.
    Program(String),
    /// Executable name.
    Basename(String),
    /// Canonical executable path.
    ResolvedPath(MatcherPath),
    /// The resolver trusts the executable.
    TrustedExecutable,
    /// Unanchored search in the program text.
    ProgramRegex(String),
    /// argv, starting with the program text, begins with the items.
    ArgvPrefix(Vec<String>),
    /// Some argument equals the value.
    Argument(String),
    /// Some argument contains the value.
    ArgumentContains(String),
    /// Some effect of that kind, optionally inside a root.
    Effect {
        /// Kind looked for.
        kind: EffectKind,
        /// Only for path kinds.
        under: Option<MatcherPath>,
    },
    /// No effect of kind unknown.
    NoUnknownEffects,
    /// Raw shell request.
    RawShell,
    /// A script decides.
    Dynamic(DynamicMatch),
    /// Conjunction; never empty.
    All(Vec<Matcher>),
    /// Disjunction; never empty.
    Any(Vec<Matcher>),
    /// Negation.
    Not(Box<Matcher>),
}

/// Path of a matcher after canonicalisation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MatcherPath {
    /// Canonical absolute path.
    Canonical(String),
    /// Absolute path that could not be canonicalised.
    Unresolved(String),
}

impl MatcherPath {
    /// The path text.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Canonical(path) | Self::Unresolved(path) => path,
        }
    }
}

/// A `chatml_match` leaf.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DynamicMatch {
    /// Qualified script id.
    pub script: String,
    /// Entry function.
    pub function: String,
    /// What a failure does.
    pub failure: MatcherFailure,
}

/// Failure word of a dynamic matcher. No value widens access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatcherFailure {
    /// Absent or `no_match`: the matcher is maybe.
    Conservative,
    /// `deny` or `error`: the command is denied outright.
    Deny,
}

/// What a dynamic matcher answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DynamicOutcome {
    /// The script said match.
    Match,
    /// The script said no match.
    NoMatch,
    /// The script failed, timed out or returned something else.
    Failed,
    /// Scripts are not run in this evaluation.
    NotRun,
}

/// Runs dynamic matchers. Called in document order, at most once per rule, script and function.
pub trait DynamicMatchers {
    /// Answers one matcher for the command under evaluation.
    fn run(&mut self, matcher: &DynamicMatch) -> DynamicOutcome;
}

impl<F: FnMut(&DynamicMatch) -> DynamicOutcome> DynamicMatchers for F {
    fn run(&mut self, matcher: &DynamicMatch) -> DynamicOutcome {
        self(matcher)
    }
}

/// Leaves every script unrun; such a matcher is maybe.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScriptsNotRun;

impl DynamicMatchers for ScriptsNotRun {
    fn run(&mut self, _: &DynamicMatch) -> DynamicOutcome {
        DynamicOutcome::NotRun
    }
}
