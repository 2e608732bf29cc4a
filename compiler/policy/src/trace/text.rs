//! The trace for people (spec 12 section 3.5).

use std::fmt::{self, Write as _};

use super::{MatchTrace, StageTrace, Trace};
use crate::value::Value;

impl fmt::Display for Trace {
    /// Lines of a fixed-width label and its content. Texts are printed as they are: sanitise the
    /// trace first.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.parse.is_some() {
            "chain"
        } else {
            self.request.kind.as_str()
        };
        line(
            out,
            "request",
            &format!("{kind:<14} {}", self.request.input),
        )?;
        if !self.input.ok {
            line(
                out,
                "input",
                &reasons(&[&self.input.code, &self.input.reason]),
            )?;
        }
        if let Some(parse) = self.parse.as_ref().filter(|parse| !parse.ok) {
            line(out, "parse", &reasons(&[&parse.reason]))?;
        }
        for stage in &self.stages {
            self.stage(out, stage)?;
        }
        line(
            out,
            "outcome",
            &format!(
                "{:<14} {}",
                self.outcome.as_str(),
                reasons(&[&self.code, &self.reason])
            ),
        )
    }
}

impl Trace {
    fn stage(&self, out: &mut fmt::Formatter<'_>, stage: &StageTrace) -> fmt::Result {
        let resolution = &stage.resolution;
        let mut found = resolution
            .located
            .clone()
            .or_else(|| resolution.error.clone())
            .unwrap_or_else(|| "not found".to_owned());
        for (flag, word) in [
            (resolution.trusted, "trusted"),
            (resolution.stable, "stable"),
        ] {
            if flag {
                let _ = write!(found, "  {word}");
            }
        }
        let label = format!("stage {}", stage.index + 1);
        line(out, &label, &format!("{:<14} {found}", resolution.program))?;
        let effects: Vec<String> = stage
            .effects
            .iter()
            .map(|effect| match &effect.path {
                Some(path) => format!("{}:{path} ({})", effect.effect, effect.rule),
                None => format!("{} ({})", effect.effect, effect.rule),
            })
            .collect();
        line(
            out,
            "effects",
            if effects.is_empty() {
                "none".to_owned()
            } else {
                effects.join(", ")
            }
            .as_str(),
        )?;
        for failure in &stage.capability.failures {
            let place = failure.span.as_ref().map_or(String::new(), |span| {
                format!("  {}:{}:{}", span.file, span.line, span.column)
            });
            line(
                out,
                "capability",
                &format!("{:<14} {}{place}", "FAIL", failure.reason),
            )?;
        }
        self.policy(out, stage)
    }

    fn policy(&self, out: &mut fmt::Formatter<'_>, stage: &StageTrace) -> fmt::Result {
        let policy = &stage.policy;
        let Some(action) = policy.action.filter(|_| policy.evaluated) else {
            return line(out, "policy", "not evaluated");
        };
        let by = if policy.default_used {
            "by default".to_owned()
        } else {
            format!("by {}", policy.deciding.join(", "))
        };
        let after = if stage.capability.ok {
            ""
        } else {
            " (after capability refusal)"
        };
        line(
            out,
            "policy",
            &format!("{:<14} {by}{after}", action.as_str()),
        )?;
        for rule in policy.rules.iter().filter(|rule| rule.deciding) {
            if let Some(tree) = &rule.tree {
                matcher(out, tree)?;
            }
        }
        Ok(())
    }
}

/// A matcher and its children, without call depth.
fn matcher(out: &mut fmt::Formatter<'_>, root: &MatchTrace) -> fmt::Result {
    let mut work = vec![(root, 0)];
    while let Some((node, depth)) = work.pop() {
        let values: Vec<String> = node
            .attributes
            .values()
            .map(|value| {
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned)
            })
            .collect();
        let value = match node.value {
            Value::Yes => "yes",
            Value::Maybe => "maybe",
            Value::No => "no",
        };
        let name = format!("{}{} {}", "  ".repeat(depth), node.kind, values.join(" "));
        let why = node.why.as_deref().unwrap_or_default();
        let on = if node.on == "outer" {
            ""
        } else {
            node.on.as_str()
        };
        let text = format!("  {:<28} {value} {why} {on}", name.trim_end());
        line(out, "", text.trim_end())?;
        work.extend(node.children.iter().rev().map(|child| (child, depth + 1)));
    }
    Ok(())
}

fn line(out: &mut fmt::Formatter<'_>, label: &str, text: &str) -> fmt::Result {
    writeln!(out, "{}", format!("{label:<10} {text}").trim_end())
}

fn reasons(parts: &[&Option<String>]) -> String {
    parts
        .iter()
        .filter_map(|part| part.as_deref())
        .collect::<Vec<_>>()
        .join(": ")
}
