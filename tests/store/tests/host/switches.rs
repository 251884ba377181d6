//! Switches in a file that several hosts open.

use tool_core::Switches;
use tool_core::store::{SwitchStore as _, Workspace};
use tool_store::SqliteStore;

// If one connection stores a switch, another connection reads it at its next refresh. A reopened file still contains the switch.
#[tokio::test]
async fn switches_are_shared_and_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    let (one, other) = (
        SqliteStore::open(&file).await.unwrap(),
        SqliteStore::open(&file).await.unwrap(),
    );
    let seen = Switches::open(one.clone()).await.unwrap();
    let set = Switches::open(other.clone()).await.unwrap();
    set.kill(
        "send_mail",
        Some(&Workspace::new("acme")),
        "olga",
        Some("spam"),
    )
    .await
    .unwrap();
    seen.refresh().await.unwrap();
    assert!(seen.is_killed("send_mail", "acme"));
    assert!(!seen.is_killed("send_mail", "globex"));
    drop((seen, set));
    one.close().await;
    other.close().await;
    let store = SqliteStore::open(&file).await.unwrap();
    let again = Switches::open(store.clone()).await.unwrap();
    assert!(again.is_killed("send_mail", "acme"));
    let [row] = &store.in_force().await.unwrap()[..] else {
        panic!("one switch");
    };
    assert_eq!((&*row.by, row.reason.as_deref()), ("olga", Some("spam")));
    drop(again);
    store.close().await;
}
