//! Files of tests beside a document: one JSON object a line (spec 12 section 2.6).

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use chatmd_policy::strict_json::Json;
use chatmd_policy::symbolic::SymbolicFacts;
use chatmd_syntax::Span;

use super::case::{Case, CaseText, Target};
use super::fault::Fault;
use super::names::Names;
use super::options::{self, Options};
use super::verb::Verb;
use crate::diagnostics::{Diagnostic, FileIndex, Place, quote};

/// Most tests of one file.
pub const MAX_SIDECAR_CASES: usize = 20_000;
/// Most bytes of one line.
pub const MAX_SIDECAR_LINE: usize = 1 << 20;

/// Members that hold a request.
const REQUESTS: [&str; 4] = ["command", "argv", "script", "input"];
/// Further members that are no options of directives.
const OWN: [&str; 3] = ["expect", "given", "id"];

/// The tests of a sidecar file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sidecar {
    /// Tests; [`Case::facts`] points into `facts`.
    pub cases: Vec<Case>,
    pub facts: Vec<SymbolicFacts>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a file. Places refer to its text, in which invalid UTF-8 is replaced; `source` is the
/// manifest path of the document.
pub(super) fn read(bytes: &[u8], file: FileIndex, source: &str, names: &Names<'_>) -> Sidecar {
    let text = String::from_utf8_lossy(bytes);
    // Only then a replacement character can be one that was put there.
    let replaced = matches!(text, std::borrow::Cow::Owned(_));
    let mut reader = Reader {
        file,
        source: source.into(),
        names,
        out: Sidecar {
            facts: vec![SymbolicFacts::default()],
            ..Sidecar::default()
        },
        facts: HashMap::new(),
        ids: HashSet::new(),
        replaced,
    };
    let mut start = 0;
    for (number, line) in text.split('\n').enumerate() {
        let shown = line.trim_matches([' ', '\t', '\r', '\u{feff}']);
        let at = start + (line.len() - line.trim_start_matches([' ', '\t', '\u{feff}']).len());
        start += line.len() + 1;
        if shown.is_empty() || shown.starts_with("//") {
            continue;
        }
        if !reader.line(shown, at, number + 1) {
            break;
        }
    }
    reader.out
}

struct Reader<'a> {
    file: FileIndex,
    source: Arc<str>,
    names: &'a Names<'a>,
    out: Sidecar,
    /// Facts by the lines that give them.
    facts: HashMap<Vec<String>, usize>,
    ids: HashSet<String>,
    /// The file is not valid UTF-8.
    replaced: bool,
}

impl Reader<'_> {
    /// Reads one line; false when no further line is read.
    fn line(&mut self, line: &str, at: usize, number: usize) -> bool {
        let place = self.place(at..at + line.len());
        if self.out.cases.len() >= MAX_SIDECAR_CASES {
            let message = format!("more than {MAX_SIDECAR_CASES} tests in one file");
            self.out.diagnostics.push(
                Diagnostic::new("chatmd.test_limit", place, message)
                    .label("not read from here on")
                    .hint("split the file; `--tests` names further ones"),
            );
            return false;
        }
        match self.case(line, place, number) {
            Ok(Some(case)) => self.out.cases.push(case),
            Ok(None) => {}
            Err((code, fault)) => {
                let place = self.place(at + fault.at.start..at + fault.at.end);
                let mut finding = super::collect::finding(code, place, &fault);
                // The text of a fix would have to be quoted as JSON.
                finding.fixes.clear();
                self.out.diagnostics.push(finding);
            }
        }
        true
    }

    fn place(&self, range: Range<usize>) -> Place {
        Place {
            file: self.file,
            item: None,
            span: Span::new(range.start as u32, range.end as u32),
        }
    }

    fn case(&mut self, line: &str, place: Place, number: usize) -> Read {
        let whole = 0..line.len();
        let wrong = |message: String| ("chatmd.test_sidecar", Fault::new(whole.clone(), message));
        if line.len() > MAX_SIDECAR_LINE {
            return Err(wrong(format!(
                "a line holds at most {MAX_SIDECAR_LINE} bytes"
            )));
        }
        if self.replaced && line.contains(char::REPLACEMENT_CHARACTER) {
            return Err(wrong("the line is not valid UTF-8".to_owned()));
        }
        let members = match Json::parse(line.as_bytes()) {
            Ok(Json::Object(members)) => members,
            Ok(_) => return Err(wrong("a line is one JSON object".to_owned())),
            Err(why) => return Err(wrong(format!("no JSON object: {why}"))),
        };
        let mut draft = Draft::default();
        for (key, value) in members {
            draft
                .member(&key, value)
                .map_err(|fault| ("chatmd.test_sidecar", in_line(fault, line, &key)))?;
        }
        let verb = draft.verb.ok_or_else(|| {
            let (code, fault) = wrong("the member `expect` is missing".to_owned());
            (
                code,
                fault.hint(format!("one of {}", super::fault::list(&Verb::WORDS))),
            )
        })?;
        let text = draft.text.ok_or_else(|| {
            let (code, fault) = wrong("there is no request".to_owned());
            (
                code,
                fault.hint("one of `command`, `argv`, `script` and `input`"),
            )
        })?;
        let facts = self.facts(draft.given).map_err(wrong)?;
        let id = draft.id.unwrap_or_else(|| format!("L{number}"));
        if !self.ids.insert(id.clone()) {
            return Err(wrong(format!("the id {} is taken", quote(&id))));
        }
        let Some(target) = self.target(&draft.options, line)? else {
            return Ok(None);
        };
        Ok(Some(Case {
            at: place,
            directive: place,
            verb,
            verb_at: place,
            written: [].into(),
            options: Arc::new(draft.options),
            text,
            target,
            rule: None,
            facts,
            source: Arc::clone(&self.source),
            id: Some(id),
        }))
    }

    fn target(&self, options: &Options, line: &str) -> Result<Option<Target>, Coded> {
        let whole = 0..line.len();
        let (what, name, found) = match (&options.tool, &options.runtime) {
            (Some(tool), None) => (
                "tool",
                tool,
                self.names.tool(tool).map(|t| t.map(Target::Tool)),
            ),
            (None, Some(runtime)) => (
                "runtime",
                runtime,
                self.names
                    .runtime(None, runtime)
                    .map(|r| r.map(Target::Runtime)),
            ),
            _ => {
                let fault = Fault::new(whole, "a test names either its `tool` or its `runtime`");
                return Err(("chatmd.test_sidecar", fault));
            }
        };
        found.map_err(|near| {
            let message = format!("no {what} is named {}", quote(name));
            let mut fault = in_line(Fault::new(whole, message), line, what);
            fault.hint = near.map(|near| format!("did you mean {}?", quote(&near)));
            ("chatmd.test_unknown_target", fault)
        })
    }

    fn facts(&mut self, given: Vec<String>) -> Result<usize, String> {
        if given.is_empty() {
            return Ok(0);
        }
        if let Some(known) = self.facts.get(&given) {
            return Ok(*known);
        }
        let mut facts = SymbolicFacts::default();
        for fact in &given {
            facts.add(fact).map_err(|fault| fault.to_string())?;
        }
        self.out.facts.push(facts);
        let index = self.out.facts.len() - 1;
        self.facts.insert(given, index);
        Ok(index)
    }
}

/// A code and what is wrong.
type Coded = (&'static str, Fault);

/// A test; `None` when its target is broken, which is reported elsewhere.
type Read = Result<Option<Case>, Coded>;

/// Moves a fault to the name of its member, where that stands in the line as it is.
fn in_line(mut fault: Fault, line: &str, key: &str) -> Fault {
    let name = format!("\"{key}\"");
    fault.at = match line.find(&name) {
        Some(at) => at..at + name.len(),
        None => 0..line.len(),
    };
    fault
}

/// The members read so far.
#[derive(Default)]
struct Draft {
    verb: Option<Verb>,
    text: Option<CaseText>,
    given: Vec<String>,
    id: Option<String>,
    options: Options,
}

impl Draft {
    fn member(&mut self, key: &str, value: Json) -> Result<(), Fault> {
        let nowhere = 0..0;
        let fault = |message: String| Fault::new(nowhere.clone(), message);
        if holds_nul(&value) {
            return Err(fault(format!("{} holds a NUL character", quote(key))));
        }
        match key {
            "expect" => {
                let word = text(key, &value)?;
                let verb = Verb::parse(word).ok_or_else(|| {
                    fault(format!("a test cannot expect {}", quote(word)))
                        .suggest(word, &Verb::WORDS)
                })?;
                self.verb = Some(verb);
            }
            "id" => {
                let id = text(key, &value)?;
                if id.is_empty() {
                    return Err(fault("the id is empty".to_owned()));
                }
                self.id = Some(id.to_owned());
            }
            "given" => self.given = texts(key, &value)?,
            "command" | "argv" | "script" | "input" => {
                if self.text.is_some() {
                    let message = "a test has one request: `command`, `argv`, `script` or `input`";
                    return Err(fault(message.to_owned()));
                }
                self.text = Some(match key {
                    "command" => CaseText::Command(text(key, &value)?.to_owned()),
                    "script" => CaseText::Script(text(key, &value)?.to_owned()),
                    "argv" => CaseText::Argv(texts(key, &value)?),
                    _ if matches!(value, Json::Object(_)) => CaseText::Json(value.compact()),
                    _ => return Err(fault("`input` is an object".to_owned())),
                });
            }
            _ => return self.option(key, value),
        }
        Ok(())
    }

    fn option(&mut self, key: &str, value: Json) -> Result<(), Fault> {
        if key == "as" || !options::keys().contains(&key) {
            let known = options::keys().into_iter().filter(|key| *key != "as");
            let words: Vec<&str> = known.chain(REQUESTS).chain(OWN).collect();
            let message = format!("there is no member {}", quote(key));
            return Err(Fault::new(0..0, message).suggest(key, &words));
        }
        if options::is_flag(key) {
            return match value {
                Json::Bool(true) => {
                    self.options.set_flag(key);
                    Ok(())
                }
                Json::Bool(false) => Ok(()),
                _ => Err(Fault::new(0..0, format!("`{key}` is true or false"))),
            };
        }
        let number = matches!(key, "stage" | "stdin");
        let values = match value {
            Json::Text(text) => vec![text],
            Json::Int(number_) if number => vec![number_.to_string()],
            Json::Array(_) if options::is_list(key) => vec![texts(key, &value)?.join(",")],
            Json::Array(_) if key == "env" => texts(key, &value)?,
            _ => {
                let kind = match (number, options::is_list(key) || key == "env") {
                    (true, _) => "a number",
                    (_, true) => "a string or an array of strings",
                    _ => "a string",
                };
                return Err(Fault::new(0..0, format!("`{key}` is {kind}")));
            }
        };
        for value in values {
            self.options.set(key, &value, 0..0)?;
        }
        Ok(())
    }
}

fn text<'v>(key: &str, value: &'v Json) -> Result<&'v str, Fault> {
    value
        .as_text()
        .ok_or_else(|| Fault::new(0..0, format!("`{key}` is a string")))
}

fn texts(key: &str, value: &Json) -> Result<Vec<String>, Fault> {
    match value {
        Json::Array(items) if items.iter().all(|item| item.as_text().is_some()) => {
            Ok(value.texts())
        }
        _ => Err(Fault::new(0..0, format!("`{key}` is an array of strings"))),
    }
}

/// Whether a string or member name anywhere in a value holds NUL.
fn holds_nul(value: &Json) -> bool {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Json::Text(text) if text.contains('\0') => return true,
            Json::Array(items) => open.extend(items),
            Json::Object(members) => {
                if members.iter().any(|(name, _)| name.contains('\0')) {
                    return true;
                }
                open.extend(members.iter().map(|(_, value)| value));
            }
            _ => {}
        }
    }
    false
}
