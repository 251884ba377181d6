//! Names of the folders of workspaces and conversations.

use super::WorkspaceError;

/// Maximum number of characters of an id that are kept in its name: names have at most 255 bytes, and the hash needs some of them.
const MOST: usize = 200;

/// Checks that the name of a workspace matches `^[a-z0-9][a-z0-9-]*$`.
pub(super) fn check_instance(slug: &str) -> Result<(), WorkspaceError> {
    let legal = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    if slug.is_empty() || slug.starts_with('-') || !slug.bytes().all(legal) {
        return Err(WorkspaceError::Instance(slug.to_owned()));
    }
    Ok(())
}

pub(super) fn check_conversation(id: &str) -> Result<(), WorkspaceError> {
    if matches!(id, "" | "." | "..") {
        return Err(WorkspaceError::Conversation(id.to_owned()));
    }
    Ok(())
}

/// Returns the possible names for an id, in order of preference.
pub(super) fn candidates(id: &str) -> impl Iterator<Item = String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let kept = |c: char| if legal(c) { c } else { '_' };
    let name: String = id.chars().take(MOST).map(kept).collect();
    // git would treat a folder `.git` as the repository of the folders next to it.
    let own = id.chars().nth(MOST).is_none() && !name.eq_ignore_ascii_case(".git");
    let hashed = format!("{name}-{:016x}", fnv(id));
    let again = hashed.clone();
    own.then_some(name)
        .into_iter()
        .chain([hashed])
        .chain((2..=64).map(move |n| format!("{again}-{n}")))
}

/// Hashes a text with FNV-1a, which is the same on every machine and in every version. The hash only makes names differ; the file with the id ensures
/// that a name has one owner.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
