//! Chunks of spilled outputs.

use crate::store::{SpillPart, StoreError, Workspace};

use super::columns::{Columns, SqlRow};
use super::contents::Reader;
use super::sealed::place;

/// The largest size of a chunk in bytes. A chunk ends earlier if its last character would exceed this size.
const CHUNK: usize = 64 * 1024;

pub(crate) fn length(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

/// Splits a text into chunks, each with the byte at which it begins.
pub(crate) fn chunks(text: &str) -> impl Iterator<Item = (u64, &str)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let chunk = &rest[..rest.floor_char_boundary(CHUNK)];
        let at = length(&text[..start]);
        start += chunk.len();
        Some((at, chunk))
    })
}

/// Cuts the requested part out of the chunks that contain it. The chunks belong to a text of this workspace and principal, and the first chunk
/// contains the byte `from` or is the last chunk of the text. Returns `None` if there are no rows.
pub(crate) fn part(
    rows: &[impl SqlRow],
    (workspace, principal): (&Workspace, &str),
    (from, most): (u64, u64),
    reader: &Reader,
) -> Result<Option<SpillPart>, StoreError> {
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let first = Columns::new(first, "spill", "handle");
    let handle: &str = first.get("handle")?;
    let total: u64 = first.number("total")?;
    let base = start(first)?;
    let mut text = String::new();
    for row in rows {
        let columns = Columns::new(row, "spill", "handle");
        let start = start(columns)?;
        let place = || place::chunk(workspace, principal, handle, start);
        match columns.opened("sealed", reader, place)? {
            Some(opened) => text.push_str(&opened),
            None => text.push_str(chunk(columns)?),
        }
    }
    let part = SpillPart::of(&text, from.saturating_sub(base), most);
    Ok(Some(SpillPart {
        from: base + part.from,
        total,
        ..part
    }))
}

/// Returns the byte at which a chunk begins. An empty text has no chunk.
fn start(columns: Columns<'_>) -> Result<u64, StoreError> {
    Ok(columns.maybe::<i64>("start")?.unwrap_or(0).cast_unsigned())
}

/// Returns the text of a chunk that is not sealed.
fn chunk(columns: Columns<'_>) -> Result<&str, StoreError> {
    let bytes = columns.maybe::<&[u8]>("text")?.unwrap_or_default();
    std::str::from_utf8(bytes).map_err(|error| columns.corrupt("text", error))
}
