//! Changes that operators make to instances, for all SQL databases.

use super::enablement::{self, EnablementRows};
use crate::store::{Changed, InstanceChange};

pub(crate) async fn change_instance<R: EnablementRows + ?Sized>(
    db: &mut R,
    change: InstanceChange,
) -> Result<Changed, R::Fault> {
    Ok(match change {
        InstanceChange::Add { instance, at } => Changed::Row {
            changed: enablement::add_instance(db, &instance, at).await?,
        },
        InstanceChange::Remove { instance } => {
            if !enablement::remove_instance(db, &instance).await? {
                return Err(InstanceChange::missing(&instance).into());
            }
            Changed::Row { changed: true }
        }
        InstanceChange::Enable {
            instance,
            tool,
            by,
            at,
        } => {
            let changed = enablement::enable(db, &instance, &tool, &by, at).await?;
            Changed::Enablement { tool, changed }
        }
        InstanceChange::Disable { instance, tool, by } => {
            let changed = enablement::disable(db, &instance, &tool, &by).await?;
            Changed::Enablement { tool, changed }
        }
        InstanceChange::EnableSkill {
            instance,
            skill,
            by,
            at,
        } => Changed::Skill(enablement::pin(db, &instance, &skill, &by, at).await?),
        InstanceChange::DisableSkill {
            instance,
            skill,
            by,
        } => Changed::Skill(enablement::unpin(db, &instance, &skill, &by).await?),
    })
}
