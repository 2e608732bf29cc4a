//! Tokens (spec 05 section 2).

use logos::Logos;

use crate::span::Span;

macro_rules! tokens {
    ($($variant:ident = $text:literal;)*) => {
        /// What a token is. Names, literals and tags take their text from the source.
        #[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[logos(skip r"[ \t\r\n]+")]
        pub enum TokenKind {
            /// A name that starts with a lowercase letter or `_`.
            #[regex("[a-z_][A-Za-z0-9_]*", priority = 2)]
            LowerName,
            /// A name that starts with an uppercase letter.
            #[regex("[A-Z][A-Za-z0-9_]*")]
            UpperName,
            /// A grave accent and a name.
            #[regex("`[A-Za-z0-9_]+")]
            Tag,
            /// Decimal digits.
            #[regex("[0-9]+")]
            Int,
            /// Digits, a dot, digits.
            #[regex(r"[0-9]+\.[0-9]+")]
            Float,
            /// A string with its quotes.
            #[token("\"")]
            String,
            /// A comment; never handed to the parser.
            #[token("(*")]
            Comment,
            /// Text that starts no token, already reported.
            #[token("`")]
            Error,
            /// The end of the program.
            End,
            $(#[doc = concat!("`", $text, "`")] #[token($text, priority = 20)] $variant,)*
        }

        impl TokenKind {
            /// Every keyword and operator.
            pub(super) const FIXED: &[Self] = &[$(Self::$variant,)*];

            /// The text of a keyword or operator.
            pub const fn fixed_text(self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => Some($text),)*
                    _ => None,
                }
            }
        }
    };
}

tokens! {
    Fun = "fun"; If = "if"; Then = "then"; Else = "else"; While = "while"; Do = "do"; Done = "done";
    Let = "let"; LetStar = "let*"; LetPlus = "let+"; In = "in"; Match = "match"; With = "with";
    Module = "module"; Struct = "struct"; EndKeyword = "end"; Open = "open"; Ref = "ref"; Rec = "rec";
    And = "and"; Type = "type"; True = "true"; False = "false"; Underscore = "_";
    Arrow = "->"; LeftArrow = "<-"; Colon = ":"; ColonEqual = ":="; NotEqual = "!="; EqualEqual = "==";
    Equal = "="; LessEqualDot = "<=."; LessEqual = "<="; LessDot = "<."; Less = "<";
    GreaterEqualDot = ">=."; GreaterEqual = ">="; GreaterDot = ">."; Greater = ">";
    PlusPlus = "++"; PlusDot = "+."; Plus = "+"; MinusDot = "-."; Minus = "-"; StarDot = "*."; Star = "*";
    SlashDot = "/."; Slash = "/"; LeftParen = "("; RightParen = ")"; LeftBrace = "{"; RightBrace = "}";
    LeftBracket = "["; RightBracket = "]"; Semicolon = ";"; Comma = ","; Dot = "."; Bar = "|"; Bang = "!";
}

impl TokenKind {
    /// Whether it is a word of the language.
    pub fn is_keyword(self) -> bool {
        let text = self.fixed_text();
        text.is_some_and(|text| text.starts_with(|c: char| c.is_ascii_lowercase()))
    }
}

/// The words of the language.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    let words = TokenKind::FIXED.iter().filter(|kind| kind.is_keyword());
    words.filter_map(|kind| kind.fixed_text())
}

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
    /// Whether a line ended between the previous token and this one.
    pub first_on_line: bool,
}
