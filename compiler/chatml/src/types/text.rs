//! Reads the text of a type as the printer writes it (spec 05 section 5.9), with the two
//! abbreviations of the library tables: `option t` and `tbl t` (spec 05b).
//!
//! This is wider than the types a script may write: it has variables, open rows, `ref` and `mu`.

use std::sync::Arc;

use std::collections::HashMap;

use super::{NodeId, NodeKind, TypeGraph, TypeNode};

/// Deepest nesting of a type text.
const MAX_DEPTH: u32 = 256;

/// Why a type text was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// Byte offset in the text.
    pub offset: usize,
    /// What was expected there.
    pub expected: &'static str,
}

impl std::fmt::Display for TextError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at byte {}: expected {}", self.offset, self.expected)
    }
}

impl std::error::Error for TextError {}

/// Reads `text`. Names of declared types are looked up with `alias`, which gives the text of their
/// definition; a definition that mentions itself becomes a recursive type of that name. A name
/// of a quantified variable is `'a`, of a weak one `'_a`.
///
/// # Errors
/// The first place that is not the text of a type.
pub fn parse_type<'a>(
    text: &'a str,
    alias: &dyn Fn(&str) -> Option<&'a str>,
) -> Result<TypeGraph, TextError> {
    let mut builder = Builder {
        nodes: Vec::new(),
        variables: HashMap::default(),
        aliases: HashMap::default(),
        alias,
    };
    let mut reader = Reader::new(text);
    let root = reader.ty(&mut builder)?;
    reader.end()?;
    Ok(TypeGraph {
        nodes: builder.nodes,
        root,
    })
}

struct Builder<'a, 'f> {
    nodes: Vec<TypeNode>,
    variables: HashMap<String, NodeId>,
    aliases: HashMap<String, Alias>,
    alias: &'f dyn Fn(&str) -> Option<&'a str>,
}

#[derive(Clone, Copy)]
struct Alias {
    node: NodeId,
    used: bool,
}

impl Builder<'_, '_> {
    fn add(&mut self, kind: NodeKind) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(TypeNode { kind, name: None });
        id
    }

    /// A node to be filled in once its contents are known.
    fn reserve(&mut self) -> NodeId {
        self.add(NodeKind::Variable { weak: true })
    }

    /// Makes the reserved node equal to `id`.
    fn fill(&mut self, reserved: NodeId, id: NodeId) {
        let kind = self.nodes.get(id.0 as usize).map(|node| node.kind.clone());
        if let (Some(kind), Some(node)) = (kind, self.nodes.get_mut(reserved.0 as usize)) {
            node.kind = kind;
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    loops: Vec<(&'a str, NodeId)>,
}

type Read<T> = Result<T, TextError>;

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
            loops: Vec::new(),
        }
    }

    fn rest(&mut self) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or("");
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &'static str) -> Read<()> {
        if self.take(token) {
            Ok(())
        } else {
            Err(self.error(token))
        }
    }

    fn error(&mut self, expected: &'static str) -> TextError {
        self.rest();
        TextError {
            offset: self.at,
            expected,
        }
    }

    fn end(&mut self) -> Read<()> {
        if self.rest().is_empty() {
            Ok(())
        } else {
            Err(self.error("the end"))
        }
    }

    fn word(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let len = rest
            .bytes()
            .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
            .count();
        let word = rest.get(..len).filter(|word| !word.is_empty())?;
        self.at += len;
        Some(word)
    }

    fn peek_word(&mut self) -> Option<&'a str> {
        let at = self.at;
        let word = self.word();
        self.at = at;
        word
    }

    /// Whether the next type stands in parentheses: `(unit) -> r` takes a unit, `unit -> r` nothing.
    fn ty(&mut self, to: &mut Builder<'a, '_>) -> Read<NodeId> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("less nesting"));
        }
        let mut bare_unit = self.peek_word() == Some("unit");
        let mut params = Vec::new();
        let mut last = self.postfix(to)?;
        while self.take("->") {
            params.push(last);
            last = self.postfix(to)?;
        }
        self.depth -= 1;
        let Some(first) = params.first() else {
            return Ok(last);
        };
        bare_unit &= params.len() == 1
            && matches!(to.nodes.get(first.0 as usize), Some(node) if node.kind == NodeKind::Unit);
        if bare_unit {
            params.clear();
        }
        Ok(to.add(NodeKind::Function {
            params,
            result: last,
        }))
    }

    fn postfix(&mut self, to: &mut Builder<'a, '_>) -> Read<NodeId> {
        let mut inner = self.primary(to)?;
        loop {
            let kind = match self.peek_word() {
                Some("array") => NodeKind::Array(inner),
                Some("ref") => NodeKind::Ref(inner),
                Some("task") => NodeKind::Task(inner),
                _ => return Ok(inner),
            };
            self.word();
            inner = to.add(kind);
        }
    }

    fn primary(&mut self, to: &mut Builder<'a, '_>) -> Read<NodeId> {
        if self.take("(") {
            let inner = self.ty(to)?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.take("{") {
            return self.record(to);
        }
        if self.take("[") {
            return self.variant(to);
        }
        if self.take("'") {
            let Some(name) = self.word() else {
                return Err(self.error("a variable name"));
            };
            if let Some(id) = to.variables.get(name) {
                return Ok(*id);
            }
            let id = to.add(NodeKind::Variable {
                weak: name.starts_with('_'),
            });
            to.variables.insert(name.to_owned(), id);
            return Ok(id);
        }
        let Some(word) = self.word() else {
            return Err(self.error("a type"));
        };
        self.named(word, to)
    }

    fn named(&mut self, word: &'a str, to: &mut Builder<'a, '_>) -> Read<NodeId> {
        if let Some((_, id)) = self.loops.iter().rev().find(|(name, _)| *name == word) {
            return Ok(*id);
        }
        Ok(match word {
            "int" => to.add(NodeKind::Int),
            "float" => to.add(NodeKind::Float),
            "bool" => to.add(NodeKind::Bool),
            "string" => to.add(NodeKind::String),
            "unit" => to.add(NodeKind::Unit),
            "mu" => return self.recursive(to),
            "option" => {
                let inner = self.nested(to)?;
                to.add(NodeKind::Variant {
                    cases: vec![("None".into(), Vec::new()), ("Some".into(), vec![inner])],
                    row: None,
                })
            }
            "tbl" => {
                let value = self.nested(to)?;
                let key = to.add(NodeKind::String);
                let entry = to.add(NodeKind::Record {
                    fields: vec![("key".into(), key), ("value".into(), value)],
                    row: None,
                });
                let array = to.add(NodeKind::Array(entry));
                to.add(NodeKind::Ref(array))
            }
            _ => return self.alias(word, to),
        })
    }

    /// The operand of a prefix abbreviation.
    fn nested(&mut self, to: &mut Builder<'a, '_>) -> Read<NodeId> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("less nesting"));
        }
        let inner = self.primary(to)?;
        self.depth -= 1;
        Ok(inner)
    }

    fn recursive(&mut self, to: &mut Builder<'a, '_>) -> Read<NodeId> {
        let Some(name) = self.word() else {
            return Err(self.error("the name of the recursive type"));
        };
        self.expect(".")?;
        let node = to.reserve();
        self.loops.push((name, node));
        let body = self.ty(to)?;
        self.loops.pop();
        to.fill(node, body);
        Ok(node)
    }

    fn alias(&mut self, word: &'a str, to: &mut Builder<'a, '_>) -> Read<NodeId> {
        if let Some(known) = to.aliases.get_mut(word) {
            known.used = true;
            return Ok(known.node);
        }
        let Some(definition) = (to.alias)(word) else {
            self.at -= word.len();
            return Err(self.error("a declared type"));
        };
        let node = to.reserve();
        to.aliases
            .insert(word.to_owned(), Alias { node, used: false });
        let mut inner = Reader::new(definition);
        inner.depth = self.depth;
        let body = inner.ty(to)?;
        inner.end()?;
        to.fill(node, body);
        // Only a definition that came back to itself keeps its name.
        if to.aliases.get(word).is_some_and(|alias| alias.used)
            && let Some(node) = to.nodes.get_mut(node.0 as usize)
        {
            node.name = Some(Arc::from(word));
        }
        Ok(node)
    }

    fn record(&mut self, to: &mut Builder<'a, '_>) -> Read<NodeId> {
        let mut fields: Vec<(Arc<str>, NodeId)> = Vec::new();
        let mut row = None;
        while !self.take("}") {
            if self.take("..") {
                row = Some(to.add(NodeKind::Variable { weak: false }));
                self.expect("}")?;
                break;
            }
            let Some(label) = self.word() else {
                return Err(self.error("a label"));
            };
            self.expect(":")?;
            let ty = self.ty(to)?;
            fields.push((label.into(), ty));
            if !self.take(";") {
                self.expect("}")?;
                break;
            }
        }
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(to.add(NodeKind::Record { fields, row }))
    }

    fn variant(&mut self, to: &mut Builder<'a, '_>) -> Read<NodeId> {
        let mut cases: Vec<(Arc<str>, Vec<NodeId>)> = Vec::new();
        let mut row = None;
        while !self.take("]") {
            if self.take("..") {
                row = Some(to.add(NodeKind::Variable { weak: false }));
                self.expect("]")?;
                break;
            }
            self.expect("`")?;
            let Some(tag) = self.word() else {
                return Err(self.error("a tag"));
            };
            let mut args = Vec::new();
            if self.take("(") {
                args.push(self.ty(to)?);
                while self.take(",") {
                    args.push(self.ty(to)?);
                }
                self.expect(")")?;
            }
            cases.push((tag.into(), args));
            if !self.take("|") {
                self.expect("]")?;
                break;
            }
        }
        cases.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(to.add(NodeKind::Variant { cases, row }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn round(text: &str) -> String {
        parse_type(text, &|name| match name {
            "json" => Some("[ `Array(json array) | `Null ]"),
            "plain" => Some("{ a : int }"),
            _ => None,
        })
        .unwrap()
        .to_string()
    }

    #[test]
    fn printed_text_reads_back_as_itself() {
        for text in [
            "int",
            "'a -> 'b -> 'a",
            "unit -> int",
            "(unit) -> int",
            "unit -> unit -> int",
            "(int -> int) -> (int -> int)",
            "(unit -> int) array",
            "int array ref task",
            "{ }",
            "{ .. }",
            "{ a : int; b : { c : string; .. } }",
            "[ ]",
            "[ `A | `B(int, string) | .. ]",
            "json -> json array",
            "mu a. [ `Cons(int, a) | `Nil ]",
            "(mu a. [ `Cons(mu b. { up : a; .. }, a) | `Nil ]) array",
            "'_a ref",
        ] {
            let printed = round(text);
            assert_eq!(round(&printed), printed, "{text}");
            if !text.contains("mu b") {
                assert_eq!(printed, text);
            }
        }
    }

    #[test]
    fn abbreviations_and_plain_aliases_expand() {
        assert_eq!(round("option int"), "[ `None | `Some(int) ]");
        assert_eq!(round("tbl 'a"), "{ key : string; value : 'a } array ref");
        assert_eq!(round("plain array"), "{ a : int } array");
    }

    #[test]
    fn nonsense_has_a_place() {
        let fail = |text: &'static str| parse_type(text, &|_| None).unwrap_err();
        assert_eq!(fail("int ->").offset, 6);
        assert_eq!(fail("{ a = int }").expected, ":");
        assert_eq!(fail("nope").expected, "a declared type");
        let deep = "(".repeat(100_000);
        assert_eq!(
            parse_type(&deep, &|_| None).unwrap_err().expected,
            "less nesting"
        );
    }
}
