//! Tests of erasure and retention of variables and stored responses, which belong to optional traits, for each store.

use tool_store::seal::{NewValue, NewVariableRequest, SealKey, SealKeys, Vault};
use tool_store::suite::records::{at, request};
use tool_store::*;

/// The erasure of a thread or a user covers its variables, and a thread's requests for variables.
pub(crate) async fn removes_variables(store: impl VaultStore + Maintenance + Clone) {
    let keys = SealKeys::new("k1", SealKey::new(&[1; 32])).unwrap();
    let vault = Vault::open(store.clone(), keys).await.unwrap();
    let [main, side] = ["main", "side"].map(|name| ThreadId::new("acme", name).unwrap());
    let acme = Workspace::new("acme");
    let scopes = [
        VariableScope::thread(&main),
        VariableScope::thread(&side),
        VariableScope::thread(&ThreadId::new("umbrella", "main").unwrap()),
        VariableScope::user("acme", "main").unwrap(),
        VariableScope::user("umbrella", "main").unwrap(),
        VariableScope::workspace("acme"),
    ];
    for scope in &scopes {
        let rows = vec![
            NewValue::undeclared("V", "value"),
            NewValue::declared("W", VariableType::Text, "value"),
        ];
        vault.set_variables(scope, rows, "olga").await.unwrap();
    }
    for thread in [&main, &side] {
        let request = NewVariableRequest {
            thread: thread.clone(),
            agent: "sales".to_owned(),
            target: VariableScope::thread(&side),
            required: vec![VariableField::new("T", VariableType::Secret)],
        };
        vault.request_variables(request).await.unwrap();
    }
    let left = async || -> Vec<usize> {
        let mut left = Vec::new();
        for scope in &scopes {
            left.push(
                store
                    .variables(std::slice::from_ref(scope))
                    .await
                    .unwrap()
                    .len(),
            );
        }
        left.extend([
            store.requests(&main).await.unwrap().len(),
            store.requests(&side).await.unwrap().len(),
        ]);
        left
    };
    let erased = store.erase_contents(Erasure::Thread(&main)).await.unwrap();
    assert_eq!(
        erased,
        Erased {
            variables: 2,
            ..Erased::default()
        }
    );
    assert_eq!(left().await, [0, 2, 2, 2, 2, 2, 0, 1]);
    let user = Erasure::Principal {
        workspace: &acme,
        principal: "main",
    };
    let erased = store.erase_contents(user).await.unwrap();
    assert_eq!(
        erased,
        Erased {
            variables: 2,
            ..Erased::default()
        }
    );
    assert_eq!(left().await, [0, 2, 2, 0, 2, 2, 0, 1]);
}

/// The responses to requests with an idempotency key are erased with the contents that they contain, and purged when they expire.
pub(crate) async fn removes_responses(store: impl Store + ChangeStore + Maintenance + Clone) {
    let assign = |caller: &str, key: &str, id: &str| {
        let key = RequestKey {
            caller: caller.to_owned(),
            key: key.to_owned(),
            fingerprint: "f".to_owned(),
            at: at(300),
            expires: at(1000),
            respond: |_| "first".to_owned(),
        };
        let change = Change::Assign {
            id: id.to_owned(),
            assignee: None,
            expected: Expected::Any,
        };
        let audit = AuditRow::of_operator("acme", caller, "test", "{}", at(300)).unwrap();
        ChangeRequest {
            change,
            audit,
            key: Some(key),
        }
    };
    for (id, conversation, principal) in [
        ("a", Some("main"), "ann"),
        ("b", Some("side"), "bob"),
        ("c", None, "eve"),
    ] {
        let request = ApprovalRequest {
            thread: conversation.map(str::to_owned),
            principal: principal.to_owned(),
            ..request(id)
        };
        store.open(request).await.unwrap();
    }
    let all = [("olga", "a"), ("olga", "b"), ("olga", "c"), ("ann", "c")];
    for (caller, id) in all {
        store.apply(assign(caller, id, id)).await.unwrap();
    }
    // Returns whether each response is still stored. Without a stored response, the repeated request fails, because its approval is unknown.
    let left = async || {
        let mut left = Vec::new();
        for (caller, key) in all {
            let answer = store.apply(assign(caller, key, "unknown")).await;
            left.push(matches!(answer, Ok(Applied::Repeated(_))));
        }
        left
    };
    assert_eq!(left().await, [true; 4]);

    let [main, foreign] = ["acme", "umbrella"].map(|own| ThreadId::new(own, "main").unwrap());
    let erased = store
        .erase_contents(Erasure::Thread(&foreign))
        .await
        .unwrap();
    assert_eq!(erased.requests, 0);
    let erased = store.erase_contents(Erasure::Thread(&main)).await.unwrap();
    assert_eq!(erased.requests, 1);
    assert_eq!(left().await, [false, true, true, true]);
    for (workspace, principal, count) in [
        ("umbrella", "bob", 0),
        ("acme", "bob", 1),
        ("acme", "ann", 1),
    ] {
        let user = Erasure::Principal {
            workspace: &Workspace::new(workspace),
            principal,
        };
        let erased = store.erase_contents(user).await.unwrap();
        assert_eq!(erased.requests, count, "{workspace} {principal}");
    }
    assert_eq!(left().await, [false, false, true, false]);

    // Expired keys are purged, a bounded number at a time.
    let another = assign("olga", "d", "c");
    store.apply(another).await.unwrap();
    let retention = Retention::default();
    let purged = store.purge(&retention, at(999), 1).await.unwrap();
    assert_eq!((purged.requests, purged.more), (0, false));
    for left in [1, 1, 0] {
        let purged = store.purge(&retention, at(1000), 1).await.unwrap();
        assert_eq!((purged.requests, purged.more), (left, left == 1));
    }
}
