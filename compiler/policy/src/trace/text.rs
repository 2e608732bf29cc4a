//! The trace for people (spec 12 section 3.5).

use std::fmt::{self, Write as _};

use super::{ApprovalTrace, DeclaredIn, EffectTrace, MatchTrace, StageTrace, Trace};
use crate::value::Value;

impl fmt::Display for Trace {
    /// Lines of a fixed-width label and its content. Texts are printed as they are: sanitise the
    /// trace first.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chain = match &self.parse {
            Some(parse) => !parse.ok || self.stages.len() > 1,
            None => false,
        };
        let kind = if chain {
            "chain"
        } else {
            self.request.kind.as_str()
        };
        line(out, "request", &format!("{kind:<14} {}", self.words()))?;
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
        for change in &self.may_change {
            let text = format!("{:<14} {} ({})", change.kind, change.id, change.when);
            line(out, "not run", &text)?;
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
    /// The request as somebody would type it.
    fn words(&self) -> String {
        let input = &self.request.input;
        let command = input.as_str().or_else(|| input.get("command")?.as_str());
        match (command, self.stages.as_slice()) {
            (Some(text), _) => text.to_owned(),
            (None, [stage]) => command_line(&stage.argv),
            (None, _) => input.to_string(),
        }
    }

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
        if let Some(digest) = resolution.sha256.as_deref().and_then(|it| it.get(..12)) {
            let _ = write!(found, "  sha256 {digest}…");
        }
        let label = format!("stage {}", stage.index + 1);
        line(out, &label, &format!("{:<14} {found}", resolution.program))?;
        line(out, "effects", &effects(&stage.effects))?;
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
        if stage.capability.ok {
            line(out, "capability", "ok")?;
        }
        self.policy(out, stage)?;
        if let Some(approval) = &stage.approval {
            approval_line(out, approval)?;
        }
        if let Some(backend) = &stage.backend {
            let text = format!("{:<14} {}", backend.kind, backend.confinement);
            line(out, "backend", &text)?;
        }
        Ok(())
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
            if let Some(place) = rule.declared_in.as_ref().and_then(declared) {
                line(out, "", &format!("  {:<28} {place}", rule.id))?;
            }
            if let Some(tree) = &rule.tree {
                matcher(out, tree)?;
            }
        }
        Ok(())
    }
}

/// Effects in order; what found several in a row is named once, after the last of them.
fn effects(effects: &[EffectTrace]) -> String {
    if effects.is_empty() {
        return "none".to_owned();
    }
    let mut text = String::new();
    for (index, effect) in effects.iter().enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        let kind = effect
            .effect
            .strip_suffix("_path")
            .unwrap_or(&effect.effect);
        text.push_str(kind);
        if let Some(path) = &effect.path {
            let _ = write!(text, ":{path}");
        }
        let next = effects.get(index + 1);
        if next.is_none_or(|next| next.rule != effect.rule || next.source != effect.source) {
            let _ = match effect.source.as_str() {
                "builtin" => write!(text, " ({})", effect.rule),
                source => write!(text, " ({source} {})", effect.rule),
            };
        }
    }
    text
}

/// `FILE:LINE:COLUMN`, or the profile.
fn declared(place: &DeclaredIn) -> Option<String> {
    match (&place.span, &place.profile) {
        (Some(span), _) => Some(format!("{}:{}:{}", span.file, span.line, span.column)),
        (None, Some(profile)) => Some(format!("profile {profile}")),
        (None, None) => None,
    }
}

fn approval_line(out: &mut fmt::Formatter<'_>, approval: &ApprovalTrace) -> fmt::Result {
    let who: Vec<String> = approval
        .reviewers
        .iter()
        .map(|reviewer| format!("{} {} ({})", reviewer.kind, reviewer.id, reviewer.state))
        .collect();
    let who = match (approval.needed, who.is_empty()) {
        (false, _) => format!("nobody can be asked: {}", approval.unavailable),
        (true, true) => "a person is asked".to_owned(),
        (true, false) => who.join(", "),
    };
    let scopes = approval.scopes.join(", ");
    line(
        out,
        "approval",
        &format!("{:<14} {who}; scopes {scopes}", approval.provider),
    )
}

/// An argv as a shell would read it back.
fn command_line(argv: &[String]) -> String {
    let plain = |word: &String| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_./:-=@%+,".contains(&byte))
    };
    let words = argv.iter().map(|word| {
        if plain(word) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    });
    words.collect::<Vec<_>>().join(" ")
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
