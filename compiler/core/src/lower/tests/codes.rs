//! Codes in the tables and in lowering exist, with a severity that fits.

use std::collections::BTreeSet;
use std::path::Path;

use crate::diagnostics::registry;
use crate::schema;

/// Every string literal in lowering and the schema that is shaped like a code.
fn used() -> BTreeSet<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![source.join("lower"), source.join("schema")];
    let mut codes = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if path.file_name().unwrap() != "tests" {
                    folders.push(path);
                }
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            let strings = text.split('"');
            codes.extend(strings.filter(|text| is_code(text)).map(str::to_owned));
        }
    }
    codes
}

fn is_code(text: &str) -> bool {
    let Some((family, name)) = text.split_once('.') else {
        return false;
    };
    ["chatmd", "shell", "read_file"].contains(&family)
        && !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

#[test]
fn every_code_of_lowering_is_registered() {
    let used = used();
    assert!(used.len() > 90, "the scan found {} codes only", used.len());
    for code in used {
        assert!(registry::entry(&code).is_some(), "{code} is not registered");
    }
}

#[test]
fn the_tables_are_consistent() {
    let elements = schema::all();
    assert!(elements.len() > 80);
    for element in elements {
        assert!(
            chatmd_syntax::Tag::from_name(element.name).is_some(),
            "{}",
            element.name
        );
        assert!(element.doc.ends_with('.'), "{}", element.name);
        for row in element.attributes {
            assert!(row.doc.ends_with('.'), "{} {}", element.name, row.name);
            assert!(
                !(row.required && row.default.is_some()),
                "{} {}",
                element.name,
                row.name
            );
            if let Some(default) = row.default.filter(|text| !text.is_empty()) {
                let mut budget = 1 << 20;
                let read = super::super::value::read(row, default, &mut budget);
                assert!(
                    read.is_ok(),
                    "{} {}: default {default}",
                    element.name,
                    row.name
                );
            }
            if let Some(when) = row.when {
                let selector = element.rows(when.attribute).next();
                let schema::Type::Words(words) = selector.unwrap().ty else {
                    panic!("{} {}: selector is no enumeration", element.name, row.name)
                };
                assert!(
                    when.words.iter().all(|word| words.contains(word)),
                    "{} {}",
                    element.name,
                    row.name
                );
            }
        }
    }
}
