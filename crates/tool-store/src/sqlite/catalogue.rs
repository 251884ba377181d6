//! The catalogue of tools in SQLite.

use std::collections::BTreeMap;

use crate::store::{Catalogue, CatalogueChanges, CatalogueEntry, StoreError, StoreFuture};
use sqlx::sqlite::{SqliteConnection, SqliteRow};

use super::columns::Columns;
use super::{Fault, SqliteStore, step};

const ALL: &str =
    "SELECT name, title, description, category, contract, effect FROM catalogue ORDER BY name";

fn read(row: &SqliteRow) -> Result<CatalogueEntry, StoreError> {
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

async fn sync(
    db: &mut SqliteConnection,
    entries: Vec<CatalogueEntry>,
) -> Result<CatalogueChanges, Fault> {
    let rows = sqlx::query(ALL).fetch_all(&mut *db).await?;
    let mut before = BTreeMap::new();
    for row in &rows {
        let entry = read(row)?;
        before.insert(entry.name.clone(), entry);
    }
    let mut changes = CatalogueChanges::default();
    for entry in entries {
        match before.remove(&entry.name) {
            Some(old) if old == entry => continue,
            Some(_) => changes.changed += 1,
            None => changes.added += 1,
        }
        sqlx::query(
                "INSERT INTO catalogue (name, title, description, category, contract, effect) VALUES (?, ?, ?, ?, ?, ?)
                 ON CONFLICT (name) DO UPDATE SET title = excluded.title, description = excluded.description,
                 category = excluded.category, contract = excluded.contract, effect = excluded.effect",
            )
            .bind(&entry.name)
            .bind(&entry.title)
            .bind(&entry.description)
            .bind(&entry.category)
            .bind(&entry.contract)
            .bind(i64::from(entry.effect))
            .execute(&mut *db)
            .await?;
    }
    for name in before.keys() {
        sqlx::query("DELETE FROM catalogue WHERE name = ?")
            .bind(name)
            .execute(&mut *db)
            .await?;
        changes.removed += 1;
    }
    Ok(changes)
}

impl Catalogue for SqliteStore {
    fn sync(&self, entries: Vec<CatalogueEntry>) -> StoreFuture<'_, CatalogueChanges> {
        step(self.change(|db| Box::pin(sync(db, entries))))
    }

    fn entries(&self) -> StoreFuture<'_, Vec<CatalogueEntry>> {
        step(async move {
            let rows = sqlx::query(ALL).fetch_all(&self.readers).await?;
            Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
        })
    }
}
