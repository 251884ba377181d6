//! Owners of sessions: a leaked session id is useless to a different principal.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

/// The subjects of the owners of sessions, by session id.
#[derive(Default)]
pub(super) struct Owners(Mutex<HashMap<String, Option<String>>>);

impl Owners {
    /// Records the owner of a new session. Entries of ended sessions are removed once there are more than twice as many entries
    /// as open sessions, plus 64, so that the average cost of a new session does not depend on the number of open sessions.
    pub(super) async fn note(
        &self,
        sessions: &LocalSessionManager,
        session: &str,
        subject: Option<&str>,
    ) {
        let open = sessions.sessions.read().await;
        let mut owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if owners.len() > 2 * open.len() + 64 {
            owners.retain(|id, _| open.contains_key(id.as_str()));
        }
        owners.insert(session.to_owned(), subject.map(str::to_owned));
    }

    /// Returns whether a session belongs to this subject; false for an unknown session.
    pub(super) fn is_of(&self, session: &str, subject: Option<&str>) -> bool {
        let owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        owners
            .get(session)
            .is_some_and(|owner| owner.as_deref() == subject)
    }
}
