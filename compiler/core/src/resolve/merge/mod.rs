//! Merging a declared runtime into what it inherits (spec 04 section 4).

mod extensions;
mod lists;
mod sections;

use super::convert::Local;
use super::effective::{At, Effective};
use crate::decl::RuntimeDecl;
use extensions::{analyzers, audit, interceptors, policy, reviewers};
use lists::set;
use sections::{approvals, backends, capabilities, environment, limits, resolver, secrets};

/// Merges every section of a declaration.
pub(crate) fn runtime(local: &mut Local<'_, '_>, effective: &mut Effective, decl: &RuntimeDecl) {
    if let Some(cwd) = &decl.cwd {
        effective.cwd = At {
            value: local.path(&cwd.value),
            at: Some(local.place(cwd.span)),
        };
    }
    set(&mut effective.pipefail, &decl.pipefail);
    if let Some(section) = &decl.capabilities {
        capabilities(local, effective, section);
    }
    if let Some(section) = &decl.resolver {
        resolver(local, effective, section);
    }
    if let Some(section) = &decl.environment {
        environment(local, effective, section);
    }
    if let Some(section) = &decl.limits {
        limits(effective, section);
    }
    if let Some(section) = &decl.backends {
        backends(local, effective, section);
    }
    if let Some(section) = &decl.policy {
        policy(local, effective, section);
    }
    if let Some(section) = &decl.approvals {
        approvals(local, effective, section);
    }
    if let Some(section) = &decl.reviewers {
        reviewers(local, effective, section);
    }
    if let Some(section) = &decl.interceptors {
        interceptors(local, effective, section);
    }
    if let Some(section) = &decl.effect_analysis {
        analyzers(local, effective, section);
    }
    if let Some(section) = &decl.secrets {
        secrets(local, effective, section);
    }
    if let Some(section) = &decl.audit {
        audit(local, effective, section);
    }
}
