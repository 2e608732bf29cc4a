//! What a test expects (spec 12 section 2.4).

/// A verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verb {
    /// It would run.
    Allow,
    /// Somebody would be asked.
    Ask,
    /// The policy denies, whatever an earlier stage says.
    Deny,
    /// A stage before the policy refuses.
    Reject,
    /// [`Verb::Deny`] or [`Verb::Reject`].
    Blocked,
    /// Anything but that it would run.
    Guarded,
    /// The rule fires.
    Match,
    /// The rule does not fire.
    NoMatch,
}

impl Verb {
    /// Every verb, in the order of the specification.
    pub const ALL: [Self; 8] = [
        Self::Allow,
        Self::Ask,
        Self::Deny,
        Self::Reject,
        Self::Blocked,
        Self::Guarded,
        Self::Match,
        Self::NoMatch,
    ];

    /// The words, in the same order.
    pub const WORDS: [&'static str; 8] = [
        "allow", "ask", "deny", "reject", "blocked", "guarded", "match", "no_match",
    ];

    /// The word.
    pub const fn as_str(self) -> &'static str {
        Self::WORDS[self as usize]
    }

    /// The verb of exactly that word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.as_str() == word)
    }

    /// Whether it speaks of one rule.
    pub const fn needs_rule(self) -> bool {
        matches!(self, Self::Match | Self::NoMatch)
    }

    /// Whether no outcome of one request can satisfy both (spec 12 section 2.8,
    /// `chatmd.test_contradiction`). A denial may stand beside a rejection or a question that is
    /// not asked any more: `deny` looks at the policy alone.
    pub const fn excludes(self, other: Self) -> bool {
        use Verb::{Allow, Ask, Blocked, Deny, Guarded, Match, NoMatch, Reject};
        matches!(
            (self, other),
            (Allow, Ask | Deny | Reject | Blocked | Guarded)
                | (Ask | Deny | Reject | Blocked | Guarded, Allow)
                | (Ask, Deny | Reject | Blocked)
                | (Deny | Reject | Blocked, Ask)
                | (Match, NoMatch)
                | (NoMatch, Match)
        )
    }
}
