//! The environment of commands: rows "environment inherit" and "environment operations".

use super::class::Class;
use super::lists::pair;
use super::record::{Scope, path_text};
use crate::manifest::{EnvOp, Environment, Inherit};

pub(super) fn compare(old: &Environment, new: &Environment, scope: &mut Scope<'_>) {
    let Environment {
        inherit,
        operations,
    } = old;
    scope.stepped("inherit", inherit, &new.inherit, |inherit| reach(*inherit));
    let pairs = pair(operations, &new.operations, key);
    let mut scope = scope.at("operations");
    for (key, operation) in pairs.added {
        let class = match operation {
            EnvOp::Pass { .. } => Class::Widening,
            EnvOp::Unset { .. } | EnvOp::UnsetPrefix { .. } => Class::Narrowing,
            EnvOp::Set { .. } | EnvOp::Path { .. } | EnvOp::PathEnv { .. } => Class::Mixed,
        };
        scope.added(&key, operation, class);
    }
    for (key, operation) in pairs.removed {
        scope.removed(&key, operation, removed(operation, new.inherit));
    }
    for (key, old, new) in pairs.kept {
        one(old, new, &mut scope.at(&key));
    }
    if pairs.reordered {
        scope.changed("order", operations, &new.operations, Class::Mixed);
    }
}

/// How much of the host's environment a command sees.
fn reach(inherit: Inherit) -> u8 {
    match inherit {
        Inherit::None | Inherit::Selected => 0,
        Inherit::Safe => 1,
        Inherit::AllSanitized => 2,
        Inherit::Raw => 3,
    }
}

fn removed(operation: &EnvOp, inherit: Inherit) -> Class {
    match operation {
        // The variable may still be inherited, and is no longer known to be secret.
        EnvOp::Pass { secret: true, .. } if reach(inherit) > 0 => Class::Mixed,
        EnvOp::Pass { .. } => Class::Narrowing,
        EnvOp::Unset { .. } | EnvOp::UnsetPrefix { .. } => Class::Widening,
        EnvOp::Set { .. } | EnvOp::Path { .. } | EnvOp::PathEnv { .. } => Class::Mixed,
    }
}

fn key(operation: &EnvOp) -> String {
    match operation {
        EnvOp::Set { name, .. } => format!("set {name}"),
        EnvOp::Pass { name, .. } => format!("pass {name}"),
        EnvOp::Unset { name } => format!("unset {name}"),
        EnvOp::UnsetPrefix { prefix } => format!("unset_prefix {prefix}"),
        EnvOp::Path { position, path } => {
            format!("path {} {}", position.as_str(), path_text(path))
        }
        EnvOp::PathEnv { name, .. } => format!("path_env {name}"),
    }
}

fn one(old: &EnvOp, new: &EnvOp, scope: &mut Scope<'_>) {
    match (old, new) {
        (
            EnvOp::Pass {
                name: _,
                required,
                secret,
            },
            EnvOp::Pass {
                required: new_required,
                secret: new_secret,
                ..
            },
        ) => {
            // What need not be there, or need not be hidden, permits more.
            scope.stepped("required", required, new_required, |required| !required);
            scope.stepped("secret", secret, new_secret, |secret| !secret);
        }
        _ => scope.changed("", old, new, Class::Mixed),
    }
}
