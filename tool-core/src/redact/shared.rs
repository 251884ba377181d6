//! Redactor for the secrets of all current turns.

use std::sync::{Arc, PoisonError, RwLock};

use secrecy::SecretString;

use super::{Redactor, TooShort};

/// A redactor whose secrets change: a host installs it once in its writers, and adds the secrets of each turn. Added secrets are redacted until their
/// [`Lease`] is dropped.
///
/// Cheap to clone; all clones share their secrets.
///
/// ```
/// use tool_core::SecretString;
/// use tool_core::redact::SharedRedactor;
///
/// let shared = SharedRedactor::default();
/// let lease = shared.add([("token", SecretString::from("tok-1234"))])?;
/// assert_eq!(shared.current().redact("tok-1234"), "[secret:token]");
/// drop(lease); // the turn is over
/// assert_eq!(shared.current().redact("tok-1234"), "tok-1234");
/// # Ok::<(), tool_core::redact::TooShort>(())
/// ```
#[derive(Clone, Default)]
pub struct SharedRedactor(Arc<RwLock<State>>);

#[derive(Default)]
struct State {
    leases: Vec<(u64, Vec<(String, SecretString)>)>,
    next: u64,
    current: Redactor,
}

/// Keeps secrets in a [`SharedRedactor`] until the lease is dropped.
///
/// Keep the lease as long as any code may print the secrets, even after the turn if it left work in the background.
#[must_use = "dropping it removes the secrets"]
pub struct Lease {
    shared: SharedRedactor,
    id: u64,
}

impl Lease {
    /// Returns the redactor to which the lease belongs.
    pub(crate) fn shared(&self) -> &SharedRedactor {
        &self.shared
    }
}

impl SharedRedactor {
    /// Adds secrets, which are redacted until the returned lease is dropped. A secret of several leases is redacted until the last of them is
    /// dropped. Fails, and adds no secrets, if one of them is too short.
    pub fn add<N: Into<String>>(
        &self,
        secrets: impl IntoIterator<Item = (N, SecretString)>,
    ) -> Result<Lease, TooShort> {
        let secrets: Vec<_> = secrets
            .into_iter()
            .map(|(name, secret)| (name.into(), secret))
            .collect();
        let mut state = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let id = state.next;
        state.leases.push((id, secrets));
        match state.all() {
            Ok(redactor) => state.current = redactor,
            Err(error) => {
                state.leases.pop();
                return Err(error);
            }
        }
        state.next += 1;
        drop(state);
        Ok(Lease {
            shared: self.clone(),
            id,
        })
    }

    /// Returns a redactor for the current secrets.
    pub fn current(&self) -> Redactor {
        let state = self.0.read().unwrap_or_else(PoisonError::into_inner);
        state.current.clone()
    }
}

impl Lease {
    /// Replaces the secrets of the lease. None of the new secrets may be too short.
    pub(crate) fn replace(&self, secrets: Vec<(String, SecretString)>) {
        let state = &self.shared.0;
        let mut state = state.write().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, held)) = state.leases.iter_mut().find(|(id, _)| *id == self.id) {
            *held = secrets;
        }
        state.renew();
    }
}

impl State {
    /// Rebuilds the redactor. This cannot fail, because every secret was long enough when it was added.
    fn renew(&mut self) {
        if let Ok(redactor) = self.all() {
            self.current = redactor;
        }
    }

    fn all(&self) -> Result<Redactor, TooShort> {
        Redactor::new(
            self.leases
                .iter()
                .flat_map(|(_, secrets)| secrets.iter().cloned()),
        )
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut state = self
            .shared
            .0
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        state.leases.retain(|(id, _)| *id != self.id);
        state.renew();
    }
}

impl std::fmt::Debug for SharedRedactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SharedRedactor")
            .field(&self.current())
            .finish()
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease").finish_non_exhaustive()
    }
}
