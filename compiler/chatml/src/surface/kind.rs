//! The kinds of scripts (spec 05 section 8.1, 05b section 3).

/// What a script is for; it decides which names the script can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// No host: the core library with `print`. For `chatmdc chatml` without a kind, and tests.
    Core,
    /// `shell_matcher`
    ShellMatcher,
    /// `shell_reviewer`
    ShellReviewer,
    /// `shell_before_interceptor`
    ShellBeforeInterceptor,
    /// `shell_after_interceptor`
    ShellAfterInterceptor,
    /// `shell_effect_analyzer`
    ShellEffectAnalyzer,
    /// `shell_audit_filter`
    ShellAuditFilter,
    /// `moderator`
    Moderator,
}

/// The contract of a shell kind's entry function, `event -> state -> state task`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryContract {
    /// Name of the function unless the document names another.
    pub default_name: &'static str,
    /// Type alias of the event.
    pub event: &'static str,
    /// Module whose functions build the action of a call.
    pub actions: &'static str,
    /// The action that decides nothing and grants nothing, for a skeleton whose event is `event`.
    pub harmless: &'static str,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Core,
        Self::ShellMatcher,
        Self::ShellReviewer,
        Self::ShellBeforeInterceptor,
        Self::ShellAfterInterceptor,
        Self::ShellEffectAnalyzer,
        Self::ShellAuditFilter,
        Self::Moderator,
    ];

    /// The name in documents; `core` for [`Kind::Core`], which documents can not name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::ShellMatcher => "shell_matcher",
            Self::ShellReviewer => "shell_reviewer",
            Self::ShellBeforeInterceptor => "shell_before_interceptor",
            Self::ShellAfterInterceptor => "shell_after_interceptor",
            Self::ShellEffectAnalyzer => "shell_effect_analyzer",
            Self::ShellAuditFilter => "shell_audit_filter",
            Self::Moderator => "moderator",
        }
    }

    /// The kind of that name, `core` included.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The entry contract; nothing for [`Kind::Core`] (no entry) and [`Kind::Moderator`]
    /// (another shape: 05b section 6).
    pub const fn contract(self) -> Option<EntryContract> {
        let (default_name, event, actions, harmless) = match self {
            Self::Core | Self::Moderator => return None,
            Self::ShellMatcher => (
                "match_command",
                "shell_context",
                "Match",
                "Match.no(\"not decided yet\")",
            ),
            Self::ShellReviewer => ("review", "shell_context", "Review", "Review.defer()"),
            Self::ShellBeforeInterceptor => (
                "before",
                "shell_context",
                "Intercept",
                "Intercept.continue()",
            ),
            Self::ShellAfterInterceptor => ("after", "shell_result", "Result", "Result.keep()"),
            Self::ShellEffectAnalyzer => (
                "analyze",
                "shell_context",
                "Effect",
                "Effect.read_path(Shell.cwd(event))",
            ),
            Self::ShellAuditFilter => ("filter", "shell_audit", "Audit", "Audit.keep()"),
        };
        Some(EntryContract {
            default_name,
            event,
            actions,
            harmless,
        })
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindSet(u8);

impl KindSet {
    /// Every kind.
    pub const ALL: Self = Self(u8::MAX);

    /// The kinds listed.
    pub const fn of(kinds: &[Kind]) -> Self {
        let mut bits = 0;
        let mut at = 0;
        while at < kinds.len() {
            bits |= 1 << kinds[at] as u8;
            at += 1;
        }
        Self(bits)
    }

    /// Whether `kind` is in the set.
    pub const fn contains(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }

    /// The kinds of the set that documents can name, in order.
    pub fn iter(self) -> impl Iterator<Item = Kind> {
        Kind::ALL
            .into_iter()
            .filter(move |kind| *kind != Kind::Core && self.contains(*kind))
    }
}
