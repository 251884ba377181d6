//! Changes that operators make to secrets, variables and keys in PostgreSQL.

use crate::store::{Changed, VaultChange};

use super::change::Change;
use super::{Fault, narrow, sealed, secret, variable, variable_request};

pub(super) async fn change_vault(
    db: &mut Change<'_>,
    change: &VaultChange,
) -> Result<Changed, Fault> {
    match change {
        VaultChange::PutSecret(row) => secret::put(db, row).await?,
        VaultChange::RemoveSecret { workspace, name } => {
            let removed =
                db.query("DELETE FROM tool_store.secret WHERE workspace = $1 AND name = $2");
            let removed = removed.bind(workspace.as_str()).bind(name);
            if removed.execute(&mut **db).await?.rows_affected() == 0 {
                return Err(VaultChange::missing_secret(name).into());
            }
        }
        VaultChange::PutVariables(rows) => variable::put(db, rows).await?,
        VaultChange::RemoveVariable { scope, name } => {
            let mut query = variable::removal(scope);
            narrow(&mut query, "name", Some(name));
            let removed = query.build().persistent(db.is_named());
            if removed.execute(&mut **db).await?.rows_affected() == 0 {
                return Err(VaultChange::missing_variable(name).into());
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
        VaultChange::RetireKey { key, at } => sealed::retire(db, key, *at).await?,
    }
    Ok(Changed::Row { changed: true })
}
