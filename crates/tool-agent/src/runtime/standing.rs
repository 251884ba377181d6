//! The active agent of a thread, determined from the messages of the thread.

use std::collections::HashSet;

use tool_core::store::{Message, Role};
use tool_core::turn::{ModelMessage, ToolMessage};

use super::AgentRuntime;
use super::run::Standing;

impl AgentRuntime {
    /// Determines the agents of a thread from its messages. `first` is the agent that began the thread.
    ///
    /// The handoffs are not stored separately: they are the successful calls of the handoff tools of the agent that was active.
    pub(super) fn standing(&self, first: usize, messages: &[Message]) -> Standing {
        let mut standing = Standing {
            current: first,
            next: first,
            handoffs: 0,
            activation: 0,
            has_open: false,
            has_spoken: false,
        };
        let mut open: HashSet<(u64, u32)> = HashSet::new();
        for message in messages {
            match message.role {
                Role::User => standing.handoffs = 0,
                Role::System => {}
                Role::Assistant => {
                    standing.current = standing.next;
                    standing.has_spoken = true;
                    let calls = serde_json::from_str::<ModelMessage>(&message.content);
                    let calls = calls.map_or(0, |said| said.calls.len());
                    open = (0..)
                        .take(calls)
                        .map(|position| (message.seq, position))
                        .collect();
                }
                Role::Tool => {
                    if let Some(place) = message.answers {
                        open.remove(&(place.message, place.position));
                    }
                    let target = self.entry(standing.current).handoffs.iter();
                    let Ok(result) = serde_json::from_str::<ToolMessage>(&message.content) else {
                        continue;
                    };
                    let mut target = target.filter(|handoff| handoff.tool() == result.name);
                    if let Some(handoff) = target.next()
                        && !result.is_error()
                        && let Some(target) = self.index(&handoff.agent)
                    {
                        standing.next = target;
                        standing.handoffs += 1;
                        standing.activation = message.seq;
                        standing.has_spoken = false;
                    }
                }
            }
        }
        standing.has_open = !open.is_empty();
        standing
    }
}
