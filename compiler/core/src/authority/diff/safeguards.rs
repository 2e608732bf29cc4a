//! What keeps secrets and records: rows "secrets sources" and "audit".

use super::class::Class;
use super::lists::pair;
use super::record::{Scope, path_text};
use crate::manifest::{Audit, AuditContent, AuditFailure, AuditFormat, SecretSource, Secrets};

pub(super) fn secrets(old: &Secrets, new: &Secrets, scope: &mut Scope<'_>) {
    let Secrets {
        replacement,
        sources,
    } = old;
    scope.changed("replacement", replacement, &new.replacement, Class::Neutral);
    let pairs = pair(sources, &new.sources, |source| match source {
        SecretSource::FromEnv { name, .. } => format!("from_env {name}"),
        SecretSource::FromFile { path, .. } => format!("from_file {}", path_text(path)),
        SecretSource::Literal { index } => format!("literal {index}"),
    });
    let mut scope = scope.at("sources");
    for (key, source) in pairs.added {
        scope.added(&key, source, Class::Narrowing);
    }
    for (key, source) in pairs.removed {
        scope.removed(&key, source, Class::Widening);
    }
    for (key, old, new) in pairs.kept {
        secret(old, new, &mut scope.at(&key));
    }
    if pairs.reordered {
        // Every source is redacted, whichever comes first.
        scope.changed("order", sources, &new.sources, Class::Neutral);
    }
}

fn secret(old: &SecretSource, new: &SecretSource, scope: &mut Scope<'_>) {
    match (old, new) {
        (
            SecretSource::FromEnv { name: _, optional },
            SecretSource::FromEnv {
                optional: other, ..
            },
        ) => scope.stepped("optional", optional, other, |optional| *optional),
        (
            SecretSource::FromFile {
                path: _,
                optional,
                strip,
            },
            SecretSource::FromFile {
                optional: other,
                strip: new_strip,
                ..
            },
        ) => {
            scope.stepped("optional", optional, other, |optional| *optional);
            scope.changed("strip", strip, new_strip, Class::Mixed);
        }
        _ => scope.changed("", old, new, Class::Mixed),
    }
}

pub(super) fn audit(old: &Audit, new: &Audit, scope: &mut Scope<'_>) {
    let Audit {
        format,
        path,
        content,
        failure,
        filter,
    } = old;
    let lasts = |format: AuditFormat| matches!(format, AuditFormat::Jsonl | AuditFormat::Session);
    let class = match (lasts(*format), lasts(new.format)) {
        (true, false) => Class::Widening,
        (false, true) => Class::Narrowing,
        _ => Class::Mixed,
    };
    scope.changed("format", format, &new.format, class);
    // A path that comes or goes does so with its format, which says what that means.
    let class = if *format == new.format || (path.is_some() && new.path.is_some()) {
        Class::Mixed
    } else {
        Class::Neutral
    };
    scope.changed("path", path, &new.path, class);
    scope.stepped("content", content, &new.content, |content| {
        *content == AuditContent::Full
    });
    scope.stepped("failure", failure, &new.failure, |failure| match failure {
        AuditFailure::Terminate => 0,
        AuditFailure::DenyStart => 1,
        AuditFailure::Continue => 2,
    });
    let class = match (filter, &new.filter) {
        (Some(_), None) => Class::Widening,
        (None, Some(_)) => Class::Narrowing,
        _ => Class::Mixed,
    };
    scope.changed("filter", filter, &new.filter, class);
}
