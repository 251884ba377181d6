//! Tests of child threads.

use std::time::Duration;

use crate::*;

use super::records::{at, message, thread};
use super::{at_once, conflict, missing, tests};

/// The traits of a store whose child threads are erased and purged.
#[doc(hidden)]
pub trait Parent: ChildStore + Maintenance {}
impl<T: ChildStore + Maintenance> Parent for T {}

/// Returns a child of the conversation `main`.
fn row(conversation: &str) -> ChildRow {
    row_of(conversation, "main")
}

fn row_of(conversation: &str, parent: &str) -> ChildRow {
    let (child, parent) = (thread(conversation), thread(parent));
    ChildRow::new(child, parent, ChildKind::Subagent, "researcher", at(100))
}

/// Returns a row with values that differ from the defaults of [`ChildRow::new`].
fn full_row(conversation: &str) -> ChildRow {
    ChildRow {
        call: Some(CallPlace {
            message: 4,
            position: 2,
        }),
        name: Some("grün\0…".to_owned()),
        depth: 3,
        resumable: true,
        state: ChildState::Deferred,
        keys: vec!["k1".to_owned()],
        caller: "chief".to_owned(),
        waits: true,
        request: Some("r1".to_owned()),
        updated: at(200),
        ..row(conversation)
    }
}

fn in_state(conversation: &str, state: ChildState) -> ChildRow {
    ChildRow {
        state,
        ..row(conversation)
    }
}

fn says(conversation: &str) -> NewMessage {
    message(conversation, Role::User, None)
}

fn sender(key: &str) -> ChildSender {
    ChildSender {
        key: Some(key.to_owned()),
        ..ChildSender::default()
    }
}

async fn open(store: &impl ChildStore, row: ChildRow) -> ChildRow {
    match store.open_child(row, None, Vec::new()).await.unwrap() {
        ChildOpened::New(row) => *row,
        other => panic!("the thread is not new: {other:?}"),
    }
}

async fn get(store: &impl ChildStore, conversation: &str) -> Option<ChildRow> {
    store.child(&thread(conversation)).await.unwrap()
}

/// Returns the conversations of rows.
fn names(rows: Vec<ChildRow>) -> Vec<String> {
    let names = rows.into_iter().map(|row| row.thread);
    names
        .map(|thread| thread.conversation().to_owned())
        .collect()
}

async fn messages(store: &impl ThreadStore, conversation: &str) -> Vec<u64> {
    let messages = store.read(&thread(conversation), None).await.unwrap();
    messages.into_iter().map(|message| message.seq).collect()
}

fn to(state: ChildState, session: u64, from: &[ChildState]) -> ChildChange {
    ChildChange {
        session,
        from: from.to_vec(),
        to: state,
        at: at(300),
    }
}

fn end(session: u64, state: ChildState) -> EndedSession {
    EndedSession {
        session,
        state,
        read: None,
        message: None,
        at: at(400),
    }
}

/// Returns the end of the first session, with a message for the conversation.
fn end_with_message(conversation: &str) -> EndedSession {
    EndedSession {
        message: Some(says(conversation)),
        ..end(1, ChildState::Idle)
    }
}

async fn listed(store: &impl ChildStore, filter: ChildFilter) -> Vec<String> {
    names(store.children(Scope::All, &filter).await.unwrap())
}

tests! {
    ($) __suite_child in child for Parent;

    #[test]
    async fn child_round_trips(store: impl ChildStore) {
        for row in [row("a"), full_row("b"), ChildRow { kind: ChildKind::Prompt, name: Some(String::new()), ..row("c") }] {
            let opened = store.open_child(row.clone(), Some(9), Vec::new()).await.unwrap();
            assert_eq!(opened, ChildOpened::New(Box::new(row.clone())));
            assert_eq!(store.child(&row.thread).await.unwrap(), Some(row));
        }
        for state in ChildState::ALL {
            let row = in_state(state.as_str(), *state);
            assert_eq!(open(&store, row.clone()).await, row);
            assert_eq!(get(&store, state.as_str()).await, Some(row));
        }
        assert_eq!(get(&store, "main").await, None);
    }

    // A child that exists is returned as it is stored, even if the limit is reached, and its first messages are not stored again.
    #[test]
    async fn child_is_opened_once(store: impl ChildStore + ThreadStore) {
        let first = open(&store, row("a")).await;
        let again = ChildRow { agent: "writer".to_owned(), ..full_row("a") };
        for parent in ["main", "other"] {
            let again = ChildRow { parent: thread(parent), ..again.clone() };
            let known = store.open_child(again, Some(0), vec![says("a")]).await.unwrap();
            assert_eq!(known, ChildOpened::Known(Box::new(first.clone())));
        }
        assert_eq!(get(&store, "a").await, Some(first));
        assert_eq!(messages(&store, "a").await, [0; 0]);
    }

    #[test]
    async fn invalid_child_is_refused(store: impl ChildStore + ThreadStore) {
        let elsewhere = ThreadId::new("umbrella", "main").unwrap();
        for (invalid, words) in [
            (ChildRow { agent: String::new(), ..row("a") }, "no agent"),
            (row_of("a", "a"), "its own parent"),
            (ChildRow { parent: elsewhere, ..row("a") }, "different workspace"),
            (ChildRow { depth: 0, ..row("a") }, "depth 0"),
            (ChildRow { session: 2, ..row("a") }, "first session"),
            (ChildRow { delivered: 1, ..row("a") }, "first session"),
        ] {
            conflict(store.open_child(invalid, None, vec![says("a")]).await, words);
        }
        conflict(store.open_child(row("a"), None, vec![says("b")]).await, "different thread");
        conflict(store.open_child(row("a"), None, vec![message("a", Role::User, Some(1))]).await, "cannot answer a call");
        assert_eq!(get(&store, "a").await, None);
        assert_eq!(messages(&store, "a").await, [0; 0]);
    }

    // S4-44: the limit counts the live children of the same parent, kind and agent, and a terminated child makes room for a new child.
    #[test]
    async fn limit_counts_live_children_of_parent_kind_and_agent(store: impl ChildStore) {
        open(&store, row("a")).await;
        open(&store, in_state("b", ChildState::Idle)).await;
        open(&store, in_state("gone", ChildState::Terminated)).await;
        open(&store, row_of("of-other", "other")).await;
        open(&store, ChildRow { kind: ChildKind::Prompt, ..row("prompt") }).await;
        open(&store, ChildRow { agent: "writer".to_owned(), ..row("writer") }).await;
        let foreign = |name| ThreadId::new("umbrella", name).unwrap();
        open(&store, ChildRow { thread: foreign("x"), parent: foreign("main"), ..row("x") }).await;

        let full = store.open_child(row("c"), Some(2), vec![says("c")]).await.unwrap();
        assert_eq!(full, ChildOpened::Full(vec![row("a"), in_state("b", ChildState::Idle)]));
        assert_eq!(get(&store, "c").await, None);
        assert_eq!(store.open_child(row("c"), Some(0), Vec::new()).await.unwrap(), full);
        for live in [ChildState::Deferred, ChildState::Failed, ChildState::AwaitingHuman] {
            store.change_child(&thread("b"), to(live, 1, ChildState::ALL)).await.unwrap().unwrap();
            assert!(matches!(store.open_child(row("c"), Some(2), Vec::new()).await.unwrap(), ChildOpened::Full(_)));
        }
        store.change_child(&thread("b"), to(ChildState::Terminated, 1, ChildState::ALL)).await.unwrap().unwrap();
        assert!(matches!(store.open_child(row("c"), Some(2), Vec::new()).await.unwrap(), ChildOpened::New(_)));
        assert!(matches!(store.open_child(row("d"), Some(2), Vec::new()).await.unwrap(), ChildOpened::Full(_)));
        open(&store, row("d")).await;
    }

    #[test]
    async fn child_is_stored_with_its_first_messages(store: impl ChildStore + ThreadStore) {
        let first = vec![message("a", Role::System, None), says("a")];
        store.open_child(row("a"), None, first.clone()).await.unwrap();
        let expected: Vec<Message> = (1..).zip(first).map(|(seq, message)| message.numbered(seq)).collect();
        assert_eq!(store.read(&thread("a"), None).await.unwrap(), expected);
        // Later messages of the thread continue its numbers.
        assert_eq!(store.append(says("a")).await.unwrap(), 3);
    }

    // If one of the first messages is refused, neither the child nor an earlier message is stored.
    #[test]
    async fn refused_first_message_stores_nothing(store: impl ChildStore + ThreadStore) {
        let said = |follows| NewMessage { follows, ..message("a", Role::Assistant, None) };
        let refused = vec![says("a"), said(None), said(Some(0))];
        conflict(store.open_child(row("a"), None, refused).await, "newer message of the model");
        let twice = vec![message("a", Role::Tool, Some(0)), message("a", Role::Tool, Some(0))];
        conflict(store.open_child(row("a"), None, twice).await, "already has a result");
        assert_eq!(get(&store, "a").await, None);
        assert_eq!(messages(&store, "a").await, [0; 0]);
        store.open_child(row("a"), None, vec![says("a")]).await.unwrap();
        assert_eq!(messages(&store, "a").await, [1]);
    }

    // S4-47: a message after the end of a session begins the next session, and a message during a session is queued.
    #[test]
    async fn message_begins_the_next_session_or_is_queued(store: impl ChildStore + ThreadStore) {
        for state in [ChildState::Idle, ChildState::Failed] {
            let name = state.as_str();
            open(&store, in_state(name, state)).await;
            let sent = store.message_child(NewMessage { at: at(500), ..says(name) }, ChildSender::default()).await.unwrap();
            let begun = ChildRow { session: 2, begins: 1, updated: at(500), ..row(name) };
            assert_eq!(sent, ChildMessage { row: begun.clone(), receipt: Receipt::Begun, seq: Some(1) });
            assert_eq!(get(&store, name).await, Some(begun.clone()));
            // The new session reads the second message.
            let queued = store.message_child(NewMessage { at: at(600), ..says(name) }, ChildSender::default()).await.unwrap();
            assert_eq!(queued, ChildMessage { row: begun, receipt: Receipt::Queued, seq: Some(2) });
        }
        for state in [ChildState::Deferred, ChildState::Running, ChildState::AwaitingHuman] {
            let name = state.as_str();
            let stored = open(&store, in_state(name, state)).await;
            let sent = store.message_child(says(name), ChildSender::default()).await.unwrap();
            assert_eq!(sent, ChildMessage { row: stored.clone(), receipt: Receipt::Queued, seq: Some(1) });
            assert_eq!(get(&store, name).await, Some(stored));
        }
        let dead = open(&store, in_state("dead", ChildState::Terminated)).await;
        let sent = store.message_child(says("dead"), ChildSender::default()).await.unwrap();
        assert_eq!(sent, ChildMessage { row: dead, receipt: Receipt::Dead, seq: None });
        assert_eq!(messages(&store, "dead").await, [0; 0]);
    }

    // A refused message does not begin a session, and a message to a thread without a row is not stored.
    #[test]
    async fn refused_message_changes_nothing(store: impl ChildStore + ThreadStore) {
        let idle = open(&store, in_state("a", ChildState::Idle)).await;
        store.append(message("a", Role::Assistant, None)).await.unwrap();
        let said = NewMessage { follows: Some(0), ..message("a", Role::Assistant, None) };
        conflict(store.message_child(said, ChildSender::default()).await, "newer message of the model");
        conflict(store.message_child(message("a", Role::Tool, None), ChildSender::default()).await, "call");
        assert_eq!(get(&store, "a").await, Some(idle));
        assert_eq!(messages(&store, "a").await, [1]);
        missing(store.message_child(says("main"), ChildSender::default()).await);
        assert_eq!(messages(&store, "main").await, [0; 0]);
    }

    // A call that runs again after a crash does not send its message twice, and a message with a different key is stored.
    #[test]
    async fn repeated_message_of_a_call_is_stored_once(store: impl ChildStore + ThreadStore) {
        open(&store, in_state("a", ChildState::Idle)).await;
        let tell = |key: &str| store.message_child(says("a"), sender(key));
        let first = tell("k1").await.unwrap();
        assert_eq!((first.receipt, first.row.session, first.seq), (Receipt::Begun, 2, Some(1)));
        let again = tell("k1").await.unwrap();
        assert_eq!((again.receipt, again.row.session, again.seq), (Receipt::Known, 2, None));
        let next = tell("k2").await.unwrap();
        assert_eq!((next.receipt, next.seq), (Receipt::Queued, Some(2)));
        // After a message without a key, the row keeps the key of the last call.
        assert_eq!(store.message_child(says("a"), ChildSender::default()).await.unwrap().seq, Some(3));
        assert_eq!(tell("k2").await.unwrap().receipt, Receipt::Known);
        assert_eq!(messages(&store, "a").await, [1, 2, 3]);
        assert_eq!(get(&store, "a").await.unwrap().keys, ["k1", "k2"]);
    }

    // A change to running begins the next session if the child was idle or failed. If it waited for a person, the session continues.
    #[test]
    async fn change_to_running_begins_the_next_session(store: impl ChildStore) {
        for state in [ChildState::Idle, ChildState::Failed, ChildState::AwaitingHuman] {
            let stored = open(&store, in_state(state.as_str(), state)).await;
            let changed = store.change_child(&stored.thread, to(ChildState::Running, 1, &[state])).await.unwrap().unwrap();
            let session = if state == ChildState::AwaitingHuman { 1 } else { 2 };
            assert_eq!((changed.state, changed.session), (ChildState::Running, session), "{state}");
        }
    }

    #[test]
    async fn change_applies_to_the_expected_session_and_states(store: impl ChildStore) {
        let stored = open(&store, full_row("a")).await;
        let deferred = [ChildState::Deferred];
        let unchanged = [
            to(ChildState::Running, 2, &deferred),
            to(ChildState::Running, 0, &deferred),
            to(ChildState::Running, 1, &[ChildState::Idle, ChildState::Failed]),
            to(ChildState::Running, 1, &[]),
        ];
        for change in unchanged {
            assert_eq!(store.change_child(&stored.thread, change).await.unwrap(), None);
        }
        assert_eq!(get(&store, "a").await, Some(stored.clone()));
        // The request is kept while the state is deferred.
        let kept = store.change_child(&stored.thread, to(ChildState::Deferred, 1, &deferred)).await.unwrap();
        assert_eq!(kept, Some(ChildRow { updated: at(300), ..stored.clone() }));
        let begun = store.change_child(&stored.thread, to(ChildState::Running, 1, &deferred)).await.unwrap();
        // The call that started the child has returned, because the child was deferred.
        let expected = ChildRow { state: ChildState::Running, request: None, waits: false, updated: at(300), ..stored };
        assert_eq!(begun, Some(expected.clone()));
        assert_eq!(get(&store, "a").await, Some(expected));
        assert_eq!(store.change_child(&thread("main"), to(ChildState::Idle, 1, ChildState::ALL)).await.unwrap(), None);
    }

    // S4-45: the outcome of a session is delivered to the parent as one message.
    #[test]
    async fn outcome_is_delivered_once(store: impl ChildStore + ThreadStore) {
        let stored = open(&store, row("a")).await;
        store.append(says("main")).await.unwrap();
        let first = store.end_session(&stored.thread, end_with_message("main")).await.unwrap();
        assert_eq!(first, SessionEnd::Ended(Some(2)));
        let ended = ChildRow { state: ChildState::Idle, delivered: 1, updated: at(400), ..stored };
        assert_eq!(get(&store, "a").await, Some(ended.clone()));
        // The driver repeats the call after it lost the response.
        assert_eq!(store.end_session(&ended.thread, end_with_message("main")).await.unwrap(), SessionEnd::Earlier);
        assert_eq!(messages(&store, "main").await, [1, 2]);
        assert_eq!(get(&store, "a").await, Some(ended));

        // A driver of the first session cannot end the second session.
        store.message_child(says("a"), ChildSender::default()).await.unwrap();
        assert_eq!(store.end_session(&thread("a"), end(1, ChildState::Failed)).await.unwrap(), SessionEnd::Earlier);
        assert_eq!(store.end_session(&thread("a"), end(3, ChildState::Failed)).await.unwrap(), SessionEnd::Earlier);
        assert_eq!(store.end_session(&thread("a"), end(2, ChildState::Failed)).await.unwrap(), SessionEnd::Ended(None));
        let failed = get(&store, "a").await.unwrap();
        assert_eq!((failed.state, failed.session, failed.delivered), (ChildState::Failed, 2, 2));
        missing(store.end_session(&thread("main"), end(1, ChildState::Idle)).await);
    }

    // A session does not end while it has not read a message of a user; messages of other roles do not keep it open.
    #[test]
    async fn session_with_an_unread_message_does_not_end(store: impl ChildStore + ThreadStore) {
        let stored = ChildRow { request: None, state: ChildState::Running, ..full_row("a") };
        store.open_child(stored.clone(), None, vec![says("a")]).await.unwrap();
        let ends = |read| EndedSession { read: Some(read), ..end_with_message("main") };
        store.append(message("a", Role::Assistant, None)).await.unwrap();
        assert_eq!(store.message_child(says("a"), ChildSender::default()).await.unwrap().seq, Some(3));
        for read in [0, 1, 2] {
            assert_eq!(store.end_session(&stored.thread, ends(read)).await.unwrap(), SessionEnd::Unread);
        }
        assert_eq!(messages(&store, "main").await, [0; 0]);
        let opened = ChildRow { begins: 1, ..stored.clone() };
        assert_eq!(get(&store, "a").await, Some(opened));
        store.append(message("a", Role::Assistant, None)).await.unwrap();
        // A message of a different thread has no effect.
        for _ in 0..5 {
            store.append(says("b")).await.unwrap();
        }
        assert_eq!(store.end_session(&stored.thread, ends(3)).await.unwrap(), SessionEnd::Ended(Some(1)));
        // Without the sequence number of a read message, the session ends in any case.
        store.message_child(says("a"), ChildSender::default()).await.unwrap();
        store.message_child(says("a"), ChildSender::default()).await.unwrap();
        assert_eq!(store.end_session(&stored.thread, end(2, ChildState::Idle)).await.unwrap(), SessionEnd::Ended(None));
    }

    // A thread that was terminated during its session stays terminated, and its outcome is not delivered.
    #[test]
    async fn terminated_child_stays_terminated(store: impl ChildStore + ThreadStore) {
        let stored = open(&store, row("a")).await;
        store.message_child(says("a"), ChildSender::default()).await.unwrap();
        store.change_child(&stored.thread, to(ChildState::Terminated, 1, &[ChildState::Running])).await.unwrap().unwrap();
        let ends = EndedSession { read: Some(0), ..end_with_message("main") };
        assert_eq!(store.end_session(&stored.thread, ends).await.unwrap(), SessionEnd::Earlier);
        let ended = get(&store, "a").await.unwrap();
        assert_eq!((ended.state, ended.delivered), (ChildState::Terminated, 0));
        assert_eq!(messages(&store, "main").await, [0; 0]);
        assert_eq!(store.message_child(says("a"), ChildSender::default()).await.unwrap().receipt, Receipt::Dead);
    }

    // A refused message for the parent does not end the session.
    #[test]
    async fn refused_outcome_changes_nothing(store: impl ChildStore + ThreadStore) {
        let stored = open(&store, row("a")).await;
        for other in ["a", "other"] {
            conflict(store.end_session(&stored.thread, end_with_message(other)).await, "belongs to thread");
        }
        let foreign = NewMessage { thread: ThreadId::new("umbrella", "main").unwrap(), ..says("main") };
        let ends = EndedSession { message: Some(foreign), ..end_with_message("main") };
        conflict(store.end_session(&stored.thread, ends).await, "belongs to thread");
        let result = message("main", Role::Tool, Some(0));
        let with = |message| EndedSession { message: Some(message), ..end_with_message("main") };
        conflict(store.end_session(&stored.thread, with(NewMessage { answers: None, ..result.clone() })).await, "answers a call");
        store.append(result.clone()).await.unwrap();
        conflict(store.end_session(&stored.thread, with(result)).await, "already has a result");
        assert_eq!(get(&store, "a").await, Some(stored.clone()));
        assert_eq!(messages(&store, "main").await, [1]);
        assert_eq!(store.end_session(&stored.thread, end_with_message("main")).await.unwrap(), SessionEnd::Ended(Some(2)));
    }

    #[test]
    async fn children_are_listed_in_order_and_in_pages(store: impl ChildStore) {
        let foreign = |name| ThreadId::new("umbrella", name).unwrap();
        for row in [
            row("d"),
            in_state("a", ChildState::Idle),
            ChildRow { kind: ChildKind::Prompt, ..row("c") },
            ChildRow { agent: "writer".to_owned(), ..row("b") },
            row_of("e", "a"),
            ChildRow { thread: foreign("a"), parent: foreign("main"), ..row("a") },
            ChildRow { thread: foreign("z"), parent: foreign("main"), ..row("z") },
        ] {
            open(&store, row).await;
        }
        let all = ChildFilter::default();
        let (acme, umbrella) = (Workspace::new("acme"), Workspace::new("umbrella"));
        let main = ChildFilter { parent: Some(thread("main")), ..all.clone() };
        assert_eq!(listed(&store, all.clone()).await, ["a", "b", "c", "d", "e", "a", "z"]);
        assert_eq!(names(store.children(Scope::Workspace(&acme), &all).await.unwrap()), ["a", "b", "c", "d", "e"]);
        assert_eq!(names(store.children(Scope::Workspace(&umbrella), &all).await.unwrap()), ["a", "z"]);
        assert_eq!(store.children(Scope::Workspace(&umbrella), &main).await.unwrap(), []);
        for (filter, expected) in [
            (main.clone(), &["a", "b", "c", "d"][..]),
            (ChildFilter { parent: Some(foreign("main")), ..all.clone() }, &["a", "z"]),
            (ChildFilter { parent: Some(thread("e")), ..all.clone() }, &[]),
            (ChildFilter { kind: Some(ChildKind::Prompt), ..all.clone() }, &["c"]),
            (ChildFilter { agent: Some("writer".to_owned()), ..all.clone() }, &["b"]),
            (ChildFilter { state: Some(ChildState::Idle), ..all.clone() }, &["a"]),
            (ChildFilter { state: Some(ChildState::Running), kind: Some(ChildKind::Subagent), ..main.clone() }, &["b", "d"]),
        ] {
            assert_eq!(listed(&store, filter.clone()).await, expected, "{filter:?}");
        }
        // For each scope and filter, the pages together contain the rows of the whole list in the same order.
        for (scope, filter) in [
            (Scope::All, all.clone()),
            (Scope::All, main.clone()),
            (Scope::Workspace(&acme), main),
            (Scope::Workspace(&umbrella), all.clone()),
            (Scope::All, ChildFilter { state: Some(ChildState::Running), ..all.clone() }),
        ] {
            let whole = store.children(scope, &filter).await.unwrap();
            for limit in [1, 2, 9] {
                let (mut paged, mut after) = (Vec::new(), None);
                loop {
                    let page = ChildFilter { limit: Some(limit), after: after.clone(), ..filter.clone() };
                    let page = store.children(scope, &page).await.unwrap();
                    assert!(page.len() <= usize::try_from(limit).unwrap());
                    let Some(last) = page.last() else { break };
                    after = Some(last.thread.clone());
                    paged.extend(page);
                }
                assert_eq!(paged, whole, "{scope:?} {filter:?} {limit}");
            }
        }
        // A cursor of a different workspace sorts before or after every row of the scope.
        let after = |thread| ChildFilter { after: Some(thread), ..all.clone() };
        assert_eq!(store.children(Scope::Workspace(&acme), &after(foreign("a"))).await.unwrap(), []);
        let later = store.children(Scope::Workspace(&umbrella), &after(thread("z"))).await.unwrap();
        assert_eq!(names(later), ["a", "z"]);
        assert_eq!(listed(&store, ChildFilter { limit: Some(0), ..all }).await, [""; 0]);
    }

    // Rows of two workspaces are separate, even if the names of the conversations are equal.
    #[test]
    async fn children_of_two_workspaces_are_separate(store: impl ChildStore + ThreadStore + Maintenance) {
        let foreign = |name| ThreadId::new("umbrella", name).unwrap();
        let stored = ChildRow { begins: 1, ..row("a") };
        let own = ChildRow { thread: foreign("a"), parent: foreign("main"), ..row("a") };
        assert!(matches!(store.open_child(row("a"), Some(1), vec![says("a")]).await.unwrap(), ChildOpened::New(_)));
        missing(store.message_child(NewMessage { thread: foreign("a"), ..says("a") }, ChildSender::default()).await);
        assert!(matches!(store.open_child(own.clone(), Some(1), Vec::new()).await.unwrap(), ChildOpened::New(_)));
        // The unread message is in the thread of the other workspace.
        let ends = EndedSession { read: Some(0), ..end(1, ChildState::Failed) };
        assert_eq!(store.end_session(&own.thread, ends).await.unwrap(), SessionEnd::Ended(None));
        assert_eq!(get(&store, "a").await, Some(stored.clone()));
        store.change_child(&own.thread, to(ChildState::Terminated, 1, ChildState::ALL)).await.unwrap().unwrap();
        assert_eq!(get(&store, "a").await, Some(stored.clone()));
        store.erase_contents(Erasure::Thread(&own.parent)).await.unwrap();
        assert_eq!(store.child(&own.thread).await.unwrap(), None);
        assert!(!store.remove_child(&own.thread).await.unwrap());
        assert_eq!(get(&store, "a").await, Some(stored.clone()));
    }

    // A removed child no longer counts towards the limit, and its messages remain.
    #[test]
    async fn removed_child_keeps_its_messages(store: impl ChildStore + ThreadStore) {
        store.open_child(row("a"), Some(1), vec![says("a")]).await.unwrap();
        open(&store, row("b")).await;
        assert!(store.remove_child(&thread("a")).await.unwrap());
        assert!(!store.remove_child(&thread("a")).await.unwrap());
        assert_eq!(get(&store, "a").await, None);
        assert_eq!(messages(&store, "a").await, [1]);
        assert_eq!(listed(&store, ChildFilter::default()).await, ["b"]);
        missing(store.message_child(says("a"), ChildSender::default()).await);
        store.remove_child(&thread("b")).await.unwrap();
        assert!(matches!(store.open_child(row("c"), Some(1), Vec::new()).await.unwrap(), ChildOpened::New(_)));
    }

    // The erasure of a thread removes its row and the rows of its children, and keeps the messages of the children.
    #[test]
    async fn erased_thread_loses_its_row_and_the_rows_of_its_children(store: impl ChildStore + ThreadStore + Maintenance) {
        for row in [row("a"), row("b"), row_of("c", "a"), row_of("d", "c"), row_of("e", "b")] {
            let first = says(row.thread.conversation());
            store.open_child(row, None, vec![first]).await.unwrap();
        }
        let erased = store.erase_contents(Erasure::Thread(&thread("a"))).await.unwrap();
        assert_eq!(erased, Erased { messages: 1, ..Erased::default() });
        assert_eq!(listed(&store, ChildFilter::default()).await, ["b", "d", "e"]);
        assert_eq!(messages(&store, "c").await, [1]);
        // `ThreadStore::erase` removes only messages.
        assert_eq!(ThreadStore::erase(&store, &thread("b")).await.unwrap(), 1);
        assert_eq!(listed(&store, ChildFilter::default()).await, ["b", "d", "e"]);
        let (workspace, principal) = (&Workspace::new("acme"), "ann");
        store.erase_contents(Erasure::Principal { workspace, principal }).await.unwrap();
        assert_eq!(listed(&store, ChildFilter::default()).await, ["b", "d", "e"]);
    }

    // The row of a child is purged with the messages of its thread.
    #[test]
    async fn purged_thread_loses_its_row(store: impl ChildStore + ThreadStore + Maintenance) {
        store.append(says("main")).await.unwrap();
        store.open_child(row("a"), None, vec![says("a")]).await.unwrap();
        store.open_child(row("b"), None, vec![NewMessage { at: at(900), ..says("b") }]).await.unwrap();
        let retention = Retention { threads: Some(Duration::from_millis(500)), ..Retention::default() };
        assert_eq!(store.purge(&retention, at(1000), 9).await.unwrap().threads, 2);
        assert_eq!(listed(&store, ChildFilter::default()).await, ["b"]);
        assert_eq!(messages(&store, "b").await, [1]);
    }
}

tests! {
    ($) __suite_child_races in child for Parent;

    // S4-44: of 32 tasks of two processes that each open a child at a limit of 2, two succeed.
    #[test]
    fn limit_applies_to_concurrent_opens(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            let opened = at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                let name = format!("c{task}");
                async move { store.open_child(row(&name), Some(2), vec![says(&name)]).await.unwrap() }
            }).await;
            let new = opened.iter().filter(|opened| matches!(opened, ChildOpened::New(_)));
            assert_eq!(new.count(), 2);
            let full = opened.iter().filter(|opened| matches!(opened, ChildOpened::Full(live) if live.len() == 2));
            assert_eq!(full.count(), 30);
            assert_eq!(listed(&stores[1], ChildFilter::default()).await.len(), 2);
        });
    }

    // Of 32 tasks of two processes that open the same child, one stores it, and the other tasks receive its row.
    #[test]
    fn concurrent_opens_store_one_row(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            let opened = at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                // The tasks open the same thread with four different parents.
                let row = row_of("a", &format!("main{}", task % 4));
                async move { store.open_child(row, Some(9), vec![says("a")]).await.unwrap() }
            }).await;
            let new = opened.iter().filter(|opened| matches!(opened, ChildOpened::New(_)));
            assert_eq!(new.count(), 1);
            let child = Box::new(get(&stores[0], "a").await.unwrap());
            for opened in opened {
                assert!(opened == ChildOpened::New(child.clone()) || opened == ChildOpened::Known(child.clone()), "{opened:?}");
            }
            assert_eq!(messages(&stores[1], "a").await, [1]);
        });
    }

    // S4-45: of 32 tasks of two processes that end one session, one delivers the outcome.
    #[test]
    fn concurrent_ends_deliver_one_message(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            open(&stores[0], row("a")).await;
            let ended = at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                async move { store.end_session(&thread("a"), end_with_message("main")).await.unwrap() }
            }).await;
            assert_eq!(ended.iter().filter(|ended| **ended == SessionEnd::Ended(Some(1))).count(), 1);
            assert_eq!(ended.iter().filter(|ended| **ended == SessionEnd::Earlier).count(), 31);
            assert_eq!(messages(&stores[0], "main").await, [1]);
        });
    }

    // S4-47: no message is lost if it is sent while a session ends. The session reads the message, or the message begins the next session.
    #[test]
    fn message_during_the_end_of_a_session_is_not_lost(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            open(&stores[0], row("a")).await;
            let lost = at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                async move {
                    if task % 4 == 3 {
                        let ends = EndedSession { read: Some(0), ..end(1, ChildState::Idle) };
                        return store.end_session(&thread("a"), ends).await.unwrap() == SessionEnd::Ended(None);
                    }
                    store.message_child(says("a"), ChildSender::default()).await.unwrap();
                    false
                }
            }).await;
            let ended = lost.into_iter().filter(|ended| *ended).count();
            let row = get(&stores[0], "a").await.unwrap();
            // The session ends only before the first message, which then begins the second session.
            assert_eq!((row.state, row.session), (ChildState::Running, 1 + u64::try_from(ended).unwrap()));
            assert!(ended <= 1);
            assert_eq!(messages(&stores[1], "a").await.len(), 24);
        });
    }
}
