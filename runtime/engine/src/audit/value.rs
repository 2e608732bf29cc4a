//! Values of audit members.

use std::borrow::Cow;

/// A value as it will be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(u64),
    Signed(i64),
    /// A time in microseconds since the Unix epoch, written in seconds with six decimals.
    Micros(u64),
    /// Milliseconds, written in seconds.
    Seconds(u64),
    /// A word of a closed vocabulary, a digest or an identifier that this program generated: never
    /// text from outside, so redaction has nothing to find and must not destroy it.
    Word(Cow<'static, str>),
    /// Text from outside.
    Text(String),
    Words(Vec<Cow<'static, str>>),
    Texts(Vec<String>),
    /// `analyzers`: objects of `id` and `outcome`.
    Outcomes(Vec<(String, String)>),
}

impl Value {
    pub(crate) fn word(word: impl Into<Cow<'static, str>>) -> Self {
        Self::Word(word.into())
    }

    pub(crate) fn optional_word(word: Option<&str>) -> Self {
        word.map_or(Self::Null, |word| Self::Word(Cow::Owned(word.to_owned())))
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub(crate) fn optional_text(text: Option<&str>) -> Self {
        text.map_or(Self::Null, Self::text)
    }

    pub(crate) fn optional_int(value: Option<u64>) -> Self {
        value.map_or(Self::Null, Self::Int)
    }

    /// Bytes of the text inside, for the size bound of a line.
    pub(crate) fn text_len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Texts(list) => list.iter().map(String::len).sum(),
            Self::Words(list) => list.iter().map(|word| word.len()).sum(),
            Self::Outcomes(list) => list
                .iter()
                .map(|(id, outcome)| id.len() + outcome.len())
                .sum(),
            _ => 0,
        }
    }
}

/// A named value. Names are those of [`super::schema`], or added by a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: Cow<'static, str>,
    pub(crate) value: Value,
}

impl Member {
    pub(crate) fn new(name: &'static str, value: Value) -> Self {
        Self {
            name: Cow::Borrowed(name),
            value,
        }
    }
}
