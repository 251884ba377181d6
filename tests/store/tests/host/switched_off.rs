//! The catalogue of a host with disabled tools and with tools that the catalogue does not contain.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tool_core::prelude::*;
use tool_core::store::Catalogue;
use tool_core::{AgentTool, Effect, Enablement, ErrorKind, Layer, Rules};
use tool_store::SqliteStore;

/// Counts the runs of the tool.
#[derive(Clone, Default)]
struct Runs(Arc<AtomicUsize>);
tool_core::host_value!(Runs, Effect::READ);

/// Looks around.
#[tool(read_only)]
async fn look(runs: &Runs) -> &'static str {
    runs.0.fetch_add(1, Ordering::SeqCst);
    "nothing there"
}

/// Listens for a sound.
#[tool(read_only)]
async fn listen() -> &'static str {
    "silence"
}

async fn names(store: &SqliteStore) -> Vec<String> {
    let entries = Catalogue::entries(store).await.unwrap();
    entries.into_iter().map(|entry| entry.name).collect()
}

// S3-16: a disabled tool keeps its entry in the catalogue and its enablement row. No list contains the tool, and its calls are refused.
// `explain` returns a different reason than for a tool without a row. A row enables its tool only while the row is switched on.
#[tokio::test]
async fn tool_that_is_switched_off_keeps_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("state.db"))
        .await
        .unwrap();
    let builder = || Registry::builder().tool::<look>().tool::<listen>();
    let registry = builder().boot(&store).await.unwrap();
    let before = Catalogue::entries(&store).await.unwrap();
    assert_eq!(before.len(), 2);
    let runs = Runs::default();
    let cx = ToolContext::builder().with(runs.clone()).build();
    let bound = || Enablement::default().manual("look").manual("listen");
    let of = |rows: Enablement| registry.toolset(&cx, &Rules::default().enablement(rows));
    let call = || ToolCall::new("c-1", "look", "{}");

    let on = of(bound());
    assert!(on.names().eq(["listen", "look"]));
    assert_eq!(on.call(call(), &cx).await.model_text(), "nothing there");

    let off = of(bound().disabled("look"));
    assert!(off.names().eq(["listen"]));
    for dialect in Dialect::ALL {
        assert!(!off.definitions(dialect).contains("look"));
    }
    let refused = off.call(call(), &cx).await;
    assert_eq!(refused.error().unwrap().kind(), ErrorKind::UnknownTool);
    assert_eq!(off.explain("look").layer(), Some(Layer::Disabled));
    let unbound = of(Enablement::default().manual("listen"));
    assert_eq!(unbound.explain("look").layer(), Some(Layer::Enablement));
    assert_eq!(runs.0.load(Ordering::SeqCst), 1);

    // A restart changes only the time of the last sync, and the row that was kept enables the tool again.
    builder().boot(&store).await.unwrap();
    let after = Catalogue::entries(&store).await.unwrap();
    assert_eq!(after.len(), 2);
    assert!(before.iter().zip(&after).all(|(was, is)| was.is_same(is)));
    assert!(of(bound()).names().eq(["listen", "look"]));
    store.close().await;
}

// S1-60: neither the registry nor the catalogue contains the tool that asks an agent, and the next start's update of the catalogue does not affect it.
#[tokio::test]
async fn agent_tool_is_not_in_the_catalogue() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("state.db"))
        .await
        .unwrap();
    let law = AgentTool::ask("tax-law", "Knows the tax law.", |_, _| async {
        Ok::<_, ToolError>("it depends".to_owned())
    });
    let rules = Rules::default()
        .enablement(Enablement::default().manual("look").manual("agent:tax-law"))
        .agent_tool(law.unwrap());
    let cx = ToolContext::builder().with(Runs::default()).build();
    let starts = [
        (
            Registry::builder().tool::<look>().tool::<listen>(),
            &["listen", "look"][..],
        ),
        // The second start removes the missing tool from the catalogue, and the third removes all tools.
        (Registry::builder().tool::<look>(), &["look"]),
        (Registry::builder(), &[]),
    ];
    for (builder, expected) in starts {
        let registry = builder.boot(&store).await.unwrap();
        assert_eq!(names(&store).await, expected);
        assert!(registry.get("ask_tax_law").is_none());
        let tools = registry.toolset(&cx, &rules);
        assert!(
            tools
                .available()
                .all(|tool| tool.tool.name() != "ask_tax_law")
        );
        let call = ToolCall::new("c-1", "ask_tax_law", r#"{"prompt":"May I?"}"#);
        assert_eq!(tools.call(call, &cx).await.model_text(), "it depends");
    }
    store.close().await;
}
