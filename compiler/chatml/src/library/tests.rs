//! Library functions through source text.
