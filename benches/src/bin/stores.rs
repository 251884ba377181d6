//! The cost of the stores on SQLite and PostgreSQL: calls through a gate, pages of a million audit rows, and the rules of a thousand instances.
//!
//! `stores calls|audit|instances [postgres://…]`; without a URL, only SQLite is measured. The server must write to disk (`fsync` on, the default).

use std::fs::File;
use std::future::Future;
use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use sqlx::{Connection as _, Executor as _, PgConnection, Row as _};
use tool_core::prelude::*;
use tool_core::store::{
    AuditFilter, AuditRow, AuditSink, CallId, CatalogueEntry, EffectLedger, EnablementStore, InstanceId, Scope, ThreadId, Timestamp, Workspace,
};
use tool_core::{Audit, Effect, Gate, InstanceRules, Sweeper};
use tool_store::{PostgresStore, SqliteStore};

#[derive(Clone)]
struct Outbox;
tool_core::host_value!(Outbox, Effect::WRITE);

/// Sends a message.
#[tool]
async fn send(
    _outbox: &Outbox,
    /// The recipient of the message.
    to: String,
) -> String {
    to
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let folder = tempfile::Builder::new().prefix("stores-").tempdir_in(".").expect("a folder");
    let postgres = words.get(1).map(String::as_str);
    runtime.block_on(async {
        match words.first().map(String::as_str) {
            Some("calls") => calls(folder.path(), postgres).await,
            Some("audit") => audit(folder.path(), postgres).await,
            Some("instances") => instances(folder.path(), postgres).await,
            _ => println!("stores calls|audit|instances [postgres://…]"),
        }
    });
}

async fn sqlite(folder: &Path, name: &str) -> SqliteStore {
    SqliteStore::open(folder.join(name)).await.expect("a store")
}

async fn postgres(url: &str) -> PostgresStore {
    PostgresStore::open(url).await.expect("a store")
}

/// Returns the time of one write of 4 KiB to the end of a file with `fdatasync`. A transaction needs at least this time.
fn sync_cost(folder: &Path) -> Duration {
    let mut file = File::create(folder.join("plain")).expect("a file");
    let (rounds, start) = (300, Instant::now());
    for _ in 0..rounds {
        file.write_all(&[7; 4096]).and_then(|()| file.sync_data()).expect("written");
    }
    start.elapsed() / rounds
}

// The benchmark `calls`.

async fn calls(folder: &Path, url: Option<&str>) {
    let sync = sync_cost(folder);
    println!("one synchronised write of 4 KiB: {:.0} µs", sync.as_secs_f64() * 1e6);
    println!("| store | tasks | calls per second | calls per synchronised write | transactions per call |");
    println!("|---|---|---|---|---|");
    let store = sqlite(folder, "calls.db").await;
    for tasks in [1, 8, 64] {
        let rate = rate(&store, tasks).await;
        report("SQLite", tasks, rate, sync, None);
    }
    let Some(url) = url else { return };
    let mut admin = PgConnection::connect(url).await.expect("a connection");
    let store = postgres(url).await;
    for tasks in [1, 8, 64] {
        let before = commits(&mut admin).await;
        let rate = rate(&store, tasks).await;
        let after = commits(&mut admin).await;
        report("PostgreSQL", tasks, rate, sync, Some((after - before) as f64 / f64::from(rate.calls)));
    }
}

#[derive(Clone, Copy)]
struct Rate {
    calls: u32,
    took: Duration,
}

/// Prints a row. The commits of SQLite are counted by `tests/store/tests/turn_cost.rs`, because checkpoints reset the log during a bench.
fn report(store: &str, tasks: u32, rate: Rate, sync: Duration, transactions: Option<f64>) {
    let second = f64::from(rate.calls) / rate.took.as_secs_f64();
    let transactions = transactions.map_or_else(String::new, |transactions| format!("{transactions:.2}"));
    println!("| {store} | {tasks} | {second:.0} | {:.2} | {transactions} |", second * sync.as_secs_f64());
}

/// Makes calls with an effect, a ledger and a required audit row for two seconds.
async fn rate<S: EffectLedger + AuditSink + Clone>(store: &S, tasks: u32) -> Rate {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let gate = Gate::builder()
        .ledger(store.clone())
        .audit(Audit::required(store.clone()))
        .sweeper(Sweeper::off())
        .build();
    let tools = toolset![send].through(&gate);
    let cx = ToolContext::builder().workspace("acme").user("ann").with(Outbox).build();
    let (start, until) = (Instant::now(), Duration::from_secs(2));
    let done = Arc::new(AtomicU32::new(0));
    let tasks = (0..tasks).map(|_| {
        let (tools, cx, done) = (tools.clone(), cx.clone(), Arc::clone(&done));
        tokio::spawn(async move {
            while start.elapsed() < until {
                let number = NUMBER.fetch_add(1, Ordering::Relaxed);
                let call = ToolCall::new(format!("c{number}"), "send", r#"{"to":"bob"}"#);
                let result = tools.call(call, &cx).await;
                assert_eq!(result.model_text(), "bob");
                done.fetch_add(1, Ordering::Relaxed);
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.expect("a task");
    }
    Rate { calls: done.load(Ordering::Relaxed), took: start.elapsed() }
}

/// Returns the number of committed transactions of the current database.
async fn commits(admin: &mut PgConnection) -> i64 {
    // A busy backend reports its counts at most once a second, and an idle backend reports the rest after 10 s, so the last commits may be missing.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let row = admin.fetch_one("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()").await;
    row.expect("a row").get(0)
}

// The benchmark `audit`.

const ROWS: u32 = 1_000_000;

async fn audit(folder: &Path, url: Option<&str>) {
    println!("| store | filter | first page, ms | page after up to 1,000 rows, ms |");
    println!("|---|---|---|---|");
    let store = sqlite(folder, "audit.db").await;
    let filled = fill(&store).await;
    pages_of("SQLite", &store).await;
    println!("SQLite: {:.1} µs per written row, in batches of 500", filled);
    retained("SQLite", &store).await;
    let Some(url) = url else { return };
    let store = postgres(url).await;
    let filled = fill(&store).await;
    let mut admin = PgConnection::connect(url).await.expect("a connection");
    admin.execute("VACUUM (ANALYZE) tool_store.audit").await.expect("analysed");
    pages_of("PostgreSQL", &store).await;
    println!("PostgreSQL: {:.1} µs per written row, in batches of 500", filled);
    retained("PostgreSQL", &store).await;
}

fn row(number: u32) -> AuditRow {
    // 90 % of the rows belong to one workspace. Each filter of the bench, except `none`, selects between one row and 10 % of the rows.
    let workspace = if number % 10 == 0 { "other" } else { "acme" };
    let thread = ThreadId::new(workspace, format!("thread-{}", number % 9_973)).expect("an id");
    let at = Timestamp::from_millis(1_760_000_000_000 + i64::from(number) * 50);
    let place = CallId::in_thread(&thread, u64::from(number), 0);
    let tool = if number % 1_009 == 0 { "rare_tool".to_owned() } else { format!("tool_{}", number % 50) };
    let outcome = match number % 1_013 {
        0 => "timed_out",
        1..=20 => "failed",
        _ => "ok",
    };
    AuditRow {
        principal: Some(format!("user-{}", number % 1_021)),
        decision: Some(format!("decision-{}", number % 1_031)),
        thread: Some(thread.conversation().to_owned()),
        outcome: Some(outcome.to_owned()),
        arguments: r#"{"query":{"length":31},"limit":10}"#.to_owned(),
        duration_us: Some(1_300),
        ..AuditRow::new(place, format!("call_{number}"), tool, at)
    }
}

/// Writes the rows, and returns the microseconds for each.
async fn fill(store: &impl AuditSink) -> f64 {
    let start = Instant::now();
    for batch in 0..ROWS / 500 {
        let rows = (0..500).map(|n| row(batch * 500 + n)).collect();
        store.write(rows).await.expect("written");
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(ROWS)
}

async fn pages_of(name: &str, store: &impl AuditSink) {
    let workspace = Workspace::new("acme");
    let at = |number: i64| Some(Timestamp::from_millis(1_760_000_000_000 + number * 50));
    let text = |text: &str| Some(text.to_owned());
    let base = || AuditFilter { newest_first: true, limit: Some(100), ..AuditFilter::default() };
    let filters = [
        ("none", base()),
        ("time", AuditFilter { since: at(400_000), until: at(500_000), ..base() }),
        ("tool, one row of 1,009", AuditFilter { tool: text("rare_tool"), ..base() }),
        ("principal, one of 1,021", AuditFilter { principal: text("user-7"), ..base() }),
        ("conversation, one of 9,973", AuditFilter { thread: text("thread-7"), ..base() }),
        ("call, one row", AuditFilter { call: text("call_777777"), ..base() }),
        ("decision, one of 1,031", AuditFilter { decision: text("decision-7"), ..base() }),
        ("outcome `timed_out`, one of 1,013", AuditFilter { outcome: text("timed_out"), ..base() }),
        ("failed, 21 of 1,013", AuditFilter { failed: true, ..base() }),
    ];
    for (what, filter) in filters {
        let scope = Scope::Workspace(&workspace);
        let page = async |filter: &AuditFilter| store.export(scope, filter).await.expect("a page");
        let first = median(|| page(&filter)).await;
        let mut deep = filter.clone();
        for _ in 0..10 {
            let rows = page(&deep).await;
            let Some(last) = rows.last().filter(|_| rows.len() == 100) else { break };
            let (at, key) = last.place();
            deep.after = Some((at, key.clone()));
        }
        let deep = median(|| page(&deep)).await;
        println!("| {name} | {what} | {first:.2} | {deep:.2} |");
    }
}

/// Returns the median time of a request, in milliseconds.
async fn median<T, F: Future<Output = T>>(mut request: impl FnMut() -> F) -> f64 {
    let mut times = Vec::new();
    for _ in 0..21 {
        let start = Instant::now();
        request().await;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Removes 200,000 rows while a second task writes single rows, and prints the 99th percentile of the time of a write.
async fn retained<S: AuditSink + Clone>(name: &str, store: &S) {
    let since = Timestamp::from_millis(1_760_000_000_000 + 200_000 * 50);
    let alone = waits(store, tokio::time::sleep(Duration::from_secs(2))).await;
    let start = Instant::now();
    let mut removed = 0;
    let during = waits(store, async { removed = store.retain(Scope::All, since).await.expect("removed") }).await;
    println!(
        "{name}: `retain` of {removed} rows took {:.1} s; a concurrent write took {:.1} ms at the 99th percentile ({:.1} ms alone)",
        start.elapsed().as_secs_f64(),
        during,
        alone
    );
}

/// Returns the 99th percentile of the time of single writes while a future runs, in milliseconds.
async fn waits<S: AuditSink + Clone>(store: &S, work: impl Future) -> f64 {
    static NUMBER: AtomicU32 = AtomicU32::new(2 * ROWS);
    let (store, ended) = (store.clone(), Arc::new(AtomicBool::new(false)));
    let stop = Arc::clone(&ended);
    let writes = tokio::spawn(async move {
        let mut times = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let start = Instant::now();
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            store.write(vec![row(number)]).await.expect("written");
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        times
    });
    work.await;
    ended.store(true, Ordering::Relaxed);
    let mut times = writes.await.expect("times");
    times.sort_by(f64::total_cmp);
    times[times.len() * 99 / 100]
}

// The benchmark `instances`.

async fn instances(folder: &Path, url: Option<&str>) {
    println!("| store | rules of an instance, cached, µs | from the store, ms | resident memory after 1,000 and 100,000 turns, MB |");
    println!("|---|---|---|---|");
    rules("SQLite", sqlite(folder, "instances.db").await).await;
    if let Some(url) = url {
        rules("PostgreSQL", postgres(url).await).await;
    }
}

async fn rules<S: EnablementStore + Clone>(name: &str, store: S) {
    let now = Timestamp::now();
    let entries = (0..10_000).map(|n| CatalogueEntry::new(format!("tool_{n}"))).collect();
    store.reconcile(entries).await.expect("reconciled");
    let instance = |n: u32| InstanceId::new("acme", format!("instance-{n}"));
    for n in 0..1_000 {
        store.add_instance(&instance(n), now).await.expect("added");
        for tool in 0..20 {
            let tool = format!("tool_{}", (n * 31 + tool * 401) % 10_000);
            store.enable(&instance(n), &tool, "olga", now).await.expect("enabled");
        }
    }
    let open = InstanceRules::open(store.clone()).await.expect("rules");
    let mut cold = Vec::new();
    for n in 0..1_000 {
        let start = Instant::now();
        let _ = black_box(open.rules(&instance(n)).await.expect("rules"));
        cold.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let mut warm = Vec::new();
    let mut memory = 0;
    for n in 0..100_000 {
        if n == 1_000 {
            memory = resident();
        }
        let start = Instant::now();
        let _ = black_box(open.rules(&instance(n % 1_000)).await.expect("rules"));
        warm.push(start.elapsed().as_secs_f64() * 1e6);
    }
    let middle = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let after = resident();
    println!("| {name} | {:.1} | {:.2} | {:.1}, {:.1} |", middle(warm), middle(cold), mb(memory), mb(after));
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Returns the resident memory of this process in bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or_default() * 4096
}
