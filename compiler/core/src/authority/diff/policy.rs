//! Policy and approvals: rows "policy default", "rules", "approvals provider", "approvals
//! unavailable", "scopes, durable".

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::class::Class;
use super::lists::pair;
use super::record::{Scope, value};
use crate::manifest::{Action, ApprovalProvider, Approvals, Policy, Rule};

pub(super) fn compare(old: &Policy, new: &Policy, scope: &mut Scope<'_>) {
    let Policy { default, rules } = old;
    scope.stepped("default", default, &new.default, |action| freedom(*action));
    let mut pairs = pair(rules, &new.rules, |rule| rule.id.clone());
    let mut scope = scope.at("rules");
    renamed(&mut pairs.removed, &mut pairs.added, &mut scope);
    for (id, rule) in pairs.added {
        let class = added(rule.action, *default);
        scope.added(&id, rule, class);
    }
    for (id, rule) in pairs.removed {
        let class = removed(rule.action, new.default);
        scope.removed(&id, rule, class);
    }
    for (id, old, new) in pairs.kept {
        let Rule {
            id: _,
            action,
            matcher,
        } = &**old;
        let mut scope = scope.at(&id);
        scope.stepped("action", action, &new.action, |action| freedom(*action));
        scope.changed("matcher", matcher, &new.matcher, Class::Mixed);
    }
    if pairs.reordered {
        // The strictest matching action wins, wherever its rule stands.
        let ids = |rules: &[Arc<Rule>]| -> Vec<String> {
            rules.iter().map(|rule| rule.id.clone()).collect()
        };
        scope.changed("order", &ids(rules), &ids(&new.rules), Class::Neutral);
    }
}

fn freedom(action: Action) -> u8 {
    match action {
        Action::Deny => 0,
        Action::Ask => 1,
        Action::Allow => 2,
    }
}

/// A rule is added where `default` decided.
fn added(action: Action, default: Action) -> Class {
    match (action, default) {
        (Action::Allow, _) | (Action::Ask, Action::Deny) => Class::Widening,
        (Action::Deny, _) | (Action::Ask, Action::Allow) => Class::Narrowing,
        (Action::Ask, Action::Ask) => Class::Mixed,
    }
}

/// A rule is removed and `default` decides.
fn removed(action: Action, default: Action) -> Class {
    match (action, default) {
        (Action::Deny, _) | (Action::Ask, Action::Allow) => Class::Widening,
        (Action::Allow, _) => Class::Narrowing,
        (Action::Ask, Action::Ask | Action::Deny) => Class::Mixed,
    }
}

/// Takes out rules that only got another id.
fn renamed<'a>(
    removed: &mut Vec<(String, &'a Arc<Rule>)>,
    added: &mut Vec<(String, &'a Arc<Rule>)>,
    scope: &mut Scope<'_>,
) {
    let content = |rule: &Rule| value(&(rule.action, &rule.matcher)).to_string();
    let mut free: HashMap<String, Vec<&Arc<Rule>>> = HashMap::new();
    for (_, rule) in removed.iter().rev() {
        free.entry(content(rule)).or_default().push(rule);
    }
    let mut gone: HashSet<&str> = HashSet::new();
    added.retain(|(id, rule)| {
        let Some(old) = free.get_mut(&content(rule)).and_then(Vec::pop) else {
            return true;
        };
        gone.insert(old.id.as_str());
        scope
            .at(id)
            .changed("id", &old.id, &rule.id, Class::Neutral);
        false
    });
    removed.retain(|(_, rule)| !gone.contains(rule.id.as_str()));
}

pub(super) fn approvals(old: &Approvals, new: &Approvals, scope: &mut Scope<'_>) {
    let Approvals {
        provider,
        unavailable,
        scopes,
        durable,
    } = old;
    scope.stepped(
        "provider",
        provider,
        &new.provider,
        |provider| match provider {
            ApprovalProvider::None => 0,
            ApprovalProvider::Ui => 1,
        },
    );
    scope.changed("unavailable", unavailable, &new.unavailable, Class::Neutral);
    let pairs = pair(scopes, &new.scopes, |scope| scope.as_str().to_owned());
    for (word, offered) in pairs.added {
        scope.at("scopes").added(&word, offered, Class::Widening);
    }
    for (word, offered) in pairs.removed {
        scope.at("scopes").removed(&word, offered, Class::Narrowing);
    }
    scope.stepped("durable", durable, &new.durable, |durable| *durable);
}
