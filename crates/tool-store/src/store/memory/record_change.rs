//! In-memory changes that operators make to memories, documents, plans, scheduled tasks and rooms.

use super::Tables;
use crate::store::{Changed, Erased, PlanChange, PlanChanged, RecordChange, StoreError};

impl Tables {
    /// Applies a change of a record.
    pub(super) fn change_record(&mut self, change: RecordChange) -> Result<Changed, StoreError> {
        let missing = change.missing();
        let is_removed = match change {
            RecordChange::CorrectMemory {
                workspace,
                id,
                correction,
                expected,
            } => {
                let stored = self.memories.find(&workspace, &id).ok_or(missing)?;
                expected.check_row(Some(stored))?;
                let row = self.memories.correct(&workspace, &id, &correction)?;
                return Ok(Changed::Memory(Box::new(row)));
            }
            RecordChange::RemoveMemory {
                workspace,
                id,
                expected,
            } => {
                let Some(stored) = self.memories.find(&workspace, &id) else {
                    return Err(missing);
                };
                expected.check_row(Some(stored))?;
                self.memories.remove_by_id(&workspace, &id)
            }
            RecordChange::EraseMemories {
                workspace,
                principal,
            } => {
                let memories = self.memories.erase_user(&workspace, &principal);
                return Ok(Changed::Erased(Erased {
                    memories,
                    ..Erased::default()
                }));
            }
            RecordChange::RemoveDocument { name, expected } => {
                let Some(stored) = self.documents.find(&name) else {
                    return Err(missing);
                };
                expected.check_row(Some(stored))?;
                self.documents.remove(&name)
            }
            RecordChange::EndPlan { id, at } => {
                return match self.change_plan(&id, &PlanChange::Abort, at)? {
                    PlanChanged::Changed(row) => Ok(Changed::Plan(row)),
                    PlanChanged::Refused(why, _) => Err(StoreError::Conflict(why.to_string())),
                };
            }
            RecordChange::UpdateTask {
                id,
                update,
                expected,
            } => {
                let row = self.update_task(&id, *update, expected)?;
                return Ok(Changed::Task(Box::new(row.ok_or(missing)?)));
            }
            RecordChange::RemoveTask { id, expected, at } => self.remove_task(&id, expected, at)?,
            RecordChange::RemoveRoom { room } => self.rooms.remove(&room),
        };
        if is_removed {
            Ok(Changed::Row { changed: true })
        } else {
            Err(missing)
        }
    }
}
