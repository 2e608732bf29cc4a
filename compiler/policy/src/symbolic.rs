//! The symbolic host: fixed facts, identical on every machine (spec 12 section 2.5).

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;

use crate::facts::{ExecutableFacts, Located, PathFault, PolicyHost};
use crate::paths::{self, is_within, join, normalise};
use crate::trace::{Known, TrustTrace};

/// `${workspace}`, `${tool_dir}` and `${prompt_dir}`.
pub const WORKSPACE: &str = "/ws";
/// `${home}`.
pub const HOME: &str = "/home/u";
/// `${cache_dir}`.
pub const CACHE_DIR: &str = "/home/u/.cache/chatmd";
/// `${session_dir}`.
pub const SESSION_DIR: &str = "/home/u/.local/state/chatmd/s";
/// Directory in which `path_env` roots lie: `/env/NAME`.
pub const ENV_ROOTS: &str = "/env";
/// Most symbolic links followed for one path.
const MAX_LINKS: usize = 40;

/// Where files of class `local` lie, beside write roots.
const LOCAL: &[&str] = &[
    WORKSPACE,
    HOME,
    CACHE_DIR,
    SESSION_DIR,
    ENV_ROOTS,
    "/src",
    "/tmp",
    "/var/tmp",
    "/dev/shm",
];

/// What a runtime declares about programs, with symbolic paths already filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SymbolicResolver {
    /// Declared `search_path`, absolute.
    pub search_path: Vec<String>,
    /// Declared trusted roots, absolute.
    pub trusted_roots: Vec<String>,
    /// Declared executables.
    pub aliases: Vec<SymbolicAlias>,
    /// Write roots, absolute.
    pub write_roots: Vec<String>,
}

/// A declared executable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicAlias {
    /// Id, matched exactly with the program text.
    pub id: String,
    /// Absolute path.
    pub path: String,
    /// Declared as trusted.
    pub trusted: bool,
    /// Has a `sha256` pin (the symbolic file satisfies it).
    pub pinned: bool,
}

/// Facts that a test declares with `expect-given`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SymbolicFacts {
    environment: BTreeMap<String, String>,
    files: HashMap<String, FileFact>,
    links: HashMap<String, String>,
    programs: HashMap<String, ProgramFact>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FileFact {
    system: Option<bool>,
    script: bool,
    set_id: bool,
    writable: bool,
}

/// How a program resolves, instead of the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramFact {
    /// System file inside a trusted root.
    Trusted,
    /// `/usr/bin/NAME`; trusted only if declared.
    System,
    /// `/ws/bin/NAME`, untrusted.
    Local,
    /// Located as by default; starts with `#!`.
    Script,
    /// Located as by default; has the set-uid bit.
    SetUid,
    /// Not found.
    Missing,
    /// Located and canonical at this path.
    Path(String),
    /// Located as by default, canonical at this path.
    Link(String),
}

impl ProgramFact {
    /// The word of option `program=`; an absolute path also stands alone.
    pub fn parse(text: &str) -> Option<Self> {
        let absolute = |path: &str| path.starts_with('/').then(|| normalise(path));
        Some(match text {
            "trusted" => Self::Trusted,
            "system" => Self::System,
            "local" => Self::Local,
            "script" => Self::Script,
            "setuid" => Self::SetUid,
            "missing" => Self::Missing,
            _ => {
                if let Some(path) = text.strip_prefix("path:") {
                    Self::Path(absolute(path)?)
                } else if let Some(path) = text.strip_prefix("link:") {
                    Self::Link(absolute(path)?)
                } else {
                    Self::Path(absolute(text)?)
                }
            }
        })
    }
}

/// A fact that does not parse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactFault {
    /// The fact as written.
    pub fact: String,
}

impl fmt::Display for FactFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = self.fact.chars().take(40).collect();
        write!(
            out,
            "{shown:?} is no fact; known are `env NAME=VALUE`, `file PATH [system|local] [script \"LINE\"] [setuid] [writable]`, `link PATH -> PATH`, `program NAME = trusted|system|local|script|missing|PATH`"
        )
    }
}

impl std::error::Error for FactFault {}

impl SymbolicFacts {
    /// Adds facts separated by `;`; later ones win.
    pub fn add(&mut self, text: &str) -> Result<(), FactFault> {
        for fact in split_facts(text) {
            self.one(fact).ok_or_else(|| FactFault {
                fact: fact.to_owned(),
            })?;
        }
        Ok(())
    }

    /// Sets how a program resolves (option `program=`).
    pub fn set_program(&mut self, program: &str, fact: ProgramFact) {
        self.programs.insert(program.to_owned(), fact);
    }

    /// Sets a host variable (option `env=`).
    pub fn set_variable(&mut self, name: &str, value: &str) {
        self.environment.insert(name.to_owned(), value.to_owned());
    }

    /// Host variables: the fixed ones and those given.
    pub fn environment(&self) -> BTreeMap<String, String> {
        let fixed = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("HOME", HOME),
            ("USER", "u"),
            ("LANG", "C.UTF-8"),
        ];
        let mut all: BTreeMap<String, String> = fixed
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        all.extend(self.environment.clone());
        all
    }

    fn one(&mut self, fact: &str) -> Option<()> {
        let (head, rest) = fact.split_once(|c: char| c.is_ascii_whitespace())?;
        let rest = rest.trim();
        match head {
            "env" => {
                let (name, value) = rest.split_once('=')?;
                if name.is_empty() || name.contains(char::is_whitespace) {
                    return None;
                }
                self.set_variable(name, value);
            }
            "link" => {
                let (from, to) = rest.split_once("->")?;
                let (from, to) = (from.trim(), to.trim());
                if !from.starts_with('/') || to.is_empty() {
                    return None;
                }
                self.links.insert(normalise(from), to.to_owned());
            }
            "program" => {
                let (name, value) = rest.split_once('=')?;
                let name = name.trim();
                if name.is_empty() {
                    return None;
                }
                let value = value.trim();
                // `setuid` and the prefixed forms belong to the option, not to the fact.
                if value == "setuid" || value.starts_with("path:") || value.starts_with("link:") {
                    return None;
                }
                self.set_program(name, ProgramFact::parse(value)?);
            }
            "file" => self.file(rest)?,
            _ => return None,
        }
        Some(())
    }

    fn file(&mut self, text: &str) -> Option<()> {
        let (path, mut rest) = match text.split_once(|c: char| c.is_ascii_whitespace()) {
            Some((path, rest)) => (path, rest.trim_start()),
            None => (text, ""),
        };
        if !path.starts_with('/') {
            return None;
        }
        let mut fact = FileFact::default();
        while !rest.is_empty() {
            let (word, after) = match rest.split_once(|c: char| c.is_ascii_whitespace()) {
                Some((word, after)) => (word, after.trim_start()),
                None => (rest, ""),
            };
            rest = after;
            match word {
                "system" => fact.system = Some(true),
                "local" => fact.system = Some(false),
                "setuid" => fact.set_id = true,
                "writable" => fact.writable = true,
                "script" => {
                    let line = rest.strip_prefix('"')?;
                    let (line, after) = line.split_once('"')?;
                    fact.script = line.starts_with("#!");
                    rest = after.trim_start();
                }
                _ => return None,
            }
        }
        self.files.insert(normalise(path), fact);
        Some(())
    }
}

/// Splits at `;` outside double quotes, drops blanks and empty facts.
fn split_facts(text: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split(move |character| {
        quoted ^= character == '"';
        character == ';' && !quoted
    })
    .map(str::trim)
    .filter(|fact| !fact.is_empty())
}

/// A resolved program with what its trust is made of.
struct Judged {
    facts: ExecutableFacts,
    system: bool,
    /// T1.
    named: bool,
    /// Not T2.
    writable: bool,
    pinned: bool,
}

/// Facts of the symbolic host for one runtime.
#[derive(Clone, Debug, Default)]
pub struct SymbolicHost {
    facts: SymbolicFacts,
    resolver: SymbolicResolver,
}

impl SymbolicHost {
    /// A host for one runtime.
    pub fn new(facts: SymbolicFacts, resolver: SymbolicResolver) -> Self {
        Self { facts, resolver }
    }

    /// The facts.
    pub fn facts(&self) -> &SymbolicFacts {
        &self.facts
    }

    /// Resolves the program of a command; `None`: not found.
    pub fn resolve(&self, program: &str, cwd: &str) -> Option<ExecutableFacts> {
        self.judge(program, cwd).map(|judged| judged.facts)
    }

    /// Class of spec 12 section 2.5: `local` or `system`.
    pub fn class(&self, program: &str, cwd: &str) -> Option<&'static str> {
        let judged = self.judge(program, cwd)?;
        Some(if judged.system { "system" } else { "local" })
    }

    /// The conditions of trust, one by one (spec 06 section 3.2). A digest always matches here.
    pub fn trust(&self, program: &str, cwd: &str) -> Option<TrustTrace> {
        let judged = self.judge(program, cwd)?;
        let known = |holds| if holds { Known::Yes } else { Known::No };
        Some(TrustTrace {
            t1: known(judged.named),
            t2: known(!judged.writable),
            t3: Known::Yes,
            t4: known(!judged.facts.set_id),
            t5: known(!judged.facts.modifiable || judged.pinned),
            t6: Known::Yes,
        })
    }

    fn judge(&self, program: &str, cwd: &str) -> Option<Judged> {
        let alias = self
            .resolver
            .aliases
            .iter()
            .find(|alias| alias.id == program);
        let fact = self.facts.programs.get(program);
        let (located, canonical) = self.place(program, cwd, alias, fact)?;
        let file = self
            .facts
            .files
            .get(&canonical)
            .copied()
            .unwrap_or_default();
        let in_write_root = self
            .resolver
            .write_roots
            .iter()
            .any(|root| is_within(root, &canonical));
        let below = |roots: &[&str]| roots.iter().any(|root| is_within(root, &canonical));
        let system = match fact {
            Some(ProgramFact::Trusted | ProgramFact::System) => true,
            Some(ProgramFact::Local) => false,
            _ => file.system.unwrap_or(!in_write_root && !below(LOCAL)),
        };
        let assumed = matches!(fact, Some(ProgramFact::Trusted));
        let untrusted = matches!(fact, Some(ProgramFact::Local));
        let set_id = file.set_id || matches!(fact, Some(ProgramFact::SetUid));
        let modifiable = in_write_root && (!system || file.writable);
        let pinned = alias.is_some_and(|alias| alias.pinned);
        let in_root = |path: &str| {
            self.resolver
                .trusted_roots
                .iter()
                .any(|root| is_within(root, path))
        };
        let named = assumed || alias.is_some_and(|alias| alias.trusted) || in_root(&canonical);
        let named = named && !untrusted;
        let trusted = named && !file.writable && !set_id && (!modifiable || pinned);
        let stable = trusted || system && !file.writable && !modifiable && !below(LOCAL);
        Some(Judged {
            facts: ExecutableFacts {
                in_trusted_root: assumed || in_root(&located),
                interpreted: file.script || matches!(fact, Some(ProgramFact::Script)),
                alias: alias.is_some(),
                located,
                canonical,
                trusted,
                stable,
                modifiable,
                set_id,
            },
            system,
            named,
            writable: file.writable,
            pinned,
        })
    }

    fn place(
        &self,
        program: &str,
        cwd: &str,
        alias: Option<&SymbolicAlias>,
        fact: Option<&ProgramFact>,
    ) -> Option<(String, String)> {
        if program.is_empty() || program.ends_with('/') || matches!(program, "." | "..") {
            return None;
        }
        let located = match (alias, fact) {
            (_, Some(ProgramFact::Missing)) => return None,
            (_, Some(ProgramFact::Path(path))) => path.clone(),
            (_, Some(ProgramFact::System)) => format!("/usr/bin/{}", paths::basename(program)),
            (_, Some(ProgramFact::Local)) => format!("/ws/bin/{}", paths::basename(program)),
            (Some(alias), _) => normalise(&alias.path),
            _ if program.contains('/') => normalise(&join(cwd, program)),
            _ => join(&self.search_directory(), program),
        };
        let canonical = match fact {
            Some(ProgramFact::Link(path)) => path.clone(),
            _ => self.canonical(&located).ok()?,
        };
        Some((located, canonical))
    }

    fn search_directory(&self) -> String {
        let path = &self.resolver.search_path;
        let system = |directory: &&String| {
            !LOCAL.iter().any(|root| is_within(root, directory))
                && !self
                    .resolver
                    .write_roots
                    .iter()
                    .any(|root| is_within(root, directory))
        };
        if path.is_empty() || path.iter().any(|directory| directory == "/usr/bin") {
            "/usr/bin".to_owned()
        } else {
            path.iter()
                .find(system)
                .or(path.first())
                .cloned()
                .unwrap_or_default()
        }
    }

    /// Follows the given links; everything else exists and is no link.
    fn canonical(&self, path: &str) -> Result<String, PathFault> {
        let mut left: VecDeque<String> = path.split('/').map(str::to_owned).collect();
        let mut done = String::new();
        let mut links = 0;
        while let Some(part) = left.pop_front() {
            match part.as_str() {
                "" | "." => continue,
                ".." => {
                    let parent = paths::parent(&done);
                    done = if parent == "/" {
                        String::new()
                    } else {
                        parent.to_owned()
                    };
                    continue;
                }
                _ => {}
            }
            let next = format!("{done}/{part}");
            let Some(target) = self.facts.links.get(&next) else {
                done = next;
                continue;
            };
            links += 1;
            if links > MAX_LINKS {
                return Err(PathFault("too many symbolic links".to_owned()));
            }
            if target.starts_with('/') {
                done.clear();
            }
            for part in target.split('/').rev() {
                left.push_front(part.to_owned());
            }
        }
        Ok(if done.is_empty() {
            "/".to_owned()
        } else {
            done
        })
    }
}

impl PolicyHost for SymbolicHost {
    fn canonical_or_parent(&self, path: &str) -> Result<String, PathFault> {
        self.canonical(path)
    }

    fn search(&self, program: &str, cwd: &str) -> Option<Located> {
        self.resolve(program, cwd).map(|found| Located {
            located: found.located,
            canonical: found.canonical,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn host(facts: &str) -> SymbolicHost {
        let mut all = SymbolicFacts::default();
        all.add(facts).unwrap();
        SymbolicHost::new(
            all,
            SymbolicResolver {
                search_path: vec!["/ws/bin".to_owned(), "/usr/bin".to_owned()],
                trusted_roots: vec!["/usr/bin".to_owned()],
                aliases: vec![SymbolicAlias {
                    id: "gen".to_owned(),
                    path: "/ws/tools/gen".to_owned(),
                    trusted: true,
                    pinned: false,
                }],
                write_roots: vec!["/ws".to_owned()],
            },
        )
    }

    #[test]
    fn resolution_and_class() {
        let row = |facts: &str, program: &str| {
            let found = host(facts).resolve(program, "/ws/sub").unwrap();
            (found.located, found.canonical, found.trusted, found.stable)
        };
        let text = |located: &str, canonical: &str, trusted, stable| {
            (located.to_owned(), canonical.to_owned(), trusted, stable)
        };
        for (facts, program, expected) in [
            ("", "git", text("/usr/bin/git", "/usr/bin/git", true, true)),
            (
                "",
                "./git",
                text("/ws/sub/git", "/ws/sub/git", false, false),
            ),
            ("", "../git", text("/ws/git", "/ws/git", false, false)),
            (
                "",
                "/opt/x/git",
                text("/opt/x/git", "/opt/x/git", false, true),
            ),
            ("", "/tmp/git", text("/tmp/git", "/tmp/git", false, false)),
            (
                "",
                "gen",
                text("/ws/tools/gen", "/ws/tools/gen", false, false),
            ),
            (
                "program git = local",
                "git",
                text("/ws/bin/git", "/ws/bin/git", false, false),
            ),
            (
                "program git=/opt/g/git",
                "git",
                text("/opt/g/git", "/opt/g/git", false, true),
            ),
            (
                "link /usr/bin/g -> git",
                "g",
                text("/usr/bin/g", "/usr/bin/git", true, true),
            ),
            (
                "link /usr/bin/g -> /ws/evil; env A=b",
                "g",
                text("/usr/bin/g", "/ws/evil", false, false),
            ),
            (
                "file /usr/bin/git writable",
                "git",
                text("/usr/bin/git", "/usr/bin/git", false, false),
            ),
            (
                "file /usr/bin/git setuid",
                "git",
                text("/usr/bin/git", "/usr/bin/git", false, true),
            ),
        ] {
            assert_eq!(row(facts, program), expected, "{facts} {program}");
        }
        assert!(host("program x = missing").resolve("x", "/ws").is_none());
        assert!(
            host("file /ws/t script \"#!/bin/sh\"")
                .resolve("/ws/t", "/")
                .unwrap()
                .interpreted
        );
    }

    #[test]
    fn links_and_loops() {
        let host = host("link /a -> /b; link /b -> /a; link /ws/l -> ../etc");
        assert!(host.canonical_or_parent("/a/x").is_err());
        assert_eq!(host.canonical_or_parent("/ws/l/../p").unwrap(), "/p");
        assert_eq!(host.canonical_or_parent("/ws/l/p").unwrap(), "/etc/p");
    }

    #[test]
    fn malformed_facts() {
        for fact in [
            "nonsense",
            "env =x",
            "link a -> b",
            "program x",
            "file a",
            "file /a frob",
            "program x = setuid",
            "link /a",
        ] {
            assert!(SymbolicFacts::default().add(fact).is_err(), "{fact}");
        }
        assert!(
            SymbolicFacts::default()
                .add(" ; file /a script \"#!/x;y\" ;")
                .is_ok()
        );
    }

    #[test]
    fn variables_are_the_fixed_ones_and_those_given() {
        let mut facts = SymbolicFacts::default();
        assert_eq!(facts.environment()["HOME"], HOME);
        assert_eq!(facts.environment().get("A"), None);
        facts.add("env A=b=c; env HOME=/x; env EMPTY=").unwrap();
        facts.set_variable("USER", "v");
        let all = facts.environment();
        for (name, value) in [("A", "b=c"), ("HOME", "/x"), ("EMPTY", ""), ("USER", "v")] {
            assert_eq!(all[name], value, "{name}");
        }
        assert_eq!(all.len(), 6);
    }
}
