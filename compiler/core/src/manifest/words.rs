//! The closed vocabularies of the payload: what may stand where one of a few words is written.

use serde::{Deserialize, Serialize};

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $(
                #[doc = concat!("`", $word, "`")]
                #[serde(rename = $word)]
                $variant,
            )+
        }

        impl $name {
            /// Every word, in the order of the specification.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word as written in documents and manifests.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }

            /// The value of exactly that word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

words! {
    /// Target platform.
    Platform { Macos = "macos", Linux = "linux", Windows = "windows" }
}
words! {
    /// Role of a source file.
    SourceRole { Root = "root", Import = "import", Script = "script" }
}
words! {
    /// Base of a path expression (spec 02 section 3).
    PathBase {
        Absolute = "absolute", PromptDir = "prompt_dir", SourceDir = "source_dir",
        ToolDir = "tool_dir", Workspace = "workspace", CacheDir = "cache_dir",
        Home = "home", SessionDir = "session_dir",
    }
}
words! {
    /// Sandbox requirement.
    Sandbox { Required = "required", Preferred = "preferred", DirectUnsafe = "direct_unsafe" }
}
words! {
    /// Environment inheritance.
    Inherit {
        None = "none", Safe = "safe", Selected = "selected",
        AllSanitized = "all_sanitized", Raw = "raw",
    }
}
words! {
    /// Platform predicate of a backend.
    When { Macos = "macos", Linux = "linux", Windows = "windows", Any = "any" }
}
words! {
    /// `/dev` of a bubblewrap backend.
    DevMode { Minimal = "minimal", None = "none" }
}
words! {
    /// Confinement class that an external wrapper claims; `verified` is never accepted.
    Confinement { Verified = "verified", Declared = "declared", None = "none" }
}
words! {
    /// Policy action.
    Action { Allow = "allow", Ask = "ask", Deny = "deny" }
}
words! {
    /// Effect kinds as matchers name them.
    EffectName {
        ReadPath = "read_path", WritePath = "write_path", Network = "network",
        ChildProcesses = "child_processes", ArbitraryCode = "arbitrary_code",
        PrivilegeChange = "privilege_change", Unknown = "unknown",
    }
}
words! {
    /// Failure word of a dynamic matcher; `conservative` stands for an absent attribute.
    MatcherFailure { Conservative = "conservative", NoMatch = "no_match", Deny = "deny", Error = "error" }
}
words! {
    /// Failure word of reviewers, interceptors and analyzers.
    Failure { Deny = "deny", Error = "error", Unknown = "unknown", Keep = "keep" }
}
words! {
    /// Who answers an `ask`.
    ApprovalProvider { Ui = "ui", None = "none" }
}
words! {
    /// Outcome when nobody can answer.
    Unavailable { Deny = "deny", Error = "error" }
}
words! {
    /// Approval scopes in their fixed order.
    Scope {
        Once = "once", ExactSession = "exact_session",
        PrefixSession = "prefix_session", DurableExact = "durable_exact",
    }
}
words! {
    /// How reviewers are configured.
    ReviewerMode { ImplicitUi = "implicit_ui", Chain = "chain" }
}
words! {
    /// Reviewer strategy.
    Strategy { FirstTerminal = "first_terminal" }
}
words! {
    /// State lifetime of a script extension.
    Lifecycle { Invocation = "invocation", Session = "session", Runtime = "runtime" }
}
words! {
    /// Interceptor phase.
    Phase { Before = "before", After = "after" }
}
words! {
    /// Audit sink.
    AuditFormat { None = "none", Stderr = "stderr", Jsonl = "jsonl", Session = "session" }
}
words! {
    /// Audit content level.
    AuditContent { Metadata = "metadata", Redacted = "redacted", Full = "full" }
}
words! {
    /// Audit failure policy.
    AuditFailure { Continue = "continue", DenyStart = "deny_start", Terminate = "terminate" }
}
words! {
    /// `PATH` position.
    Position { Prepend = "prepend", Append = "append" }
}
words! {
    /// Presence of a model input field (`stdin`, `rationale`) or of model arguments.
    Presence { None = "none", Optional = "optional", Required = "required" }
}
words! {
    /// Result form of a tool.
    ResultForm { Combined = "combined", Stdout = "stdout", Structured = "structured" }
}
words! {
    /// Progress form of a tool.
    Stream { Finalized = "finalized", Sanitized = "sanitized" }
}
words! {
    /// Treatment of an unsuccessful exit.
    Nonzero { Result = "result", Error = "error" }
}
words! {
    /// Script kinds.
    ScriptKind {
        Moderator = "moderator", Matcher = "shell_matcher", Reviewer = "shell_reviewer",
        BeforeInterceptor = "shell_before_interceptor", AfterInterceptor = "shell_after_interceptor",
        EffectAnalyzer = "shell_effect_analyzer", AuditFilter = "shell_audit_filter",
    }
}
words! {
    /// Dependency edge kinds (section 10.2).
    DependencyKind {
        Extends = "extends", ToolRuntime = "tool_runtime", ModeratorRuntime = "moderator_runtime",
        ChatmlExtension = "chatml_extension", WorkerRuntime = "worker_runtime",
        ModelReviewer = "model_reviewer", AgentTool = "agent_tool", ExecutableRef = "executable_ref",
    }
}
words! {
    /// What a bound file is (section 9).
    FileRole {
        Executable = "executable", Hook = "hook", ExternalBackend = "external_backend",
        RawShell = "raw_shell", Interpreter = "interpreter", Script = "script",
        FixedProgram = "fixed_program",
    }
}
