//! Checks shared by the tests of this crate.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

use chatmd_syntax::{Element, Node, NodeId, Parse, Span, SyntaxSeverity, parse};

/// Every byte is covered once, in order: by the top-level nodes, and inside each element by start
/// tag, children and end tag.
pub fn check_cover(parse: &Parse) {
    let tree = &parse.tree;
    let mut seen = vec![false; tree.nodes.len()];
    let end = cover(parse, &tree.top, tree.bom.end, &mut seen);
    assert_eq!(end as usize, tree.text.len(), "top level ends early");
    let mut work: Vec<NodeId> = tree.top.clone();
    while let Some(id) = work.pop() {
        let Some(element) = tree.element(id) else {
            continue;
        };
        check_element(parse, element, &mut seen);
        work.extend(&element.children);
    }
    assert!(seen.iter().all(|seen| *seen), "a node belongs to nothing");
    check_tokens(&tree.text);
    for found in &parse.diagnostics {
        let spans = found
            .secondary
            .iter()
            .map(|(span, _)| *span)
            .chain([found.primary]);
        let fixes = found
            .fix
            .iter()
            .flat_map(|(_, edits)| edits.iter().map(|(span, _)| *span));
        for span in spans.chain(fixes) {
            assert!(
                tree.text.get(span.range()).is_some(),
                "{} at {span:?}",
                found.code
            );
        }
        assert!(!found.message.is_empty());
    }
}

/// The tokens concatenate to the text.
fn check_tokens(text: &str) {
    let mut at = 0;
    for token in chatmd_syntax::token::tokens(text) {
        assert_eq!(token.span.start, at, "gap before {token:?}");
        assert!(token.span.end > at, "empty {token:?}");
        assert!(
            text.get(token.span.range()).is_some(),
            "{token:?} splits a character"
        );
        at = token.span.end;
    }
    assert_eq!(at as usize, text.len(), "the tokens end early");
}

fn check_element(parse: &Parse, element: &Element, seen: &mut [bool]) {
    assert_eq!(element.span.start, element.start_tag.start);
    let end = cover(parse, &element.children, element.start_tag.end, seen);
    match element.end_tag {
        Some(tag) => {
            assert_eq!(end, tag.start, "gap before the end tag");
            assert_eq!(tag.end, element.span.end);
        }
        None => assert_eq!(end, element.span.end, "gap at the end of an element"),
    }
    let text = &parse.tree.text;
    assert!(text.get(element.name_span.range()).is_some());
    let mut at = element.name_span.end;
    for attribute in &element.attributes {
        assert!(attribute.span.start >= at && attribute.span.end <= element.start_tag.end);
        assert!(text.get(attribute.name.range()).is_some());
        if let Some(value) = attribute.value {
            assert!(text.get(value.range()).is_some());
            assert!(attribute.name.end <= value.start && value.end <= attribute.span.end);
        }
        at = attribute.span.end;
        let decoded = parse.tree.decoded(attribute);
        assert_eq!(
            decoded.as_ref().map(|d| &*d.text),
            parse.tree.value(attribute).as_deref()
        );
        if let (Some(decoded), Some(value)) = (decoded, attribute.value) {
            assert_eq!(decoded.span(), value);
        }
    }
}

fn cover(parse: &Parse, nodes: &[NodeId], from: u32, seen: &mut [bool]) -> u32 {
    let mut at = from;
    for id in nodes {
        let node = parse.tree.node(*id);
        let span: Span = node.span();
        assert_eq!(span.start, at, "gap or overlap before {node:?}");
        assert!(span.end > span.start, "empty node {node:?}");
        assert!(
            !std::mem::replace(&mut seen[id.0 as usize], true),
            "node used twice"
        );
        assert!(parse.tree.text.get(span.range()).is_some());
        at = span.end;
    }
    at
}

/// `code@start` of each finding.
pub fn codes(parse: &Parse) -> Vec<String> {
    parse
        .diagnostics
        .iter()
        .map(|found| format!("{}@{}", found.code, found.primary.start))
        .collect()
}

/// The tree as an indented outline: what a person would read out of it.
pub fn outline(parse: &Parse) -> String {
    let mut out = String::new();
    let mut work: Vec<(usize, NodeId)> = parse.tree.top.iter().rev().map(|id| (0, *id)).collect();
    while let Some((depth, id)) = work.pop() {
        let node = parse.tree.node(id);
        let text = parse.tree.slice(node.span());
        let line = match node {
            Node::Element(element) => {
                work.extend(element.children.iter().rev().map(|id| (depth + 1, *id)));
                let known = if element.tag().is_some() { "" } else { "?" };
                let attributes: Vec<String> = element
                    .attributes
                    .iter()
                    .map(|a| {
                        let value = parse
                            .tree
                            .value(a)
                            .map(|v| format!("={v:?}"))
                            .unwrap_or_default();
                        format!(
                            " {}{value}{}",
                            parse.tree.slice(a.name),
                            if a.poisoned { "!" } else { "" }
                        )
                    })
                    .collect();
                let broken = if element.broken_start { " broken" } else { "" };
                let open = if element.end_tag.is_none() && !element.self_closing {
                    " unclosed"
                } else {
                    ""
                };
                format!(
                    "{known}{}{}{broken}{open}",
                    parse.tree.slice(element.name_span),
                    attributes.concat()
                )
            }
            Node::Text { .. } => format!("text {text:?}"),
            Node::Raw { content, .. } => format!("raw {:?}", parse.tree.slice(*content)),
            Node::Comment { .. } => format!("comment {text:?}"),
            Node::ScriptBody { content, .. } => format!("script {:?}", parse.tree.slice(*content)),
            Node::StrayEnd { .. } => format!("stray {text:?}"),
            Node::Skipped { .. } => format!("skipped {}", text.len()),
        };
        out.push_str(&"  ".repeat(depth));
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// `code` or `warning code`, the primary text, then each secondary text.
pub type Finding<'t> = (&'t str, &'t str, &'t [&'t str]);

/// What was found, in the form of [`Finding`].
pub fn findings(parsed: &Parse) -> Vec<(String, String, Vec<String>)> {
    let slice = |span| parsed.tree.slice(span).to_owned();
    parsed
        .diagnostics
        .iter()
        .map(|found| {
            let warning = if found.severity == SyntaxSeverity::Warning {
                "warning "
            } else {
                ""
            };
            let secondary = found
                .secondary
                .iter()
                .map(|(span, _)| slice(*span))
                .collect();
            (
                format!("{warning}{}", found.code),
                slice(found.primary),
                secondary,
            )
        })
        .collect()
}

/// Parses, checks that every byte is covered, and compares the findings.
#[track_caller]
pub fn check(text: &str, want: &[Finding<'_>]) -> Parse {
    let parsed = parse(text.as_bytes());
    check_cover(&parsed);
    let want: Vec<_> = want
        .iter()
        .map(|(code, primary, second)| {
            (
                code.to_string(),
                primary.to_string(),
                second.iter().map(ToString::to_string).collect::<Vec<_>>(),
            )
        })
        .collect();
    assert_eq!(findings(&parsed), want, "{text}");
    parsed
}
