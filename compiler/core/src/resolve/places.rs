//! Where a document declares what decides about commands: runtimes, ceilings, rules, tools.
//!
//! Only what each runtime declares itself is kept; what it inherits is found by following its
//! parents, so the size is that of the document.

use std::collections::HashMap;

use chatmd_policy::EffectKind;

use super::context::Context;
use super::registry::{Parent, RuntimeNode, field_place};
use super::report::place;
use crate::decl::Sp;
use crate::diagnostics::Place;

/// Most parents that are followed; no document has more (spec 04 section 2).
const MAX_CHAIN: usize = 10_000;

/// Places of declarations by qualified name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    runtimes: HashMap<String, RuntimePlaces>,
    tools: HashMap<String, Place>,
}

/// What one runtime declares itself.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RuntimePlaces {
    at: Place,
    extends: Option<Place>,
    parent: ParentName,
    capabilities: Option<Place>,
    network: Option<Place>,
    child_processes: Option<Place>,
    arbitrary_code: Option<Place>,
    privilege_change: Option<Place>,
    rules: HashMap<String, Place>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ParentName {
    None,
    Runtime(String),
    Profile(String),
}

/// Where a rule comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RulePlace {
    /// Declared in a document, by that runtime.
    Document {
        /// Qualified id of the runtime.
        runtime: String,
        /// Its id there.
        at: Place,
    },
    /// Part of a built-in profile, by its versioned name.
    Profile(String),
}

impl Places {
    pub(super) fn collect(cx: &Context<'_>, tools: &super::tools::Tools) -> Self {
        let runtimes = &cx.registry.runtimes;
        Self {
            runtimes: runtimes
                .iter()
                .filter(|node| node.registered)
                .map(|node| (node.id.clone(), own(node, runtimes)))
                .collect(),
            tools: tools
                .tools
                .iter()
                .map(|(tool, at)| (tool.name.clone(), *at))
                .collect(),
        }
    }

    /// The id of a runtime.
    pub fn runtime(&self, id: &str) -> Option<Place> {
        self.runtimes.get(id).map(|places| places.at)
    }

    /// The `extends` of a runtime.
    pub fn extends(&self, id: &str) -> Option<Place> {
        self.runtimes.get(id)?.extends
    }

    /// The name of a tool.
    pub fn tool(&self, name: &str) -> Option<Place> {
        self.tools.get(name).copied()
    }

    /// Where a rule of a runtime is declared: by itself or by what it extends.
    pub fn rule(&self, runtime: &str, rule: &str) -> Option<RulePlace> {
        for (id, places) in self.chain(runtime) {
            if let Some(at) = places.rules.get(rule) {
                return Some(RulePlace::Document {
                    runtime: id.to_owned(),
                    at: *at,
                });
            }
            if let ParentName::Profile(profile) = &places.parent {
                return Some(RulePlace::Profile(profile.clone()));
            }
        }
        None
    }

    /// What sets the ceiling of an effect: the attribute, else the nearest `<capabilities>`, else
    /// the runtime.
    pub fn ceiling(&self, runtime: &str, kind: EffectKind) -> Option<Place> {
        let attribute = |places: &RuntimePlaces| match kind {
            EffectKind::Network => places.network,
            EffectKind::ChildProcesses => places.child_processes,
            EffectKind::ArbitraryCode => places.arbitrary_code,
            EffectKind::PrivilegeChange => places.privilege_change,
            EffectKind::ReadPath | EffectKind::WritePath | EffectKind::Unknown => None,
        };
        self.chain(runtime)
            .find_map(|(_, places)| attribute(places))
            .or_else(|| {
                self.chain(runtime)
                    .find_map(|(_, places)| places.capabilities)
            })
            .or_else(|| self.runtime(runtime))
    }

    /// A runtime and those it extends.
    fn chain<'a>(&'a self, id: &'a str) -> impl Iterator<Item = (&'a str, &'a RuntimePlaces)> {
        let mut next = Some(id);
        std::iter::from_fn(move || {
            let id = next.take()?;
            let (id, places) = self.runtimes.get_key_value(id)?;
            if let ParentName::Runtime(parent) = &places.parent {
                next = Some(parent);
            }
            Some((id.as_str(), places))
        })
        .take(MAX_CHAIN)
    }
}

fn own(node: &RuntimeNode<'_>, all: &[RuntimeNode<'_>]) -> RuntimePlaces {
    let at = |span| place(node.item, span);
    let powers = node.decl.capabilities.as_ref();
    let power = |value: Option<&Sp<bool>>| value.map(|value| at(value.span));
    let parent = match node.parent {
        Parent::Runtime(index) => all
            .get(index)
            .map_or(ParentName::None, |it| ParentName::Runtime(it.id.clone())),
        Parent::Profile(profile) => ParentName::Profile(profile.versioned.to_owned()),
        Parent::Defaults | Parent::Unavailable => ParentName::None,
    };
    let rules = node.decl.policy.iter().flat_map(|section| &section.rules);
    RuntimePlaces {
        at: field_place(node.item, &node.decl.id),
        extends: node
            .decl
            .extends
            .value()
            .map(|_| field_place(node.item, &node.decl.extends)),
        parent,
        capabilities: powers.map(|powers| at(powers.name)),
        network: power(powers.and_then(|it| it.network.as_ref())),
        child_processes: power(powers.and_then(|it| it.child_processes.as_ref())),
        arbitrary_code: power(powers.and_then(|it| it.arbitrary_code.as_ref())),
        privilege_change: power(powers.and_then(|it| it.privilege_change.as_ref())),
        rules: rules
            .map(|rule| (rule.id.value.clone(), at(rule.id.span)))
            .collect(),
    }
}
