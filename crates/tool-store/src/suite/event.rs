//! Tests of events: a reader receives each change of its workspace exactly once, and can continue at any position.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::*;

use super::records::{acme, at, audit, named_in, request, says, thread};
use super::{at_once, tests};

/// The traits of a store whose changes the tests read as events.
#[doc(hidden)]
pub trait Evented: EventStore + EnablementStore + StoredToolStore + Maintenance {}
impl<T: EventStore + EnablementStore + StoredToolStore + Maintenance> Evented for T {}

fn umbrella() -> Workspace {
    Workspace::new("umbrella")
}

async fn now(store: &impl EventStore) -> String {
    let page = store.events(&acme(), None, 100).await.unwrap();
    assert!(page.events.is_empty() && !page.is_reset);
    page.next
}

/// Reads the events of a workspace after a position, in pages of this size. Returns the events and the position after them.
async fn after(
    store: &impl EventStore,
    workspace: &Workspace,
    position: &str,
    limit: u32,
) -> (Vec<Event>, String) {
    let (mut all, mut position) = (Vec::new(), position.to_owned());
    loop {
        let page = store.events(workspace, Some(&position), limit).await;
        let page = page.unwrap();
        assert!(!page.is_reset, "{position}");
        assert!(page.events.len() <= usize::try_from(limit).unwrap());
        position = page.next;
        let is_last = page.events.len() < usize::try_from(limit).unwrap();
        all.extend(page.events);
        if is_last {
            return (all, position);
        }
    }
}

fn line(event: &Event) -> String {
    format!("{} {}", event.resource, event.key.join("/"))
}

/// Returns the events of `acme` after a position, each row once, and moves `position` to their end.
async fn changed(store: &impl EventStore, position: &mut String) -> BTreeSet<String> {
    let (events, next) = after(store, &acme(), position, 100).await;
    *position = next;
    events.iter().map(line).collect()
}

fn lines<const N: usize>(lines: [&str; N]) -> BTreeSet<String> {
    lines.into_iter().map(str::to_owned).collect()
}

fn kill(workspace: Option<Workspace>) -> Switch {
    Switch {
        key: SwitchKey {
            workspace,
            kind: SwitchKind::Kill,
            tool: "send_mail".to_owned(),
            source: String::new(),
        },
        on: true,
        by: "olga".to_owned(),
        reason: None,
        at: at(1),
    }
}

fn run(owner: &str) -> NewRun {
    NewRun {
        thread: thread("main"),
        principal: None,
        agent: None,
        owner: owner.to_owned(),
        at: at(100),
        lease_until: at(1000),
    }
}

tests! {
    ($) __suite_event in event for Evented;

    #[test]
    async fn each_change_of_a_row_is_an_event(store: impl Store + Evented) {
        let mut position = now(&store).await;
        let position = &mut position;
        store.open(request("a")).await.unwrap();
        assert_eq!(changed(&store, position).await, lines(["approvals a"]));
        store.assign(&acme(), "a", Some("eve".to_owned())).await.unwrap();
        assert_eq!(changed(&store, position).await, lines(["approvals a"]));
        store.answer(&acme(), "a", says(Verdict::Approve)).await.unwrap();
        assert_eq!(changed(&store, position).await, lines(["approvals a"]));
        assert!(!store.spend(&acme(), "a", "wrong", at(300)).await.unwrap());
        assert_eq!(changed(&store, position).await, lines([]));

        store.write(vec![audit("c")]).await.unwrap();
        assert_eq!(changed(&store, position).await, lines(["audit c"]));
        store.write(vec![AuditRow { outcome: Some("ok".to_owned()), ..audit("c") }]).await.unwrap();
        assert_eq!(changed(&store, position).await, lines(["audit c"]));

        let RunBegun::Begun(row) = store.begin_run(run("one")).await.unwrap() else { panic!("the thread has no run") };
        assert_eq!(changed(&store, position).await, lines(["runs main/1"]));
        // The renewal of a lease is not an event.
        store.renew_run(&row.id, "one", at(2000), RunProgress::default()).await.unwrap();
        assert_eq!(changed(&store, position).await, lines([]));
        store.stop_run(&row.id, RunStop::Cancel).await.unwrap();
        assert_eq!(changed(&store, position).await, lines(["runs main/1"]));
        let end = RunEnd { cause: RunCause::Cancelled, at: at(300), progress: RunProgress::default() };
        assert!(store.end_run(&row.id, "one", end).await.unwrap());
        assert_eq!(changed(&store, position).await, lines(["runs main/1"]));

        store.set(kill(Some(acme()))).await.unwrap();
        assert_eq!(changed(&store, position).await, lines(["switches kill/send_mail/"]));

        store.reconcile(vec![CatalogueEntry::new("look")]).await.unwrap();
        changed(&store, position).await;
        let support = InstanceId::new(acme(), "support");
        store.enable(&support, "look", "olga", at(1)).await.unwrap();
        assert_eq!(changed(&store, position).await, lines(["enablement support"]));
        store.disable(&support, "look", "olga").await.unwrap();
        assert_eq!(changed(&store, position).await, lines(["enablement support"]));
        store.remove_instance(&support).await.unwrap();
        assert_eq!(changed(&store, position).await, lines(["enablement support"]));
    }

    #[test]
    async fn each_change_of_a_stored_tool_is_an_event(store: impl Store + Evented) {
        let mut position = now(&store).await;
        let editor = Editor::member(acme(), "olga", MemberRole::Admin);
        let make = async |change| {
            let edit = ToolEdit::new(editor.clone(), change, at(1));
            store.edit(edit).await.unwrap()
        };
        let schema = || ToolSchema::new(r#"{"type":"object","properties":{},"required":[],"additionalProperties":false}"#).unwrap();
        let function = NewFunction::new("f", FunctionKind::Linked { tool: "look".to_owned() });
        let function = make(ToolChange::CreateFunction(function)).await.into_function().unwrap().id;
        let of_function = lines([&format!("functions {function}")]);
        assert_eq!(changed(&store, &mut position).await, of_function);
        let version = ToolChange::CreateVersion { function: function.clone(), version: NewFunctionVersion::new(schema(), schema()) };
        let version = make(version).await.into_version().unwrap().id;
        assert_eq!(changed(&store, &mut position).await, of_function);
        make(ToolChange::Publish { version }).await;
        assert_eq!(changed(&store, &mut position).await, of_function);
        let tool = make(ToolChange::CreateTool(Box::new(NewTool::server("t", function.as_str())))).await.into_tool().unwrap().id;
        let of_tool = lines([&format!("stored-tools {tool}")]);
        assert_eq!(changed(&store, &mut position).await, of_tool);
        for change in [
            ToolChange::Bind { agent: "clerk".to_owned(), tool: tool.clone() },
            ToolChange::Unbind { agent: "clerk".to_owned(), tool: tool.clone() },
            ToolChange::DeleteTool { id: tool.clone(), expected: None },
        ] {
            make(change).await;
            assert_eq!(changed(&store, &mut position).await, of_tool);
        }
    }

    #[test]
    async fn workspace_receives_its_own_events_and_events_for_all_workspaces(store: impl Store + Evented) {
        let position = now(&store).await;
        let foreign = AuditRow { identity: named_in("umbrella", "u"), ..audit("u") };
        store.write(vec![foreign, audit("a")]).await.unwrap();
        store.set(kill(Some(umbrella()))).await.unwrap();
        store.set(kill(None)).await.unwrap();
        for (workspace, expected) in [
            (acme(), vec!["audit a", "switches kill/send_mail/"]),
            (umbrella(), vec!["audit u", "switches kill/send_mail/", "switches kill/send_mail/"]),
            (Workspace::new("other"), vec!["switches kill/send_mail/"]),
        ] {
            for limit in [1, 100] {
                let (events, _) = after(&store, &workspace, &position, limit).await;
                assert_eq!(events.iter().map(line).collect::<Vec<_>>(), expected, "{workspace}");
            }
        }
    }

    #[test]
    async fn reader_continues_at_any_event_and_in_pages_of_any_size(store: impl Store + Evented) {
        let position = now(&store).await;
        for n in 0..4 {
            store.write(vec![audit(&format!("{n}a")), audit(&format!("{n}b"))]).await.unwrap();
        }
        let (all, end) = after(&store, &acme(), &position, 100).await;
        assert_eq!(all.len(), 8);
        let all: Vec<String> = all.iter().map(line).collect();
        for limit in 1..=9 {
            let (events, next) = after(&store, &acme(), &position, limit).await;
            assert_eq!(events.iter().map(line).collect::<Vec<_>>(), all, "{limit}");
            for (at, event) in events.iter().enumerate() {
                let (rest, _) = after(&store, &acme(), &event.position, limit).await;
                assert_eq!(rest.iter().map(line).collect::<Vec<_>>(), all[at + 1..], "{limit}");
            }
            assert!(after(&store, &acme(), &next, limit).await.0.is_empty());
        }
        // A reader that continues in the middle of a page receives the rest of the page and the events that were written since.
        let (events, _) = after(&store, &acme(), &position, 3).await;
        store.write(vec![audit("late")]).await.unwrap();
        let (rest, _) = after(&store, &acme(), &events[4].position, 2).await;
        assert_eq!(rest.iter().map(line).collect::<Vec<_>>(), [&all[5..], &["audit late".to_owned()]].concat());
        assert_eq!(after(&store, &acme(), &end, 5).await.0.len(), 1);
    }

    #[test]
    async fn unknown_position_is_a_reset(store: impl Store + Evented) {
        store.write(vec![audit("a")]).await.unwrap();
        let position = now(&store).await;
        let broken = format!("{position}0");
        let other = position.replace(|digit: char| digit.is_ascii_digit(), "1");
        for text in ["", "x", "1", "0.0", "-1.1", "1.1:1:..1.x", "ü", "a\0b", &broken, &other, &"9".repeat(200_000)] {
            let page = store.events(&acme(), Some(text), 10).await.unwrap();
            assert!(page.is_reset && page.events.is_empty(), "{text}");
            store.write(vec![audit(&format!("after {}", text.len()))]).await.unwrap();
            assert_eq!(after(&store, &acme(), &page.next, 10).await.0.len(), 1);
        }
    }

    #[test]
    async fn events_are_removed_after_their_time(store: impl Store + Evented) {
        let position = now(&store).await;
        for n in 0..5 {
            store.write(vec![audit(&format!("{n}"))]).await.unwrap();
        }
        let (events, end) = after(&store, &acme(), &position, 2).await;
        let retention = Retention::default();
        let later = |since: Duration| Timestamp::now().plus(since);
        let early = store.purge(&retention, later(Duration::from_hours(7 * 24 - 1)), 100).await.unwrap();
        assert_eq!(early.events, 0);
        assert_eq!(after(&store, &acme(), &position, 100).await.0.len(), 5);
        let purged = store.purge(&retention, later(EVENTS_KEPT + Duration::from_hours(1)), 2).await.unwrap();
        assert!(purged.events == 2 && purged.more, "{purged:?}");
        while store.purge(&retention, later(EVENTS_KEPT + Duration::from_hours(1)), 2).await.unwrap().more {}
        for old in [&position, &events[1].position] {
            let page = store.events(&acme(), Some(old), 10).await.unwrap();
            assert!(page.is_reset, "{old}");
        }
        // A reader that has read all events can continue, although they were removed.
        assert!(after(&store, &acme(), &end, 10).await.0.is_empty());
        store.write(vec![audit("new")]).await.unwrap();
        assert_eq!(after(&store, &acme(), &end, 10).await.0.len(), 1);
    }
}

tests! {
    ($) __suite_event_readers in event for Evented;

    #[test]
    fn readers_read_each_event_once_while_writers_write(opener) {
        opener.test(async |place| {
            let (store, other) = (place.open().await, place.open().await);
            let position = now(&store).await;
            let read = async |store: S, limit: u32| {
                let (mut seen, mut position) = (Vec::new(), position.clone());
                while seen.len() < 32 * 4 {
                    let (events, next) = after(&store, &acme(), &position, limit).await;
                    seen.extend(events.iter().map(line));
                    // A reader that lost its connection continues at the last event that it got, or at the end of a page.
                    position = match events.last() {
                        Some(last) if seen.len().is_multiple_of(2) => last.position.clone(),
                        _ => next,
                    };
                    tokio::task::yield_now().await;
                }
                assert!(after(&store, &acme(), &position, limit).await.0.is_empty());
                seen
            };
            let write = at_once(|task| {
                let store = if task % 2 == 0 { store.clone() } else { other.clone() };
                async move {
                    for n in 0..4 {
                        store.write(vec![audit(&format!("{task}-{n}"))]).await.unwrap();
                    }
                }
            });
            let (_, one, two) = futures::future::join3(write, read(store.clone(), 1), read(other.clone(), 7)).await;
            for mut seen in [one, two] {
                assert_eq!(seen.len(), 32 * 4);
                seen.sort();
                seen.dedup();
                assert_eq!(seen.len(), 32 * 4, "an event was repeated");
            }
        });
    }
}
