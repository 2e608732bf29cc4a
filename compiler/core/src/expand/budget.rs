//! The limit on all source of one compilation (spec 01 section 20).

use super::MAX_SOURCE_BYTES;
use crate::db::{Db, FileInput, size, size_kib};

/// Counts source bytes. A file counts every time it is read into the document: one large file
/// imported many times is as much work as many large files.
#[derive(Default)]
pub(super) struct Budget {
    counted: Vec<FileInput>,
    /// Sizes rounded up to KiB: an upper bound that changes with few edits.
    kib: u64,
    /// The exact sum, once the upper bound no longer settles the question.
    exact: Option<u64>,
}

impl Budget {
    /// Adds a file and says whether the total stays within the limit. A file that does not fit is
    /// not added.
    pub(super) fn add(&mut self, db: &dyn Db, file: FileInput) -> bool {
        let kib = self.kib + size_kib(db, file);
        if self.exact.is_none() && kib <= MAX_SOURCE_BYTES >> 10 {
            self.kib = kib;
            self.counted.push(file);
            return true;
        }
        let exact = match self.exact {
            Some(exact) => exact,
            None => self.counted.iter().map(|file| size(db, *file)).sum(),
        };
        let with_file = exact + size(db, file);
        let fits = with_file <= MAX_SOURCE_BYTES;
        self.exact = Some(if fits { with_file } else { exact });
        fits
    }
}
