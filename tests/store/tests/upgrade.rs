//! Migration of files of versions without call identities (before the migration `0004_identity.sql`): their rows are converted, and their calls are
//! not run again.

#![allow(
    clippy::disallowed_methods,
    reason = "tests read the real clock and spawn their own tasks"
)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _, SqlSafeStr as _};
use tempfile::TempDir;
use tool_core::prelude::*;
use tool_core::store::*;
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, Turns};
use tool_core::{Approvals, Audit, Effect, Gate, KeyRing, Reply};
use tool_store::SqliteStore;

/// Creates a file with the tables of version 0.1 and the rows of these statements.
async fn old_file(sql: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    let options = SqliteConnectOptions::new()
        .filename(&file)
        .create_if_missing(true);
    let mut db = options.connect().await.unwrap();
    let migration = |number, name: &'static str, text: &'static str| {
        let simple = MigrationType::Simple;
        Migration::new(number, name.into(), simple, text.into_sql_str(), false)
    };
    let state = include_str!("../../../crates/tool-store/migrations/sqlite/0001_state.sql");
    let catalogue = include_str!("../../../crates/tool-store/migrations/sqlite/0002_catalogue.sql");
    let old = Migrator::with_migrations(vec![
        migration(1, "state", state),
        migration(2, "catalogue", catalogue),
    ]);
    old.run_direct(None, &mut db, false).await.unwrap();
    run(&mut db, sql).await;
    db.close().await.unwrap();
    (folder, file)
}

async fn run(db: &mut SqliteConnection, sql: &str) {
    let sql = AssertSqlSafe(sql.to_owned());
    sqlx::raw_sql(sql).execute(db).await.unwrap();
}

fn message(
    thread: &str,
    seq: u64,
    turn: &str,
    role: &str,
    call: Option<&str>,
    text: &str,
) -> String {
    let call = call.map_or("NULL".to_owned(), |call| format!("'{call}'"));
    format!(
        "INSERT INTO message VALUES ('{thread}', {seq}, '{turn}', '{role}', {call}, '{text}', {seq});"
    )
}

/// Returns a message of the model with calls of `send`, by their ids.
fn called(thread: &str, seq: u64, turn: &str, ids: &[&str]) -> String {
    let calls: Vec<String> = ids
        .iter()
        .map(|id| format!(r#"{{"id":"{id}","name":"send","arguments":"{{}}"}}"#))
        .collect();
    let text = format!(r#"{{"calls":[{}],"step":1}}"#, calls.join(","));
    message(thread, seq, turn, "assistant", None, &text)
}

fn result(thread: &str, seq: u64, turn: &str, call: &str) -> String {
    let text = format!(r#"{{"id":"{call}","name":"send","text":"of {call}"}}"#);
    message(thread, seq, turn, "tool", Some(call), &text)
}

/// Returns an audit row, from which the migration derives the workspace of a thread.
fn audited(id: &str, thread: &str, workspace: Option<&str>) -> String {
    let workspace = workspace.map_or("NULL".to_owned(), |name| format!("'{name}'"));
    format!(
        "INSERT INTO audit (id, call, turn, thread, tenant, tool, effect, arguments, original_hash, attempt, started, notes)
         VALUES ('{id}', 'call_0', 'run.1', '{thread}', {workspace}, 'send', 0, 'null', '', 1, 1, '[]');"
    )
}

/// Returns the old effect of a call in `acme`, with this hash of its arguments.
fn effect(turn: &str, call: &str, state: &str, arguments_hash: &str) -> String {
    let key = CallKey::earlier("acme", turn, call);
    let ended = matches!(state, "succeeded" | "failed" | "ambiguous");
    let (result, ended) = if ended {
        (r#"'{"output":"sent"}'"#, "5")
    } else {
        ("NULL", "NULL")
    };
    let lease = i64::MAX / 2;
    format!(
        "INSERT INTO effect VALUES ('{key}', '{call}', '{turn}', 'main', 'send', 'c', 'acme', 'ann', '{arguments_hash}', 'old run', 1,
         {lease}, '{state}', {result}, {ended}, 0, NULL, 1, 0);"
    )
}

struct OldApproval<'a> {
    id: &'a str,
    call: &'a str,
    parent: Option<&'a str>,
    status: &'a str,
    contract: &'a str,
    expires: i64,
}

impl OldApproval<'_> {
    /// Returns the statement for an approval requested by `ann` of `acme`, in turn `run.1` of `main`.
    fn sql(&self) -> String {
        let Self {
            id,
            call,
            status,
            contract,
            expires,
            ..
        } = self;
        let parent = self
            .parent
            .map_or("NULL".to_owned(), |id| format!("'{id}'"));
        let answer = if *status == "pending" {
            "NULL, NULL, NULL, NULL, NULL"
        } else {
            "'approve', NULL, 'boss', NULL, 2"
        };
        format!(
            "INSERT INTO approval VALUES ('{id}', 'call', 'main', 'run.1', '{call}', 'send', 'acme', 'ann', NULL, '{contract}', '{{}}',
             '', '', 0, NULL, 'nonce', 1, {expires}, {parent}, '{status}', NULL, {answer});"
        )
    }
}

fn thread(workspace: &str, conversation: &str) -> ThreadId {
    ThreadId::new(workspace, conversation).unwrap()
}

fn place(message: u64, position: u32) -> CallPlace {
    CallPlace { message, position }
}

async fn read(store: &SqliteStore, workspace: &str, conversation: &str) -> Vec<Message> {
    let thread = thread(workspace, conversation);
    ThreadStore::read(store, &thread, None).await.unwrap()
}

async fn answers(store: &SqliteStore, conversation: &str) -> Vec<Option<CallPlace>> {
    let messages = read(store, "acme", conversation).await;
    messages
        .into_iter()
        .map(|message| message.answers)
        .collect()
}

async fn unassigned(file: &Path) -> Vec<String> {
    let mut db = SqliteConnectOptions::new()
        .filename(file)
        .connect()
        .await
        .unwrap();
    let rows = sqlx::query("SELECT thread, seq FROM message_unassigned ORDER BY thread, seq");
    let rows = rows.fetch_all(&mut db).await.unwrap();
    let names = rows
        .iter()
        .map(|row| format!("{} {}", row.get::<&str, _>(0), row.get::<i64, _>(1)));
    names.collect()
}

// The results of old messages are assigned to their calls, even if the model repeated an id. Results of messages that cannot be parsed are not
// assigned.
#[tokio::test]
async fn old_results_are_paired_with_their_calls() {
    let odd = r#"{"calls":[7,"text",{"name":"send"},{"id":3},{"id":"call_0"}]}"#;
    let sql = [
        audited("a", "main", Some("acme")),
        message("main", 1, "", "user", None, "not JSON"),
        called(
            "main",
            2,
            "run.1",
            &["call_0", "call_1", "call_0", "call_0"],
        ),
        result("main", 3, "run.1", "call_0#2"),
        result("main", 4, "run.1", "call_0"),
        result("main", 5, "run.1", "call_1"),
        // The next message repeats the ids of the previous message.
        called("main", 6, "run.2", &["call_0"]),
        result("main", 7, "run.2", "call_0"),
        // Other hosts may have stored any content.
        message("main", 8, "run.3", "assistant", None, "not JSON"),
        result("main", 9, "run.3", "call_0"),
        message("main", 10, "run.4", "assistant", None, odd),
        result("main", 11, "run.4", "call_0"),
        message(
            "main",
            12,
            "run.5",
            "assistant",
            None,
            r#"{"calls":{"id":"call_0"}}"#,
        ),
        result("main", 13, "run.5", "call_0"),
        // A host used the same name for two turns.
        called("main", 14, "again", &["call_0", "call_1"]),
        result("main", 15, "again", "call_1"),
        called("main", 16, "again", &["call_1", "call_0"]),
        result("main", 17, "again", "call_0"),
    ];
    let (_folder, file) = old_file(&sql.concat()).await;
    let store = SqliteStore::open(&file).await.unwrap();
    let expected = [
        None,
        None,
        Some(place(2, 2)),
        Some(place(2, 0)),
        Some(place(2, 1)),
        None,
        Some(place(6, 0)),
        None,
        None,
        None,
        Some(place(10, 4)),
        None,
        None,
        None,
        Some(place(14, 1)),
        None,
        Some(place(16, 1)),
    ];
    assert_eq!(answers(&store, "main").await, expected);
    let messages = read(&store, "acme", "main").await;
    assert_eq!(
        messages.iter().map(|m| m.seq).collect::<Vec<_>>(),
        (1..=17).collect::<Vec<_>>()
    );
    assert_eq!(messages[1].turn.as_deref(), Some("run.1"));
    let said = NewMessage {
        thread: thread("acme", "main"),
        role: Role::User,
        follows: None,
        answers: None,
        content: "1".into(),
        at: Timestamp::now(),
    };
    assert_eq!(store.append(said).await.unwrap(), 18);
    assert_eq!(unassigned(&file).await, Vec::<String>::new());
}

// An old thread whose calls have one workspace belongs to this workspace, also to the workspace without a name. In a file with several workspaces, a
// thread with calls of two workspaces and a thread without calls belong to none.
#[tokio::test]
async fn old_threads_get_their_workspace_or_none() {
    let sql = [
        audited("a", "own", Some("acme")),
        audited("b", "shared", Some("acme")),
        audited("c", "shared", Some("globex")),
        audited("d", "single", None),
        audited("e", "half", None),
        audited("f", "half", Some("acme")),
        message("own", 1, "", "user", None, "1"),
        message("shared", 1, "", "user", None, "1"),
        message("shared", 2, "", "user", None, "2"),
        message("single", 1, "", "user", None, "1"),
        message("half", 1, "", "user", None, "1"),
        message("nobody", 1, "", "user", None, "1"),
    ];
    let (_folder, file) = old_file(&sql.concat()).await;
    let store = SqliteStore::open(&file).await.unwrap();
    for (conversation, owner) in [
        ("own", Some("acme")),
        ("single", Some("")),
        ("shared", None),
        ("half", None),
        ("nobody", None),
    ] {
        for workspace in ["", "acme", "globex"] {
            let found = !read(&store, workspace, conversation).await.is_empty();
            assert_eq!(
                found,
                owner == Some(workspace),
                "{workspace} {conversation}"
            );
        }
    }
    let expected = ["half 1", "nobody 1", "shared 1", "shared 2"];
    assert_eq!(unassigned(&file).await, expected);
    let rows = store
        .export(Scope::All, &AuditFilter::default())
        .await
        .unwrap();
    let mut owners: Vec<&str> = rows
        .iter()
        .map(|row| row.identity.workspace().as_str())
        .collect();
    owners.sort_unstable();
    assert_eq!(owners, ["", "", "acme", "acme", "acme", "globex"]);
}

// If the whole file has one workspace, threads without calls belong to it. If the file has no workspace, they belong to the workspace without a name.
#[tokio::test]
async fn a_thread_without_calls_belongs_to_the_only_workspace() {
    for (rows, owner) in [
        (audited("a", "main", Some("acme")), "acme"),
        (String::new(), ""),
    ] {
        let sql = rows + &message("talk", 1, "", "user", None, "1");
        let (_folder, file) = old_file(&sql).await;
        let store = SqliteStore::open(&file).await.unwrap();
        assert_eq!(read(&store, owner, "talk").await.len(), 1);
        assert_eq!(unassigned(&file).await, Vec::<String>::new());
    }
}

fn intent(position: u32, call: &str) -> Intent {
    Intent {
        identity: CallId::in_thread(&thread("acme", "main"), 2, position),
        earlier: Some(CallKey::earlier("acme", "run.1", call)),
        call: call.to_owned(),
        thread: Some("main".into()),
        agent: Some("clerk".into()),
        tool: "send".into(),
        contract: "c".into(),
        principal: "ann".into(),
        arguments_hash: "h".into(),
        owner: "new run".into(),
        at: Timestamp::from_millis(10),
        lease_until: Timestamp::from_millis(99),
    }
}

// M6: effects that began in a version without call identities do not begin again.
#[tokio::test]
async fn old_effects_are_found() {
    let states = ["running", "ambiguous", "succeeded", "failed"];
    let sql: Vec<String> = states
        .iter()
        .map(|state| effect("run.1", state, state, "h"))
        .collect();
    let (_folder, file) = old_file(&sql.concat()).await;
    let store = SqliteStore::open(&file).await.unwrap();
    for (position, state) in (0..).zip(states) {
        let Begun::Replay(row) = store.begin(intent(position, state), None).await.unwrap() else {
            panic!("{state} was begun again");
        };
        assert_eq!(row.state.as_str(), state);
        let stranger = Intent {
            principal: "eve".into(),
            ..intent(position, state)
        };
        assert!(matches!(
            store.begin(stranger, None).await,
            Err(StoreError::Conflict(_))
        ));
    }
    assert_eq!(
        store.begin(intent(9, "another"), None).await.unwrap(),
        Begun::New
    );
    assert_eq!(
        EffectLedger::list(&store, Scope::All, None)
            .await
            .unwrap()
            .len(),
        5
    );
}

// M5: approvals that a version without call identities stored are found by the key of their call, including nested calls.
#[tokio::test]
async fn old_approvals_are_found_by_key() {
    let asked = |id, call, parent, status| {
        let contract = "c";
        OldApproval {
            id,
            call,
            parent,
            status,
            contract,
            expires: 1000,
        }
        .sql()
    };
    let sql = [
        asked("plain", "c-1", None, "approved"),
        asked("waits", "a/0:b", None, "pending"),
        asked("nested", "c-1/0:c-2", Some("c-1"), "approved"),
        asked(
            "deep",
            "c-1/0:c-2/12:functions.send:3",
            Some("c-1/0:c-2"),
            "pending",
        ),
    ];
    let (_folder, file) = old_file(&sql.concat()).await;
    for _ in 0..2 {
        let store = SqliteStore::open(&file).await.unwrap();
        let acme = Workspace::new("acme");
        for (id, path, call, parent) in [
            ("plain", "c-1", "c-1", None),
            ("waits", "a/0:b", "a/0:b", None),
            ("nested", "c-1/0:c-2", "c-2", Some("c-1")),
            (
                "deep",
                "c-1/0:c-2/12:functions.send:3",
                "functions.send:3",
                Some("c-2"),
            ),
        ] {
            let key = CallKey::earlier("acme", "run.1", path);
            let filter = ApprovalFilter {
                key: Some(key.as_str().into()),
                ..ApprovalFilter::default()
            };
            let rows = ApprovalStore::list(&store, Scope::Workspace(&acme), &filter)
                .await
                .unwrap();
            let [row] = &rows[..] else {
                panic!("{id}: {rows:?}")
            };
            assert_eq!(row.request.id, id);
            assert_eq!(
                (row.request.call.as_str(), row.request.parent.as_deref()),
                (call, parent)
            );
            assert_eq!(row.request.identity.key(), key);
            let approved = row.answer.as_ref().map(|answer| answer.approver.as_str());
            assert_eq!(
                approved,
                (row.status == ApprovalStatus::Approved).then_some("boss")
            );
        }
        store.close().await;
    }
}

const FILE: &str = "TOOL_STORE_TEST_OLD_FILE";

/// Runs in the child process: opens an old file.
#[tokio::test]
async fn child() {
    if let Ok(file) = std::env::var(FILE) {
        let store = SqliteStore::open(file).await.unwrap();
        assert_eq!(answers(&store, "main").await, [None, Some(place(1, 0))]);
    }
}

// M6: an old file is migrated once, even if several processes open it several times.
#[tokio::test(flavor = "multi_thread")]
async fn an_old_file_is_migrated_once() {
    let old = OldApproval {
        id: "a",
        call: "c-1",
        parent: None,
        status: "pending",
        contract: "c",
        expires: 9,
    };
    let sql = [
        audited("a", "main", Some("acme")),
        called("main", 1, "run.1", &["call_0"]),
        result("main", 2, "run.1", "call_0"),
        effect("run.1", "call_0", "succeeded", "h"),
        old.sql(),
    ];
    for _ in 0..3 {
        let (_folder, file) = old_file(&sql.concat()).await;
        let children: Vec<_> = (0..4)
            .map(|_| {
                std::process::Command::new(std::env::current_exe().unwrap())
                    .args(["--exact", "child"])
                    .env(FILE, &file)
                    .stdout(std::process::Stdio::null())
                    .spawn()
                    .unwrap()
            })
            .collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        for _ in 0..2 {
            let store = SqliteStore::open(&file).await.unwrap();
            assert_eq!(answers(&store, "main").await, [None, Some(place(1, 0))]);
            assert_eq!(
                EffectLedger::list(&store, Scope::All, None)
                    .await
                    .unwrap()
                    .len(),
                1
            );
            store.close().await;
        }
    }
}

// The migration of a file with 20,000 messages and 5,000 approvals takes less than 20 seconds.
#[tokio::test]
async fn a_large_file_is_migrated_in_time() {
    let mut sql = String::from("BEGIN;");
    sql += &audited("a", "main", Some("acme"));
    // The file contains one long thread and many short threads.
    for (thread, messages) in [("main".to_owned(), 10_000)]
        .into_iter()
        .chain((0..500).map(|n| (format!("thread {n}"), 20)))
    {
        for n in 0..messages / 4 {
            let (seq, turn) = (4 * n + 1, format!("run.{n}"));
            sql += &called(&thread, seq, &turn, &["call_0", "call_1", "call_0"]);
            sql += &result(&thread, seq + 1, &turn, "call_0");
            sql += &result(&thread, seq + 2, &turn, "call_1");
            sql += &result(&thread, seq + 3, &turn, "call_0#2");
        }
        sql += &audited(&format!("of {thread}"), &thread, Some("acme"));
    }
    for n in 0..5_000 {
        let id = format!("a {n}");
        sql += &OldApproval {
            id: &id,
            call: &id,
            parent: None,
            status: "pending",
            contract: "c",
            expires: 9,
        }
        .sql();
    }
    sql += "COMMIT;";
    let (_folder, file) = old_file(&sql).await;
    let begun = Instant::now();
    let store = SqliteStore::open(&file).await.unwrap();
    let took = begun.elapsed();
    println!("20,000 messages and 5,000 approvals were migrated in {took:?}");
    assert!(took < Duration::from_secs(20), "{took:?}");
    let answers = answers(&store, "main").await;
    assert_eq!(
        answers.iter().filter(|answer| answer.is_some()).count(),
        7_500
    );
    assert_eq!(answers[9_999], Some(place(9_997, 2)));
}

/// A counter of effects, as a host value.
#[derive(Clone, Default)]
struct Sent(Arc<AtomicU32>);
tool_core::host_value!(Sent, Effect::WRITE);

/// Sends a message.
#[tool(approval)]
async fn send(sent: &Sent) -> String {
    sent.0.fetch_add(1, Ordering::SeqCst);
    "sent".to_owned()
}

/// A model that answers at once without calls.
struct Done;

impl Model for Done {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        Box::pin(async { Ok(ModelMessage::text("done")) })
    }
}

struct Host {
    store: SqliteStore,
    gate: Gate,
    tools: Toolset,
    sent: Sent,
    cx: ToolContext,
}

impl Host {
    async fn open(file: &Path) -> Self {
        let store = SqliteStore::open(file).await.unwrap();
        let keys = KeyRing::new("k-1", vec![7; 32]).unwrap();
        let approvals = Approvals::builder(store.clone()).keys(keys);
        let gate = Gate::builder()
            .approvals(approvals.build().unwrap())
            .ledger(store.clone())
            .audit(Audit::required(store.clone()))
            .build();
        let tools = toolset![send].through(&gate);
        let sent = Sent::default();
        let cx = ToolContext::builder()
            .workspace("acme")
            .user("ann")
            .conversation("main")
            .with(sent.clone())
            .build();
        Self {
            store,
            gate,
            tools,
            sent,
            cx,
        }
    }

    async fn drive(&self) -> Outcome {
        let turns = Turns::new(self.store.clone());
        let mut model = Done;
        let driven = turns.drive(&mut model, |_| self.tools.clone(), &self.cx);
        driven.await.unwrap()
    }

    fn times(&self) -> u32 {
        self.sent.0.load(Ordering::SeqCst)
    }
}

/// Returns the contract of `send` and the hash of its arguments, as a gate stores them.
async fn stored_by_a_gate() -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let host = Host::open(&folder.path().join("state.db")).await;
    let asked = host
        .tools
        .call(ToolCall::new("c", "send", "{}"), &host.cx)
        .await;
    let acme = Workspace::new("acme");
    let approvals = host.gate.approvals().unwrap();
    let token = &asked.tickets()[0].token;
    let answer = approvals.answer(&acme, &host.tools, token, Reply::Approve, "boss", None);
    answer.await.unwrap();
    assert!(!host.tools.resume(token, &host.cx).await.is_error());
    let rows = EffectLedger::list(&host.store, Scope::All, None)
        .await
        .unwrap();
    let intent = rows.into_iter().next().unwrap().intent;
    (intent.contract, intent.arguments_hash)
}

/// Creates a thread with one open call, as version 0.1 stored it.
fn open_call() -> String {
    let said = message("main", 1, "", "user", None, r#""Send it.""#);
    said + &called("main", 2, "run.1", &["call_0"])
}

// M5: an approval that a version without call identities stored lets its call run exactly once, by thread and by token.
#[tokio::test]
async fn an_old_approval_lets_its_call_run_once() {
    let (contract, _) = stored_by_a_gate().await;
    for status in ["approved", "pending"] {
        for token_first in [false, true] {
            let (id, call, parent, expires) = ("old", "call_0", None, i64::MAX / 2);
            let approval = OldApproval {
                id,
                call,
                parent,
                status,
                contract: &contract,
                expires,
            };
            let (_folder, file) = old_file(&(open_call() + &approval.sql())).await;
            let host = Host::open(&file).await;
            let acme = Workspace::new("acme");
            let approvals = host.gate.approvals().unwrap();
            let ticket = approvals.ticket_of(&acme, "old").await.unwrap();
            if status == "pending" {
                let outcome = host.drive().await;
                let Outcome::Waiting(tickets) = outcome else {
                    panic!("{outcome:?}")
                };
                assert_eq!(tickets, std::slice::from_ref(&ticket));
                assert_eq!(host.times(), 0);
                let answer = approvals.answer(
                    &acme,
                    &host.tools,
                    &ticket.token,
                    Reply::Approve,
                    "boss",
                    None,
                );
                answer.await.unwrap();
            }
            if token_first {
                let result = host.tools.resume(&ticket.token, &host.cx).await;
                assert!(!result.is_error() && !result.is_replayed(), "{result:?}");
            }
            let outcome = host.drive().await;
            assert!(
                matches!(&outcome, Outcome::Answered(text) if text == "done"),
                "{outcome:?}"
            );
            assert_eq!(host.times(), 1, "{status} {token_first}");
            // The token is used, and returns the stored result.
            let result = host.tools.resume(&ticket.token, &host.cx).await;
            assert!(result.is_replayed() && !result.is_error(), "{result:?}");
            assert_eq!(host.times(), 1, "{status} {token_first}");
            let messages = read(&host.store, "acme", "main").await;
            assert_eq!(messages[2].answers, Some(place(2, 0)));
            assert_eq!(
                EffectLedger::list(&host.store, Scope::All, None)
                    .await
                    .unwrap()
                    .len(),
                1
            );
        }
    }
}

// M6: an effect that a version without call identities began and whose end was not stored is not repeated, and an operator's rerun runs it once.
#[tokio::test]
async fn an_old_effect_is_not_repeated() {
    let (contract, hash) = stored_by_a_gate().await;
    for (state, rerun_by_token) in [
        ("running", false),
        ("ambiguous", false),
        ("ambiguous", true),
    ] {
        let (id, call, parent, expires) = ("old", "call_0", None, i64::MAX / 2);
        let status = "spent";
        let approval = OldApproval {
            id,
            call,
            parent,
            status,
            contract: &contract,
            expires,
        };
        let sql = [
            open_call(),
            approval.sql(),
            effect("run.1", "call_0", state, &hash),
        ];
        let (_folder, file) = old_file(&sql.concat()).await;
        let host = Host::open(&file).await;
        let outcome = host.drive().await;
        let Outcome::Unsettled(row) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(row.state.as_str(), state);
        assert_eq!(host.times(), 0);
        if state == "running" {
            continue;
        }
        let key = row.intent.identity.key();
        assert_eq!(key, CallKey::earlier("acme", "run.1", "call_0"));
        host.gate
            .resolve(&key, Resolution::Rerun, "otto")
            .await
            .unwrap();
        let approvals = host.gate.approvals().unwrap();
        let ticket = approvals.ticket_of(key.workspace(), "old").await.unwrap();
        if rerun_by_token {
            let result = host.tools.resume(&ticket.token, &host.cx).await;
            assert!(!result.is_error() && !result.is_replayed(), "{result:?}");
        }
        let outcome = host.drive().await;
        assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
        assert!(
            host.tools
                .resume(&ticket.token, &host.cx)
                .await
                .is_replayed()
        );
        assert_eq!(host.times(), 1);
        let rows = EffectLedger::list(&host.store, Scope::All, None)
            .await
            .unwrap();
        assert_eq!(rows.iter().map(|row| row.attempt).collect::<Vec<_>>(), [2]);
    }
}
