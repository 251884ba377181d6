//! The conversation id in the audit row and the result of a call.

use futures::StreamExt as _;
use tool_core::prelude::*;
use tool_core::store::{AuditFilter, AuditSink, Scope};
use tool_core::{ErrorKind, ToolEvent};

use crate::support::{Host, kind, mail, ticket};

/// Returns the conversation in the audit row of the call with this id.
async fn audited(host: &Host, call: &str) -> Option<String> {
    let filter = AuditFilter {
        call: Some(call.to_owned()),
        ..AuditFilter::default()
    };
    let mut rows = host.store.export(Scope::All, &filter).await.unwrap();
    assert_eq!(rows.len(), 1, "{call}: {rows:?}");
    rows.remove(0).thread
}

async fn last(mut events: impl futures::Stream<Item = ToolEvent> + Unpin) -> CallResult {
    while let Some(event) = events.next().await {
        if let ToolEvent::Done(result) = event {
            return result;
        }
    }
    panic!("the stream of events ended without a result");
}

// S1-16: the result and the audit row of a call name the same conversation, whether it succeeds, waits, or has invalid arguments or an unknown name.
#[tokio::test]
async fn result_and_audit_row_name_the_same_conversation() {
    let host = Host::new();
    for conversation in ["th-1", "th-2"] {
        let cx = host.of("acme", "ann", conversation);
        for (name, tool, arguments, expected) in [
            ("ok", "count", r#"{"from":3}"#, None),
            (
                "invalid",
                "count",
                r#"{"from":{}}"#,
                Some(ErrorKind::InvalidArguments),
            ),
            ("unknown", "fly", "{}", Some(ErrorKind::UnknownTool)),
            (
                "waits",
                "send_mail",
                r#"{"to":"bob"}"#,
                Some(ErrorKind::Pending),
            ),
        ] {
            let id = format!("{conversation} {name}");
            let called = host.tools.call(ToolCall::new(&id, tool, arguments), &cx);
            let streamed = format!("{id} streamed");
            let events = host
                .tools
                .stream(ToolCall::new(&streamed, tool, arguments), &cx);
            for (id, result) in [(id, called.await), (streamed, last(events).await)] {
                assert_eq!(kind(&result), expected, "{id}");
                assert_eq!(result.conversation(), Some(conversation), "{id}");
                assert_eq!(
                    audited(&host, &id).await.as_deref(),
                    Some(conversation),
                    "{id}"
                );
            }
        }
    }
}

// S1-16: an approved call belongs to the conversation that it was made in.
#[tokio::test]
async fn resumed_call_names_its_conversation() {
    let host = Host::new();
    for id in ["c-1", "c-2"] {
        let waiting = ticket(&host.tools.call(mail(id), &host.ann()).await);
        host.approve(&waiting).await;
        let result = if id == "c-1" {
            host.tools.resume(&waiting.token, &host.ann()).await
        } else {
            last(Box::pin(
                host.tools.resume_stream(&waiting.token, &host.ann()),
            ))
            .await
        };
        assert_eq!(kind(&result), None);
        assert_eq!(result.conversation(), Some("th-1"));
        assert_eq!(audited(&host, id).await.as_deref(), Some("th-1"));
    }
}

// S1-16: without a conversation, neither the result nor the row names one. Without a gate, the result
// names its conversation.
#[tokio::test]
async fn result_has_the_conversation_of_its_context_only() {
    let host = Host::new();
    let call = |id: &str| ToolCall::new(id, "count", r#"{"from":3}"#);
    let result = host
        .tools
        .call(call("alone"), &ToolContext::anonymous())
        .await;
    assert_eq!(result.conversation(), None);
    assert_eq!(audited(&host, "alone").await, None);

    let open = toolset![crate::support::count];
    let result = open.call(call("open"), &host.ann()).await;
    assert_eq!(result.conversation(), Some("th-1"));
}
