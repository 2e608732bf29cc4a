//! Formatting changes layout alone (spec 01 section 19.1): generated documents with imports,
//! comments, messages, scripts, odd layout and every kind of line end keep the comparison form of
//! their manifest, their bodies and their comments, and formatting once is enough.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use camino::Utf8Path;
use chatmd_compiler::db::{Database, MemoryFileSystem};
use chatmd_compiler::manifest::{Platform, comparison_form};
use chatmd_compiler::{CompileOptions, compile};
use chatmd_syntax::fmt::format;
use chatmd_syntax::parse;

/// A small generator of its own, so that a failure is repeated by its number.
struct Source(u64);

impl Source {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % bound
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    /// Space inside a tag.
    fn space(&mut self) -> &'static str {
        self.pick(&[" ", "  ", "\t", "\n", "\n      ", " \n\n "])
    }

    /// Layout between elements of a declaration.
    fn gap(&mut self) -> &'static str {
        self.pick(&[
            "",
            " ",
            "\n",
            "\n\n\n",
            "\n\t",
            "\n        ",
            "<!-- beside -->",
            "\n<!-- own line\n     and another -->\n",
            " <!--a--><!--b--> ",
        ])
    }

    fn element(
        &mut self,
        name: &str,
        attributes: &[(&str, &str)],
        content: Option<String>,
    ) -> String {
        let mut text = format!("<{name}");
        for (key, value) in attributes {
            let quote = if value.contains('"') {
                "'"
            } else {
                self.pick(&["\"", "'"])
            };
            let equals = self.pick(&["=", " = ", "= ", " ="]);
            text += &format!("{}{key}{equals}{quote}{value}{quote}", self.space());
        }
        text += self.pick(&["", " ", "\n"]);
        match content {
            None if self.below(2) == 0 => text + "/>",
            None => text + &format!("></{name}>"),
            Some(content) => text + &format!(">{content}</{name}>"),
        }
    }
}

fn matcher(source: &mut Source, depth: usize) -> String {
    if depth > 2 || source.below(3) > 0 {
        let value = source.pick(&["git", "ls", "a b", "x&amp;y", "é"]);
        let name = source.pick(&["basename", "argument", "argument_contains"]);
        return source.element(name, &[("value", value)], None);
    }
    let name = source.pick(&["all", "any", "not"]);
    let count = if name == "not" {
        1
    } else {
        1 + source.below(3)
    };
    let mut content = source.gap().to_owned();
    for _ in 0..count {
        content += &matcher(source, depth + 1);
        content += source.gap();
    }
    source.element(name, &[], Some(content))
}

fn runtime(source: &mut Source, id: &str) -> String {
    let mut content = source.gap().to_owned();
    if source.below(2) == 0 {
        let network = source.pick(&["true", "false"]);
        content += &source.element("capabilities", &[("network", network)], None);
        content += source.gap();
    }
    if source.below(2) == 0 {
        let time = source.pick(&["30s", "5m", "250ms"]);
        content += &source.element("limits", &[("wall_time", time), ("stdout", "1KiB")], None);
        content += source.gap();
    }
    let mut rules = source.gap().to_owned();
    for index in 0..source.below(4) {
        let inner = format!("{}{}{}", source.gap(), matcher(source, 0), source.gap());
        let action = source.pick(&["allow", "ask", "deny"]);
        let name = format!("r{index}");
        rules += &source.element("rule", &[("id", &name), ("action", action)], Some(inner));
        rules += source.gap();
    }
    let default = source.pick(&["ask", "deny"]);
    content += &source.element("policy", &[("default", default)], Some(rules));
    content += source.gap();
    let parent = source.pick(&["builtin:workspace-readonly@1", "lib:base"]);
    source.element(
        "shell_access",
        &[("id", id), ("extends", parent)],
        Some(content),
    )
}

const BETWEEN: &[&str] = &[
    "\n",
    "\n\n\n",
    "\n<!-- between -->\n",
    "\n<user>\n  keep   this\t<b>\n\n</user>\n",
    "\n<system>RAW|<shell_access  id='no'>|RAW</system>\n",
    "\n<msg   role='user'>a <!-- inside --> b</msg>\n",
    "\n<script  id='s' language=\"chatml\" kind='moderator'>\nlet initial_state = ()\nlet  on_event c s e =  Task.pure(s)   \n\n</script>\n",
];

fn document(number: u64) -> String {
    let mut source = Source(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for _ in 0..4 {
        source.below(2);
    }
    let mut text = source.element(
        "import",
        &[("src", "lib.chatmd"), ("namespace", "lib")],
        None,
    );
    let mut script = false;
    for index in 0..1 + source.below(3) {
        let between = source.pick(BETWEEN);
        // One moderator is enough.
        let again = script && between.contains("<script");
        script |= between.contains("<script");
        text += if again { "\n" } else { between };
        text += &runtime(&mut source, &format!("main{index}"));
        text += "\n";
        let (name, id) = (format!("t{index}"), format!("main{index}"));
        let description = source.pick(&["a", "two\nlines", "it's", "say \"x\"", "&lt;b&gt;"]);
        let attributes = [("type", "shell"), ("name", &*name), ("runtime", &*id)];
        let mut attributes = attributes.to_vec();
        if !description.contains('\'') && !description.contains('"') || source.below(2) == 0 {
            // A value with one kind of quote stands between the other.
            if !description.contains('\'') {
                attributes.push(("description", description));
            }
        }
        attributes.push(("command", "git status"));
        text += &source.element("tool", &attributes, None);
    }
    text += source.pick(BETWEEN.get(..4).unwrap());
    match source.below(4) {
        0 => text.replace('\n', "\r\n"),
        1 => format!("\u{FEFF}{text}"),
        _ => text,
    }
}

const LIBRARY: &str = "<shell_access id=\"base\" extends=\"builtin:workspace-readonly@1\"><limits wall_time=\"9s\"/></shell_access>\n";

/// The comparison form of a document, or the codes that keep it from having one.
fn meaning(text: &str) -> Result<Vec<u8>, Vec<&'static str>> {
    let mut system = MemoryFileSystem::default();
    system.insert("/d/a.chatmd", text.as_bytes().to_vec());
    system.insert("/d/lib.chatmd", LIBRARY.as_bytes().to_vec());
    let mut db = Database::new(system);
    let root = db
        .root_from_path("a.chatmd".into(), Utf8Path::new("/d"))
        .unwrap();
    let compilation = compile(&db, root, &CompileOptions::for_platform(Platform::Linux));
    match &compilation.manifest {
        Some(manifest) => Ok(format!("{:?}", comparison_form(manifest).unwrap()).into_bytes()),
        None => Err(compilation
            .diagnostics
            .iter()
            .map(|found| found.code)
            .collect()),
    }
}

fn comments(text: &str) -> Vec<&str> {
    let starts = text.match_indices("<!--");
    starts
        .map(|(at, _)| text[at..].split_inclusive("-->").next().unwrap())
        .collect()
}

#[test]
fn generated_documents_keep_their_meaning() {
    let count = std::env::var("CHATMD_FORMAT_DOCUMENTS");
    let count = count.map_or(300, |count| count.parse().unwrap());
    let (mut compiled, mut changed) = (0, 0);
    for number in 1..=count {
        let text = document(number);
        let once = format(&parse(text.as_bytes()))
            .unwrap_or_else(|why| panic!("{number}: {why:?}\n{text}"));
        let twice = format(&parse(once.as_bytes())).unwrap();
        assert_eq!(twice, once, "{number}: not idempotent:\n{text}");
        assert_eq!(comments(&once), comments(&text), "{number}:\n{text}");
        let before = meaning(&text);
        assert_eq!(before, meaning(&once), "{number}:\n{text}\n{once}");
        compiled += usize::from(before.is_ok());
        changed += usize::from(once != text);
    }
    // A generator that makes dull documents proves nothing.
    assert!(
        compiled * 10 > count as usize * 9,
        "{compiled} of {count} compile"
    );
    assert!(
        changed * 10 > count as usize * 9,
        "{changed} of {count} change"
    );
}

#[test]
fn the_corpus_is_formatted_once_and_keeps_its_meaning() {
    let corpus = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut folders = vec![corpus.into_std_path_buf()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path
                .extension()
                .is_none_or(|extension| extension != "chatmd")
            {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let Ok(once) = format(&parse(&bytes)) else {
                continue;
            };
            let text = String::from_utf8(bytes).unwrap();
            seen += 1;
            assert_eq!(format(&parse(once.as_bytes())).unwrap(), once, "{path:?}");
            assert_eq!(meaning(&text), meaning(&once), "{path:?}");
        }
    }
    assert!(seen > 10, "{seen}");
}
