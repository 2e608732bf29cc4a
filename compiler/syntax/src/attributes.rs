//! The attribute list of one tag (spec 01 section 2.4): a flat grammar over tag tokens.
//!
//! The grammar is total: whatever is no attribute is junk, so it never fails and never backtracks
//! further than one optional `=`.

use chumsky::extra::Full;
use chumsky::input::MapExtra;
use chumsky::inspector::SimpleState;
use chumsky::prelude::*;

use crate::Span;
use crate::tree::{Attribute, Quote};

/// Longest attribute name, in bytes (spec 01 section 20).
const MAX_NAME_BYTES: u32 = 128;

/// Kind of a token inside a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Space,
    Name,
    Equals,
    /// Quotes included; without a closing quote the value ends where recovery put its end.
    Quoted {
        quote: Quote,
        terminated: bool,
    },
    Unquoted,
    Close,
    SelfClose,
    Junk,
}

/// A token inside a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub kind: Kind,
    pub span: Span,
}

/// What is wrong in an attribute list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProblemKind {
    Junk,
    NameTooLong,
    MissingSpace,
    ValueMissing,
    Unquoted,
    /// `span` is the whole attribute, `value` where its opening quote stands.
    Unterminated {
        quote_at: u32,
    },
}

/// A finding inside a tag, in source order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub kind: ProblemKind,
    pub span: Span,
    /// Name of the attribute; the span itself for junk.
    pub name: Span,
}

/// Where the grammar puts its findings: shared by all tags of a file, so a tag costs no allocation.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Sink {
    pub attributes: Vec<Attribute>,
    pub problems: Vec<Problem>,
    after_space: bool,
}

type Extra = Full<EmptyErr, SimpleState<Sink>, ()>;
type Here<'t, 'p> = MapExtra<'t, 'p, &'t [Token], Extra>;

/// Parses the tokens between the name of a start tag and its end; returns the sink with the
/// findings appended.
pub(crate) fn parse(tokens: &[Token], mut sink: Sink) -> Sink {
    sink.after_space = false;
    match plain(tokens, &mut sink) {
        [] => sink,
        rest => grammar(rest, sink),
    }
}

/// Takes space, `name="value"` and the end of the tag for as long as nothing else stands there,
/// which is nearly always the whole tag; gives what is left to the grammar. What it takes, the
/// grammar would have taken alike: a test compares them.
fn plain<'t>(mut tokens: &'t [Token], sink: &mut Sink) -> &'t [Token] {
    loop {
        tokens = match tokens {
            [one, rest @ ..] if matches!(one.kind, Kind::Space | Kind::Close | Kind::SelfClose) => {
                sink.after_space = true;
                rest
            }
            [name, equals, value, rest @ ..]
                if name.kind == Kind::Name
                    && equals.kind == Kind::Equals
                    && matches!(value.kind, Kind::Quoted { .. }) =>
            {
                sink.attribute(name.span, Some((*equals, Some(*value))));
                rest
            }
            rest => return rest,
        };
    }
}

/// The whole grammar; accepts every token sequence.
fn grammar(tokens: &[Token], sink: Sink) -> Sink {
    let mut state = SimpleState(sink);
    let _ = list().parse_with_state(tokens, &mut state).into_output();
    state.0
}

fn kind<'t>(want: Kind) -> impl Parser<'t, &'t [Token], Token, Extra> + Copy {
    any().filter(move |token: &Token| token.kind == want)
}

fn list<'t>() -> impl Parser<'t, &'t [Token], Vec<()>, Extra> {
    let space = kind(Kind::Space);
    let value =
        any().filter(|token: &Token| matches!(token.kind, Kind::Quoted { .. } | Kind::Unquoted));
    let assigned = space
        .or_not()
        .ignore_then(kind(Kind::Equals))
        .then(space.or_not().ignore_then(value).or_not());
    let attribute = kind(Kind::Name)
        .then(assigned.or_not())
        .map_with(|(name, assigned), extra| extra.state().attribute(name.span, assigned));
    let junk = any()
        .filter(|token: &Token| !matches!(token.kind, Kind::Space | Kind::Close | Kind::SelfClose))
        .repeated()
        .at_least(1)
        .to_slice()
        .map_with(|run: &[Token], extra: &mut Here<'t, '_>| {
            extra.state().junk(run);
        });
    let gap = any()
        .filter(|token: &Token| matches!(token.kind, Kind::Space | Kind::Close | Kind::SelfClose))
        .map_with(|_, extra: &mut Here<'t, '_>| extra.state().after_space = true);
    // Collecting makes chumsky run the closures, which it skips when nothing uses their output; a
    // `Vec` of nothing costs nothing.
    choice((attribute, gap, junk)).repeated().collect()
}

impl Sink {
    /// Whether the problems from index `from` on leave every attribute readable.
    pub(crate) fn well_formed_from(&self, from: usize) -> bool {
        let problems = self.problems.get(from..).unwrap_or_default();
        problems
            .iter()
            .all(|p| matches!(p.kind, ProblemKind::Unquoted | ProblemKind::MissingSpace))
    }

    fn attribute(&mut self, name: Span, assigned: Option<(Token, Option<Token>)>) {
        let spaced = std::mem::replace(&mut self.after_space, false);
        let end = match assigned {
            Some((_, Some(value))) => value.span.end,
            Some((equals, None)) => equals.span.end,
            None => name.end,
        };
        let span = Span::new(name.start, end);
        if name.len() > MAX_NAME_BYTES {
            self.problem(ProblemKind::NameTooLong, name, name);
            return;
        }
        if !spaced {
            self.problem(ProblemKind::MissingSpace, span, name);
        }
        let mut attribute = Attribute {
            name,
            value: None,
            quote: Quote::None,
            span,
            poisoned: false,
        };
        match assigned {
            None => {}
            Some((_, None)) => {
                attribute.poisoned = true;
                self.problem(ProblemKind::ValueMissing, span, name);
            }
            Some((_, Some(value))) => self.value(&mut attribute, value),
        }
        self.attributes.push(attribute);
    }

    fn value(&mut self, attribute: &mut Attribute, value: Token) {
        match value.kind {
            Kind::Quoted { quote, terminated } => {
                attribute.quote = quote;
                attribute.value = Some(Span::new(
                    value.span.start + 1,
                    value.span.end - u32::from(terminated),
                ));
                if !terminated {
                    attribute.poisoned = true;
                    let kind = ProblemKind::Unterminated {
                        quote_at: value.span.start,
                    };
                    self.problem(kind, attribute.span, attribute.name);
                }
            }
            _ => {
                attribute.value = Some(value.span);
                self.problem(ProblemKind::Unquoted, value.span, attribute.name);
            }
        }
    }

    fn junk(&mut self, run: &[Token]) {
        if let (Some(first), Some(last)) = (run.first(), run.last()) {
            let span = Span::new(first.span.start, last.span.end);
            self.problem(ProblemKind::Junk, span, span);
        }
        // Junk ends at whitespace or at the end of the tag, so what follows is spaced.
        self.after_space = true;
    }

    fn problem(&mut self, kind: ProblemKind, span: Span, name: Span) {
        self.problems.push(Problem { kind, span, name });
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use proptest::prelude::*;

    use super::{Kind, Quote, Sink, Span, Token, grammar, parse};

    fn tokens() -> impl Strategy<Value = Vec<Token>> {
        let kind = prop_oneof![
            4 => Just(Kind::Space),
            4 => Just(Kind::Name),
            4 => Just(Kind::Equals),
            4 => any::<bool>().prop_map(|terminated| Kind::Quoted {
                quote: Quote::Double,
                terminated,
            }),
            1 => Just(Kind::Unquoted),
            1 => Just(Kind::Close),
            1 => Just(Kind::SelfClose),
            1 => Just(Kind::Junk),
        ];
        prop::collection::vec(kind, 0..24).prop_map(|kinds| {
            let spans = (0_u32..).map(|at| Span::new(at * 4, at * 4 + 4));
            kinds
                .into_iter()
                .zip(spans)
                .map(|(kind, span)| Token { kind, span })
                .collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn the_short_way_and_the_grammar_agree(tokens in tokens()) {
            prop_assert_eq!(parse(&tokens, Sink::default()), grammar(&tokens, Sink::default()));
        }
    }
}
