//! The catalogue of tools in PostgreSQL.

use std::collections::BTreeMap;

use crate::store::{
    Catalogue, CatalogueChanges, CatalogueDiff, CatalogueEntry, StoreError, StoreFuture,
};
use sqlx::postgres::PgRow;

use super::change::{Change, change, fetch};
use super::columns::Columns;
use super::{Fault, PostgresStore, step};

const ALL: &str = "SELECT name, title, description, category, contract, effect, secrets, aliases, is_meta, is_global, is_harness, synced_at \
     FROM tool_store.catalogue ORDER BY name";

fn read(row: &PgRow) -> Result<CatalogueEntry, StoreError> {
    let columns = Columns::new(row, "catalogue", "name");
    Ok(CatalogueEntry {
        name: columns.get("name")?,
        title: columns.maybe("title")?,
        description: columns.get("description")?,
        category: columns.get("category")?,
        contract: columns.get("contract")?,
        effect: columns.number("effect")?,
        secrets: columns.json("secrets")?,
        aliases: columns.json("aliases")?,
        is_meta: columns.get("is_meta")?,
        is_global: columns.get("is_global")?,
        is_harness: columns.get("is_harness")?,
        synced_at: columns.time("synced_at")?,
    })
}

/// Writes a list of texts as JSON, which cannot fail.
fn json(list: &[String]) -> String {
    serde_json::to_string(list).unwrap_or_default()
}

async fn sync(db: &mut Change<'_>, entries: &[CatalogueEntry]) -> Result<CatalogueChanges, Fault> {
    // Two programs that start at once replace the catalogue one after the other. Readers do not wait.
    db.query("LOCK TABLE tool_store.catalogue IN SHARE ROW EXCLUSIVE MODE")
        .execute(&mut **db)
        .await?;
    let rows = db.query(ALL).fetch_all(&mut **db).await?;
    let mut before = BTreeMap::new();
    for row in &rows {
        let entry = read(row)?;
        before.insert(entry.name.clone(), entry);
    }
    let after: BTreeMap<_, _> = entries
        .iter()
        .map(|entry| (entry.name.clone(), entry.clone()))
        .collect();
    let diff = CatalogueDiff::of(&before, &after);
    for entry in after.values() {
        if before.get(&entry.name) == Some(entry) {
            continue;
        }
        db.query(
                "INSERT INTO tool_store.catalogue (name, title, description, category, contract, effect, secrets, aliases, is_meta, is_global,
                 is_harness, synced_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
                 ON CONFLICT (name) DO UPDATE SET title = excluded.title, description = excluded.description,
                 category = excluded.category, contract = excluded.contract, effect = excluded.effect, secrets = excluded.secrets,
                 aliases = excluded.aliases, is_meta = excluded.is_meta, is_global = excluded.is_global, is_harness = excluded.is_harness,
                 synced_at = excluded.synced_at",
            )
            .bind(&entry.name)
            .bind(&entry.title)
            .bind(&entry.description)
            .bind(&entry.category)
            .bind(&entry.contract)
            .bind(i64::from(entry.effect))
            .bind(json(&entry.secrets))
            .bind(json(&entry.aliases))
            .bind(entry.is_meta)
            .bind(entry.is_global)
            .bind(entry.is_harness)
            .bind(entry.synced_at.as_millis())
            .execute(&mut **db)
            .await?;
    }
    let renamed = diff.renamed.iter().map(|(from, _)| from);
    for name in diff.removed.iter().chain(renamed) {
        db.query("DELETE FROM tool_store.catalogue WHERE name = $1")
            .bind(name)
            .execute(&mut **db)
            .await?;
    }
    let count = |names: usize| u64::try_from(names).unwrap_or(u64::MAX);
    Ok(CatalogueChanges {
        added: count(diff.added.len()),
        changed: count(diff.changed.len() + diff.renamed.len()),
        removed: count(diff.removed.len()),
    })
}

impl Catalogue for PostgresStore {
    fn sync(&self, entries: Vec<CatalogueEntry>) -> StoreFuture<'_, CatalogueChanges> {
        step(async move { change!(self, Vec::new(), db => sync(db, &entries).await) })
    }

    fn entries(&self) -> StoreFuture<'_, Vec<CatalogueEntry>> {
        step(async move {
            let rows = fetch!(self, fetch_all, sqlx::query(ALL));
            Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
        })
    }
}
