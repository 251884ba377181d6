//! Changes that operators make to memories, documents, plans, scheduled tasks and rooms, for all SQL databases.

use crate::store::{Changed, Erased, PlanChange, PlanChanged, RecordChange, StoreError};

use super::contents::{Reader, Sealer};
use super::statement::SqlChange;
use super::{knowledge, long_term, plan, room, schedule};

/// Applies a change. An error rolls the transaction back.
pub(crate) async fn change<C: SqlChange>(
    db: &mut C,
    change: &RecordChange,
    (sealer, reader): (&Sealer, &Reader),
) -> Result<Changed, C::Fault> {
    let is_removed = match change {
        RecordChange::CorrectMemory {
            workspace,
            id,
            correction,
            expected,
        } => {
            let stored = long_term::locked_memory(db, workspace, id).await?;
            let stored = stored.ok_or_else(|| change.missing())?;
            expected.check_row(Some(&stored))?;
            let row = long_term::correct(db, workspace, id, correction).await?;
            return Ok(Changed::Memory(Box::new(row)));
        }
        RecordChange::RemoveMemory {
            workspace,
            id,
            expected,
        } => {
            let stored = long_term::locked_memory(db, workspace, id).await?;
            let stored = stored.ok_or_else(|| change.missing())?;
            expected.check_row(Some(&stored))?;
            let removal = long_term::removal(workspace, "id", id);
            db.write(removal).await? > 0
        }
        RecordChange::EraseMemories {
            workspace,
            principal,
        } => {
            let memories = long_term::erase_user(db, workspace, principal).await?;
            let erased = Erased {
                memories,
                ..Erased::default()
            };
            return Ok(Changed::Erased(erased));
        }
        RecordChange::RemoveDocument { name, expected } => {
            let stored = knowledge::locked(db, name).await?;
            let stored = stored.ok_or_else(|| change.missing())?;
            expected.check_row(Some(&stored))?;
            knowledge::remove(db, name).await?
        }
        RecordChange::EndPlan { id, at } => {
            let abort = PlanChange::Abort;
            return match plan::change(db, id, &abort, *at, sealer, reader).await? {
                PlanChanged::Changed(row) => Ok(Changed::Plan(row)),
                PlanChanged::Refused(why, _) => Err(StoreError::Conflict(why.to_string()).into()),
            };
        }
        RecordChange::UpdateTask {
            id,
            update,
            expected,
        } => {
            let row = schedule::update(db, id, (**update).clone(), *expected).await?;
            let row = row.ok_or_else(|| change.missing())?;
            return Ok(Changed::Task(Box::new(row)));
        }
        RecordChange::RemoveTask { id, expected, at } => {
            schedule::remove(db, id, *expected, *at).await?
        }
        RecordChange::RemoveRoom { room } => room::remove(db, room).await?,
    };
    if !is_removed {
        return Err(change.missing().into());
    }
    Ok(Changed::Row { changed: true })
}
