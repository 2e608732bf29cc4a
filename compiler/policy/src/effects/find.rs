//! `find` (spec 06 section 6.4.1).

use crate::effect::Effect;

use super::collector::Collector;

const RULE: &str = "find";

/// Tests, actions and options without an operand.
const PLAIN: &str = "-empty -depth -d -mount -xdev -x -prune -quit -print -print0 -ls -true -false \
    -not -a -and -o -or -readable -writable -executable -daystart -ignore_readdir_race \
    -noignore_readdir_race -noleaf -warn -nowarn -nouser -nogroup -follow -help --help -version \
    --version";
/// Tests and options with one operand that names no file.
const VALUED: &str = "-name -iname -lname -ilname -path -wholename -ipath -iwholename -regex \
    -iregex -type -xtype -size -mtime -mmin -atime -amin -ctime -cmin -perm -user -group -uid -gid \
    -links -inum -maxdepth -mindepth -printf -regextype -fstype -context -used";
/// Tests whose operand is a file that is looked at.
const REFERENCES: &str = "-newer -anewer -cnewer -samefile";
/// Actions whose operand is a file that is written.
const OUTPUTS: &str = "-fprint -fprint0 -fls -fprintf";
/// Most words that `{}` may be replaced with in all inner commands together.
const MAX_EXPANDED_WORDS: usize = 4096;
/// Most bytes of the same.
const MAX_EXPANDED_BYTES: usize = 1 << 18;

fn listed(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

pub(super) fn analyse(c: &mut Collector<'_>, arguments: &[String]) {
    let mut rest = arguments;
    let mut follows = false;
    while let Some((first, after)) = rest.split_first() {
        match first.as_str() {
            "-H" | "-P" | "-X" | "-s" | "-E" => rest = after,
            "-L" => {
                follows = true;
                rest = after;
            }
            "-D" => rest = after.get(1..).unwrap_or_default(),
            "--" => {
                rest = after;
                break;
            }
            level if level.starts_with("-O") => rest = after,
            _ => break,
        }
    }
    let count = rest
        .iter()
        .take_while(|word| !starts_expression(word))
        .count();
    let (starts, expression) = rest.split_at(count);
    let cwd = [String::new()];
    let starts: &[String] = if starts.is_empty() { &cwd } else { starts };
    for start in starts {
        c.read(start, RULE);
    }
    let mut walk = Expression {
        starts,
        rest: expression,
        words: 0,
        bytes: 0,
    };
    while let Some(word) = walk.next() {
        follows |= word == "-follow";
        walk.predicate(c, word);
    }
    if follows && c.direct {
        c.unknown("follows symbolic links", RULE);
    }
}

fn starts_expression(word: &str) -> bool {
    (word.starts_with('-') && word.len() > 1) || matches!(word, "(" | ")" | "!" | ",")
}

struct Expression<'a> {
    starts: &'a [String],
    rest: &'a [String],
    words: usize,
    bytes: usize,
}

impl<'a> Expression<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn predicate(&mut self, c: &mut Collector<'_>, word: &'a str) {
        match word {
            "(" | ")" | "!" | "," => {}
            "-exec" | "-execdir" | "-ok" | "-okdir" => self.exec(c, word),
            "-delete" => {
                for start in self.starts {
                    c.write(start, "find.delete");
                }
            }
            "-files0-from" => {
                if let Some(file) = self.next() {
                    c.read_operand(file, RULE);
                }
                c.unknown("file list", RULE);
            }
            _ if listed(PLAIN, word) => {}
            _ if listed(VALUED, word) || is_newer_time(word) => {
                self.next();
            }
            _ if listed(REFERENCES, word) || word.starts_with("-newer") && word.len() == 8 => {
                if let Some(file) = self.next() {
                    c.read(file, RULE);
                }
            }
            _ if listed(OUTPUTS, word) => {
                if let Some(file) = self.next() {
                    c.write(file, "find.output");
                }
                if word == "-fprintf" {
                    self.next();
                }
            }
            _ => c.unknown(format!("unrecognised option {word} of find"), RULE),
        }
    }

    fn exec(&mut self, c: &mut Collector<'_>, word: &str) {
        c.effect(Effect::ArbitraryCode, "find.exec");
        c.effect(Effect::ChildProcesses, "find.exec");
        let plus = |index: usize| {
            self.rest.get(index).is_some_and(|word| word == "+")
                && index
                    .checked_sub(1)
                    .and_then(|before| self.rest.get(before))
                    .is_some_and(|word| word == "{}")
        };
        let end = self
            .rest
            .iter()
            .enumerate()
            .position(|(index, word)| word == ";" || plus(index));
        let Some(end) = end else {
            c.unknown(format!("find {word} has no end"), "find.exec");
            // Whatever stands there is still looked at.
            let template = std::mem::take(&mut self.rest);
            let argv = self.expand(c, template);
            c.inner("find", argv);
            return;
        };
        let template = self.rest.get(..end).unwrap_or_default();
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        let argv = self.expand(c, template);
        c.inner("find", argv);
    }

    /// An argument that holds `{}` counts as each start path.
    fn expand(&mut self, c: &mut Collector<'_>, template: &[String]) -> Vec<String> {
        let mut argv = Vec::with_capacity(template.len());
        for (index, word) in template.iter().enumerate() {
            if index == 0 || !word.contains("{}") {
                argv.push(word.clone());
                continue;
            }
            for start in self.starts {
                let start = if start.is_empty() {
                    "."
                } else {
                    start.as_str()
                };
                self.words += 1;
                self.bytes += start.len() + word.len();
                if self.words > MAX_EXPANDED_WORDS || self.bytes > MAX_EXPANDED_BYTES {
                    c.unknown("too many paths for {}", "find.exec");
                    argv.push(word.clone());
                    break;
                }
                argv.push(word.replacen("{}", start, 1));
            }
        }
        argv
    }
}

/// `-newerXt`: the operand is a time, not a file.
fn is_newer_time(word: &str) -> bool {
    word.len() == 8 && word.starts_with("-newer") && word.ends_with('t')
}
