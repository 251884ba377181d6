//! The facts of a run that the simulator records. Hosts have no access to them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::RwLock;
use tool_core::store::{TaskId, Timestamp};

use crate::facts::World;
use crate::plan::User;

use super::{ByUser, Plan};

/// A remembered text: the workspace, the agent (empty for all agents) and the topic.
pub(super) type Text = (String, String, u32);

/// The data that the simulator records.
#[derive(Default)]
pub(super) struct Facts {
    /// The texts whose tool has returned a success.
    pub(super) remembered: BTreeSet<Text>,
    /// The workspaces whose memories were removed.
    pub(super) cleared: BTreeSet<String>,
    /// The number of times that each node of a plan was completed, by the workspace, the conversation, the number of the run and the node.
    pub(super) completed: BTreeMap<(String, String, u64, String), u32>,
    /// The tasks of each user.
    pub(super) tasks: ByUser<Vec<TaskId>>,
    /// The attempts in progress of each run of a task.
    pub(super) attempts: BTreeMap<(TaskId, Timestamp), u32>,
    /// For each of the next attempts whose process dies, the milliseconds from the start of the attempt to the death.
    pub(super) deaths: VecDeque<u64>,
    /// The keys of the effects, with the conversation of each.
    pub(super) effects: BTreeMap<String, (String, String)>,
}

/// The shared facts of a run. Clones are cheap and refer to the same facts.
#[derive(Clone)]
pub(super) struct Seen {
    facts: Arc<Mutex<Facts>>,
    /// The locks of the users. An erasure waits for the work of its user, and later work of the user waits for the erasure.
    pub(super) users: Arc<ByUser<Arc<RwLock<()>>>>,
    pub(super) world: World,
    /// Whether a process may lose a claim while it lives.
    pub(super) has_faults: bool,
}

impl Seen {
    pub(super) fn new(plan: &Plan, world: &World) -> Self {
        let users = plan.actions.iter().filter_map(|action| action.what.who());
        let users = users.map(|who| ((who.tenant.clone(), who.user.clone()), Arc::default()));
        Self {
            facts: Arc::default(),
            users: Arc::new(users.collect()),
            world: world.clone(),
            has_faults: plan.has_faults(),
        }
    }

    pub(super) fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the lock of a user.
    pub(super) fn user(&self, tenant: &str, user: &str) -> Arc<RwLock<()>> {
        let key = (tenant.to_owned(), user.to_owned());
        self.users.get(&key).cloned().unwrap_or_default()
    }

    /// Returns the newest task of a user.
    pub(super) fn newest_task(&self, who: &User) -> Option<TaskId> {
        let facts = self.facts();
        let tasks = facts.tasks.get(&(who.tenant.clone(), who.user.clone()))?;
        tasks.last().cloned()
    }
}

/// Returns the text about a topic. It contains its workspace and the agent that reads it, so that a text of another scope is detectable.
pub(super) fn text((tenant, agent, topic): &Text) -> String {
    let agent = if agent.is_empty() { "everyone" } else { agent };
    format!("Topic{topic} is known in {tenant} to {agent}.")
}

/// Returns the workspace and the agent that a text names. The text is in lower case.
pub(super) fn scope_of(text: &str) -> Option<(&str, &str)> {
    let (_, scope) = text.split_once(" is known in ")?;
    let (tenant, agent) = scope.split_once(" to ")?;
    Some((tenant, agent.trim_end_matches('.')))
}
