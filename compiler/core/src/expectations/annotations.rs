//! Rationales: what `why:` and `instead:` say of rules and tools (spec 12 section 1.3). They carry
//! no authority and are no part of the manifest.

use std::collections::{BTreeMap, HashMap};

use super::directive::is_ws;
use crate::diagnostics::Place;
use crate::manifest::Runtime;
use crate::safe_text::SafeText;

/// Most bytes of one text.
pub const MAX_ANNOTATION_BYTES: usize = 512;

/// What a document says of one rule or tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// Qualified id of the runtime, when it is known.
    pub runtime: Option<String>,
    /// Id of the rule; else it is about a tool.
    pub rule: Option<String>,
    /// Name of the tool.
    pub tool: Option<String>,
    /// Why the rule is there.
    pub why: Option<String>,
    /// What to do instead.
    pub instead: Option<String>,
    /// The first of its directives.
    pub at: Place,
}

impl Annotation {
    /// The text behind the head of a directive, in one line and without terminal sequences.
    pub(super) fn text(directive: &str) -> Result<String, (&'static str, String)> {
        let text = directive.split_once(':').map_or("", |(_, text)| text);
        let lines = text
            .split(['\n', '\r'])
            .map(|line| line.trim_matches(is_ws));
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        let text = lines.join(" ");
        if text.is_empty() {
            return Err(("chatmd.test_syntax", "the text is empty".to_owned()));
        }
        if text.len() > MAX_ANNOTATION_BYTES {
            let message = format!(
                "the text has {} bytes; at most {MAX_ANNOTATION_BYTES} are shown",
                text.len()
            );
            return Err(("chatmd.test_limit", message));
        }
        Ok(SafeText::line(&text).into_string())
    }
}

/// Runtime, rule and tool.
type Key = (Option<String>, Option<String>, Option<String>);

/// All annotations of a document, in the order of their first directives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    entries: Vec<Annotation>,
    known: HashMap<Key, usize>,
}

impl Annotations {
    /// Adds one text; gives the place of an earlier one of the same kind, which stays.
    pub(super) fn add(&mut self, key: Key, why: bool, text: String, at: Place) -> Option<Place> {
        let entry = match self
            .known
            .get(&key)
            .and_then(|at| self.entries.get_mut(*at))
        {
            Some(entry) => entry,
            None => {
                self.known.insert(key.clone(), self.entries.len());
                let (runtime, rule, tool) = key;
                let entry = Annotation {
                    runtime,
                    rule,
                    tool,
                    why: why.then(|| text.clone()),
                    instead: (!why).then_some(text),
                    at,
                };
                self.entries.push(entry);
                return None;
            }
        };
        let slot = if why {
            &mut entry.why
        } else {
            &mut entry.instead
        };
        // A file that is read twice says everything twice, at the same place.
        let earlier = slot
            .is_some()
            .then_some(entry.at)
            .filter(|first| *first != at);
        slot.get_or_insert(text);
        earlier
    }

    /// All of them.
    pub fn entries(&self) -> &[Annotation] {
        &self.entries
    }

    /// What is said of a rule, in the runtime itself or in one that it extends.
    pub fn rule(&self, runtime: &Runtime, rule: &str) -> Option<&Annotation> {
        let ids = std::iter::once(&runtime.id).chain(&runtime.extends);
        ids.filter_map(|id| {
            let key = (Some(id.clone()), Some(rule.to_owned()), None);
            self.entries.get(*self.known.get(&key)?)
        })
        .next()
    }

    /// What is appended to a refusal, by runtime and rule: `; WHY` and `; instead: TEXT`. Heirs of
    /// a runtime say the same of the rules that they keep.
    pub fn beside_refusals(
        &self,
        runtimes: &[Runtime],
    ) -> BTreeMap<String, BTreeMap<String, String>> {
        let mut found: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        if self.entries.iter().all(|entry| entry.rule.is_none()) {
            return found;
        }
        for runtime in runtimes {
            for rule in &runtime.policy.rules {
                let Some(entry) = self.rule(runtime, &rule.id) else {
                    continue;
                };
                let mut text = String::new();
                if let Some(why) = &entry.why {
                    text.push_str(&format!("; {why}"));
                }
                if let Some(instead) = &entry.instead {
                    text.push_str(&format!("; instead: {instead}"));
                }
                let of_runtime = found.entry(runtime.id.clone()).or_default();
                of_runtime.insert(rule.id.clone(), text);
            }
        }
        found
    }

    /// What is said of a tool.
    pub fn tool(&self, name: &str) -> Option<&Annotation> {
        self.entries
            .iter()
            .find(|entry| entry.tool.as_deref() == Some(name))
    }
}
