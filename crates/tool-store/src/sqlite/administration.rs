//! Changes that operators make to secrets, variables and keys in SQLite.

use crate::store::{Changed, VaultChange};
use sqlx::sqlite::SqliteConnection;

use super::{Fault, narrow, sealed, secret, variable, variable_request};

pub(super) async fn change_vault(
    db: &mut SqliteConnection,
    change: VaultChange,
) -> Result<Changed, Fault> {
    match change {
        VaultChange::PutSecret(row) => secret::put(db, *row).await?,
        VaultChange::RemoveSecret { workspace, name } => {
            let removed = sqlx::query("DELETE FROM secret WHERE workspace = ? AND name = ?")
                .bind(workspace.as_str())
                .bind(&name)
                .execute(db)
                .await?;
            if removed.rows_affected() == 0 {
                return Err(VaultChange::missing_secret(&name).into());
            }
        }
        VaultChange::PutVariables(rows) => variable::put(db, rows).await?,
        VaultChange::RemoveVariable { scope, name } => {
            let mut query = variable::removal(&scope);
            narrow(&mut query, "name", Some(&name));
            if query.build().execute(db).await?.rows_affected() == 0 {
                return Err(VaultChange::missing_variable(&name).into());
            }
        }
        VaultChange::AnswerRequest {
            workspace,
            id,
            rows,
        } => {
            let missing = variable_request::answer(db, workspace, id, rows).await?;
            return Ok(Changed::Answered { missing });
        }
        VaultChange::RetireKey { key, at } => sealed::retire(db, key, at).await?,
    }
    Ok(Changed::Row { changed: true })
}
