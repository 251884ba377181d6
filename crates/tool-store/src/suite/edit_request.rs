//! Tests of idempotency keys of edits of stored tools.

use crate::*;

use super::records::{acme, at};
use super::{at_once, conflict, tests};

fn author(user: &str, workspace: impl Into<Workspace>) -> Editor {
    Editor::member(workspace, user, MemberRole::Author)
}

fn new_function(name: &str) -> ToolChange {
    let kind = FunctionKind::Linked {
        tool: name.to_owned(),
    };
    ToolChange::CreateFunction(NewFunction::new(name, kind))
}

fn respond(edited: &ToolEdited) -> String {
    match edited {
        ToolEdited::Function(function) => function.id.clone(),
        _ => String::new(),
    }
}

/// Returns an edit by a member that creates a function with the name `name`. Its idempotency key is `k1`, and expires at 1000.
fn request(editor: &Editor, name: &str, now: i64) -> ToolEdit {
    let key = RequestKey {
        caller: editor.user().unwrap_or_default().to_owned(),
        key: "k1".to_owned(),
        fingerprint: name.to_owned(),
        at: at(now),
        expires: at(1000),
        respond,
    };
    ToolEdit::new(editor.clone(), new_function(name), at(now)).once(key)
}

fn created(edited: Result<ToolEdited, StoreError>) -> String {
    edited.unwrap().into_function().unwrap().id
}

tests! {
    ($) __suite_edit_request in edit_request for StoredToolStore;

    // A repeated creation with the same idempotency key receives the first response and creates nothing.
    #[test]
    async fn repeated_creation_gets_the_first_response(store: impl Store + StoredToolStore) {
        let olga = author("olga", acme());
        let audit = AuditRow::of_operator(acme(), "olga", "test", "{}", at(300)).unwrap();
        let id = created(store.edit(request(&olga, "look", 300).audited(audit)).await);
        let again = store.edit(request(&olga, "look", 400)).await.unwrap();
        assert_eq!(again, ToolEdited::Repeated(id.clone()));
        let key = request(&olga, "look", 400).key.unwrap();
        assert_eq!(store.repeated(&acme(), &key).await.unwrap(), Some(id.clone()));
        assert_eq!(store.functions(&acme(), &FunctionFilter::default()).await.unwrap().len(), 1);
        assert_eq!(store.export(Scope::All, &AuditFilter::default()).await.unwrap().len(), 1);
        conflict(store.edit(request(&olga, "find", 400)).await, "different request");
        let key = request(&olga, "find", 400).key.unwrap();
        conflict(store.repeated(&acme(), &key).await, "different request");
        // The key belongs to the user and to the workspace, and expires.
        let eve = author("olga", "umbrella");
        for edit in [request(&author("bob", acme()), "look", 400), request(&eve, "look", 400), request(&olga, "look", 1000)] {
            assert_ne!(created(store.edit(edit).await), id);
        }
        let late = request(&olga, "look", 2000).key.unwrap();
        assert_eq!(store.repeated(&acme(), &late).await.unwrap(), None);
    }

    // A refused edit stores no key. An edit by the program ([`Editor::System`]) cannot have a key.
    #[test]
    async fn refused_creation_stores_no_key(store: impl Store + StoredToolStore) {
        let viewer = Editor::member(acme(), "olga", MemberRole::Viewer);
        let refused = store.edit(request(&viewer, "look", 300)).await;
        assert!(matches!(refused, Err(StoreError::Forbidden(_))), "{refused:?}");
        let key = request(&viewer, "look", 300).key.unwrap();
        assert_eq!(store.repeated(&acme(), &key).await.unwrap(), None);
        created(store.edit(request(&author("olga", acme()), "find", 300)).await);
        let program = ToolEdit::new(Editor::System, new_function("look"), at(300)).once(key);
        conflict(store.edit(program).await, "workspace");
    }
}

tests! {
    ($) __suite_edit_request_races in edit_request for StoredToolStore;

    // Of many concurrent requests with one key, one creates the row, and all receive the same response.
    #[test]
    fn concurrent_repetitions_create_one_row(opener) {
        opener.test(async |place| {
            let store = place.open().await;
            let shared = store.clone();
            let ids = at_once(move |_| {
                let store = shared.clone();
                async move {
                    match store.edit(request(&author("olga", acme()), "look", 300)).await.unwrap() {
                        ToolEdited::Repeated(response) => response,
                        edited => respond(&edited),
                    }
                }
            });
            let mut ids = ids.await;
            ids.dedup();
            assert_eq!(ids.len(), 1);
            assert_eq!(store.functions(&acme(), &FunctionFilter::default()).await.unwrap().len(), 1);
        });
    }
}
