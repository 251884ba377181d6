//! Rules of instances from stored rows, and the catalogue that a boot writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tool_core::prelude::*;
use tool_core::store::{
    Catalogue, CatalogueChanges, CatalogueEntry, ChangedInstances, EnablementFilter, EnablementRow,
    EnablementStore, InstanceId, MemoryStore, Scope, SkillChange, SkillPin, SkillVersion,
    StoreError, StoreFuture, SyncReport, Timestamp, Workspace,
};
use tool_core::{AgentTool, DynamicTool, Effect, ErrorKind, InstanceRules, Layer, Toolset};

use crate::support::kind;

/// Looks at a page.
#[tool(read_only)]
async fn look() -> &'static str {
    "nothing"
}

/// Writes a note.
#[tool]
async fn write_note() -> &'static str {
    "written"
}

/// Needs two keys.
#[tool(
    read_only,
    category = "vault",
    secret("VAULT_KEY"),
    secret("OTHER_KEY", optional)
)]
async fn unlock() -> &'static str {
    "open"
}

/// Ends the turn.
#[tool(read_only, harness, category = "room")]
async fn end_turn() -> &'static str {
    "ended"
}

fn own() -> InstanceId {
    InstanceId::new("acme", "support")
}

fn builder() -> tool_core::RegistryBuilder {
    Registry::builder().tool::<look>().tool::<write_note>()
}

async fn turn(registry: &Registry, rules: &InstanceRules) -> Toolset {
    let rules = rules.rules(&own()).await.unwrap();
    registry.toolset(&ToolContext::anonymous(), &rules)
}

async fn call(tools: &Toolset, name: &str) -> tool_core::CallResult {
    let cx = ToolContext::anonymous();
    tools.call(ToolCall::new("c-1", name, "{}"), &cx).await
}

/// Waits until a condition is true, for at most one second.
async fn within_a_second(mut holds: impl AsyncFnMut() -> bool) {
    let waited = tokio::time::timeout(Duration::from_secs(1), async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    waited.await.expect("it took longer than a second");
}

/// A store that counts reads of rows, and whose `changed_since` fails while the flag is set.
#[derive(Clone, Default)]
struct Watched {
    store: MemoryStore,
    fails: Arc<AtomicBool>,
    reads: Arc<AtomicUsize>,
}

impl Catalogue for Watched {
    fn sync(&self, entries: Vec<CatalogueEntry>) -> StoreFuture<'_, CatalogueChanges> {
        self.store.sync(entries)
    }
    fn entries(&self) -> StoreFuture<'_, Vec<CatalogueEntry>> {
        self.store.entries()
    }
}

impl EnablementStore for Watched {
    fn reconcile(&self, entries: Vec<CatalogueEntry>) -> StoreFuture<'_, SyncReport> {
        self.store.reconcile(entries)
    }
    fn add_instance<'a>(&'a self, own: &'a InstanceId, at: Timestamp) -> StoreFuture<'a, bool> {
        self.store.add_instance(own, at)
    }
    fn remove_instance<'a>(&'a self, own: &'a InstanceId) -> StoreFuture<'a, bool> {
        self.store.remove_instance(own)
    }
    fn enable<'a>(
        &'a self,
        own: &'a InstanceId,
        tool: &'a str,
        by: &'a str,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.store.enable(own, tool, by, at)
    }
    fn disable<'a>(
        &'a self,
        own: &'a InstanceId,
        tool: &'a str,
        by: &'a str,
    ) -> StoreFuture<'a, bool> {
        self.store.disable(own, tool, by)
    }
    fn enable_skill<'a>(
        &'a self,
        own: &'a InstanceId,
        skill: SkillVersion,
        by: &'a str,
        at: Timestamp,
    ) -> StoreFuture<'a, SkillChange> {
        self.store.enable_skill(own, skill, by, at)
    }
    fn disable_skill<'a>(
        &'a self,
        own: &'a InstanceId,
        skill: &'a str,
        by: &'a str,
    ) -> StoreFuture<'a, SkillChange> {
        self.store.disable_skill(own, skill, by)
    }
    fn rows<'a>(&'a self, own: &'a InstanceId) -> StoreFuture<'a, Vec<EnablementRow>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.store.rows(own)
    }
    fn skills<'a>(&'a self, own: &'a InstanceId) -> StoreFuture<'a, Vec<SkillPin>> {
        self.store.skills(own)
    }
    fn list_rows<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a EnablementFilter,
    ) -> StoreFuture<'a, Vec<EnablementRow>> {
        self.store.list_rows(scope, filter)
    }
    fn list_instances<'a>(
        &'a self,
        workspace: &'a Workspace,
        after: Option<&'a str>,
        most: u32,
    ) -> StoreFuture<'a, Vec<InstanceId>> {
        self.store.list_instances(workspace, after, most)
    }
    fn changed_since(&self, version: u64) -> StoreFuture<'_, ChangedInstances> {
        if self.fails.load(Ordering::SeqCst) {
            return Box::pin(async { Err(StoreError::Unavailable("the disk is gone".into())) });
        }
        self.store.changed_since(version)
    }
}

fn listed(description: &str) -> DynamicTool {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    DynamicTool::meta("note", description, schema)
}

// S1-33: a boot stores the description, category, secret keys, effect, flags and time of each tool, and updates a changed description.
#[tokio::test]
async fn boot_writes_every_fact_and_updates_a_description() {
    let store = MemoryStore::default();
    let before = Timestamp::now();
    let builder = |description: &str| {
        Registry::builder()
            .tool::<unlock>()
            .tool::<end_turn>()
            .dynamic(listed(description))
            .global("unlock")
    };
    let (_, report) = builder("Takes notes.").boot_reported(&store).await.unwrap();
    assert_eq!(report.added, ["end_turn", "note", "unlock"]);
    let entries = store.entries().await.unwrap();
    let [end, note, unlock] = &entries[..] else {
        panic!("{entries:?}");
    };
    assert_eq!(
        (unlock.description.as_str(), unlock.category.as_str()),
        ("Needs two keys.", "vault")
    );
    assert_eq!(unlock.secrets, ["OTHER_KEY", "VAULT_KEY"]);
    assert_eq!(unlock.effect, Effect::READ.bits());
    assert!(unlock.synced_at >= before && unlock.synced_at <= Timestamp::now());
    let flags = |entry: &CatalogueEntry| (entry.is_meta, entry.is_global, entry.is_harness);
    assert_eq!(flags(unlock), (false, true, false));
    assert_eq!(flags(end), (false, false, true));
    assert_eq!(flags(note), (true, false, false));
    let (_, report) = builder("Takes long notes.")
        .boot_reported(&store)
        .await
        .unwrap();
    assert_eq!(
        (&report.changed[..], report.added.len()),
        (&["note".to_owned()][..], 0)
    );
    assert_eq!(
        store.entries().await.unwrap()[1].description,
        "Takes long notes."
    );
}

// S1-41, S1-42, S1-43: a boot removes a tool that is no longer in the registry, and its rows. The report names both.
#[tokio::test]
async fn boot_reports_removed_tools_with_their_rows() {
    let store = MemoryStore::default();
    builder().boot(&store).await.unwrap();
    store
        .enable(&own(), "write_note", "olga", Timestamp::now())
        .await
        .unwrap();
    let (_, report) = Registry::builder()
        .tool::<look>()
        .boot_reported(&store)
        .await
        .unwrap();
    let removed = &report.removed[0];
    assert_eq!(
        (removed.name.as_str(), &removed.rows[0].instance),
        ("write_note", &own())
    );
    assert_eq!(store.entries().await.unwrap().len(), 1);
    assert_eq!(store.rows(&own()).await.unwrap(), []);
}

// S1-39: an instance without rows has no tools, unless the host sets `default_open`, which enables all tools.
#[tokio::test]
async fn instance_without_rows_has_no_tools_unless_default_open() {
    let store = MemoryStore::default();
    let registry = builder().boot(&store).await.unwrap();
    let closed = InstanceRules::open(store.clone()).await.unwrap();
    assert_eq!(turn(&registry, &closed).await.names().count(), 0);
    let open = closed.clone().default_open();
    assert!(
        turn(&registry, &open)
            .await
            .names()
            .eq(["look", "write_note"])
    );
    // With the first row, `default_open` no longer applies.
    open.enable(&own(), "look", "olga").await.unwrap();
    assert!(turn(&registry, &open).await.names().eq(["look"]));
    open.disable(&own(), "look", "olga").await.unwrap();
    assert_eq!(turn(&registry, &closed).await.names().count(), 0);
}

// S1-44: a boot with an empty registry keeps the row that enables an agent's tool.
#[tokio::test]
async fn agent_row_survives_a_restart() {
    let store = MemoryStore::default();
    let instances = InstanceRules::open(store.clone()).await.unwrap();
    instances.enable(&own(), "agent:law", "olga").await.unwrap();
    let (registry, report) = Registry::builder().boot_reported(&store).await.unwrap();
    assert_eq!(report, SyncReport::default());
    let law = AgentTool::ask("law", "Knows the law.", |_, _| async {
        Ok("It depends.".to_owned())
    })
    .unwrap();
    let rules = instances.rules(&own()).await.unwrap().agent_tool(law);
    let tools = registry.toolset(&ToolContext::anonymous(), &rules);
    assert!(tools.names().eq(["ask_law"]));
    // A running turn refuses the agent when its row is removed.
    instances
        .disable(&own(), "agent:law", "olga")
        .await
        .unwrap();
    assert_eq!(tools.explain("ask_law").layer(), Some(Layer::Enablement));
}

// A change by one of two hosts that share a store applies at the other host within a second: in its next turn, and at the next call
// of a running turn.
#[tokio::test]
async fn change_reaches_other_hosts_within_a_second() {
    let store = MemoryStore::default();
    let registry = builder().global("look").boot(&store).await.unwrap();
    let here = InstanceRules::open(store.clone()).await.unwrap();
    let there = InstanceRules::open(store).await.unwrap();
    here.enable(&own(), "write_note", "olga").await.unwrap();
    within_a_second(async || turn(&registry, &there).await.names().count() == 2).await;
    let running = turn(&registry, &there).await;
    assert!(!call(&running, "write_note").await.is_error());
    here.disable(&own(), "write_note", "olga").await.unwrap();
    within_a_second(async || call(&running, "write_note").await.is_error()).await;
    assert_eq!(
        kind(&call(&running, "write_note").await),
        Some(ErrorKind::UnknownTool)
    );
    assert_eq!(
        running.explain("write_note").layer(),
        Some(Layer::Enablement)
    );
    assert!(!call(&running, "look").await.is_error());
    assert!(turn(&registry, &there).await.names().eq(["look"]));
    // A tool that is enabled again is visible in the next turn.
    here.enable(&own(), "write_note", "olga").await.unwrap();
    within_a_second(async || turn(&registry, &there).await.names().count() == 2).await;
}

// A host that has not read its rows for a second refuses calls that are not read-only, until the store answers.
#[tokio::test]
async fn unreadable_rows_refuse_calls_with_effects() {
    let store = Watched::default();
    let registry = builder()
        .global("look")
        .global("write_note")
        .boot(&store)
        .await
        .unwrap();
    let instances = InstanceRules::open(store.clone()).await.unwrap();
    instances
        .store()
        .add_instance(&own(), Timestamp::now())
        .await
        .unwrap();
    let running = turn(&registry, &instances).await;
    store.fails.store(true, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(1_300)).await;
    let refused = call(&running, "write_note").await;
    let operator = refused.error().unwrap().operator_text();
    assert!(operator.contains("enablement rows"), "{operator}");
    assert_eq!(running.explain("write_note").layer(), Some(Layer::Unread));
    assert!(!call(&running, "look").await.is_error());
    store.fails.store(false, Ordering::SeqCst);
    within_a_second(async || !call(&running, "write_note").await.is_error()).await;
}

// Rules of a cached instance need no query, and rules of other instances need one. A change invalidates only its own instance.
#[tokio::test]
async fn rows_are_read_once_until_they_change() {
    let store = Watched::default();
    builder().boot(&store).await.unwrap();
    let instances = InstanceRules::open(store.clone()).await.unwrap();
    let all: Vec<_> = (0..10)
        .map(|n| InstanceId::new("acme", format!("i-{n}")))
        .collect();
    let read = async || {
        for instance in &all {
            drop(instances.rules(instance).await.unwrap());
        }
        store.reads.swap(0, Ordering::SeqCst)
    };
    assert_eq!(read().await, 10);
    assert_eq!(read().await, 0);
    instances.enable(&all[3], "look", "olga").await.unwrap();
    assert_eq!(read().await, 1);
    // A removed instance invalidates the whole cache, because the store does not list that instance as changed.
    store.remove_instance(&all[3]).await.unwrap();
    instances.refresh().await.unwrap();
    assert_eq!(read().await, 10);
    let small = instances.most_cached(4);
    for round in 0..3 {
        for instance in &all {
            drop(small.rules(instance).await.unwrap());
        }
        assert!(
            format!("{small:?}").contains("cached: 4")
                || format!("{small:?}").contains("cached: 3"),
            "{round} {small:?}"
        );
    }
}

// S1-38: a disabled tool is not constructed, whether it is listed, called, or disabled while a turn runs.
#[tokio::test]
async fn disabled_tool_is_not_constructed() {
    let made = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&made);
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let tool = DynamicTool::factory(
        "made",
        "Is made for a call.",
        schema,
        move |_: &ToolContext| {
            counted.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ToolError>(|_: serde_json::Value| async { Ok::<_, ToolError>("done") })
        },
    );
    let store = MemoryStore::default();
    let registry = Registry::builder()
        .dynamic(tool)
        .boot(&store)
        .await
        .unwrap();
    let instances = InstanceRules::open(store).await.unwrap();
    let off = turn(&registry, &instances).await;
    assert!(!off.definitions(Dialect::OpenAi).contains("made"));
    assert_eq!(
        kind(&call(&off, "made").await),
        Some(ErrorKind::UnknownTool)
    );
    assert_eq!(made.load(Ordering::SeqCst), 0);
    instances.enable(&own(), "made", "olga").await.unwrap();
    let on = turn(&registry, &instances).await;
    assert!(on.definitions(Dialect::OpenAi).contains("made"));
    assert_eq!(made.load(Ordering::SeqCst), 0);
    assert_eq!(call(&on, "made").await.model_text(), "done");
    assert_eq!(made.load(Ordering::SeqCst), 1);
    instances.disable(&own(), "made", "olga").await.unwrap();
    assert!(call(&on, "made").await.is_error());
    assert_eq!(made.load(Ordering::SeqCst), 1);
}

// S1-43: a stated rename moves the rows when the program boots, and the report lists it. An invalid rename is an error.
#[tokio::test]
async fn stated_rename_moves_rows_at_boot() {
    let store = MemoryStore::default();
    Registry::builder()
        .tool::<write_note>()
        .boot(&store)
        .await
        .unwrap();
    store
        .enable(&own(), "write_note", "olga", Timestamp::now())
        .await
        .unwrap();
    let after = || Registry::builder().tool::<look>();
    let (registry, report) = after()
        .renamed("write_note", "look")
        .boot_reported(&store)
        .await
        .unwrap();
    assert_eq!((report.added.len(), report.removed.len()), (0, 0));
    let renamed = &report.renamed[0];
    assert_eq!(
        (
            renamed.from.as_str(),
            renamed.to.as_str(),
            renamed.rows.len()
        ),
        ("write_note", "look", 1)
    );
    let instances = InstanceRules::open(store).await.unwrap();
    assert!(turn(&registry, &instances).await.names().eq(["look"]));
    for (builder, expected) in [
        (
            after().renamed("old", "lok"),
            "the registry has no such tool",
        ),
        (after().renamed("look", "look"), "has this name"),
        (builder().renamed("write_note", "look"), "has this name"),
        (
            builder()
                .renamed("old", "look")
                .renamed("old", "write_note"),
            "`write_note` and of `look`",
        ),
    ] {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn global_tool_that_does_not_exist_is_an_error() {
    let error = builder().global("lok").build().unwrap_err();
    assert!(
        error.to_string().contains("the registry has no such tool"),
        "{error}"
    );
}
