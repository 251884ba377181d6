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

/// Reads all entries into a map by name.
pub(super) async fn all(db: &mut Change<'_>) -> Result<BTreeMap<String, CatalogueEntry>, Fault> {
    let rows = db.query(ALL).fetch_all(&mut **db).await?;
    let entries = rows.iter().map(read);
    let named = entries.map(|entry| entry.map(|entry| (entry.name.clone(), entry)));
    Ok(named.collect::<Result<_, _>>()?)
}

/// Inserts entries, or replaces the entries with the same names.
pub(super) async fn put(db: &mut Change<'_>, entries: &[&CatalogueEntry]) -> Result<(), Fault> {
    if entries.is_empty() {
        return Ok(());
    }
    let texts = |of: &dyn Fn(&CatalogueEntry) -> String| -> Vec<String> {
        entries.iter().map(|entry| of(entry)).collect()
    };
    let flags = |of: fn(&CatalogueEntry) -> bool| -> Vec<bool> {
        entries.iter().map(|entry| of(entry)).collect()
    };
    let numbers = |of: fn(&CatalogueEntry) -> i64| -> Vec<i64> {
        entries.iter().map(|entry| of(entry)).collect()
    };
    let free = |text: &str| storable(text).into_owned();
    let titles = entries.iter().map(|entry| entry.title.as_deref().map(free));
    let titles: Vec<Option<String>> = titles.collect();
    db.query(
        "INSERT INTO tool_store.catalogue (name, title, description, category, contract, effect, secrets, aliases, is_meta, is_global,
         is_harness, synced_at) SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[],
         $8::text[], $9::boolean[], $10::boolean[], $11::boolean[], $12::bigint[])
         ON CONFLICT (name) DO UPDATE SET title = excluded.title, description = excluded.description,
         category = excluded.category, contract = excluded.contract, effect = excluded.effect, secrets = excluded.secrets,
         aliases = excluded.aliases, is_meta = excluded.is_meta, is_global = excluded.is_global, is_harness = excluded.is_harness,
         synced_at = excluded.synced_at",
    )
    .bind(texts(&|entry| entry.name.clone()))
    .bind(titles)
    .bind(texts(&|entry| free(&entry.description)))
    .bind(texts(&|entry| free(&entry.category)))
    .bind(texts(&|entry| entry.contract.clone()))
    .bind(numbers(|entry| i64::from(entry.effect)))
    .bind(texts(&|entry| json(&entry.secrets)))
    .bind(texts(&|entry| json(&entry.aliases)))
    .bind(flags(|entry| entry.is_meta))
    .bind(flags(|entry| entry.is_global))
    .bind(flags(|entry| entry.is_harness))
    .bind(numbers(|entry| entry.synced_at.as_millis()))
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
