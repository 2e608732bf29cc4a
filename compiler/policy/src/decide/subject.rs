//! What a matcher tree is evaluated against: the outer command, or one inner command.

use crate::effect::{InnerCommand, InnerText};
use crate::facts::{CommandFacts, Located, PolicyHost};
use crate::paths::basename;
use crate::regex::{Found, RegexTable};

use super::opaque::dequote;

/// A command in the form that leaves read.
pub(crate) enum Subject<'a> {
    Outer(Outer<'a>),
    Inner(Inner<'a>),
    Opaque(Opaque<'a>),
}

/// The command itself.
pub(crate) struct Outer<'a> {
    pub(crate) facts: &'a CommandFacts,
    pub(crate) text_patterns: Found,
    pub(crate) path_patterns: Found,
}

/// An inner command with known words.
pub(crate) struct Inner<'a> {
    pub(crate) argv: &'a [String],
    pub(crate) located: Option<Located>,
    pub(crate) text_patterns: Found,
    pub(crate) path_patterns: Found,
}

/// An inner command that is only text.
pub(crate) struct Opaque<'a> {
    pub(crate) text: &'a str,
    /// The text without quoting, when that differs.
    pub(crate) unquoted: Option<String>,
    pub(crate) patterns: Found,
}

impl Opaque<'_> {
    /// The text as written and as a shell would unquote it.
    pub(crate) fn views(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.text).chain(self.unquoted.as_deref())
    }

    /// Whether all values occur in one view.
    pub(crate) fn holds<'v>(&self, values: impl IntoIterator<Item = &'v String> + Clone) -> bool {
        self.views().any(|view| {
            values
                .clone()
                .into_iter()
                .all(|value| view.contains(value.as_str()))
        })
    }
}

/// Characters that end a word of an opaque text (spec 06 section 6.6).
const OPAQUE_BREAKS: &[char] = &[
    ' ', '\t', '\n', '\r', ';', '|', '&', '(', ')', '<', '>', '\\', '`', '$', '"', '\'',
];

impl<'a> Subject<'a> {
    pub(crate) fn outer(facts: &'a CommandFacts, regexes: &RegexTable) -> Self {
        let paths = facts
            .executable
            .iter()
            .flat_map(|executable| [executable.located.as_str(), executable.canonical.as_str()]);
        Self::Outer(Outer {
            facts,
            text_patterns: regexes.search([facts.program()]),
            path_patterns: regexes.search(paths),
        })
    }

    pub(crate) fn inner(
        command: &'a InnerCommand,
        host: &dyn PolicyHost,
        regexes: &RegexTable,
    ) -> Self {
        match &command.text {
            InnerText::Argv(argv) => {
                let program = argv.first().map_or("", String::as_str);
                let located = host.search(program, &command.cwd);
                let paths = located
                    .iter()
                    .flat_map(|found| [found.located.as_str(), found.canonical.as_str()]);
                Self::Inner(Inner {
                    argv,
                    text_patterns: regexes.search([program]),
                    path_patterns: regexes.search(paths),
                    located,
                })
            }
            InnerText::Opaque(text) => {
                let unquoted = dequote(text);
                let views = std::iter::once(text.as_str()).chain(unquoted.as_deref());
                let patterns = regexes.search(
                    views.flat_map(|view| std::iter::once(view).chain(view.split(OPAQUE_BREAKS))),
                );
                Self::Opaque(Opaque {
                    text,
                    unquoted,
                    patterns,
                })
            }
        }
    }

    /// Basenames of the located and of the canonical path.
    pub(crate) fn path_names(&self) -> [Option<&str>; 2] {
        let (located, canonical) = match self {
            Self::Outer(outer) => match &outer.facts.executable {
                Some(found) => (found.located.as_str(), found.canonical.as_str()),
                None => return [None, None],
            },
            Self::Inner(Inner {
                located: Some(found),
                ..
            }) => (found.located.as_str(), found.canonical.as_str()),
            _ => return [None, None],
        };
        [Some(basename(located)), Some(basename(canonical))]
    }

    /// Program text and arguments; empty for opaque text.
    pub(crate) fn argv(&self) -> &[String] {
        match self {
            Self::Outer(outer) => &outer.facts.argv,
            Self::Inner(inner) => inner.argv,
            Self::Opaque(_) => &[],
        }
    }

    /// Patterns found in any text of the subject.
    pub(crate) fn found_patterns(&self) -> impl Iterator<Item = usize> {
        let (first, second) = match self {
            Self::Outer(outer) => (&outer.text_patterns, Some(&outer.path_patterns)),
            Self::Inner(inner) => (&inner.text_patterns, Some(&inner.path_patterns)),
            Self::Opaque(opaque) => (&opaque.patterns, None),
        };
        first.iter().chain(second.into_iter().flat_map(Found::iter))
    }
}
