//! Event streams that a client resumes after its connection was closed.

use std::time::Duration;

use crate::support::web::{Events, Web};
use tool_core::prelude::*;
use tool_mcp::{HttpOptions, McpServer};

// A resumed session stream begins after the last event that the client has received.
#[tokio::test]
async fn resumed_stream_of_a_session_begins_after_the_last_event() {
    let registry = Registry::builder().build().unwrap();
    let server = McpServer::builder(registry).build();
    let web = Web::of(&server, HttpOptions::new()).await;
    let session = web.session(&[]).await;
    let session = ("mcp-session-id", session.as_str());
    let mut stream = Events::of(&web, "GET", &[session], "").await;
    let (before_all, nothing) = stream.next().await;
    assert_eq!(nothing, "", "the first event only contains the retry time");
    let mut ids = vec![before_all];
    for _ in 0..3 {
        server.tools_changed().await;
        let (id, message) = stream.next().await;
        assert!(message.contains("list_changed"), "{message}");
        ids.push(id);
    }
    let gone = Duration::from_millis(200);
    for (seen, last) in ids.iter().enumerate() {
        drop(stream);
        // The server needs a moment to notice that its client has disconnected.
        tokio::time::sleep(gone).await;
        stream = Events::of(&web, "GET", &[session, ("last-event-id", last)], "").await;
        for later in &ids[seen + 1..] {
            let (id, message) = stream.next().await;
            assert_eq!(id, *later, "after {last}");
            assert!(message.contains("list_changed"), "{message}");
        }
        let more = tokio::time::timeout(gone, stream.next()).await;
        assert!(more.is_err(), "{more:?} after {last}");
    }
    server.tools_changed().await;
    let (id, _) = stream.next().await;
    assert!(!ids.contains(&id), "event {id} was sent before");
}

// A resumed call stream begins after the last event that the client has received.
#[tokio::test]
async fn resumed_stream_of_a_call_begins_after_the_last_event() {
    static STEPS: tokio::sync::Semaphore = tokio::sync::Semaphore::const_new(0);

    /// Yields numbers in steps that the test releases.
    #[tool(read_only)]
    fn slow() -> ToolStream<u64, u64> {
        tool_stream! {
            for step in 0..4 {
                if let Ok(permit) = STEPS.acquire().await {
                    permit.forget();
                }
                yield step;
            }
            if let Ok(permit) = STEPS.acquire().await {
                permit.forget();
            }
            4
        }
    }
    let registry = Registry::builder().tool::<slow>().build().unwrap();
    let web = Web::of(&McpServer::builder(registry).build(), HttpOptions::new()).await;
    let session = web.session(&[]).await;
    let session = ("mcp-session-id", session.as_str());
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":1}}}"#;
    let mut stream = Events::of(&web, "POST", &[session], call).await;
    let (mut last, nothing) = stream.next().await;
    assert_eq!(nothing, "");
    let step = |number: u64| format!(r#""message":"{number}""#);
    for number in 0..4 {
        if number == 1 || number == 3 {
            // The step is produced while the client is disconnected.
            drop(stream);
            tokio::time::sleep(Duration::from_millis(200)).await;
            STEPS.add_permits(1);
            tokio::time::sleep(Duration::from_millis(200)).await;
            stream = Events::of(&web, "GET", &[session, ("last-event-id", &last)], "").await;
        } else {
            STEPS.add_permits(1);
        }
        let (id, message) = stream.next().await;
        assert!(message.contains(&step(number)), "{number}: {message}");
        assert_ne!(id, last);
        last = id;
    }
    drop(stream);
    tokio::time::sleep(Duration::from_millis(200)).await;
    stream = Events::of(&web, "GET", &[session, ("last-event-id", &last)], "").await;
    STEPS.add_permits(1);
    let (_, message) = stream.next().await;
    assert!(message.contains(r#""result""#), "{message}");
}
