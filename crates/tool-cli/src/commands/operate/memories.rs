//! The `memories` command: the indexes of memories in PostgreSQL.

use crate::args::operate::{Memories, MemoriesAction};
use crate::commands::store::OpenStore;
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

#[cfg_attr(
    not(feature = "postgres"),
    allow(unused_variables, reason = "only an index of PostgreSQL is printed")
)]
pub(in crate::commands) async fn run(words: Memories, screen: Screen) -> Result<Exit, Failure> {
    let MemoriesAction::Index = words.action;
    let url = words.target.store.as_deref().ok_or_else(|| {
        Failure::usage("indexes are created in the store of the host, and not over its admin API")
            .hint("name the store with `--store postgres://user@host/database`")
    })?;
    match OpenStore::open_existing(url).await? {
        OpenStore::Sqlite(_) => Err(Failure::usage(
            "searches of memories in SQLite use no index of embeddings, so there is nothing to create",
        )
        .hint("name a PostgreSQL database, such as `--store postgres://user@host/database`")),
        #[cfg(feature = "postgres")]
        OpenStore::Postgres(store) => index(&store, screen).await,
    }
}

#[cfg(feature = "postgres")]
async fn index(store: &tool_store::PostgresStore, screen: Screen) -> Result<Exit, Failure> {
    use serde_json::json;
    use tool_core::hidden::escape;
    use tool_store::MemoryIndexing;

    let failed = |text: String| Failure::of(Exit::Failed, text);
    let indexing = store.index_memories().await;
    let indexing = indexing.map_err(|error| {
        failed(format!("the indexes could not be created: {error}"))
            .hint("use the PostgreSQL user who owns the tables of the schema `tool_store`, and connect to the server itself and not to a pooler")
    })?;
    let indexes = match indexing {
        MemoryIndexing::Indexed(indexes) => indexes,
        MemoryIndexing::Unavailable(reason) => {
            return Err(failed(format!("no index can be created: {reason}"))
                .hint("searches work without an index, too, but take longer in scopes with more than 20,000 memories"));
        }
        _ => {
            return Err(failed("another process creates the indexes now".to_owned())
                .hint("repeat the command when the other process has ended"));
        }
    };
    if screen.is_json() {
        let rows = indexes
            .iter()
            .map(|index| json!({"model": index.model, "dimensions": index.dimensions}));
        Screen::json(&json!({"indexes": rows.collect::<Vec<_>>()}))?;
    } else if indexes.is_empty() {
        screen.note("no index is needed: no model has more than 20,000 embeddings in one scope");
    } else {
        for index in &indexes {
            let model = escape(&index.model);
            screen.out(format_args!(
                "{model} ({} dimensions): indexed",
                index.dimensions
            ))?;
        }
    }
    Ok(Exit::Ok)
}
