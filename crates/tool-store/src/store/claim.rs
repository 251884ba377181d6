//! State transitions of the effect ledger.

use super::ledger::{Begun, EffectEnd, EffectRow, EffectState, Ended, Intent, Resolution};
use super::{CallKey, StoreError, Timestamp};

/// The stored form of one effect. Its methods include the state transitions of [`EffectLedger`](super::EffectLedger) for one key, and do not access a
/// store.
///
/// For authors of a store: read the claim of the key, apply the step to it, and write the changed claim back, in one transaction that no other writer
/// can interrupt. A step that fails leaves the claim unchanged, except that [`end`](Self::end) may mark the row as late.
///
/// ```
/// use std::time::Duration;
/// use tool_store::*;
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
/// // Within the lease, `begin` returns the stored row and does not change it.
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
    /// The row of the effect.
    pub row: EffectRow,
    /// Whether an operator or the [end](EffectEnd::released) of a call that waits has released the key: the ledger no longer
    /// returns the row, and the next [`begin`](Self::begin) computes the number of the attempt from the row.
    pub released: bool,
}

impl EffectClaim {
    /// Applies [`EffectLedger::begin`](super::EffectLedger::begin). `stored` is the claim under the intent's key, or else under its earlier key.
    /// Returns the result, and the claim to store under the key of the identity in this claim; `None` if the stored claim is unchanged.
    /// [`Begun::audit_row`] returns the audit row to store with the claim. A new claim replaces a stored claim that has a different key.
    ///
    /// Fails with `Conflict` if the key belongs to a different effect: to a different call id, tool, arguments, workspace, user or agent. A different
    /// user or agent of the same conversation may begin a call whose key was released.
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

    /// Applies [`EffectLedger::close_call`](super::EffectLedger::close_call): the step is the same as [`begin`](Self::begin), but stores the new row
    /// as failed with `result`.
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

    /// Returns whether the claim may belong to the intent's call: both have the same identity, or the claim was found by an earlier key in the same
    /// conversation. Versions without call identities could use the same key for calls of two conversations, so a store must leave all other claims
    /// unchanged.
    pub fn is_of(&self, intent: &Intent) -> bool {
        let found = &self.row.intent;
        found.identity == intent.identity || found.thread == intent.thread
    }

    /// Returns the error for an unknown key.
    #[must_use]
    pub fn missing(key: &CallKey) -> StoreError {
        StoreError::Missing(format!("no effect `{key}`"))
    }

    /// Returns the row as [`get`](super::EffectLedger::get) and [`list`](super::EffectLedger::list) return it; `None` if the key is released.
    pub fn known(&self) -> Option<&EffectRow> {
        (!self.released).then_some(&self.row)
    }

    /// Returns the same row as [`known`](Self::known), but consumes the claim.
    pub fn into_known(self) -> Option<EffectRow> {
        (!self.released).then_some(self.row)
    }

    /// Applies [`EffectLedger::sweep`](super::EffectLedger::sweep): a running row whose lease has expired at `now` becomes ambiguous. Returns whether
    /// the row became ambiguous. [`begin`](Self::begin), [`close`](Self::close), [`resolve`](Self::resolve) and [`force`](Self::force) contain this
    /// step.
    pub fn lapse(&mut self, now: Timestamp) -> bool {
        let lapses = self.row.state == EffectState::Running && self.row.intent.lease_until <= now;
        if lapses {
            self.row.state = EffectState::Ambiguous;
        }
        lapses
    }

    /// Applies [`EffectLedger::renew`](super::EffectLedger::renew). Returns whether the row is running and belongs to this owner.
    pub fn renew(&mut self, owner: &str, until: Timestamp) -> bool {
        let intent = &mut self.row.intent;
        let renews = self.row.state == EffectState::Running && intent.owner == owner;
        if renews {
            intent.lease_until = until.max(intent.lease_until);
        }
        renews
    }

    /// Applies [`EffectLedger::end`](super::EffectLedger::end). Returns whether the end came within the lease.
    ///
    /// Fails with [`StoreError::Conflict`] if the row belongs to a different owner, if the row has already succeeded or failed, if the new state is
    /// `Running`, or if a released end is not `Failed`. The end of an earlier attempt, and an end that contradicts an operator's resolution, mark the
    /// row as late; the store must save this mark although the method fails.
    pub fn end(&mut self, owner: &str, end: EffectEnd) -> Result<Ended, StoreError> {
        let row = &mut self.row;
        let key = row.intent.identity.key();
        if end.state == EffectState::Running {
            return Err(StoreError::Conflict(
                "`running` is not the state of an ended call, pass the state in which the body ended".to_owned(),
            ));
        }
        if end.released && end.state != EffectState::Failed {
            return Err(StoreError::Conflict(format!(
                "an end that releases the key must have the state `failed`, not `{}`",
                end.state
            )));
        }
        if row.intent.owner != owner {
            // An earlier attempt was presumed dead and has ended after all: mark the row of the later attempt.
            row.late |= row.attempt > 1;
            return Err(StoreError::Conflict(format!(
                "effect `{key}` belongs to a different owner"
            )));
        }
        let ended = match row.state {
            EffectState::Running if end.at < row.intent.lease_until => Ended::InTime,
            EffectState::Running | EffectState::Ambiguous => Ended::Late,
            state => {
                // An operator has resolved the row while its body ran, for example because of a wrong clock: mark that the body ended differently.
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

    /// Applies [`EffectLedger::force`](super::EffectLedger::force), which then returns the row.
    ///
    /// Fails with `Missing` if the key was released before, and with `Conflict` if the row has succeeded or failed.
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

    /// Applies [`EffectLedger::resolve`](super::EffectLedger::resolve), which then returns the row.
    ///
    /// Fails with `Missing` if the key was released before, and with `Conflict` if the row is not ambiguous at `now`.
    pub fn resolve(
        &mut self,
        resolution: Resolution,
        operator: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if self.released {
            return Err(Self::missing(&self.row.intent.identity.key()));
        }
        // A running row whose lease has not expired stays running, and the check below refuses it.
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
    /// Returns the row's position in the order of lists: `at`, then key.
    pub fn place(&self) -> (Timestamp, CallKey) {
        (self.intent.at, self.intent.identity.key())
    }
}

/// Fails if the intent is not for the effect of the claim. A key identifies one effect, and a caller never receives the stored result of a different
/// caller's effect. The row of a released key is not returned, so every user and agent of the conversation may begin the call, either to continue a
/// waiting call or as the rerun that an operator has allowed.
fn same_effect(claim: &EffectClaim, intent: &Intent) -> Result<(), StoreError> {
    let stored = &claim.row.intent;
    let given_back = claim.released && intent.identity.conversation().is_some();
    // Versions without call identities stored no agent, and hashed the call's id into the key.
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
            "effect `{}` was started with a different {what}, use a different key for a different effect",
            intent.identity.key()
        ))),
    }
}
