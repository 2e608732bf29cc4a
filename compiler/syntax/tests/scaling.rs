//! Time grows with the input, whatever the input (spec 01 section 16.1 rule 6).
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::{Duration, Instant};

use chatmd_syntax::parse;

/// Twice the input may take this much longer: a quadratic pass takes four times as long.
const BOUND: f64 = 3.0;

/// A name and a text that grows with a number.
type Shape = (&'static str, Box<dyn Fn(usize) -> String>);

fn time(text: &str) -> Duration {
    let start = Instant::now();
    std::hint::black_box(parse(text.as_bytes()));
    start.elapsed()
}

/// The lowest ratio of several rounds: load of the machine only ever adds to one of them.
fn ratio(make: &dyn Fn(usize) -> String, count: usize) -> f64 {
    let (small, large) = (make(count), make(2 * count));
    let mut best = f64::INFINITY;
    for _ in 0..6 {
        let (small, large) = (time(&small), time(&large));
        best = best.min(large.as_secs_f64() / small.as_secs_f64().max(1e-6));
        if best < BOUND {
            break;
        }
    }
    best
}

#[test]
fn every_shape_is_linear() {
    let repeat = |piece: &'static str| move |n: usize| piece.repeat(n);
    let open = |head: &'static str, piece: &'static str| {
        move |n: usize| format!("{head}{}", piece.repeat(n))
    };
    let nested = |n: usize| {
        format!(
            "<user>{}{}</user>",
            "<agent src=\"a\">".repeat(n),
            "</agent>".repeat(n)
        )
    };
    let halves = |a: &'static str, b: &'static str| move |n: usize| a.repeat(n) + &b.repeat(n);
    let shapes: Vec<Shape> = vec![
        (
            "siblings",
            Box::new(repeat("<user name=\"x\">hello</user>\n")),
        ),
        (
            "children",
            Box::new(open(
                "<shell_access id=\"a\"><policy>",
                "<rule id=\"r\" action=\"ask\"/>\n",
            )),
        ),
        ("nested", Box::new(nested)),
        ("nested, unclosed", Box::new(repeat("<agent src=\"a\">"))),
        ("nested fences, unclosed", Box::new(repeat("<user>\n"))),
        ("unknown elements", Box::new(repeat("<yo/>\n"))),
        ("unknown elements, open", Box::new(repeat("<yo> x\n"))),
        (
            "unknown elements of different names",
            Box::new(|n| (0..n).map(|i| format!("<n{i}> ")).collect()),
        ),
        (
            "unknown elements in scope",
            Box::new(open("<shell_access id=\"a\">", "<wat><b></wat>")),
        ),
        (
            "unknown end tags in scope",
            Box::new(open("<shell_access id=\"a\">", "</polcy>")),
        ),
        ("stray end tags", Box::new(repeat("</user>"))),
        (
            "stray end tags in a body",
            Box::new(open("<user>", "</tool>")),
        ),
        ("mismatched tags", Box::new(repeat("<user>a</assistant>"))),
        (
            "mismatched tags, closed later",
            Box::new(halves("<user>a</assistant>", "</user>\n")),
        ),
        (
            "unclosed inside",
            Box::new(repeat("<user><agent src=\"a\"><doc></user>\n")),
        ),
        (
            "misspelt end tags in unclosed elements",
            Box::new(repeat(
                "<user><agent src=\"a\"><agent src=\"a\"></agnt></agen></user>\n",
            )),
        ),
        (
            "fences in front of end tags astray",
            Box::new(repeat("<user>\n<tool name=\"t\"/>\n</agent></usr>\n")),
        ),
        ("comments without end", Box::new(repeat("<!-- x\n"))),
        (
            "comments without end on one line",
            Box::new(repeat("<!-- ")),
        ),
        (
            "RAW without end",
            Box::new(repeat("<user>RAW| x\n</user>\n")),
        ),
        (
            "RAW without end before fences",
            Box::new(repeat("<user>RAW| x\n")),
        ),
        (
            "RAW without end, strange end tags",
            Box::new(halves("<user>RAW|\n", "</tool>\n")),
        ),
        ("RAW openers", Box::new(repeat("RAW| "))),
        ("values without end", Box::new(repeat("<user name=\"\n"))),
        (
            "values without end, both quotes",
            Box::new(repeat("<user name=\"\n<tool name='\n")),
        ),
        (
            "one value without end",
            Box::new(open("<user name=\"\n", "x <b a='\n y ")),
        ),
        ("tags without end", Box::new(repeat("<tool name=\"x\" "))),
        ("end tags without end", Box::new(repeat("</user "))),
        ("scripts without end", Box::new(repeat("<script>\n"))),
        (
            "scripts with RAW, without end",
            Box::new(|n| "<script>RAW|\n".repeat(n) + "|RAW"),
        ),
        (
            "almost end tags of a script",
            Box::new(open("<script>", "</script x")),
        ),
        ("half-open unknown tags", Box::new(repeat("<b a=\"1\" "))),
        (
            "half-open unknown tags with quotes",
            Box::new(repeat("<b x=\"y\" z=\"")),
        ),
        (
            "unknown tags over both quotes",
            Box::new(repeat("<b p='\" q='\" y=")),
        ),
        (
            "half-open shell tags outside scope",
            Box::new(open("<user>", "<read a=\"1\" ")),
        ),
        (
            "half-open shell tags with quotes",
            Box::new(open("<user>", "<read x=\"y\" z=\"")),
        ),
        (
            "shell tags over both quotes",
            Box::new(open("<user>", "<read p='\" q='\" y=")),
        ),
        (
            "attributes",
            Box::new(|n| {
                (0..n)
                    .map(|i| format!(" a{i}=\"x\""))
                    .fold("<config".to_owned(), |a, b| a + &b)
                    + "/>"
            }),
        ),
        (
            "equal attributes",
            Box::new(|n| format!("<config{}/>", " a=\"x\"".repeat(n))),
        ),
        (
            "junk in a tag",
            Box::new(|n| format!("<config{}/>", " %%".repeat(n))),
        ),
        (
            "backslashes",
            Box::new(|n| format!("<user name=\"{}\"/>", "\\\\\\\"".repeat(n))),
        ),
        (
            "entities",
            Box::new(|n| format!("<user name=\"{}\"/>", "&x; &&amp;".repeat(n))),
        ),
        (
            "spaces before tags",
            Box::new(|n| format!("{}<user/>", " ".repeat(n)).repeat(4)),
        ),
        ("top-level text", Box::new(repeat("a < b\n"))),
        ("invalid bytes", Box::new(repeat("\u{FFFD}\0"))),
    ];
    let mut slow = Vec::new();
    for (name, make) in &shapes {
        // Long enough to measure, short enough without optimisation.
        let mut count = 500;
        while count < 64_000 && time(&make(count)) < Duration::from_millis(8) {
            count *= 2;
        }
        let ratio = ratio(make, count);
        if ratio >= BOUND {
            slow.push(format!("{name}: {ratio:.1} at {count}"));
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}

/// Each of these tags looks for the end tag that says what it was meant to be, and finds it too far
/// away; that such looks are bounded shows only in a long document.
#[test]
fn misspelt_tags_do_not_read_the_rest_again_and_again() {
    let make = |n: usize| {
        let open = "<polcy>".repeat(n);
        format!("<shell_access id=\"a\">{open}<policy></policy>")
    };
    let ratio = ratio(&make, 16_000);
    assert!(ratio < BOUND, "{ratio:.1}");
}

#[test]
fn look_ups_of_one_long_line_are_short() {
    use chatmd_syntax::LineIndex;
    let text = "日".repeat(400_000);
    let index = LineIndex::new(text.into());
    let start = Instant::now();
    for offset in (0..1_200_000).step_by(12) {
        std::hint::black_box(index.position(offset));
    }
    // A look-up that reads the line would take hours here.
    assert!(start.elapsed() < Duration::from_secs(20));
}
