//! The trace for people.

use std::fmt::Write as _;

use chatmd_compiler::SafeText;
use chatmd_policy::trace::Trace;

/// The trace; with `verbose`, the exact sandbox command and every fact that was assumed.
pub(super) fn trace(trace: &Trace, verbose: bool) -> String {
    let mut text = SafeText::lines(&trace.to_string()).into_string();
    if verbose {
        for stage in &trace.stages {
            let Some(backend) = &stage.backend else {
                continue;
            };
            text.push_str("sandbox    ");
            for (number, word) in backend.argv.iter().enumerate() {
                match number {
                    0 => {}
                    _ if word.starts_with("--") => text.push_str("\n           "),
                    _ => text.push(' '),
                }
                text.push_str(SafeText::line(word).as_str());
            }
            text.push('\n');
        }
        for assumption in &trace.assumptions {
            let _ = writeln!(text, "assumed    {}", SafeText::line(assumption).as_str());
        }
    }
    text
}

/// The effects of each command, one a line.
pub(super) fn effects(trace: &Trace) -> String {
    let mut text = String::new();
    for stage in &trace.stages {
        if trace.stages.len() > 1 {
            let _ = writeln!(text, "stage {}", stage.index + 1);
        }
        for effect in &stage.effects {
            let path = effect
                .path
                .as_deref()
                .map_or(String::new(), |path| format!(":{path}"));
            let line = format!(
                "{}{path}  ({} {})",
                effect.effect, effect.source, effect.rule
            );
            let _ = writeln!(text, "{}", SafeText::line(&line).as_str());
        }
        if stage.effects.is_empty() {
            text.push_str("none\n");
        }
    }
    text
}
