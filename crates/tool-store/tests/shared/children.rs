//! Tests of faults during changes of child threads, for each SQL store.

use tool_store::suite::records::{at, message, thread};
use tool_store::*;

fn says(conversation: &str) -> NewMessage {
    message(conversation, Role::User, None)
}

/// Tests that a change of a child stores nothing if one of its writes fails. `set_full(true)` makes each write to one table fail, and `set_full(false)`
/// repairs the database.
pub(crate) async fn failed_write_changes_nothing(
    store: &(impl ChildStore + ThreadStore),
    set_full: impl AsyncFn(bool),
) {
    let row = |name| {
        let (child, parent) = (thread(name), thread("main"));
        ChildRow::new(child, parent, ChildKind::Subagent, "researcher", at(100))
    };
    let end = || EndedSession {
        session: 1,
        state: ChildState::Idle,
        read: None,
        message: Some(says("main")),
        at: at(200),
    };
    let mut idle = row("idle");
    idle.state = ChildState::Idle;
    for row in [row("running"), idle.clone()] {
        store.open_child(row, None, Vec::new()).await.unwrap();
    }

    set_full(true).await;
    let opened = store
        .open_child(row("new"), None, vec![says("new")])
        .await
        .map(drop);
    let sent = store
        .message_child(says("idle"), ChildSender::default())
        .await
        .map(drop);
    let ended = store.end_session(&thread("running"), end()).await.map(drop);
    for failed in [opened, sent, ended] {
        assert!(
            matches!(failed, Err(StoreError::Unavailable(_))),
            "{failed:?}"
        );
    }
    set_full(false).await;

    let listed = store.children(Scope::All, &ChildFilter::default()).await;
    assert_eq!(listed.unwrap(), [idle, row("running")]);
    for name in ["new", "idle", "main"] {
        assert_eq!(store.read(&thread(name), None).await.unwrap(), [], "{name}");
    }
    store
        .open_child(row("new"), None, vec![says("new")])
        .await
        .unwrap();
    let sent = store
        .message_child(says("idle"), ChildSender::default())
        .await
        .unwrap();
    assert_eq!((sent.receipt, sent.seq), (Receipt::Begun, Some(1)));
    let ended = store.end_session(&thread("running"), end()).await.unwrap();
    assert_eq!(ended, SessionEnd::Ended(Some(1)));
}
