//! The entry points: bytes to [`Parse`].

use std::sync::Arc;

use crate::builder::{self, Builder, Mode};
use crate::encoding::{self, MAX_BYTE_REPORTS, MAX_DOCUMENT_BYTES};
use crate::tree::{BOM, MAX_DIAGNOSTICS, Parse, Tree};
use crate::{Span, report};

/// Parses a document (spec 01 sections 2 to 5 and 16). Total and deterministic for any bytes; the
/// work is linear in their number.
pub fn parse(bytes: &[u8]) -> Parse {
    parse_as(bytes, Mode::Document)
}

/// Parses the target of a content import: text is allowed at its top level, and only content
/// elements mean something there (spec 01 section 8.2). `transcript`: the importing body reports
/// what was said, so imports in it are text.
pub fn parse_content(bytes: &[u8], transcript: bool) -> Parse {
    parse_as(bytes, Builder::content_mode(transcript))
}

fn parse_as(bytes: &[u8], mode: Mode) -> Parse {
    if bytes.len() > MAX_DOCUMENT_BYTES {
        return Parse {
            tree: Tree {
                text: Arc::from(""),
                nodes: Vec::new(),
                top: Vec::new(),
                bom: Span::default(),
            },
            diagnostics: vec![report::document_too_large(bytes.len())],
            lowerable: false,
            replacements: Vec::new(),
        };
    }
    let decoded = encoding::decode(bytes);
    let bom = if decoded.text.starts_with(BOM) {
        BOM.len() as u32
    } else {
        0
    };
    let built = builder::build(&decoded.text, bom, mode);
    let mut diagnostics = match encoding::not_text(bytes, &decoded) {
        // Whatever is read out of such a file is noise.
        Some(why) => vec![report::not_text(why)],
        None => {
            let mut diagnostics = built.diagnostics;
            for run in decoded.replacements.iter().take(MAX_BYTE_REPORTS) {
                diagnostics.push(report::invalid_utf8(run.text, run.original.len()));
            }
            diagnostics.extend(
                encoding::nul_runs(&decoded.text)
                    .into_iter()
                    .map(report::nul_byte),
            );
            diagnostics
        }
    };
    diagnostics.sort_by_key(|found| found.primary.start);
    diagnostics.truncate(MAX_DIAGNOSTICS + 1);
    Parse {
        tree: Tree {
            text: decoded.text,
            nodes: built.nodes,
            top: built.top,
            bom: Span::new(0, bom),
        },
        diagnostics,
        lowerable: decoded.replacements.is_empty(),
        replacements: decoded.replacements,
    }
}
