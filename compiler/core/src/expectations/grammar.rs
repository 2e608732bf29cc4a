//! The text of an `expect` directive (spec 12 section 2.1).

use std::ops::Range;

use super::directive::is_ws;
use super::fault::Fault;
use super::options::{self, Options, Written};
use super::verb::Verb;
use crate::diagnostics::quote;

/// A directive as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Test {
    pub verb: Verb,
    /// The word of the verb.
    pub verb_at: Range<usize>,
    pub options: Options,
    pub written: Written,
    /// The text of each case; an empty range behind the colon when there is none.
    pub cases: Vec<Range<usize>>,
}

/// Reads what stands between the comment marks.
pub(super) fn parse(text: &str) -> Result<Test, Fault> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.skip_ws();
    let start = cursor.at;
    let head = cursor.word();
    let head_at = start..start + head.len();
    if head != "expect" {
        return Err(not_a_head(head, head_at));
    }
    let spaced = cursor.skip_ws();
    let verb_at = cursor.at;
    let word = cursor.word();
    let verb_at = verb_at..verb_at + word.len();
    let verb = Verb::parse(word).filter(|_| spaced);
    let verb = verb.ok_or_else(|| no_verb(word, verb_at.clone(), head_at))?;
    cursor.skip_ws();
    let mut found = Test {
        verb,
        verb_at,
        options: Options::default(),
        written: Written::new(),
        cases: Vec::new(),
    };
    if cursor.eat('[') {
        cursor.options(&mut found)?;
        cursor.skip_ws();
    }
    if !cursor.eat(':') {
        let at = cursor.at;
        let end = cursor.rest().chars().next().map_or(0, char::len_utf8);
        let message = format!("a `:` is missing behind `{}`", verb.as_str());
        return Err(Fault::new(at..at + end, message).hint(
            "write `expect VERB: COMMAND`, with options `expect VERB [KEY=VALUE]: COMMAND`",
        ));
    }
    found.cases = cases(text, cursor.at);
    Ok(found)
}

fn not_a_head(head: &str, at: Range<usize>) -> Fault {
    Fault::new(at, format!("{} begins no test", quote(head))).hint(
        "a test is `expect VERB: COMMAND`, facts are `expect-given: FACTS`; begin the comment \
         with another word if it is neither",
    )
}

fn no_verb(word: &str, at: Range<usize>, head: Range<usize>) -> Fault {
    if word.is_empty() {
        let hint = format!("write one of {}", super::fault::list(&Verb::WORDS));
        return Fault::new(head, "`expect` needs a verb").hint(hint);
    }
    let message = format!("a test cannot expect {}", quote(word));
    Fault::new(at, message).suggest(word, &Verb::WORDS)
}

/// The ranges of the cases behind the colon.
fn cases(text: &str, from: usize) -> Vec<Range<usize>> {
    let rest = text.get(from..).unwrap_or_default();
    let trimmed = trim(rest, from);
    let inner = text.get(trimmed.clone()).unwrap_or_default();
    if !inner.contains(['\n', '\r']) {
        return vec![trimmed];
    }
    let mut found = Vec::new();
    let mut at = trimmed.start;
    for line in inner.split(['\n', '\r']) {
        let range = trim(line, at);
        at += line.len() + 1;
        let shown = text.get(range.clone()).unwrap_or_default();
        if !(shown.is_empty() || shown == "#" || shown.starts_with("# ")) {
            found.push(range);
        }
    }
    found
}

/// The range of a part of the text, which begins at `from`, without whitespace around it.
fn trim(part: &str, from: usize) -> Range<usize> {
    let start = from + (part.len() - part.trim_start_matches(is_ws).len());
    let shown = part.trim_matches(is_ws);
    start..start + shown.len()
}

struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Whether there was any.
    fn skip_ws(&mut self) -> bool {
        let rest = self.rest();
        let skipped = rest.len() - rest.trim_start_matches(is_ws).len();
        self.at += skipped;
        skipped > 0
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    /// Takes everything up to a character that ends a word.
    fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| is_ws(c) || matches!(c, '[' | ':' | ']' | '='));
        let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.at += word.len();
        word
    }

    /// The options up to `]`.
    fn options(&mut self, found: &mut Test) -> Result<(), Fault> {
        let open = self.at - 1;
        loop {
            self.skip_ws();
            if self.eat(']') {
                return Ok(());
            }
            let start = self.at;
            let key = self.word();
            let key_at = start..self.at;
            if key.is_empty() {
                let Some(c) = self.rest().chars().next() else {
                    return Err(Fault::new(open..open + 1, "the options have no end")
                        .hint("close them with `]`"));
                };
                let at = start..start + c.len_utf8();
                return Err(
                    Fault::new(at, format!("{} begins no option", quote(&c.to_string())))
                        .hint("write `KEY=VALUE`, with blanks between the options"),
                );
            }
            self.option(key, key_at, found)?;
        }
    }

    fn option(&mut self, key: &str, at: Range<usize>, found: &mut Test) -> Result<(), Fault> {
        let known = options::keys().contains(&key);
        if !known {
            return Err(options::unknown(key, at));
        }
        if key != "env" && found.written.iter().any(|(known, _)| known == key) {
            return Err(Fault::new(at, format!("`{key}` is written twice"))
                .hint("keep one; only `env` may stand several times"));
        }
        let has_value = self.eat('=');
        match (options::is_flag(key), has_value) {
            (true, false) => {
                found.options.set_flag(key);
                found.written.push((key.to_owned(), at));
            }
            (true, true) => {
                return Err(Fault::new(at, format!("`{key}` takes no value"))
                    .hint(format!("write `{key}` alone")));
            }
            (false, false) => {
                return Err(Fault::new(at, format!("`{key}` needs a value"))
                    .hint(format!("write `{key}=VALUE`")));
            }
            (false, true) => {
                let (value, value_at) = self.value(key)?;
                found.written.push((key.to_owned(), value_at.clone()));
                found.options.set(key, &value, value_at)?;
            }
        }
        Ok(())
    }

    /// A value: bare, in single quotes, or a JSON string.
    fn value(&mut self, key: &str) -> Result<(String, Range<usize>), Fault> {
        let start = self.at;
        let rest = self.rest();
        let unclosed = || {
            Fault::new(start..start + 1, format!("the value of `{key}` has no end"))
                .hint("close the quote")
        };
        if let Some(inner) = rest.strip_prefix('\'') {
            let end = inner.find('\'').ok_or_else(unclosed)?;
            self.at += end + 2;
            let value = inner.get(..end).unwrap_or_default();
            return self.behind((value.to_owned(), start + 1..start + 1 + end));
        }
        if rest.starts_with('"') {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
            let value = match values.next() {
                Some(Ok(value)) => value,
                Some(Err(error)) if error.is_eof() => return Err(unclosed()),
                _ => {
                    let message = format!("the value of `{key}` is no JSON string");
                    return Err(Fault::new(start..start + 1, message)
                        .hint("single quotes take everything literally"));
                }
            };
            let length = values.byte_offset();
            self.at += length;
            return self.behind((value, start + 1..start + length - 1));
        }
        let end = rest.find(|c| is_ws(c) || matches!(c, ']' | '\'' | '"'));
        let value = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        if value.is_empty() {
            return Err(Fault::new(start..start, format!("`{key}` needs a value"))
                .hint("write nothing between quotes to leave it empty"));
        }
        self.at += value.len();
        self.behind((value.to_owned(), start..self.at))
    }

    /// Behind a value there must be a blank or the end of the options.
    fn behind(&self, value: (String, Range<usize>)) -> Result<(String, Range<usize>), Fault> {
        match self.rest().chars().next() {
            Some(c) if !(is_ws(c) || c == ']') => {
                let at = self.at..self.at + c.len_utf8();
                Err(Fault::new(at, "a blank is missing between two options")
                    .hint("put the whole value between single quotes"))
            }
            _ => Ok(value),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        let test = parse(text).unwrap();
        test.cases.iter().map(|case| &text[case.clone()]).collect()
    }

    #[test]
    fn cases_are_lines_or_the_whole_text() {
        for (text, expected) in [
            ("expect deny: git push", &["git push"][..]),
            ("\n expect deny:\n\n\tgit push \n", &["git push"]),
            (
                "expect deny:\n a b\n\n# remark\r\n  c: d # e\r\n#f\n",
                &["a b", "c: d # e", "#f"],
            ),
            ("expect reject [code=denied]  : a > b", &["a > b"]),
            ("expect allow[]:x", &["x"]),
            ("expect allow:", &[""]),
            ("expect allow:\n# only a remark\n", &["# only a remark"]),
        ] {
            assert_eq!(texts(text), expected, "{text:?}");
        }
    }

    #[test]
    fn values() {
        let test = parse(
            r#"expect guarded [ rule=a,b,a effects='read_path:/x y, network' env=A=b env=C=
            name="a \"]\" b" default stage=2 skip='needs: x]' ]: x"#,
        )
        .unwrap();
        let options = test.options;
        assert_eq!(options.rules, ["a", "b"]);
        assert_eq!(options.effects.len(), 2);
        assert_eq!(options.effects[0].path.as_ref().unwrap().path, "/x y");
        let env = [("A", "b"), ("C", "")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(options.env, env);
        assert_eq!(options.name.as_deref(), Some("a \"]\" b"));
        assert_eq!(options.skip.as_deref(), Some("needs: x]"));
        assert_eq!((options.default, options.stage), (true, Some(2)));
    }

    #[test]
    fn faults_point_at_the_word() {
        for (text, at, fragment) in [
            ("expect denny: x", "denny", "cannot expect"),
            ("expect: x", "expect", "needs a verb"),
            ("expect [code=denied]: x", "expect", "needs a verb"),
            ("expects deny: x", "expects", "begins no test"),
            ("expect-deny: x", "expect-deny", "begins no test"),
            ("expect deny x: y", "x", "`:` is missing"),
            ("expect deny [: x", ":", "begins no option"),
            ("expect deny [code=denied", "[", "no end"),
            ("expect deny [cod=denied]: x", "cod", "no option"),
            ("expect deny [code]: x", "code", "needs a value"),
            ("expect deny [code=]: x", "", "needs a value"),
            ("expect deny [default=1]: x", "default", "takes no value"),
            ("expect deny [stage=1 stage=2]: x", "stage", "twice"),
            ("expect deny [stage=0]: x", "0", "from 1"),
            ("expect deny [code=denid]: x", "denid", "no refusal"),
            ("expect deny [as=comand]: x", "comand", "cannot be"),
            ("expect deny [program=path:x]: x", "path:x", "cannot be"),
            ("expect deny [effects=netwrk]: x", "netwrk", "no kind"),
            (
                "expect deny [effects=network:/x]: x",
                "network:/x",
                "no path",
            ),
            ("expect deny [cwd='${nope}']: x", "${nope}", "variable"),
            ("expect deny [skip='']: x", "", "reason"),
            ("expect deny [skip='a]: x", "'", "no end"),
            ("expect deny [skip=\"a\\q\"]: x", "\"", "no JSON string"),
            ("expect deny [name='a'b]: x", "b", "blank is missing"),
            ("expect deny [platform=plan9]: x", "plan9", "no platform"),
            ("expect deny [env==x]: x", "=x", "cannot be"),
            ("expect deny [stdin=-1]: x", "-1", "number of bytes"),
        ] {
            let fault = parse(text).expect_err(text);
            assert_eq!(&text[fault.at.clone()], at, "{text}: {fault:?}");
            assert!(fault.message.contains(fragment), "{text}: {fault:?}");
        }
        let near = |text: &str| parse(text).expect_err(text).replace;
        assert_eq!(near("expect denny: x").as_deref(), Some("deny"));
        assert_eq!(near("expect deny [cod=x]: x").as_deref(), Some("code"));
        assert_eq!(
            near("expect deny [inherit]: x").as_deref(),
            Some("inherited")
        );
    }
}
