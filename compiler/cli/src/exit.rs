//! Exit codes (spec 10 section 1.1).

/// Success.
pub const OK: u8 = 0;
/// The request was understood and failed, for example because a document has errors.
pub const FAILED: u8 = 1;
/// The command line is wrong.
pub const USAGE: u8 = 2;
/// Refused by security: administrative policy, trust, signature.
pub const REFUSED: u8 = 3;
/// Input or output failed outside the document.
pub const IO: u8 = 4;
/// A bug of this program.
pub const INTERNAL: u8 = 70;
/// The terminal went away, as if ended by SIGHUP.
pub const HANGUP: u8 = 129;
/// The reader of the output went away, as if ended by SIGPIPE.
pub const BROKEN_PIPE: u8 = 141;
