//! Settings of the client (spec 11 section 1.6), as far as diagnostics depend on them.

use chatmd_compiler::CompileOptions;
use chatmd_compiler::compile::TestSelection;
use chatmd_compiler::manifest::Platform;
use serde_json::Value;

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
    /// Reads the settings object; a wrong type means the default and one complaint.
    pub fn read(value: &Value) -> (Self, Vec<String>) {
        // Clients send the section itself or an object that holds it.
        let value = value.get("chatmd").unwrap_or(value);
        let mut settings = Self::default();
        let mut complaints = Vec::new();
        let mut expect = |key: &str, wanted: &str| {
            complaints.push(format!("the setting chatmd.{key} must be {wanted}"));
        };
        match value.get("trusted") {
            None | Some(Value::Null) => {}
            Some(Value::Bool(trusted)) => settings.trusted = *trusted,
            Some(_) => {
                // Whoever tried to say something about trust did not say yes.
                settings.trusted = false;
                expect("trusted", "true or false");
            }
        }
        match value.pointer("/docs/baseUrl").or(value.get("docs.baseUrl")) {
            None | Some(Value::Null) => {}
            Some(Value::String(url)) => settings.docs_base_url.clone_from(url),
            Some(_) => expect("docs.baseUrl", "a text"),
        }
        let platform = match value.get("platform").map(|platform| platform.as_str()) {
            None | Some(Some("current")) => None,
            Some(Some("linux")) => Some(Platform::Linux),
            Some(Some("macos")) => Some(Platform::Macos),
            Some(Some("windows")) => Some(Platform::Windows),
            Some(_) => {
                expect("platform", "current, linux, macos or windows");
                None
            }
        };
        if let Some(platform) = platform {
            settings.options = reporting(CompileOptions::for_platform(platform));
        }
        (settings, complaints)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn wrong_values_are_defaults_with_a_complaint() {
        let (settings, complaints) = Settings::read(&json!({
            "chatmd": {"trusted": false, "platform": "macos", "docs": {"baseUrl": "https://x/"}}
        }));
        assert!(!settings.trusted && complaints.is_empty());
        assert_eq!(settings.docs_base_url, "https://x/");
        assert_eq!(
            settings.options,
            reporting(CompileOptions::for_platform(Platform::Macos))
        );
        let (settings, complaints) =
            Settings::read(&json!({"platform": 3, "docs": {"baseUrl": 1}}));
        assert_eq!(settings, Settings::default());
        assert_eq!(complaints.len(), 2);
        let (settings, _) = Settings::read(&json!({"trusted": "no"}));
        assert!(!settings.trusted, "an unreadable answer is no consent");
        assert_eq!(Settings::read(&Value::Null).0, Settings::default());
    }
}
