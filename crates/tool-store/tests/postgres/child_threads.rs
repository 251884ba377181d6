//! Tests of faults during changes of child threads.

use test_support::Ran;

use crate::children;
use crate::database::Database;

const FAULT: &str = "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'full'; END $$";

// The row of a child and a message in a thread are stored together or not at all, whichever of the two writes fails.
pub(crate) async fn failed_write_to_a_child_thread_changes_nothing_case() -> Ran {
    for (create, drop) in [
        (
            "CREATE TRIGGER full_disk BEFORE INSERT ON tool_store.message FOR EACH ROW EXECUTE FUNCTION full_disk()",
            "DROP TRIGGER full_disk ON tool_store.message",
        ),
        (
            "CREATE TRIGGER full_disk BEFORE INSERT ON tool_store.child_thread FOR EACH ROW EXECUTE FUNCTION full_disk()",
            "DROP TRIGGER full_disk ON tool_store.child_thread",
        ),
    ] {
        let database = Database::create().await?;
        let store = database.options().open().await.unwrap();
        database.tamper(FAULT).await;
        children::failed_write_changes_nothing(&store, async |is_full| {
            database.tamper(if is_full { create } else { drop }).await;
        })
        .await;
    }
    Ok(())
}
