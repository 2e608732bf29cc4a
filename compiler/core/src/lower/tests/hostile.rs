//! Any bytes: no panic, spans inside the item, work in proportion to the input.

use std::time::{Duration, Instant};

use chatmd_syntax::parse;

use super::super::{item_starts, lower};

const DOCUMENT: &str = r#"<import src="a" namespace="n"/><config model="m"/>
<script id="s" language="chatml" kind="shell_matcher" fuel="10">let x = 1</script>
<moderator_runtime shell_runtime="r"/>
<shell_access id="r" extends="builtin:workspace-readonly@1" cwd="${workspace}/ä">
  <capabilities network="false"><read path="/a"/><write path_env="B" optional="true"/></capabilities>
  <resolver><executable id="e" path="x" sha256="ab"/></resolver>
  <environment><set name="A" value="&lt;${home}"/><path_env name="P" suffix="x/../y"/></environment>
  <limits wall_time="5min" memory="none"/>
  <backends><external_backend executable="/w"><arg value="é"/><command_argv/></external_backend></backends>
  <policy><rule id="q" action="deny"><all><program_regex value="(é)\1"/><argv_prefix values="a, ,b"/></all></rule></policy>
  <reviewers><reviewer id="h" kind="executable" executable="h" runtime="w"/></reviewers>
  <secrets><literal value="x${home}"/></secrets><audit format="jsonl"/>
</shell_access>
<tool name="t t" runtime="r" command="a &quot;é | b"><arguments mode="none" max_count="1"/></tool>
<tool mcp_server="https://e" include="é, ,a,a"/><tool name="read_file"><read id="é" path="/"/></tool>
<user ochat-history-id="2:é:1">x<agent src="a"><import src="${x}"/></agent></user>
"#;

/// Lowers and checks that every place can be sliced.
fn survive(bytes: &[u8]) {
    let parse = parse(bytes);
    let starts = item_starts(&parse);
    let lowered = lower(&parse);
    assert_eq!(lowered.items.len(), starts.len());
    for (item, start) in lowered.items.iter().zip(starts) {
        for finding in &item.diagnostics {
            let labels = finding
                .secondary
                .iter()
                .chain([&finding.primary])
                .map(|label| label.place);
            let edits = finding
                .fixes
                .iter()
                .flat_map(|fix| &fix.edits)
                .map(|edit| edit.place);
            for place in labels.chain(edits) {
                let span = place.span.offset_by(start);
                assert!(
                    parse.tree.text.get(span.range()).is_some(),
                    "{} {span:?}",
                    finding.code
                );
            }
            assert!(
                !finding.message.is_empty() && !finding.path.is_empty(),
                "{finding:?}"
            );
        }
    }
}

#[test]
fn every_truncation_survives() {
    for end in 0..DOCUMENT.len() {
        survive(&DOCUMENT.as_bytes()[..end]);
    }
}

/// Small deterministic generator, so that a failure can be repeated.
struct Noise(u64);

impl Noise {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }
}

#[test]
fn random_mutations_survive() {
    let rounds: u64 = std::env::var("CHATMD_MUTATIONS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1_500);
    let pieces: &[&[u8]] = &[
        b"<",
        b">",
        b"\"",
        b"'",
        b"/>",
        b"&",
        b"${",
        b"\0",
        b"\xff",
        "é".as_bytes(),
        b"RAW|",
        b"</",
        b"=",
        b" ",
        b"none",
        b"\\",
    ];
    for seed in 1..=rounds {
        let mut noise = Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut bytes = DOCUMENT.as_bytes().to_vec();
        for _ in 0..=noise.next(4) {
            let at = noise.next(bytes.len());
            let length = noise.next(4).min(bytes.len() - at);
            bytes.splice(
                at..at + length,
                pieces[noise.next(pieces.len())].iter().copied(),
            );
        }
        survive(&bytes);
    }
}

/// A name and a document with so many of something.
type Shape = (&'static str, fn(usize) -> String);

fn time(text: &str) -> Duration {
    let parse = parse(text.as_bytes());
    let start = Instant::now();
    let lowered = lower(&parse);
    assert!(!lowered.items.is_empty());
    start.elapsed()
}

#[test]
fn work_grows_with_the_input() {
    let shapes: &[Shape] = &[
        ("rules", |n| {
            let rules: String = (0..n)
                .map(|i| {
                    format!("<rule id=\"x{i}\" action=\"ask\"><basename value=\"a/b\"/></rule>")
                })
                .collect();
            format!("<shell_access id=\"r\"><policy>{rules}</policy></shell_access>")
        }),
        ("strangers", |n| {
            format!(
                "<shell_access id=\"r\">{}</shell_access>",
                "<wat/>x".repeat(n)
            )
        }),
        ("variables", |n| {
            format!(
                "<shell_access id=\"r\"><environment><set name=\"a\" value=\"{}\"/></environment></shell_access>",
                "${home}".repeat(n.min(9_000))
            )
        }),
        ("include", |n| {
            format!(
                "<tool mcp_server=\"https://e\" include=\"{}\"/>",
                "é,".repeat(n)
            )
        }),
        ("roots", |n| {
            let roots: String = (0..n)
                .map(|i| format!("<read id=\"x{i}\" path=\"/\"/>"))
                .collect();
            format!("<tool name=\"read_file\">{roots}</tool>")
        }),
        ("dollars", |n| {
            format!(
                "<shell_access id=\"r\" cwd=\"{}\"/>",
                "$".repeat(n.min(4_000))
            )
        }),
        ("runtimes", |n| {
            "<shell_access id=\"r\" bad=\"x\"/>".repeat(n)
        }),
    ];
    for (name, shape) in shapes {
        let small = time(&shape(2_000)).max(Duration::from_millis(2));
        let large = time(&shape(16_000));
        // Eight times the input: a quadratic pass would take 64 times as long.
        assert!(large < small * 30, "{name}: {small:?} then {large:?}");
    }
}

#[test]
fn findings_of_a_file_are_bounded() {
    let text = "<shell_access id=\"9\" bad=\"x\"/><user bad=\"x\">y</user>\n".repeat(3_000);
    let lowered = lower(&parse(text.as_bytes()));
    let kept: usize = lowered
        .items
        .iter()
        .map(|item| item.diagnostics.len())
        .sum();
    assert_eq!(kept, 2 * (chatmd_syntax::MAX_DIAGNOSTICS + 1));
    assert!(lowered.items.iter().step_by(2).all(|item| item.broken));
}
