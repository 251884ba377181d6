//! Whose session it is: who learns the id of another's session cannot use it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

/// The subjects of sessions, by the sessions' ids.
#[derive(Default)]
pub(super) struct Owners(Mutex<HashMap<String, Option<String>>>);

impl Owners {
    /// Notes whose a new session is. Those of sessions that are over are forgotten when there are as many of them as of open ones, so that the
    /// start of a session costs the same however many are open.
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

    /// Whether a session is somebody's; one that nobody knows is nobody's.
    pub(super) fn is_of(&self, session: &str, subject: Option<&str>) -> bool {
        let owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        owners
            .get(session)
            .is_some_and(|owner| owner.as_deref() == subject)
    }
}
