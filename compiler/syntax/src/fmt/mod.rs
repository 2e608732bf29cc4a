//! The formatter (spec 01 section 19): rewrites top-level declarations, and nothing else.

mod layout;
mod meaning;

pub use meaning::same_meaning;

use crate::tree::{Node, Parse, SyntaxDiagnostic, SyntaxSeverity};
use crate::{parse, report};

use layout::Layout;

/// The text of the file with its declarations laid out anew. Every other byte is unchanged, and
/// formatting the result again changes nothing.
///
/// # Errors
///
/// `chatmd.format_syntax_error` when the file has an error of spec 01 section 17.1: where the
/// structure is in doubt, nothing is moved. The same code, should a result not read back as the
/// same document: such a result is never handed out.
pub fn format(parsed: &Parse) -> Result<String, Box<SyntaxDiagnostic>> {
    if let Some(first) = parsed.diagnostics.iter().find(|found| refuses(found)) {
        return Err(Box::new(report::format_syntax_error(first)));
    }
    let tree = &parsed.tree;
    let mut layout = Layout::new(tree);
    layout.copy(tree.bom);
    for id in &tree.top {
        match tree.node(*id) {
            Node::Element(_) => layout.element_at_top(*id),
            node => layout.copy(node.span()),
        }
    }
    let text = layout.finish();
    if text == *tree.text {
        return Ok(text);
    }
    if same_meaning(tree, &parse(text.as_bytes()).tree) {
        Ok(text)
    } else {
        Err(Box::new(report::format_changed_meaning()))
    }
}

/// Whether a finding is one of section 17.1 that stops the formatter.
fn refuses(found: &SyntaxDiagnostic) -> bool {
    found.severity == SyntaxSeverity::Error
        && found.code.starts_with("chatmd.")
        && found.code != "chatmd.script_trailing_text"
}
