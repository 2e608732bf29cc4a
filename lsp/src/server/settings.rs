//! Settings of the client (spec 11 section 1.6). Every key is known here by its type; those that
//! diagnostics depend on have a field.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use chatmd_compiler::compile::TestSelection;
use chatmd_compiler::diagnostics::nearest;
use chatmd_compiler::manifest::Platform;
use chatmd_compiler::{CompileOptions, SafeText};
use serde_json::Value;

/// Most complaints about one settings object.
const MAX_COMPLAINTS: usize = 20;
/// Most characters of an unknown key that are shown.
const MAX_KEY: usize = 40;

/// What the value of a key has to be.
enum Kind {
    Bool,
    Words(&'static [&'static str]),
    /// A whole number between two bounds.
    Whole(u64, u64),
    Text,
    /// An object of texts under names that the user chooses.
    Texts,
    /// A list of texts.
    List,
    /// For the client alone.
    Foreign,
}

/// Every key below `chatmd`.
const KEYS: &[(&str, Kind)] = &[
    ("trusted", Kind::Bool),
    ("diagnostics.mode", Kind::Words(&["auto", "push", "pull"])),
    ("diagnostics.scope", Kind::Words(&["open", "workspace"])),
    ("diagnostics.delayLints", Kind::Whole(0, 5_000)),
    ("docs.baseUrl", Kind::Text),
    (
        "platform",
        Kind::Words(&["current", "linux", "macos", "windows"]),
    ),
    ("variables", Kind::Texts),
    ("environment", Kind::Words(&["none", "process"])),
    ("config", Kind::Text),
    ("tests.enable", Kind::Bool),
    ("tests.runScripts", Kind::Bool),
    ("completion.snippets", Kind::Bool),
    ("completion.closeTag", Kind::Bool),
    ("hover.effective", Kind::Bool),
    ("inlayHints.inherited", Kind::Bool),
    ("inlayHints.defaults", Kind::Bool),
    ("inlayHints.references", Kind::Bool),
    ("inlayHints.variables", Kind::Bool),
    ("inlayHints.types", Kind::Bool),
    ("codeLens.references", Kind::Bool),
    ("codeLens.authority", Kind::Bool),
    ("codeLens.tests", Kind::Bool),
    ("codeLens.explain", Kind::Bool),
    ("semanticTokens.enable", Kind::Bool),
    ("format.enable", Kind::Bool),
    ("files.markdown", Kind::List),
    ("files.exclude", Kind::List),
    ("files.maxIndexed", Kind::Whole(0, 100_000)),
    ("markdown.fences", Kind::Bool),
    ("trace", Kind::Words(&["off", "requests"])),
    ("server.path", Kind::Foreign),
    ("server.args", Kind::Foreign),
    ("server.trace", Kind::Foreign),
];

impl Kind {
    fn takes(&self, value: &Value) -> bool {
        let texts = |mut all: Box<dyn Iterator<Item = &Value> + '_>| all.all(Value::is_string);
        match (self, value) {
            (Self::Foreign, _) | (Self::Bool, Value::Bool(_)) | (Self::Text, Value::String(_)) => {
                true
            }
            (Self::Words(words), Value::String(word)) => words.contains(&word.as_str()),
            (Self::Whole(least, most), value) => value
                .as_u64()
                .is_some_and(|number| (*least..=*most).contains(&number)),
            (Self::Texts, Value::Object(members)) => texts(Box::new(members.values())),
            (Self::List, Value::Array(items)) => texts(Box::new(items.iter())),
            _ => false,
        }
    }

    fn wanted(&self) -> String {
        match self {
            Self::Bool => "true or false".to_owned(),
            Self::Words(words) => match words.split_last() {
                Some((last, others)) => format!("{} or {last}", others.join(", ")),
                None => String::new(),
            },
            Self::Whole(least, most) => format!("a whole number from {least} to {most}"),
            Self::Text => "a text".to_owned(),
            Self::Texts => "an object whose values are texts".to_owned(),
            Self::List => "a list of texts".to_owned(),
            Self::Foreign => "anything".to_owned(),
        }
    }
}

/// The settings in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether files outside the workspace folders may be read.
    pub trusted: bool,
    /// What stands before a code in its link; empty: no link.
    pub docs_base_url: String,
    /// Target platform; without digests.
    pub options: CompileOptions,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            trusted: true,
            docs_base_url: String::new(),
            options: reporting(CompileOptions::for_this_machine()),
        }
    }
}

/// Findings need no digests.
fn reporting(options: CompileOptions) -> CompileOptions {
    CompileOptions {
        digests: false,
        tests: Some(TestSelection {
            sidecar: true,
            ..TestSelection::default()
        }),
        ..options
    }
}

impl Settings {
    /// Reads the settings object. A value of the wrong type and a key that does not exist leave the
    /// default and make one complaint each, which names the setting. Trust alone is kept from `before`
    /// when nothing is said of it: who leaves it out has not granted it.
    pub fn read(value: &Value, before: &Self) -> (Self, Vec<String>) {
        // Clients send the section itself or an object that holds it.
        let value = value.get("chatmd").unwrap_or(value);
        let mut settings = Self {
            trusted: before.trusted,
            ..Self::default()
        };
        let mut complaints = Vec::new();
        let mut left = vec![(String::new(), value)];
        while let Some((key, value)) = left.pop() {
            let known = KEYS.iter().find(|(name, _)| *name == key);
            match (known, value) {
                (_, Value::Null) => {}
                (Some((name, kind)), value) if kind.takes(value) => settings.set(name, value),
                (Some((name, kind)), _) => {
                    // Whoever tried to say something about trust did not say yes.
                    settings.trusted &= *name != "trusted";
                    complaints.push(format!(
                        "the setting chatmd.{name} must be {}",
                        kind.wanted()
                    ));
                }
                (None, Value::Object(members)) if key.is_empty() || is_group(&key) => {
                    let within = |name: &str| match key.as_str() {
                        "" => name.to_owned(),
                        key => format!("{key}.{name}"),
                    };
                    left.extend(
                        members
                            .iter()
                            .rev()
                            .map(|(name, value)| (within(name), value)),
                    );
                }
                (None, _) => complaints.push(unknown(&key)),
            }
            if complaints.len() > MAX_COMPLAINTS {
                complaints.pop();
                complaints.push("and more of the settings below chatmd are wrong".to_owned());
                break;
            }
        }
        (settings, complaints)
    }

    fn set(&mut self, name: &str, value: &Value) {
        match (name, value) {
            ("trusted", Value::Bool(trusted)) => self.trusted = *trusted,
            ("docs.baseUrl", Value::String(url)) => self.docs_base_url.clone_from(url),
            ("platform", Value::String(word)) => {
                let options = match Platform::from_word(word) {
                    Some(platform) => CompileOptions::for_platform(platform),
                    None => CompileOptions::for_this_machine(),
                };
                self.options = reporting(options);
            }
            _ => {}
        }
    }
}

/// Whether keys of that name and more exist.
fn is_group(key: &str) -> bool {
    let rest = |name: &str| Some(name.strip_prefix(key)?.starts_with('.'));
    KEYS.iter().any(|(name, _)| rest(name) == Some(true))
}

fn unknown(key: &str) -> String {
    if key.is_empty() {
        return "the settings below chatmd must be an object".to_owned();
    }
    if let Some((inside, _)) = KEYS
        .iter()
        .find(|(name, _)| is_group(key) && name.starts_with(key))
    {
        return format!("chatmd.{key} is an object of settings, such as chatmd.{inside}");
    }
    let shown: String = key.chars().take(MAX_KEY).collect();
    let shown = SafeText::line(&shown).into_string();
    let names = KEYS.iter().map(|(name, _)| *name);
    // The last part alone, too: a key may be right and stand in the wrong group.
    let last = key.rsplit('.').next().unwrap_or(key);
    let same_end = || {
        let ends = |name: &&str| name.rsplit('.').next() == Some(last);
        let mut found = names.clone().filter(ends);
        found.next().filter(|_| found.next().is_none())
    };
    match nearest(key, names.clone()).or_else(same_end) {
        Some(name) => {
            format!("there is no setting chatmd.{shown}; did you mean chatmd.{name}?")
        }
        None => format!("there is no setting chatmd.{shown}"),
    }
}

/// The settings of all folders.
#[derive(Clone, Debug, Default)]
pub struct AllSettings {
    /// Where no folder says otherwise.
    pub default: Arc<Settings>,
    /// By workspace folder.
    pub folders: Vec<(Utf8PathBuf, Arc<Settings>)>,
}

impl AllSettings {
    /// The same everywhere.
    pub fn everywhere(settings: Settings) -> Self {
        Self {
            default: Arc::new(settings),
            folders: Vec::new(),
        }
    }

    /// Those of the innermost folder around a file.
    pub fn of(&self, path: &Utf8Path) -> &Arc<Settings> {
        let around = self
            .folders
            .iter()
            .filter(|(folder, _)| path.starts_with(folder));
        let innermost = around.max_by_key(|(folder, _)| folder.components().count());
        innermost.map_or(&self.default, |(_, settings)| settings)
    }

    /// Whether every folder is trusted: one database reads the files of all of them.
    pub fn trusted(&self) -> bool {
        self.default.trusted && self.folders.iter().all(|(_, settings)| settings.trusted)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use serde_json::json;

    fn read(value: &Value) -> (Settings, Vec<String>) {
        Settings::read(value, &Settings::default())
    }

    #[test]
    fn trust_is_not_granted_by_silence() {
        let (refused, _) = read(&json!({"trusted": false, "platform": "macos"}));
        let (silent, _) = Settings::read(&json!({"trace": "off"}), &refused);
        assert_eq!(
            (silent.trusted, silent.options),
            (false, Settings::default().options)
        );
        assert!(
            Settings::read(&json!({"trusted": true}), &refused)
                .0
                .trusted
        );
    }

    #[test]
    fn values_of_the_right_type_are_taken() {
        let (settings, complaints) = read(&json!({
            "chatmd": {"trusted": false, "platform": "macos", "docs": {"baseUrl": "https://x/"},
                "variables": {"any.name": "x"}, "files.exclude": ["a"], "server": {"path": 1},
                "inlayHints": {"types": true}, "diagnostics.delayLints": 5000, "config": null}
        }));
        assert_eq!(complaints, [""; 0]);
        assert!(!settings.trusted);
        assert_eq!(settings.docs_base_url, "https://x/");
        assert_eq!(
            settings.options,
            reporting(CompileOptions::for_platform(Platform::Macos))
        );
        assert_eq!(read(&Value::Null).0, Settings::default());
        let (dotted, _) = read(&json!({"docs.baseUrl": "y"}));
        assert_eq!(dotted.docs_base_url, "y");
    }

    #[test]
    fn wrong_values_are_defaults_and_complaints_name_the_setting() {
        for (value, complaint) in [
            (
                json!({"platform": 3}),
                "the setting chatmd.platform must be current, linux, macos or windows",
            ),
            (
                json!({"platform": "Linux"}),
                "the setting chatmd.platform must be current, linux, macos or windows",
            ),
            (
                json!({"docs": {"baseUrl": 1}}),
                "the setting chatmd.docs.baseUrl must be a text",
            ),
            (
                json!({"diagnostics": {"delayLints": -1}}),
                "the setting chatmd.diagnostics.delayLints must be a whole number from 0 to 5000",
            ),
            (
                json!({"files.exclude": "x"}),
                "the setting chatmd.files.exclude must be a list of texts",
            ),
            (
                json!({"variables": {"a": 1}}),
                "the setting chatmd.variables must be an object whose values are texts",
            ),
            (
                json!({"tests.enable": "yes"}),
                "the setting chatmd.tests.enable must be true or false",
            ),
            (
                json!({"platfrom": "linux"}),
                "there is no setting chatmd.platfrom; did you mean chatmd.platform?",
            ),
            (
                json!({"docs": {"baseUri": "x"}}),
                "there is no setting chatmd.docs.baseUri; did you mean chatmd.docs.baseUrl?",
            ),
            (
                json!({"baseUrl": "x"}),
                "there is no setting chatmd.baseUrl; did you mean chatmd.docs.baseUrl?",
            ),
            (json!({"zzz": {"a": [1]}}), "there is no setting chatmd.zzz"),
            (
                json!({"docs": "x"}),
                "chatmd.docs is an object of settings, such as chatmd.docs.baseUrl",
            ),
            (json!("x"), "the settings below chatmd must be an object"),
        ] {
            let (settings, complaints) = read(&value);
            assert_eq!(complaints, [complaint], "{value}");
            assert_eq!(settings, Settings::default(), "{value}");
        }
        let (settings, complaints) = read(&json!({"trusted": "no"}));
        assert!(!settings.trusted, "an unreadable answer is no consent");
        assert_eq!(
            complaints,
            ["the setting chatmd.trusted must be true or false"]
        );
    }

    #[test]
    fn complaints_are_few_and_short() {
        let many: serde_json::Map<_, _> = (0..5_000)
            .map(|n| {
                (
                    format!("{n}\u{1b}[31m{}", "x".repeat(1_000)),
                    Value::Bool(true),
                )
            })
            .collect();
        let (_, complaints) = read(&Value::Object(many));
        assert_eq!(complaints.len(), MAX_COMPLAINTS + 1);
        assert!(
            complaints
                .iter()
                .all(|text| text.len() < 200 && !text.contains('\u{1b}'))
        );
    }

    #[test]
    fn the_innermost_folder_decides() {
        let settings = |url: &str| {
            Arc::new(Settings {
                docs_base_url: url.to_owned(),
                trusted: url != "inner",
                ..Settings::default()
            })
        };
        let all = AllSettings {
            default: settings("default"),
            folders: vec![
                ("/w/a/b".into(), settings("inner")),
                ("/w/a".into(), settings("outer")),
            ],
        };
        for (path, url) in [
            ("/w/a/b/c.chatmd", "inner"),
            ("/w/a/bc.chatmd", "outer"),
            ("/w/x.chatmd", "default"),
        ] {
            assert_eq!(all.of(path.into()).docs_base_url, url, "{path}");
        }
        assert!(!all.trusted());
    }
}
