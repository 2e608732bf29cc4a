//! The chain parser against a real shell: what it accepts, `dash` splits into the same words. What
//! it is not sure of it refuses (spec 06 section 5).
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::process::Command;

use chatmd_policy::chain::{self, Chain, Operator};

/// Generated inputs.
const INPUTS: u64 = 10_000;

/// Pieces that inputs are made of: words, every kind of quote, operators, and what a shell would
/// expand, redirect or leave out.
const PIECES: &[&str] = &[
    "p",
    "p",
    "p ",
    " a",
    " b-c",
    " /x/y.z",
    " --opt=v",
    " -n",
    " é",
    " \u{1f600}",
    " ",
    "  ",
    "\t",
    " 'single'",
    " 'a b'",
    " 'a\"b'",
    " ''",
    " \"double\"",
    " \"a b\"",
    " \"\"",
    " \"it's\"",
    " a'b'\"c\"",
    " \\ x",
    " \\\\",
    " \\'",
    " \\\"",
    " \"\\\"\"",
    " \"\\\\\"",
    " \"\\x\"",
    " '\\'",
    "\\",
    "'",
    "\"",
    " | p",
    " | p q",
    " && p",
    " || p",
    " ; p",
    "|",
    "&&",
    "||",
    ";",
    "&",
    " & p",
    "|&",
    " $HOME",
    " \"$HOME\"",
    " '$HOME'",
    " ${x}",
    " $(id)",
    " `id`",
    " '`id`'",
    " \"`id`\"",
    " $((1))",
    " *",
    " '*'",
    " ?",
    " [a]",
    " {a,b}",
    " {a..b}",
    " ~",
    " ~/x",
    " a~",
    " a=~",
    " '~'",
    " #c",
    " a#c",
    " '#'",
    " >x",
    " <x",
    " 2>&1",
    " >>x",
    " <<E",
    " !",
    "! p",
    " (p)",
    "(p)",
    " { p; }",
    " A=b",
    "A=b p",
    " a=b",
    " if",
    "if",
    " then",
    "while",
    " do",
    " done",
    " case",
    " in",
    " esac",
    "\n",
    "\r",
    "\u{0}",
    " -",
    " --",
    " .",
    ". x",
    " :",
    "=p",
    " %x",
    " ^",
    " ,",
    " +",
    " @",
    " !x",
    " a!b",
    "\u{a0}",
    "\u{202e}",
];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }
}

fn input(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    // Most begin with a program, so that many are accepted.
    let mut text = if random.below(8) > 0 { "p" } else { "" }.to_owned();
    // Harmless pieces are at the front of the list.
    let reach = if random.below(3) > 0 {
        38
    } else {
        PIECES.len()
    };
    for _ in 0..random.below(8) {
        text.push_str(PIECES[random.below(reach)]);
    }
    text
}

/// What the commands of a chain that run would get, when each of them succeeds.
fn executed(chain: &Chain) -> Vec<&[String]> {
    let mut run = Vec::new();
    for (index, pipeline) in chain.pipelines.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|at| chain.operators.get(at));
        // All succeed, so `||` never goes on.
        if before != Some(&Operator::Or) {
            run.extend(pipeline.stages.iter().map(Vec::as_slice));
        }
    }
    run
}

#[test]
fn accepted_words_are_those_of_the_shell() {
    let mut accepted: Vec<(String, Vec<Vec<String>>)> = Vec::new();
    let mut refused = 0;
    for seed in 1..=INPUTS {
        let text = input(seed);
        match chain::parse(&text) {
            // Only a command named `p` prints what it gets.
            Ok(chain) if executed(&chain).iter().all(|argv| argv[0] == "p") => {
                let run = executed(&chain).into_iter().map(<[String]>::to_vec);
                accepted.push((text.clone(), run.collect()));
            }
            Ok(_) => {}
            Err(_) => refused += 1,
        }
    }
    // Both sides have to be met often for the comparison to mean something.
    assert!(accepted.len() > 2_000, "{} accepted", accepted.len());
    assert!(refused > 2_000, "{refused} refused");

    let mut script = String::from(
        "p() { [ -t 0 ] || while read -r _; do :; done; printf '%s\\0' p \"$@\" '' >&3; }\n",
    );
    for (index, (text, _)) in accepted.iter().enumerate() {
        // A line end of another system is a line end here; a shell keeps its first half.
        let text = text
            .strip_suffix('\r')
            .filter(|rest| !rest.ends_with('\\'))
            .unwrap_or(text);
        script.push_str(&format!("printf 'case %s\\0' {index} >&3\n{text}\n"));
    }
    let folder = std::env::temp_dir().join(format!("chatmd-chain-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("script");
    std::fs::write(&file, script).unwrap();
    let output = Command::new("dash")
        .args([
            "-c",
            "exec 3>&1 </dev/null; . \"$0\"",
            file.to_str().unwrap(),
        ])
        .current_dir(&folder)
        .env_clear()
        .output()
        .expect("dash is installed");
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().collect();
    assert_eq!(left.len(), 1, "a command wrote a file: {left:?}");
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");

    let found = String::from_utf8(output.stdout).unwrap();
    let mut cases = found.split("case ").skip(1);
    let mut wrong = Vec::new();
    for (index, (text, run)) in accepted.iter().enumerate() {
        let expected: String = run
            .iter()
            .map(|argv| format!("{}\0\0", argv.join("\0")))
            .collect();
        let expected = format!("{index}\0{expected}");
        let real = cases.next().unwrap_or("nothing");
        if real != expected {
            wrong.push(format!(
                "{text:?}\n  expected {expected:?}\n  dash     {real:?}"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}\n{}",
        wrong.len(),
        accepted.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
}
