//! Seeded inputs. The ChatMD text is well-formed XML inside one root element, so that an XML tool can
//! be given the same bytes.

use std::fmt::Write;

/// A small deterministic generator (SplitMix64): the same seed gives the same bytes everywhere.
pub struct Seeded(u64);

impl Seeded {
    /// Starts at `seed`.
    pub fn new(seed: u64) -> Self {
        Seeded(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[(self.next() % words.len() as u64) as usize]
    }
}

const WORDS: &[&str] = &[
    "the",
    "agent",
    "reads",
    "a",
    "file",
    "before",
    "it",
    "answers",
    "and",
    "then",
    "says",
    "which",
    "line",
    "of",
    "code",
    "it",
    "means",
    "`search`",
    "**never**",
    "guess;",
    "ask",
    "when",
    "unsure.",
    "naïve",
    "büro",
    "review",
    "tests",
    "build",
    "folder",
    "user's",
    "reply",
    "context",
    "short",
    "list",
    "10",
    "2.5",
    "日本",
];
const PROGRAMS: &[&str] = &[
    "git", "rg", "cargo", "make", "grep", "ls", "python3", "node", "sed", "tar",
];
const ACTIONS: &[&str] = &["allow", "ask", "deny"];

/// `bytes` of prose, give or take a line.
pub fn prose(seed: &mut Seeded, bytes: usize, out: &mut String) {
    let end = out.len() + bytes;
    while out.len() < end {
        for _ in 0..12 {
            out.push_str(seed.pick(WORDS));
            out.push(' ');
        }
        out.push('\n');
    }
}

/// One runtime of about `bytes` with the given id.
pub fn runtime(seed: &mut Seeded, id: &str, bytes: usize, out: &mut String) {
    let start = out.len();
    writeln!(
        out,
        "<shell_access id=\"{id}\" extends=\"builtin:workspace-readonly@1\" cwd=\"${{workspace}}\">"
    )
    .ok();
    out.push_str("  <capabilities network=\"false\"><read path=\"${workspace}/src\"/><write path=\"${workspace}/target\"/></capabilities>\n");
    out.push_str(
        "  <limits wall_time=\"90s\" idle_time=\"30s\" memory=\"1GiB\" stdout=\"512KiB\"/>\n",
    );
    out.push_str("  <environment inherit=\"safe\"><set name=\"CI\" value=\"1\"/><pass name=\"LANG\"/></environment>\n");
    out.push_str("  <policy default=\"ask\">\n");
    let mut rule = 0;
    while out.len() + 200 < start + bytes {
        let (action, program, word) =
            (seed.pick(ACTIONS), seed.pick(PROGRAMS), seed.pick(PROGRAMS));
        writeln!(
            out,
            "    <rule id=\"rule-{rule}\" action=\"{action}\"><all><basename value=\"{program}\"/><any><argument value=\"{word}\"/><argument_contains value=\"--{word}\"/></any><trusted_executable/></all></rule>"
        )
        .ok();
        rule += 1;
    }
    out.push_str("  </policy>\n  <!-- keep narrow -->\n  <audit format=\"session\" failure=\"deny_start\"/>\n</shell_access>\n");
}

/// One fixed tool bound to `runtime`.
pub fn tool(seed: &mut Seeded, name: &str, runtime: &str, out: &mut String) {
    let program = seed.pick(PROGRAMS);
    writeln!(
        out,
        "<tool name=\"{name}\" type=\"shell\" mode=\"fixed\" runtime=\"{runtime}\" command=\"{program} --flag 'two words'\" description=\"Runs {program} on the project.\"><arguments mode=\"optional\" max_count=\"8\"/></tool>"
    )
    .ok();
}

/// The mixed document of B3: 60 % message text, 40 % declarations, `pairs` runtimes with a tool each.
pub fn mixed(bytes: usize, pairs: usize) -> String {
    let mut seed = Seeded::new(0x00C0_FFEE);
    let mut out = String::with_capacity(bytes + 4096);
    let pair_bytes = bytes * 2 / 5 / pairs.max(1);
    let prose_bytes = bytes * 3 / 5 / pairs.max(1);
    for index in 0..pairs {
        let id = format!("runtime-{index}");
        let before = out.len();
        runtime(&mut seed, &id, pair_bytes.saturating_sub(260), &mut out);
        tool(&mut seed, &format!("tool-{index}"), &id, &mut out);
        let used = out.len() - before;
        out.push_str("<user>\n");
        prose(
            &mut seed,
            (prose_bytes + pair_bytes).saturating_sub(used + 16),
            &mut out,
        );
        out.push_str("</user>\n");
    }
    out
}

/// Python of about `bytes`, clean for a linter's default rules.
pub fn python(bytes: usize) -> String {
    let mut seed = Seeded::new(7);
    let mut out = String::with_capacity(bytes + 256);
    let mut index = 0;
    while out.len() < bytes {
        let (a, b) = (seed.next() % 1000, seed.next() % 1000);
        writeln!(
            out,
            "def function_{index}(value: int, name: str = \"n{a}\") -> dict[str, int]:\n    result = {{\"a\": value + {a}, \"b\": {b}}}\n    if value > {b}:\n        result[name] = len(name) * {a}\n    return result\n\n"
        )
        .ok();
        index += 1;
    }
    out
}

/// The document as XML: the same bytes in one root element.
pub fn as_xml(document: &str) -> String {
    format!("<document>\n{document}</document>\n")
}
