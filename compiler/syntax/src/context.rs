//! What the content of an element is to its surroundings (spec 01 sections 4 and 5).

use crate::Tag;

/// Class of a body, as far as the parser needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    /// The document itself.
    Top,
    /// Inside a declaration.
    Declaration,
    /// A body whose `import` elements are expanded.
    Authored,
    /// A body that reports what was said.
    Transcript,
    /// `reasoning` and `summary`.
    Reasoning,
    /// Inside an element that is plain text to the model.
    Literal,
    /// Inside an element that was reported as a whole.
    Quiet,
}

impl Context {
    /// Whether `tag` has no meaning here and is plain text (spec 01 section 5.3).
    pub(crate) fn makes_literal(self, tag: Tag) -> bool {
        match self {
            Context::Top | Context::Declaration | Context::Quiet => false,
            Context::Authored => !matches!(tag, Tag::Doc | Tag::Img | Tag::Agent | Tag::Import),
            Context::Transcript => !matches!(tag, Tag::Doc | Tag::Img | Tag::Agent),
            Context::Reasoning => tag != Tag::Summary,
            Context::Literal => true,
        }
    }

    /// The context inside an element `tag` that stands in this one. `transcript_role`: it is a
    /// `msg` whose role is `assistant` or `tool`.
    pub(crate) fn inside(self, tag: Tag, transcript_role: bool) -> Context {
        if self == Context::Quiet || self.makes_literal(tag) {
            return if self == Context::Quiet {
                Context::Quiet
            } else {
                Context::Literal
            };
        }
        match tag {
            Tag::Msg if transcript_role => Context::Transcript,
            Tag::Msg | Tag::User | Tag::System | Tag::Developer => Context::Authored,
            Tag::Assistant | Tag::ToolCall | Tag::ToolResponse => Context::Transcript,
            Tag::Reasoning | Tag::Summary => Context::Reasoning,
            Tag::Agent | Tag::Doc | Tag::Img if self == Context::Transcript => Context::Transcript,
            Tag::Agent | Tag::Doc | Tag::Img => Context::Authored,
            _ => Context::Declaration,
        }
    }
}

/// Whether junk among the attributes of `tag` is only a warning (spec 01 section 2.4): it is a
/// conversation or content element.
pub(crate) fn is_conversation(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Msg
            | Tag::User
            | Tag::Assistant
            | Tag::System
            | Tag::Developer
            | Tag::ToolCall
            | Tag::ToolResponse
            | Tag::Reasoning
            | Tag::Summary
            | Tag::Doc
            | Tag::Img
            | Tag::Agent
    )
}
