//! Stored switches that apply to all processes of a store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tool_core::prelude::*;
use tool_core::store::{
    AuditFilter, AuditRow, AuditSink as _, Begun, EffectLedger, EffectState, Intent, MemoryStore,
    Scope, StoreError, StoreFuture, Switch, SwitchFilter, SwitchKey, SwitchKind, SwitchStore,
    Timestamp, Workspace,
};
use tool_core::{Audit, ErrorKind, Gate, Rules, Switches};

use crate::support::{Mailbox, kind};

/// Sends a letter.
#[tool]
async fn post(
    mailbox: &Mailbox,
    /// The duration of the call, in milliseconds.
    millis: u64,
) -> u64 {
    mailbox.send();
    tokio::time::sleep(Duration::from_millis(millis)).await;
    millis
}

/// Looks at a page.
#[tool(read_only)]
async fn look(
    /// The number of the page.
    at: u64,
) -> u64 {
    at
}

/// A store that cannot read the version of its switches while a flag is set: the read fails or never returns.
#[derive(Clone, Default)]
struct UnreliableSwitches {
    store: MemoryStore,
    fails: Arc<AtomicBool>,
    hangs: Arc<AtomicBool>,
}

impl SwitchStore for UnreliableSwitches {
    fn is_durable(&self) -> bool {
        false
    }
    fn set(&self, switch: Switch) -> StoreFuture<'_, bool> {
        self.store.set(switch)
    }
    fn version(&self) -> StoreFuture<'_, u64> {
        Box::pin(async move {
            if self.hangs.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            if self.fails.load(Ordering::SeqCst) {
                return Err(StoreError::Unavailable("the disk is gone".into()));
            }
            self.store.version().await
        })
    }
    fn in_force(&self) -> StoreFuture<'_, Vec<Switch>> {
        self.store.in_force()
    }
    fn enablement<'a>(&'a self, workspace: &'a Workspace) -> StoreFuture<'a, Vec<Switch>> {
        SwitchStore::enablement(&self.store, workspace)
    }
    fn switches<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a SwitchFilter,
    ) -> StoreFuture<'a, Vec<Switch>> {
        self.store.switches(scope, filter)
    }
    fn retire<'a>(&'a self, scope: Scope<'a>, since: Timestamp, most: u32) -> StoreFuture<'a, u64> {
        self.store.retire(scope, since, most)
    }
}

fn kill(tool: &str) -> Switch {
    Switch {
        key: SwitchKey {
            workspace: Some(Workspace::new("acme")),
            kind: SwitchKind::Kill,
            tool: tool.to_owned(),
            source: String::new(),
        },
        on: true,
        by: "olga".to_owned(),
        reason: None,
        at: Timestamp::now(),
    }
}

/// One process of a host.
struct Process {
    mailbox: Mailbox,
    switches: Switches,
    gate: Gate,
}

impl Process {
    async fn new(store: &UnreliableSwitches, gate: Gate) -> Self {
        Self {
            mailbox: Mailbox::default(),
            switches: Switches::open(store.clone()).await.unwrap(),
            gate,
        }
    }

    fn cx(&self) -> ToolContext {
        ToolContext::builder()
            .workspace("acme")
            .user("ann")
            .conversation("th-1")
            .with(self.mailbox.clone())
            .build()
    }

    fn tools(&self) -> Toolset {
        let rules = Rules::default().switches(&self.switches);
        let registry = Registry::builder().tool::<post>().tool::<look>();
        let registry = registry.build().unwrap();
        registry.toolset(&self.cx(), &rules).through(&self.gate)
    }
}

fn post_for(millis: u64) -> ToolCall {
    ToolCall::new("c", "post", format!(r#"{{"millis":{millis}}}"#))
}

fn look_at() -> ToolCall {
    ToolCall::new("c", "look", r#"{"at":1}"#)
}

// A switch that one process stores applies in another process within a second, and at once after a restart.
#[tokio::test]
async fn switch_stored_by_another_process_applies() {
    let store = UnreliableSwitches::default();
    for gate in [
        Gate::builder().build(),
        Gate::builder().ledger(store.store.clone()).build(),
    ] {
        let (one, other) = (
            Process::new(&store, gate.clone()).await,
            Process::new(&store, gate).await,
        );
        let tools = one.tools();
        assert!(!tools.call(post_for(0), &one.cx()).await.is_error());
        let acme = Workspace::new("acme");
        other
            .switches
            .kill("post", Some(&acme), "olga", Some("spam"))
            .await
            .unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        let refused = tools.call(post_for(0), &one.cx()).await;
        assert_eq!(kind(&refused), Some(ErrorKind::UnknownTool), "{refused:?}");
        assert_eq!(one.mailbox.sent(), 1);

        let restarted = Process::new(&store, Gate::builder().build()).await;
        let explained = restarted.tools().explain("post");
        assert_eq!(explained.as_str(), "killed");
        let all = SwitchFilter::default();
        let rows = restarted
            .switches
            .store()
            .switches(Scope::Workspace(&acme), &all);
        let [row] = &rows.await.unwrap()[..] else {
            panic!("the store does not have exactly one row")
        };
        assert_eq!((&*row.by, row.reason.as_deref()), ("olga", Some("spam")));

        other
            .switches
            .revive("post", Some(&acme), "olga", None)
            .await
            .unwrap();
        one.switches.refresh().await.unwrap();
        assert!(!one.tools().call(post_for(0), &one.cx()).await.is_error());
    }
}

// A stored disable applies to its workspace, or to all workspaces if it names none.
#[tokio::test]
async fn stored_disable_refuses_calls_of_its_workspace() {
    let store = UnreliableSwitches::default();
    let process = Process::new(&store, Gate::builder().build()).await;
    let (acme, globex) = (Workspace::new("acme"), Workspace::new("globex"));
    for (workspace, refused) in [(Some(&globex), false), (Some(&acme), true), (None, true)] {
        let tools = process.tools();
        process
            .switches
            .disable("post", workspace, true, "olga", None)
            .await
            .unwrap();
        let result = tools.call(post_for(0), &process.cx()).await;
        assert_eq!(result.is_error(), refused, "{workspace:?} {result:?}");
        assert_eq!(process.tools().get("post").is_none(), refused);
        process
            .switches
            .disable("post", workspace, false, "olga", None)
            .await
            .unwrap();
        assert!(process.tools().get("post").is_some());
    }
}

// Stored enablement decides which tools a turn sees.
#[tokio::test]
async fn stored_enablement_decides_what_a_turn_sees() {
    let store = UnreliableSwitches::default();
    let process = Process::new(&store, Gate::builder().build()).await;
    let acme = Workspace::new("acme");
    let names = async || {
        let rows = process.switches.enablement(&acme).await.unwrap();
        let rules = Rules::default().enablement(rows.default_open());
        let registry = Registry::builder()
            .tool::<post>()
            .tool::<look>()
            .build()
            .unwrap();
        let tools = registry.toolset(&process.cx(), &rules);
        tools.names().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(names().await, ["look", "post"]);
    let switches = &process.switches;
    assert!(
        switches
            .enable("look", "manual", None, "olga", None)
            .await
            .unwrap()
    );
    assert!(
        switches
            .enable("post", "skill", Some(&acme), "olga", None)
            .await
            .unwrap()
    );
    assert_eq!(names().await, ["look", "post"]);
    assert!(
        switches
            .withdraw("look", "manual", None, "olga", None)
            .await
            .unwrap()
    );
    assert_eq!(names().await, ["post"]);
    // A workspace has no tools if it has rows and none of its rows is enabled.
    assert!(
        switches
            .withdraw("post", "skill", Some(&acme), "olga", None)
            .await
            .unwrap()
    );
    assert_eq!(names().await, Vec::<String>::new());
}

// A kill switch of another process cancels running calls.
#[tokio::test]
async fn stored_kill_switch_cancels_running_calls() {
    let store = UnreliableSwitches::default();
    let process = Process::new(&store, Gate::builder().ledger(store.store.clone()).build()).await;
    let (tools, cx) = (process.tools(), process.cx());
    let running = tokio::spawn(async move { tools.call(post_for(20_000), &cx).await });
    while process.mailbox.sent() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let stored = Instant::now();
    store.set(kill("post")).await.unwrap();
    let result = running.await.unwrap();
    assert_eq!(kind(&result), Some(ErrorKind::Cancelled), "{result:?}");
    assert!(
        stored.elapsed() < Duration::from_secs(2),
        "{:?}",
        stored.elapsed()
    );
}

/// A ledger that stores a switch right before it stores a call's row, as another process could.
#[derive(Clone)]
struct SwitchBeforeClaim(
    UnreliableSwitches,
    Arc<dyn Fn(&UnreliableSwitches) + Send + Sync>,
);

impl EffectLedger for SwitchBeforeClaim {
    fn is_durable(&self) -> bool {
        false
    }
    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun> {
        Box::pin(async move {
            self.0.store.set(kill("post")).await?;
            (self.1)(&self.0);
            self.0.store.begin(intent, audit).await
        })
    }
    pass_on!(self => self.0.store; renew end get resolve sweep list);
}

// A call with a row in the ledger respects every switch stored before that row; if the store cannot be read, the call does not run.
#[tokio::test]
async fn ledgered_call_respects_switches_stored_before_its_row() {
    type After = fn(&UnreliableSwitches);
    let ways: [(&str, After, ErrorKind); 3] = [
        ("answers", |_| {}, ErrorKind::Denied),
        (
            "fails",
            |store| store.fails.store(true, Ordering::SeqCst),
            ErrorKind::Unavailable,
        ),
        (
            "hangs",
            |store| store.hangs.store(true, Ordering::SeqCst),
            ErrorKind::Unavailable,
        ),
    ];
    for (what, after, expected) in ways {
        let store = UnreliableSwitches::default();
        let ledger = SwitchBeforeClaim(store.clone(), Arc::new(after));
        let gate = Gate::builder()
            .ledger(ledger)
            .audit(Audit::required(store.store.clone()))
            .build();
        let process = Process::new(&store, gate).await;
        let result = process.tools().call(post_for(0), &process.cx()).await;
        assert_eq!(kind(&result), Some(expected), "{what}: {result:?}");
        assert_eq!(process.mailbox.sent(), 0, "{what}");
        let rows = EffectLedger::list(&store.store, Scope::All, None)
            .await
            .unwrap();
        assert_eq!(rows[0].state, EffectState::Failed, "{what}");
        let audit = store
            .store
            .export(Scope::All, &AuditFilter::default())
            .await
            .unwrap();
        assert_eq!(
            audit[0].outcome.as_deref(),
            Some(expected.as_str()),
            "{what}"
        );
    }
}

// While the store fails, the switches that were read last apply, and effects are refused after a second.
#[tokio::test]
async fn failing_store_refuses_effects_and_lets_reads_pass() {
    let store = UnreliableSwitches::default();
    let process = Process::new(&store, Gate::builder().build()).await;
    let acme = Workspace::new("acme");
    let tools = process.tools();
    store.fails.store(true, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let refused = tools.call(post_for(0), &process.cx()).await;
    assert_eq!(kind(&refused), Some(ErrorKind::Unavailable), "{refused:?}");
    let typed = tools.invoke(post { millis: 0 }, &process.cx()).await;
    let typed = typed.unwrap_err().kind();
    assert_eq!((typed, process.mailbox.sent()), (ErrorKind::Unavailable, 0));
    assert_eq!(tools.explain("post").as_str(), "unread");
    let looked = tools.call(look_at(), &process.cx()).await;
    assert!(!looked.is_error(), "{looked:?}");

    store.fails.store(false, Ordering::SeqCst);
    let sent = tools.call(post_for(0), &process.cx()).await;
    // After a failure the store is read again only at the next poll.
    if sent.is_error() {
        tokio::time::sleep(Duration::from_millis(400)).await;
        assert!(!tools.call(post_for(0), &process.cx()).await.is_error());
    }
    // A known switch applies even while the store fails.
    process
        .switches
        .kill("look", Some(&acme), "olga", None)
        .await
        .unwrap();
    store.fails.store(true, Ordering::SeqCst);
    assert!(tools.call(look_at(), &process.cx()).await.is_error());
}

// Typed calls, streams and calls without a gate read the stored switches as well.
#[tokio::test]
async fn every_call_path_reads_stored_switches() {
    let store = UnreliableSwitches::default();
    for gated in [true, false] {
        let process = Process::new(&store, Gate::builder().build()).await;
        let rules = Rules::default().switches(&process.switches);
        let registry = Registry::builder().tool::<post>().build().unwrap();
        let mut tools = registry.toolset(&process.cx(), &rules);
        if gated {
            tools = tools.through(&process.gate);
        }
        store.set(kill("post")).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        let cx = process.cx();
        assert!(tools.call(post_for(0), &cx).await.is_error());
        let events: Vec<ToolEvent> =
            futures::StreamExt::collect(tools.stream(post_for(0), &cx)).await;
        assert!(
            matches!(&events[..], [ToolEvent::Done(result)] if result.is_error()),
            "{events:?}"
        );
        assert!(tools.invoke(post { millis: 0 }, &cx).await.is_err());
        assert_eq!(process.mailbox.sent(), 0);
        let mut revived = kill("post");
        revived.on = false;
        store.set(revived).await.unwrap();
        process.switches.refresh().await.unwrap();
    }
}
