//! The catalogue of tools in PostgreSQL.

use std::collections::BTreeMap;

use crate::store::{Catalogue, CatalogueChanges, CatalogueEntry, StoreError, StoreFuture};
use sqlx::postgres::PgRow;

use super::change::{Change, change, fetch};
use super::columns::Columns;
use super::{Fault, PostgresStore, step};

const ALL: &str = "SELECT name, title, description, category, contract, effect FROM tool_store.catalogue ORDER BY name";

fn read(row: &PgRow) -> Result<CatalogueEntry, StoreError> {
    let columns = Columns::new(row, "catalogue", "name");
    Ok(CatalogueEntry {
        name: columns.get("name")?,
        title: columns.maybe("title")?,
        description: columns.get("description")?,
        category: columns.get("category")?,
        contract: columns.get("contract")?,
        effect: columns.number("effect")?,
    })
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
    let mut changes = CatalogueChanges::default();
    for entry in entries {
        match before.remove(&entry.name) {
            Some(old) if old == *entry => continue,
            Some(_) => changes.changed += 1,
            None => changes.added += 1,
        }
        db.query(
                "INSERT INTO tool_store.catalogue (name, title, description, category, contract, effect) VALUES ($1, $2, $3, $4, $5, $6)
                 ON CONFLICT (name) DO UPDATE SET title = excluded.title, description = excluded.description,
                 category = excluded.category, contract = excluded.contract, effect = excluded.effect",
            )
            .bind(&entry.name)
            .bind(&entry.title)
            .bind(&entry.description)
            .bind(&entry.category)
            .bind(&entry.contract)
            .bind(i64::from(entry.effect))
            .execute(&mut **db)
            .await?;
    }
    for name in before.keys() {
        db.query("DELETE FROM tool_store.catalogue WHERE name = $1")
            .bind(name)
            .execute(&mut **db)
            .await?;
        changes.removed += 1;
    }
    Ok(changes)
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
