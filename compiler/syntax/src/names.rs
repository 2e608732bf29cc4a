//! The closed tag vocabulary (spec 01 section 2.2).

macro_rules! tags {
    ($(($variant:ident, $name:literal, $shell:literal)),* $(,)?) => {
        /// A recognised element name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Tag {
            $(
                #[doc = concat!("`<", $name, ">`")]
                $variant,
            )*
        }

        impl Tag {
            /// Every name, document vocabulary first.
            pub const ALL: &'static [Tag] = &[$(Tag::$variant),*];

            /// The name as written in a document.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Tag::$variant => $name,)*
                }
            }

            /// The tag of that exact, case-sensitive name.
            pub fn from_name(name: &str) -> Option<Tag> {
                match name {
                    $($name => Some(Tag::$variant),)*
                    _ => None,
                }
            }

            /// Whether a start tag of that name, first on its line, is a fence: nothing that was
            /// left open goes on behind it (spec 01 section 16.1).
            pub const fn is_fence(self) -> bool {
                matches!(
                    self,
                    Tag::Msg
                        | Tag::User
                        | Tag::Assistant
                        | Tag::System
                        | Tag::Developer
                        | Tag::ToolCall
                        | Tag::ToolResponse
                        | Tag::Reasoning
                        | Tag::Config
                        | Tag::Script
                        | Tag::ModeratorRuntime
                        | Tag::ShellAccess
                        | Tag::Tool
                )
            }

            /// Whether the name belongs to the shell vocabulary, which is recognised only in shell
            /// scope (spec 01 section 4).
            pub const fn is_shell(self) -> bool {
                match self {
                    $(Tag::$variant => $shell,)*
                }
            }
        }
    };
}

tags! {
    (Msg, "msg", false),
    (User, "user", false),
    (Assistant, "assistant", false),
    (System, "system", false),
    (Developer, "developer", false),
    (Script, "script", false),
    (ShellAccess, "shell_access", false),
    (ModeratorRuntime, "moderator_runtime", false),
    (Tool, "tool", false),
    (ToolCall, "tool_call", false),
    (ToolResponse, "tool_response", false),
    (Doc, "doc", false),
    (Img, "img", false),
    (Agent, "agent", false),
    (Import, "import", false),
    (Reasoning, "reasoning", false),
    (Summary, "summary", false),
    (Config, "config", false),
    (Capabilities, "capabilities", true),
    (Resolver, "resolver", true),
    (Environment, "environment", true),
    (Limits, "limits", true),
    (Backends, "backends", true),
    (Policy, "policy", true),
    (Approvals, "approvals", true),
    (Reviewers, "reviewers", true),
    (Interceptors, "interceptors", true),
    (EffectAnalysis, "effect_analysis", true),
    (Secrets, "secrets", true),
    (Audit, "audit", true),
    (Read, "read", true),
    (Write, "write", true),
    (SearchPath, "search_path", true),
    (TrustedRoot, "trusted_root", true),
    (Executable, "executable", true),
    (Set, "set", true),
    (Pass, "pass", true),
    (Unset, "unset", true),
    (UnsetPrefix, "unset_prefix", true),
    (Path, "path", true),
    (PathEnv, "path_env", true),
    (Seatbelt, "seatbelt", true),
    (Bubblewrap, "bubblewrap", true),
    (Direct, "direct", true),
    (ExternalBackend, "external_backend", true),
    (CwdValue, "cwd_value", true),
    (TargetExecutable, "target_executable", true),
    (CommandArgv, "command_argv", true),
    (ReadRoots, "read_roots", true),
    (WriteRoots, "write_roots", true),
    (NetworkFlag, "network_flag", true),
    (ResourceLimitArgs, "resource_limit_args", true),
    (Rule, "rule", true),
    (All, "all", true),
    (Any, "any", true),
    (Not, "not", true),
    (AnyCommand, "any_command", true),
    (Program, "program", true),
    (Basename, "basename", true),
    (ResolvedPath, "resolved_path", true),
    (TrustedExecutable, "trusted_executable", true),
    (ProgramRegex, "program_regex", true),
    (ArgvPrefix, "argv_prefix", true),
    (Argument, "argument", true),
    (ArgumentContains, "argument_contains", true),
    (Effect, "effect", true),
    (NoUnknownEffects, "no_unknown_effects", true),
    (RawShell, "raw_shell", true),
    (ChatmlMatch, "chatml_match", true),
    (Reviewer, "reviewer", true),
    (Interceptor, "interceptor", true),
    (Match, "match", true),
    (Analyzer, "analyzer", true),
    (Filter, "filter", true),
    (FromEnv, "from_env", true),
    (FromFile, "from_file", true),
    (Literal, "literal", true),
    (Command, "command", true),
    (Arg, "arg", true),
    (SecretArg, "secret_arg", true),
    (PathArg, "path_arg", true),
    (Arguments, "arguments", true),
}
