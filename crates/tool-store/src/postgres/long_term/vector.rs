//! Searches for similar embeddings.
//!
//! The server finds the nearest codes of embeddings in the scopes of a search. It compares the codes of all embeddings, or, if the scopes have more
//! than [`LARGE`] embeddings and the model has an index of pgvector, it uses the index. Then this program compares the embeddings with the nearest
//! codes exactly. Codes are bit strings, which need no extension.

use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Executor as _, Postgres};

use crate::sql::columns::Columns;
use crate::sql::long_term::{VectorChange, VectorLookup, VectorReader, read_vector};
use crate::sql::statement::{SqlChange as _, SqlReader, Statement, Value};
use crate::store::{MemoryScope, MemoryVector};
use crate::vectors::{MOST_EXACT, candidates, code, nearest};

use super::super::change::{Change, change};
use super::super::statement::Planned;
use super::super::{Fault, PostgresStore};
use super::index::{LARGE, MemoryIndex};

/// The number of embeddings whose codes one transaction computes.
const BATCH: u32 = 500;

/// The largest value of `hnsw.ef_search`.
const MOST_SEARCHED: usize = 1_000;

impl VectorReader for Planned<'_> {
    async fn nearest_vectors(
        &mut self,
        lookup: &VectorLookup<'_>,
    ) -> Result<Vec<(u64, f64)>, Fault> {
        nearest_vectors(self, lookup).await
    }
}

impl VectorReader for Change<'_> {
    async fn nearest_vectors(
        &mut self,
        lookup: &VectorLookup<'_>,
    ) -> Result<Vec<(u64, f64)>, Fault> {
        nearest_vectors(&mut Planned(self), lookup).await
    }
}

impl VectorChange for Change<'_> {
    async fn put_vector(
        &mut self,
        number: u64,
        scope: &MemoryScope,
        vector: &MemoryVector,
    ) -> Result<(), Fault> {
        let mut put = Statement::part(
            "INSERT INTO tool_store.memory_vector (seq, workspace, agent, model, vector, dimensions, code) VALUES (",
        );
        put.bind(number).push(", ");
        put.bind(scope.workspace().as_str()).push(", ");
        put.bind(scope.column()).push(", ");
        put.bind(vector.model()).push(", ");
        put.bind(Value::Bytes(Some(vector.bytes()))).push(", ");
        put.bind(dimensions(vector.values())).push(", ");
        put.bind(bits(vector.values())).push("::bit varying)");
        let put = put.or_update("seq", &["model", "vector", "dimensions", "code"]);
        self.write(put).await?;
        Ok(())
    }
}

/// Returns the code of a vector as the text of a bit string.
fn bits(values: &[f32]) -> String {
    let code = code(values);
    let bits = code
        .iter()
        .flat_map(|word| (0..64).map(move |bit| (word >> bit) & 1 == 1));
    let bits = bits.take(values.len());
    bits.map(|is_set| if is_set { '1' } else { '0' }).collect()
}

/// Returns the number of dimensions of a vector, which is at most [`MemoryVector::MOST_DIMENSIONS`].
fn dimensions(values: &[f32]) -> u64 {
    values.len() as u64
}

/// Implements [`VectorReader::nearest_vectors`].
async fn nearest_vectors(
    db: &mut Planned<'_>,
    lookup: &VectorLookup<'_>,
) -> Result<Vec<(u64, f64)>, Fault> {
    let code = bits(lookup.vector.values());
    let rows = match indexed(db, lookup, &code).await? {
        Some(rows) => rows,
        None => db.read(|| scan(lookup, &code)).await?,
    };
    let vectors = rows.iter().map(read_vector);
    let mut vectors = vectors.collect::<Result<Vec<_>, _>>()?;
    // Of memories with equal cosines, the newest is the first.
    vectors.sort_unstable_by_key(|(number, _)| std::cmp::Reverse(*number));
    Ok(nearest(lookup.vector.values(), vectors, lookup.limit))
}

/// Reads the candidates with the index of the model. Returns `None` if there is no such index, if the scopes are small, or if the index found too few
/// candidates.
async fn indexed(
    db: &mut Planned<'_>,
    lookup: &VectorLookup<'_>,
    code: &str,
) -> Result<Option<Vec<PgRow>>, Fault> {
    let rows = db.read(|| usable_index(lookup)).await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let columns = Columns::new(row, "pg_extension", "home");
    let size: i64 = columns.get("size")?;
    if size <= i64::from(LARGE) {
        return Ok(None);
    }
    let operator = format!("OPERATOR({}.<~>)", columns.get::<&str>("home")?);
    let wanted = candidates(lookup.limit);
    // A scan that reaches its limits before it has found enough returns fewer rows.
    let settings = format!(
        "SET LOCAL hnsw.iterative_scan = relaxed_order; SET LOCAL hnsw.ef_search = {}",
        wanted.min(MOST_SEARCHED)
    );
    db.0.execute(AssertSqlSafe(settings)).await?;
    let rows = db.read(|| indexed_scan(lookup, code, &operator, wanted));
    let rows = rows.await?;
    let found = rows.iter().filter(|row| is_coded(row)).count();
    Ok((found >= wanted).then_some(rows))
}

/// Returns whether a row of a search has a code.
fn is_coded(row: &PgRow) -> bool {
    matches!(
        Columns::new(row, "memory_vector", "seq").get("coded"),
        Ok(true)
    )
}

/// Returns the query for the index of the model, if it is complete: the schema of pgvector, and the number of embeddings in the scopes, up to [`LARGE`] + 1.
fn usable_index(lookup: &VectorLookup<'_>) -> Statement<Postgres> {
    let index = MemoryIndex::of(lookup.vector);
    let mut query = Statement::part(
        "SELECT quote_ident(n.nspname) AS home, (SELECT count(*) FROM (SELECT FROM tool_store.memory_vector v WHERE ",
    );
    narrow_to_coded(&mut query, lookup);
    query.push(" LIMIT ").bind(LARGE + 1);
    query.push(
        ") large) AS size FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace, pg_index i \
         WHERE e.extname = 'vector' AND i.indisvalid AND i.indexrelid = to_regclass('tool_store.' || ",
    );
    query.bind(index.name()).push(")");
    query
}

/// Narrows a query that ends in `WHERE ` to the embeddings `v` of the scopes that have the model and the number of dimensions of the vector. Only
/// embeddings with a code have a number of dimensions in their row.
fn narrow_to_coded(query: &mut Statement<Postgres>, lookup: &VectorLookup<'_>) {
    query.push("v.model = ").bind(lookup.vector.model());
    let dimensions = dimensions(lookup.vector.values());
    query.narrow("v.dimensions", Some(dimensions));
    lookup.narrow_to_scopes(query, "v");
}

/// Adds the embeddings without a code, all of which are candidates.
fn add_uncoded(query: &mut Statement<Postgres>, lookup: &VectorLookup<'_>) {
    query.push(
        " UNION ALL SELECT v.seq, v.vector, FALSE AS coded FROM tool_store.memory_vector v \
         JOIN tool_store.memory m ON m.seq = v.seq WHERE v.code IS NULL",
    );
    query.narrow("v.model", Some(lookup.vector.model()));
    lookup.narrow_to_scopes(query, "v");
    lookup.narrow_to_memories(query);
}

/// Returns the query for the candidates that compares the codes of all embeddings in the scopes. The query orders the codes before it joins their
/// memories, so that the server reads only the memories of the nearest codes.
fn scan(lookup: &VectorLookup<'_>, code: &str) -> Statement<Postgres> {
    let most = MOST_EXACT.max(candidates(lookup.limit));
    let mut query = Statement::part(
        "(SELECT v.seq, v.vector, TRUE AS coded FROM (SELECT v.seq, v.vector, bit_count(v.code # ",
    );
    query
        .bind(code)
        .push("::bit varying) AS distance FROM tool_store.memory_vector v WHERE ");
    narrow_to_coded(&mut query, lookup);
    query.push(" ORDER BY distance, v.seq DESC OFFSET 0) v JOIN tool_store.memory m ON m.seq = v.seq WHERE TRUE");
    lookup.narrow_to_memories(&mut query);
    query
        .push(" ORDER BY v.distance, v.seq DESC LIMIT ")
        .bind(most as u64)
        .push(")");
    add_uncoded(&mut query, lookup);
    query
}

/// Returns the query for the candidates that an index can find.
fn indexed_scan(
    lookup: &VectorLookup<'_>,
    code: &str,
    operator: &str,
    most: usize,
) -> Statement<Postgres> {
    let dimensions = lookup.vector.values().len();
    let mut query = Statement::part(
        "(SELECT v.seq, v.vector, TRUE AS coded FROM tool_store.memory_vector v JOIN tool_store.memory m ON m.seq = v.seq WHERE ",
    );
    narrow_to_coded(&mut query, lookup);
    lookup.narrow_to_memories(&mut query);
    query.push(format_args!(
        " ORDER BY v.code::bit({dimensions}) {operator} "
    ));
    query
        .bind(code)
        .push(format_args!("::bit({dimensions}) LIMIT "));
    query.bind(most as u64).push(")");
    add_uncoded(&mut query, lookup);
    query
}

impl PostgresStore {
    /// Computes the missing codes of embeddings that an earlier version of the program stored, either before the migration that adds codes or after
    /// it.
    pub(in crate::postgres) async fn add_codes(&self) -> Result<(), Fault> {
        // This read is outside of a change, because a store on a standby server cannot begin a change.
        let mut last = 0;
        let missing = (&mut &*self).read(|| uncoded(last)).await?;
        let mut is_complete = missing.is_empty();
        while !is_complete {
            let numbers: Result<Vec<u64>, Fault> = change!(self, Vec::new(), db => {
                let rows = db.read_locked(|| uncoded(last)).await?;
                let mut numbers = Vec::new();
                for row in &rows {
                    numbers.push(Columns::new(row, "memory_vector", "seq").number("seq")?);
                    // A search reports an embedding that cannot be read.
                    if let Ok((number, values)) = read_vector(row) {
                        db.write(add_code(number, &values)).await?;
                    }
                }
                Ok(numbers)
            });
            let numbers = numbers?;
            is_complete = numbers.len() < BATCH as usize;
            last = numbers.last().copied().unwrap_or(last);
        }
        Ok(())
    }
}

/// Returns the query for embeddings without a code whose number is greater than `last`.
fn uncoded(last: u64) -> Statement<Postgres> {
    let mut query = Statement::part(
        "SELECT seq, vector FROM tool_store.memory_vector WHERE code IS NULL AND seq > ",
    );
    query.bind(last).push(" ORDER BY seq").limit(Some(BATCH));
    query
}

fn add_code(number: u64, values: &[f32]) -> Statement<Postgres> {
    let mut update = Statement::part("UPDATE tool_store.memory_vector SET dimensions = ");
    update.bind(dimensions(values)).push(", code = ");
    update.bind(bits(values)).push("::bit varying WHERE seq = ");
    update.bind(number);
    update
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    // The text has one digit for each dimension: the bits of the words of the code, each word from its lowest bit.
    #[test]
    fn bit_string_contains_the_bits_of_the_code() {
        let values: Vec<f32> = (0..70_u8).map(|place| f32::from(place) - 20.0).collect();
        let (text, code) = (bits(&values), code(&values));
        assert_eq!(text.len(), 70);
        let word = |bits: &str| u64::from_str_radix(&bits.chars().rev().collect::<String>(), 2);
        let words = [word(&text[..64]).unwrap(), word(&text[64..]).unwrap()];
        assert_eq!(words.as_slice(), code);
    }
}
