//! Which parts of a runtime can not be judged because something in them was reported already.

use crate::decl::Item;
use crate::diagnostics::Severity;

/// A set of sections of a runtime, its ancestors' included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taint(u16);

/// Sections that checks of the merged runtime look at; others have no such check.
const SECTIONS: &[(&str, Taint)] = &[
    ("capabilities", Taint::CAPABILITIES),
    ("resolver", Taint::RESOLVER),
    ("environment", Taint::ENVIRONMENT),
    ("limits", Taint::LIMITS),
    ("backends", Taint::BACKENDS),
    ("policy", Taint::POLICY),
    ("approvals", Taint::APPROVALS),
    ("reviewers", Taint::REVIEWERS),
    ("interceptors", Taint::INTERCEPTORS),
    ("effect_analysis", Taint::NONE),
    ("secrets", Taint::NONE),
    ("audit", Taint::AUDIT),
    ("cwd", Taint::NONE),
    ("pipefail", Taint::NONE),
];

impl Taint {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const ALL: Self = Self(u16::MAX);
    pub(crate) const CAPABILITIES: Self = Self(1);
    pub(crate) const RESOLVER: Self = Self(1 << 1);
    pub(crate) const ENVIRONMENT: Self = Self(1 << 2);
    pub(crate) const LIMITS: Self = Self(1 << 3);
    pub(crate) const BACKENDS: Self = Self(1 << 4);
    pub(crate) const POLICY: Self = Self(1 << 5);
    pub(crate) const APPROVALS: Self = Self(1 << 6);
    pub(crate) const REVIEWERS: Self = Self(1 << 7);
    pub(crate) const INTERCEPTORS: Self = Self(1 << 8);
    pub(crate) const AUDIT: Self = Self(1 << 9);

    /// What the errors of a declaration cast doubt on. An error outside the sections (a misspelt
    /// `extends`, for instance) or one of the parser casts doubt on everything.
    pub(crate) fn of(item: &Item) -> Self {
        let errors = item
            .diagnostics
            .iter()
            .filter(|found| found.severity == Severity::Error);
        let mut taint = Self::NONE;
        let mut any = false;
        for found in errors {
            any = true;
            // `shell_access`, the id, the section.
            let section = found
                .path
                .get(2)
                .and_then(|name| SECTIONS.iter().find(|(section, _)| section == name));
            match section {
                Some((_, section)) => taint = taint.and(*section),
                None => return Self::ALL,
            }
        }
        if item.broken && !any {
            Self::ALL
        } else {
            taint
        }
    }

    /// Both together.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the sets have a section in common.
    pub(crate) const fn touches(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}
