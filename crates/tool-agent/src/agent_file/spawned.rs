//! The keys of an agent file about sub-agents: `immediate` and `resumable` of a sub-agent, `spawn`, and `session`.

use serde::Deserialize;

use super::{ImmediateKeys, RawImmediate, RawResumable, RawSession, RawSpawn};
use crate::runtime::{Immediate, ParentCommunication, Resumable, Session, Side, SpawnGate};

/// The recipient of the messages that a parent sends to a sub-agent.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawSide {
    #[default]
    A,
    B,
}

/// Whether the outcome of a session for which no call waits is delivered to the parent as a message.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawCommunication {
    #[default]
    Implicit,
    Explicit,
}

impl RawSpawn {
    pub(super) fn gate(self) -> SpawnGate {
        let mut gate = if self.enabled {
            SpawnGate::default()
        } else {
            SpawnGate::disabled()
        };
        if let Some(targets) = self.targets {
            gate = gate.targets(targets);
        }
        if let Some(depth) = self.depth {
            gate = gate.most_depth(depth.get());
        }
        gate
    }
}

impl RawSession {
    pub(super) fn session(self) -> Session {
        let mut session = Session::new();
        if let Some(tool) = self.stop_tool {
            session = session.stop_tool(tool);
        }
        if let Some(tool) = self.fail_tool {
            session = session.fail_tool(tool);
        }
        session
    }
}

impl ImmediateKeys {
    /// Returns the error text for an invalid combination of keys; `None` if the combination is valid.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let names = self.name_env.is_some() || self.description_env.is_some();
        match (self.per_instance, &self.message) {
            (false, None) => Some(
                "an immediate sub-agent has no first message: write `message`, or `per_instance: true`",
            ),
            (true, Some(_)) => Some(
                "the first message of an instance is the value of a variable: write `description_env` in place of `message`",
            ),
            (false, Some(_)) if names || !self.scoped_env.is_empty() => Some(
                "variables belong to instances: write `per_instance: true` in place of `message`",
            ),
            _ => None,
        }
    }

    fn immediate(self) -> Immediate {
        let Some(message) = self.message else {
            let mut immediate = Immediate::per_instance().scoped_env(self.scoped_env);
            if let Some(name) = self.name_env {
                immediate = immediate.name_env(name);
            }
            if let Some(name) = self.description_env {
                immediate = immediate.description_env(name);
            }
            return immediate;
        };
        Immediate::once(message)
    }
}

impl TryFrom<ImmediateKeys> for RawImmediate {
    type Error = &'static str;

    fn try_from(keys: ImmediateKeys) -> Result<Self, Self::Error> {
        match keys.fault() {
            None => Ok(Self(keys)),
            Some(why) => Err(why),
        }
    }
}

impl RawImmediate {
    pub(super) fn immediate(self) -> Immediate {
        self.0.immediate()
    }
}

impl RawResumable {
    pub(super) fn resumable(self) -> Resumable {
        let resumable = Resumable::new()
            .receives_messages(match self.receives_messages {
                RawSide::A => Side::A,
                RawSide::B => Side::B,
            })
            .parent_communication(match self.parent_communication {
                RawCommunication::Implicit => ParentCommunication::Implicit,
                RawCommunication::Explicit => ParentCommunication::Explicit,
            });
        match self.most_instances {
            Some(most) => resumable.most_instances(most.get()),
            None => resumable,
        }
    }
}
