//! The rules of the effect ledger.

use super::ledger::{Begun, EffectEnd, EffectRow, EffectState, Ended, Intent, Resolution};
use super::{CallKey, StoreError, Timestamp};

/// An effect as a store keeps it: what [`EffectLedger`](super::EffectLedger) promises about one key, without a store.
///
/// For whoever writes a store: read the claim of the key, let it take the step, and write back what it has become, in one transaction
/// that nobody else can come between. A claim that fails to take a step is unchanged, but for the mark of [`end`](Self::end).
///
/// ```
/// use std::time::Duration;
/// use tool_core::store::*;
///
/// let now = Timestamp::now();
/// let text = |text: &str| text.to_owned();
/// let identity = CallId::in_thread(&ThreadId::new("acme", "main")?, 4, 0);
/// let intent = Intent {
///     identity: identity.clone(), earlier: None, call: text("call_0"), thread: Some(text("main")), agent: None,
///     tool: text("send_mail"), contract: text("9f2c"), principal: text("ann"), arguments_hash: text("77aa"), owner: text("run-1"),
///     at: now, lease_until: now.plus(Duration::from_secs(30)),
/// };
/// // Nothing is stored under the key yet.
/// let (begun, stored) = EffectClaim::begin(None, intent.clone())?;
/// assert_eq!(begun, Begun::New);
///
/// // Within the lease it is answered as it stands, and there is nothing to write.
/// let (begun, changed) = EffectClaim::begin(stored.clone(), intent)?;
/// assert!(matches!(begun, Begun::Replay(row) if row.state == EffectState::Running));
/// assert_eq!(changed, None);
///
/// let mut claim = stored.ok_or_else(|| EffectClaim::missing(&identity.key()))?;
/// let end = EffectEnd { state: EffectState::Succeeded, result: Some(text("7")), at: now, released: false };
/// assert_eq!(claim.end("run-1", end)?, Ended::InTime);
/// # Ok::<(), StoreError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectClaim {
    /// The effect.
    pub row: EffectRow,
    /// Whether an operator or the [end](EffectEnd::released) of a call that waits has released the key: the ledger no longer
    /// returns the row, and the next attempt continues its count.
    pub released: bool,
}

impl EffectClaim {
    /// A step of [`EffectLedger::begin`](super::EffectLedger::begin). Takes what is stored under the intent's key, or else under its
    /// earlier key, gives what to answer and the claim to store instead, under the key of its own identity; none where that stays as it
    /// is. [`Begun::audit_row`] gives the audit row to store with it. Where the claim to store has a key other than the stored one, it replaces that.
    ///
    /// Conflict where the key belongs to another effect: to another tool, other arguments, another user or another agent. Another user or
    /// agent of the same conversation may begin a call whose key was released.
    pub fn begin(
        stored: Option<Self>,
        intent: Intent,
    ) -> Result<(Begun, Option<Self>), StoreError> {
        let stored = stored.filter(|claim| claim.is_of(&intent));
        let mut attempt = 1;
        let mut resolved_by = None;
        if let Some(mut claim) = stored {
            same_effect(&claim, &intent)?;
            if !claim.released {
                let lapsed = claim.lapse(intent.at).then(|| claim.clone());
                return Ok((Begun::Replay(claim.row), lapsed));
            }
            // A call that waited continues the same attempt; an operator's rerun is a new attempt.
            let waits = claim.row.state == EffectState::Failed;
            attempt = claim.row.attempt + u32::from(!waits);
            resolved_by = claim.row.resolved_by;
        }
        let row = EffectRow {
            intent,
            state: EffectState::Running,
            result: None,
            ended: None,
            late: false,
            resolved_by,
            attempt,
        };
        let begun = if attempt > 1 {
            let operator = row.resolved_by.clone().unwrap_or_default();
            Begun::Again { attempt, operator }
        } else {
            Begun::New
        };
        let released = false;
        Ok((begun, Some(Self { row, released })))
    }

    /// A step of [`EffectLedger::close`](super::EffectLedger::close_call): [`begin`](Self::begin), whose row has failed with `result` already.
    pub fn close(
        stored: Option<Self>,
        intent: Intent,
        result: Option<String>,
    ) -> Result<(Begun, Option<Self>), StoreError> {
        let at = intent.at;
        let (begun, mut claim) = Self::begin(stored, intent)?;
        if let (Begun::New | Begun::Again { .. }, Some(claim)) = (&begun, &mut claim) {
            let row = &mut claim.row;
            (row.state, row.result, row.ended) = (EffectState::Failed, result, Some(at));
        }
        Ok((begun, claim))
    }

    /// Whether the claim can be of the intent's call: it has the same identity, or was found by an earlier key in the same conversation.
    /// Versions before 0.2 gave calls of two conversations one key, so a store leaves any other claim where it is.
    pub fn is_of(&self, intent: &Intent) -> bool {
        let found = &self.row.intent;
        found.identity == intent.identity || found.thread == intent.thread
    }

    /// The error for a key under which nothing is stored.
    #[must_use]
    pub fn missing(key: &CallKey) -> StoreError {
        StoreError::Missing(format!("no effect `{key}`"))
    }

    /// The row as [`get`](super::EffectLedger::get) and [`list`](super::EffectLedger::list) show it: none where the key is released.
    pub fn known(&self) -> Option<&EffectRow> {
        (!self.released).then_some(&self.row)
    }

    /// The row of [`known`](Self::known), taken out.
    pub fn into_known(self) -> Option<EffectRow> {
        (!self.released).then_some(self.row)
    }

    /// A step of [`EffectLedger::sweep`](super::EffectLedger::sweep), and of every other that looks at a row: a running row whose lease
    /// is over at `now` becomes ambiguous. Gives whether it did.
    pub fn lapse(&mut self, now: Timestamp) -> bool {
        let lapses = self.row.state == EffectState::Running && self.row.intent.lease_until <= now;
        if lapses {
            self.row.state = EffectState::Ambiguous;
        }
        lapses
    }

    /// A step of [`EffectLedger::renew`](super::EffectLedger::renew). Gives whether the row is running and this owner's.
    pub fn renew(&mut self, owner: &str, until: Timestamp) -> bool {
        let intent = &mut self.row.intent;
        let renews = self.row.state == EffectState::Running && intent.owner == owner;
        if renews {
            intent.lease_until = until.max(intent.lease_until);
        }
        renews
    }

    /// A step of [`EffectLedger::end`](super::EffectLedger::end). Gives whether the end came within the lease.
    ///
    /// [`StoreError::Conflict`] where the owner is a different one, where the row has already succeeded or failed, where the new state is
    /// `Running`, and where a released end is not `Failed`. The end of an earlier run, and an end that contradicts what an operator
    /// has settled, mark the row as late; store that although this returns an error.
    pub fn end(&mut self, owner: &str, end: EffectEnd) -> Result<Ended, StoreError> {
        let row = &mut self.row;
        let key = row.intent.identity.key();
        if end.state == EffectState::Running {
            return Err(StoreError::Conflict(
                "`running` is no end, say how the body ended".to_owned(),
            ));
        }
        if end.released && end.state != EffectState::Failed {
            return Err(StoreError::Conflict(format!(
                "an end that releases the key says `failed`, not `{}`",
                end.state
            )));
        }
        if row.intent.owner != owner {
            // A run that an operator had given up for dead: a trace of it stays.
            row.late |= row.attempt > 1;
            return Err(StoreError::Conflict(format!(
                "effect `{key}` is another owner's"
            )));
        }
        let ended = match row.state {
            EffectState::Running if end.at < row.intent.lease_until => Ended::InTime,
            EffectState::Running | EffectState::Ambiguous => Ended::Late,
            state => {
                // An operator has settled it while its body ran, for example by a clock that was wrong: a trace of its end stays.
                row.late |= row.resolved_by.is_some() && state != end.state;
                return Err(StoreError::Conflict(format!(
                    "effect `{key}` has {state} already"
                )));
            }
        };
        row.state = end.state;
        row.result = end.result;
        row.ended = Some(end.at);
        row.late |= ended == Ended::Late;
        self.released = end.released;
        Ok(ended)
    }

    /// A step of [`EffectLedger::force`](super::EffectLedger::force); the row is the one to return.
    ///
    /// Missing where the key is released already, Conflict where the row has succeeded or failed.
    pub fn force(
        &mut self,
        resolution: Resolution,
        operator: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if !self.released {
            self.lapse(now.max(self.row.intent.lease_until));
        }
        self.resolve(resolution, operator, now)
    }

    /// A step of [`EffectLedger::resolve`](super::EffectLedger::resolve); the row is the one to return.
    ///
    /// Missing where the key is released already, Conflict where the row is not ambiguous at `now`.
    pub fn resolve(
        &mut self,
        resolution: Resolution,
        operator: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if self.released {
            return Err(Self::missing(&self.row.intent.identity.key()));
        }
        // One that has not lapsed is not ambiguous and stays what it is.
        self.lapse(now);
        let row = &mut self.row;
        if row.state != EffectState::Ambiguous {
            return Err(StoreError::Conflict(format!(
                "effect `{}` is {}, not ambiguous",
                row.intent.identity.key(),
                row.state
            )));
        }
        row.resolved_by = Some(operator.to_owned());
        let (state, result) = match resolution {
            Resolution::Succeeded(result) => (EffectState::Succeeded, result),
            Resolution::Failed(result) => (EffectState::Failed, result),
            Resolution::Rerun => {
                self.released = true;
                return Ok(());
            }
        };
        (row.state, row.result, row.ended) = (state, Some(result), Some(now));
        Ok(())
    }
}

impl EffectRow {
    /// Where the row stands in the order of lists: `at`, then key.
    pub fn place(&self) -> (Timestamp, CallKey) {
        (self.intent.at, self.intent.identity.key())
    }
}

/// A key identifies one effect, and a caller never gets the stored result of a different caller's effect. A released key shows no row, so
/// every user and agent of the conversation may begin the call: it continues the call that waited, or makes the rerun of an operator.
fn same_effect(claim: &EffectClaim, intent: &Intent) -> Result<(), StoreError> {
    let stored = &claim.row.intent;
    let given_back = claim.released && intent.identity.conversation().is_some();
    // Versions before 0.2 stored no agent, and hashed the call's id into the key.
    let earlier = stored.identity.is_earlier();
    let agent = stored.agent != intent.agent && !(earlier && stored.agent.is_none());
    let other = [
        ("agent", agent && !given_back),
        ("call id", !earlier && stored.call != intent.call),
        ("tool", stored.tool != intent.tool),
        ("arguments", stored.arguments_hash != intent.arguments_hash),
        (
            "workspace",
            stored.identity.workspace() != intent.identity.workspace(),
        ),
        (
            "principal",
            stored.principal != intent.principal && !given_back,
        ),
    ];
    match other.into_iter().find(|(_, differs)| *differs) {
        None => Ok(()),
        Some((what, _)) => Err(StoreError::Conflict(format!(
            "effect `{}` was begun with another {what}, take another key for another effect",
            intent.identity.key()
        ))),
    }
}
