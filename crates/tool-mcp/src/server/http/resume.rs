//! Resumable event streams of sessions (`Last-Event-ID`).
//!
//! rmcp resends the event whose id is `Last-Event-ID` and all later events, although the client has already received the first of them. In a
//! session's own stream, the retry event has the same id as the first message. This module therefore adds one to every id that is sent to a client,
//! so that the id of an event is rmcp's id of the next event. A client that resumes gets exactly the events that it has not received, and the retry
//! event comes first.

use std::sync::Arc;

use futures::{Stream, StreamExt as _};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    EventStore, RestoreOutcome, ServerSseMessage, SessionId, SessionManager,
};

/// The session manager of rmcp, with event ids that are increased by one.
pub(super) struct Sessions(pub(super) LocalSessionManager);

impl Sessions {
    /// Returns the number of open sessions.
    pub(super) async fn open(&self) -> usize {
        self.0.sessions.read().await.len()
    }
}

/// Raises the id of an event by one.
fn raised(mut event: ServerSseMessage) -> ServerSseMessage {
    if let Some(id) = &event.event_id {
        event.event_id = Some(next(id));
    }
    event
}

/// Raises an event id by one. `3/7` is event 3 of request 7, and `3` is event 3 of the session's own stream.
fn next(id: &str) -> String {
    let (index, request) = id.split_at(id.find('/').unwrap_or(id.len()));
    match index.parse::<usize>() {
        Ok(index) => format!("{}{request}", index.saturating_add(1)),
        Err(_) => id.to_owned(),
    }
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.0.create_session().await
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.0.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.0.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.0.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.0.create_stream(id, message).await?.map(raised))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.0.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.0.create_standalone_stream(id).await?.map(raised))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.0.resume(id, last_event_id).await?.map(raised))
    }

    async fn restore_session(
        &self,
        id: SessionId,
    ) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        self.0.restore_session(id).await
    }

    fn event_store(&self) -> Option<Arc<dyn EventStore>> {
        self.0.event_store()
    }
}

#[cfg(test)]
mod tests {
    use super::next;

    #[test]
    fn event_id_is_the_index_of_the_next_event() {
        assert_eq!(next("0"), "1");
        assert_eq!(next("9/4"), "10/4");
        assert_eq!(next("odd"), "odd");
    }
}
