//! The `plan` command: runs of plans, as a drawing or in the language of Mermaid.

use serde_json::{Value, json};
use tool_core::store::{PlanRow, PlanRunId, PlanStore, ThreadId, Workspace};
#[cfg(feature = "postgres")]
use tool_store::PostgresStore;
use tool_store::SqliteStore;

use crate::args::operate::{Plan, PlanAction, Target};
use crate::commands::store::{self, OpenStore};
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

mod drawing;
mod mermaid;

pub(in crate::commands) async fn run(words: Plan, screen: Screen) -> Result<Exit, Failure> {
    let PlanAction::Show {
        conversation,
        number,
        mermaid,
    } = words.action;
    let row = read(&words.target, &conversation, number).await?;
    if screen.is_json() {
        Screen::json(&document(&row))?;
    } else if mermaid {
        screen.out(mermaid::text(&row))?;
    } else {
        screen.out(drawing::text(&row))?;
    }
    Ok(Exit::Ok)
}

/// Reads a run from the store of the target, by default the active or the last run of the conversation.
async fn read(
    target: &Target,
    conversation: &str,
    number: Option<u64>,
) -> Result<PlanRow, Failure> {
    let url = target.store.as_deref().ok_or_else(|| {
        Failure::usage("plans are read from the store of the host, and not from its admin API")
            .hint("name the store with `--store sqlite:state.db`")
    })?;
    let workspace = target.workspace.as_deref().map(Workspace::new);
    let thread = ThreadId::new(workspace.unwrap_or_default(), conversation);
    let thread = thread.map_err(|error| Failure::usage(error.to_string()))?;
    match OpenStore::open_existing(url).await? {
        OpenStore::Sqlite(plain) => {
            let store = store::sealing_as_before(plain, SqliteStore::sealing).await?;
            find(&store, thread, number).await
        }
        #[cfg(feature = "postgres")]
        OpenStore::Postgres(plain) => {
            let store = store::sealing_as_before(plain, PostgresStore::sealing).await?;
            find(&store, thread, number).await
        }
    }
}

async fn find(
    store: &impl PlanStore,
    thread: ThreadId,
    number: Option<u64>,
) -> Result<PlanRow, Failure> {
    let found = if let Some(number) = number {
        store.plan(&PlanRunId::new(thread.clone(), number)).await
    } else {
        // The last run is the active one, if there is an active one.
        let rows = store.list_plans(&thread, None, 1).await;
        rows.map(|rows| rows.into_iter().next())
    };
    let found = found.map_err(|error| Failure::of(Exit::Failed, error.to_string()))?;
    found.ok_or_else(|| {
        let which = number.map_or("a plan".to_owned(), |number| {
            format!("a run {number} of a plan")
        });
        Failure::usage(format!(
            "the conversation `{}` does not have {which}",
            thread.conversation()
        ))
        .hint("check the conversation, and its workspace with `--workspace NAME`")
    })
}

/// Returns the stage of each node: the number of nodes on the longest path to it.
fn stages(row: &PlanRow) -> Vec<usize> {
    let draft = row.spec.draft();
    let mut stages = vec![1; draft.nodes.len()];
    for place in row.spec.order() {
        let next = draft
            .edges
            .iter()
            .filter(|edge| edge.from == draft.nodes[*place].id);
        for (to, _) in next.filter_map(|edge| row.spec.node(&edge.to)) {
            stages[to] = stages[to].max(stages[*place] + 1);
        }
    }
    stages
}

fn document(row: &PlanRow) -> Value {
    let draft = row.spec.draft();
    let nodes = draft.nodes.iter().zip(&row.nodes).zip(stages(row));
    let nodes = nodes.map(|((node, run), stage)| {
        let after = draft.edges.iter().filter(|edge| edge.to == node.id);
        json!({
            "id": node.id, "type": node.kind.as_str(), "label": node.label, "owner": node.owner.as_ref().map(ToString::to_string),
            "status": run.status.as_str(), "attempts": run.attempts.len(), "stage": stage,
            "after": after.map(|edge| edge.from.as_str()).collect::<Vec<_>>(),
        })
    });
    json!({
        "conversation": row.id.thread().conversation(), "run": row.id.number(), "status": row.status.as_str(), "title": draft.title,
        "objective": draft.objective, "replaces": row.replaces, "replaced_by": row.replaced_by, "nodes": nodes.collect::<Vec<_>>(),
    })
}
