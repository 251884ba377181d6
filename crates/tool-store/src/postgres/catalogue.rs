//! The catalogue of tools in PostgreSQL.

use std::collections::BTreeMap;

use crate::sql::enablement::json;
use crate::sql::records::catalogue_entry as read;
use crate::store::{Catalogue, CatalogueChanges, CatalogueEntry, StoreFuture};

use super::change::{Change, fetch};
use super::text::storable;
use super::{Fault, PostgresStore, step};

const ALL: &str = "SELECT name, title, description, category, contract, effect, secrets, aliases, is_meta, is_global, is_harness, synced_at \
     FROM tool_store.catalogue ORDER BY name";

/// Reads all entries by name.
pub(super) async fn all(db: &mut Change<'_>) -> Result<BTreeMap<String, CatalogueEntry>, Fault> {
    let rows = db.query(ALL).fetch_all(&mut **db).await?;
    let entries = rows.iter().map(read);
    let named = entries.map(|entry| entry.map(|entry| (entry.name.clone(), entry)));
    Ok(named.collect::<Result<_, _>>()?)
}

/// Writes an entry in place of the one with the same name.
pub(super) async fn put(db: &mut Change<'_>, entry: &CatalogueEntry) -> Result<(), Fault> {
    db.query(
        "INSERT INTO tool_store.catalogue (name, title, description, category, contract, effect, secrets, aliases, is_meta, is_global,
         is_harness, synced_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
         ON CONFLICT (name) DO UPDATE SET title = excluded.title, description = excluded.description,
         category = excluded.category, contract = excluded.contract, effect = excluded.effect, secrets = excluded.secrets,
         aliases = excluded.aliases, is_meta = excluded.is_meta, is_global = excluded.is_global, is_harness = excluded.is_harness,
         synced_at = excluded.synced_at",
    )
    .bind(&entry.name)
    .bind(entry.title.as_deref().map(storable))
    .bind(storable(&entry.description))
    .bind(storable(&entry.category))
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
    Ok(())
}

impl Catalogue for PostgresStore {
    fn sync(&self, entries: Vec<CatalogueEntry>) -> StoreFuture<'_, CatalogueChanges> {
        step(async move { Ok(self.replace_catalogue(&entries).await?.counts()) })
    }

    fn entries(&self) -> StoreFuture<'_, Vec<CatalogueEntry>> {
        step(async move {
            let rows = fetch!(self, fetch_all, sqlx::query(ALL));
            Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
        })
    }
}
