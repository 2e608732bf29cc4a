//! Reviewers, interceptors and analyzers: rows "reviewers", "before-interceptor,
//! after-interceptor", "failure words", "analyzers".

use super::class::Class;
use super::lists::pair;
use super::record::Scope;
use crate::manifest::{Analyzer, Extension, Failure, Interceptor, Reviewer, Reviewers};

pub(super) fn reviewers(old: &Reviewers, new: &Reviewers, scope: &mut Scope<'_>) {
    let Reviewers {
        mode,
        strategy,
        entries,
    } = old;
    scope.changed("mode", mode, &new.mode, Class::Mixed);
    scope.changed("strategy", strategy, &new.strategy, Class::Mixed);
    let id = |reviewer: &Reviewer| match reviewer {
        Reviewer::Ui { id }
        | Reviewer::Chatml { id, .. }
        | Reviewer::Model { id, .. }
        | Reviewer::Executable { id, .. } => id.clone(),
    };
    let pairs = pair(entries, &new.entries, id);
    let mut scope = scope.at("entries");
    for (id, entry) in pairs.added {
        scope.added(&id, entry, Class::Mixed);
    }
    for (id, entry) in pairs.removed {
        scope.removed(&id, entry, Class::Mixed);
    }
    for (id, old, new) in pairs.kept {
        scope.changed(&id, old, new, Class::Mixed);
    }
    if pairs.reordered {
        scope.changed("order", entries, &new.entries, Class::Mixed);
    }
}

pub(super) fn interceptors(old: &[Interceptor], new: &[Interceptor], scope: &mut Scope<'_>) {
    let pairs = pair(old, new, |entry| entry.id.clone());
    for (id, entry) in pairs.added {
        scope.added(&id, entry, Class::Mixed);
    }
    for (id, entry) in pairs.removed {
        scope.removed(&id, entry, Class::Widening);
    }
    for (id, old, new) in pairs.kept {
        let Interceptor {
            id: _,
            phase,
            matcher,
            failure,
            extension,
        } = old;
        let mut scope = scope.at(&id);
        scope.changed("phase", phase, &new.phase, Class::Mixed);
        scope.changed("matcher", matcher, &new.matcher, Class::Widening);
        self::failure(*failure, new.failure, &mut scope);
        self::extension("extension", extension, &new.extension, &mut scope);
    }
    if pairs.reordered {
        scope.changed("order", old, new, Class::Mixed);
    }
}

/// How much a failed extension lets through.
fn leniency(failure: Failure) -> u8 {
    match failure {
        Failure::Deny | Failure::Error => 0,
        Failure::Unknown => 1,
        Failure::Keep => 2,
    }
}

fn failure(old: Failure, new: Failure, scope: &mut Scope<'_>) {
    scope.stepped("failure", &old, &new, |failure| leniency(*failure));
}

/// A script or hook in another form, by another name or with other settings.
pub(super) fn extension(member: &str, old: &Extension, new: &Extension, scope: &mut Scope<'_>) {
    scope.changed(member, old, new, Class::Mixed);
}

pub(super) fn analyzers(old: &[Analyzer], new: &[Analyzer], scope: &mut Scope<'_>) {
    let pairs = pair(old, new, |entry| entry.id.clone());
    for (id, entry) in pairs.added {
        // One that only adds effects asks more; one that replaces them may hide some.
        let class = if entry.replace {
            Class::Widening
        } else {
            Class::Narrowing
        };
        scope.added(&id, entry, class);
    }
    for (id, entry) in pairs.removed {
        scope.removed(&id, entry, Class::Widening);
    }
    for (id, old, new) in pairs.kept {
        let Analyzer {
            id: _,
            replace,
            failure,
            extension,
        } = old;
        let mut scope = scope.at(&id);
        scope.stepped("replace", replace, &new.replace, |replace| *replace);
        self::failure(*failure, new.failure, &mut scope);
        self::extension("extension", extension, &new.extension, &mut scope);
    }
    if pairs.reordered {
        scope.changed("order", old, new, Class::Mixed);
    }
}
