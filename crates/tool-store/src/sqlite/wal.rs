//! A counter of the transactions in the write-ahead log, for tests.

use std::path::{Path, PathBuf};

/// Returns the number of transactions in the write-ahead log. The last frame of a transaction has the size of the database in the second word of its
/// header (<https://www.sqlite.org/fileformat2.html#wal_file_format>). With `synchronous = FULL`, each transaction costs one `fsync`.
pub(crate) fn commits(database: &Path) -> usize {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    let log = std::fs::read(PathBuf::from(name)).unwrap();
    let word = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().unwrap());
    let page = usize::try_from(word(8)).unwrap();
    // Only frames with the log's current salt count; a checkpoint leaves older frames in the file.
    let frames = (32..log.len()).step_by(24 + page);
    frames
        .filter(|at| word(at + 8) == word(16) && word(at + 4) != 0)
        .count()
}
