//! Diagnostic codes as the command line needs them.

use chatmd_compiler::diagnostics::nearest::nearest;
use chatmd_compiler::diagnostics::registry::{self, Entry};

/// Codes whose name is close to `code`, best first, at most three.
pub fn similar(code: &str) -> Vec<&'static str> {
    let mut left: Vec<&'static str> = registry::entries().map(|entry| entry.code).collect();
    let mut found = Vec::new();
    // The part after the dot is what people remember.
    let same_name = |known: &&str| known.rsplit('.').next() == code.rsplit('.').next();
    found.extend(left.iter().copied().filter(same_name));
    left.retain(|known| !found.contains(known));
    while found.len() < 3 {
        let Some(next) = nearest(code, left.iter().copied()) else {
            break;
        };
        found.push(next);
        left.retain(|known| *known != next);
    }
    found.truncate(3);
    found
}

/// The one sentence of a code.
pub fn title(code: &str) -> &'static str {
    registry::entry(code).map_or("", |entry| entry.title)
}

/// Finds a code.
///
/// # Errors
/// One sentence with the nearest codes.
pub fn find(code: &str) -> Result<Entry, String> {
    registry::entry(code).ok_or_else(|| {
        let similar = similar(code);
        let advice = if similar.is_empty() {
            "`chatmdc explain --list` prints all codes".to_owned()
        } else {
            let quoted: Vec<_> = similar.iter().map(|code| format!("`{code}`")).collect();
            format!("did you mean {}?", quoted.join(" or "))
        };
        format!("unknown code `{code}`; {advice}")
    })
}
