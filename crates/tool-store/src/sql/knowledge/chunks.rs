//! The chunks of documents.

use std::collections::BTreeSet;

use crate::store::{DocumentName, IndexOutcome, Timestamp};
use crate::text_search::index_text;

use super::super::batches::few_sizes;
use super::super::columns::Columns;
use super::super::statement::{SqlChange, SqlDatabase, Statement, Value};
use super::codes::write_blocks;
use super::search::scope_word;
use super::{CHUNKS, CONTENTS, locked, narrow_to, one, removal, save};

/// Implements [`KnowledgeStore::finish_index`](crate::store::KnowledgeStore::finish_index).
pub(crate) async fn finish<C: SqlChange>(
    db: &mut C,
    name: &DocumentName,
    token: &str,
    outcome: &IndexOutcome,
    at: Timestamp,
) -> Result<bool, C::Fault> {
    let now = db.deciding(at);
    let Some(mut row) = locked(db, name).await? else {
        return Ok(false);
    };
    if !row.finish(token, outcome, now, at) {
        return Ok(false);
    }
    save(db, &row).await?;
    let (text, chunks) = match outcome {
        IndexOutcome::Indexed { text, chunks } => (text, chunks.as_slice()),
        IndexOutcome::Failed(_) => (&None, [].as_slice()),
        IndexOutcome::Retry(_) => return Ok(true),
    };
    let schema = <C::Database as SqlDatabase>::SCHEMA;
    let mut update = Statement::part(format!("UPDATE {schema}{CONTENTS} SET text = "));
    update.bind(Value::free(text.as_ref())).push(" WHERE ");
    narrow_to(&mut update, name);
    db.write(update).await?;
    put_chunks(db, name, chunks).await?;
    Ok(true)
}

/// Stores the chunks of a document in place of its previous chunks. A chunk with the same text at the same position is kept with its terms and its
/// embedding.
async fn put_chunks<C: SqlChange>(
    db: &mut C,
    name: &DocumentName,
    chunks: &[String],
) -> Result<(), C::Fault> {
    let rows = db.read(|| one("id, file, seq, content", CHUNKS, name));
    let rows = rows.await?;
    let (mut kept, mut stale, mut places) = (BTreeSet::new(), Vec::new(), Vec::new());
    for row in &rows {
        let columns = Columns::new(row, CHUNKS, "file");
        let place: usize = columns.number("seq")?;
        if chunks.get(place) == Some(&columns.text("content")?) {
            kept.insert(place);
        } else {
            stale.push(columns.number::<u64>("id")?);
            places.push(columns.number::<u32>("seq")?);
        }
    }
    drop(rows);
    for ids in few_sizes(&stale) {
        let mut removal = removal(CHUNKS, name);
        removal.narrow_to_any("id", ids.iter().copied());
        db.write(removal).await?;
    }
    write_blocks(db, name, places).await?;
    let scope = scope_word(name.workspace());
    let new = chunks.iter().zip(0_u32..).enumerate();
    let new = new.filter(|(place, _)| !kept.contains(place));
    let new: Vec<(&String, u32)> = new.map(|(_, chunk)| chunk).collect();
    for batch in few_sizes(&new) {
        let rows = batch.iter().map(|(chunk, seq)| {
            let mut terms = index_text(chunk);
            if terms.is_empty() {
                // PostgreSQL refuses an empty term. No query contains the term `-`.
                terms.push('-');
            }
            [
                name.workspace().as_str().into(),
                name.file().into(),
                (*seq).into(),
                Value::free(Some(chunk)),
                (&scope).into(),
                terms.into(),
            ]
        });
        let columns = ["workspace", "file", "seq", "content", "scope", "terms"];
        db.write(Statement::insert_rows(CHUNKS, columns, rows))
            .await?;
    }
    Ok(())
}
