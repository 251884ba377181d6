//! The catalogue of tools in SQLite.

use std::collections::BTreeMap;

use crate::sql::enablement::{json, reconcile};
use crate::sql::records::catalogue_entry as read;
use crate::store::{Catalogue, CatalogueChanges, CatalogueEntry, StoreFuture};
use sqlx::sqlite::SqliteConnection;

use super::{Fault, SqliteStore, step};

const ALL: &str = "SELECT name, title, description, category, contract, effect, secrets, aliases, is_meta, is_global, is_harness, synced_at \
     FROM catalogue ORDER BY name";

/// Reads all entries into a map by name.
pub(super) async fn all(
    db: &mut SqliteConnection,
) -> Result<BTreeMap<String, CatalogueEntry>, Fault> {
    let rows = sqlx::query(ALL).fetch_all(db).await?;
    let entries = rows.iter().map(read);
    let named = entries.map(|entry| entry.map(|entry| (entry.name.clone(), entry)));
    Ok(named.collect::<Result<_, _>>()?)
}

/// Inserts an entry, or replaces the entry with the same name.
pub(super) async fn put(db: &mut SqliteConnection, entry: &CatalogueEntry) -> Result<(), Fault> {
    sqlx::query(
        "INSERT INTO catalogue (name, title, description, category, contract, effect, secrets, aliases, is_meta, is_global, is_harness, \
         synced_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
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
    .execute(db)
    .await?;
    Ok(())
}

impl Catalogue for SqliteStore {
    fn sync(&self, entries: Vec<CatalogueEntry>) -> StoreFuture<'_, CatalogueChanges> {
        step(async move {
            let report = self.change(|db| Box::pin(reconcile(db, entries)));
            Ok(report.await?.counts())
        })
    }

    fn entries(&self) -> StoreFuture<'_, Vec<CatalogueEntry>> {
        step(async move {
            let rows = sqlx::query(ALL).fetch_all(&self.readers).await?;
            Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
        })
    }
}
