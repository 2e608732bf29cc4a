//! Memory and time of `chatmdc` grow no faster than its input, whatever the input is: peak memory
//! of the real process for documents of one size and of four times that size.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::process::Command;

use chatmd_tests::{Project, program};

/// Repetitions in the smaller document.
const UNITS: usize = 1_500;

/// Runs a command with its output thrown away; prints its peak memory in KiB and its processor time
/// in milliseconds.
const MEASURE: &str = "\
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_maxrss, int(1000 * (used.ru_utime + used.ru_stime)))";

const RUNTIME: &str = "<shell_access id=\"r\" extends=\"builtin:workspace-readonly@1\"/>\n";

/// A document of that many units.
type Family = fn(usize) -> String;

const FAMILIES: &[(&str, Family)] = &[
    ("open messages", |n| "<user>".repeat(n)),
    ("nested matchers", |n| {
        let (open, close) = ("<not>".repeat(n), "</not>".repeat(n));
        format!(
            "<shell_access id=\"r\"><policy><rule id=\"a\" action=\"ask\">{open}<basename value=\"x\"/>\
             {close}</rule></policy></shell_access>"
        )
    }),
    ("unknown attributes", |n| {
        let attributes = each(n, |at| format!(" a{at}=\"x\""));
        format!("<shell_access id=\"r\"{attributes}/>")
    }),
    ("one attribute again and again", |n| {
        format!("<shell_access id=\"r\"{}/>", " cwd=\"x\"".repeat(n))
    }),
    ("unknown elements", |n| each(n, |at| format!("<yo{at}/>\n"))),
    ("text without an element", |n| "x y z\n".repeat(n)),
    ("open tags", |n| "<tool name=\"".repeat(n)),
    ("open comments", |n| "<!--".repeat(n)),
    ("control characters", |n| {
        format!("<shell_access id=\"{}\"/>", "\u{202e}\u{1b}[".repeat(n))
    }),
    ("tools", |n| {
        let tools = each(n, |at| {
            format!("<tool name=\"t{at}\" runtime=\"r\" command=\"ls\"/>\n")
        });
        format!("{RUNTIME}{tools}")
    }),
    ("tools without a runtime", |n| {
        each(n, |at| {
            format!("<tool name=\"t{at}\" runtime=\"r{at}\" command=\"ls\"/>\n")
        })
    }),
    ("runtimes", |n| {
        each(n, |at| RUNTIME.replace("\"r\"", &format!("\"r{at}\"")))
    }),
    ("one runtime again and again", |n| RUNTIME.repeat(n)),
    ("a chain of parents", |n| {
        each(n, |at| {
            format!(
                "<shell_access id=\"r{}\" extends=\"r{at}\"><policy><rule id=\"a{at}\" action=\"ask\">\
                 <basename value=\"x\"/></rule></policy></shell_access>\n",
                at + 1
            )
        })
    }),
    ("many children of a parent with many rules", |n| {
        let rules = each(n, |at| {
            format!("<rule id=\"a{at}\" action=\"ask\"><basename value=\"x{at}\"/></rule>\n")
        });
        let children = each(n / 4, |at| {
            format!("<shell_access id=\"r{at}\" extends=\"b\"/>\n")
        });
        format!("<shell_access id=\"b\"><policy>{rules}</policy></shell_access>\n{children}")
    }),
    ("messages", |n| "<user>hello</user>\n".repeat(n)),
];

fn each(n: usize, unit: impl Fn(usize) -> String) -> String {
    (0..n).map(unit).collect()
}

/// Peak memory in bytes and processor time in milliseconds.
fn measure(project: &Project, command: &[&str], document: &str) -> (usize, usize) {
    project.write("agent.chatmd", document);
    let mut python = Command::new("python3");
    python
        .args(["-c", MEASURE])
        .arg(program("chatmdc"))
        .args(command)
        .arg("agent.chatmd");
    let outcome = project.run(&mut python);
    outcome.expect(0);
    let mut numbers = outcome.stdout.split_whitespace();
    let mut next = || numbers.next().unwrap().parse::<usize>().unwrap();
    (next() * 1024, next())
}

#[test]
fn four_times_the_document_costs_four_times_the_memory_at_most() {
    let project = Project::new("");
    let (idle, _) = measure(&project, &["check"], "");
    let mut grew = 0;
    for (name, family) in FAMILIES {
        for command in [&["check"][..], &["manifest"]] {
            let (small, large) = (family(UNITS), family(4 * UNITS));
            let mut found = String::new();
            // Other processes take part of the time: a bound is missed when it is missed thrice.
            let held = (0..3).any(|_| {
                let (memory, time) = measure(&project, command, &small);
                let (more_memory, more_time) = measure(&project, command, &large);
                let (memory, more_memory) = (
                    memory.saturating_sub(idle),
                    more_memory.saturating_sub(idle),
                );
                found = format!(
                    "{} to {} bytes of text, {memory} to {more_memory} bytes of memory, \
                     {time} to {more_time} ms",
                    small.len(),
                    large.len()
                );
                grew += usize::from(more_memory > memory + (4 << 20));
                // Quadratic would be sixteen times.
                more_memory <= 5 * memory + (16 << 20)
                    && more_memory <= 512 * large.len() + (24 << 20)
                    && more_time <= 10 * time + 500
            });
            assert!(held, "{name}, {command:?}: {found}");
        }
    }
    assert!(grew > 5, "the measurement sees memory: {grew}");
}
