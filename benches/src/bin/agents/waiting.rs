//! The memory and the tasks of conversations that wait for an approval.

use std::time::Instant;

use tokio::runtime::Handle;
use tool_agent::agent::Agent;
use tool_agent::model::{Script, ScriptedModel};
use tool_agent::runtime::{AgentEntry, AgentRuntime};
use tool_core::prelude::*;
use tool_core::turn::{Outcome, Turns};
use tool_core::{Approvals, Gate, KeyRing, Sweeper};
use tool_store::SqliteStore;

use crate::{resident, two_threads};

/// Buys something.
#[tool(approval)]
fn buy(
    /// What to buy.
    what: String,
) -> String {
    what
}

pub(crate) fn report(count: usize) {
    let folder = tempfile::Builder::new().prefix("agents-").tempdir_in(".").expect("a folder");
    two_threads().block_on(async {
        let store = SqliteStore::open(folder.path().join("state.db")).await.expect("a store");
        let approvals = Approvals::builder(store.clone()).keys(KeyRing::new("k1", [7; 32]).expect("a key")).build().expect("approvals");
        let gate = Gate::builder().approvals(approvals).ledger(store.clone()).sweeper(Sweeper::off()).build();
        let call = ToolCall::new("call_1", "buy", r#"{"what":"a book"}"#);
        let model = ScriptedModel::new([Script::calls([call]), Script::text("done")]);
        let agent = Agent::builder("buyer", model).tools(|_| toolset![buy]).build().expect("an agent");
        let runtime = AgentRuntime::builder(Turns::new(store), &gate).agent(AgentEntry::new(agent)).build().expect("a runtime");
        // Additional conversations fill the caches of the store before the measurement.
        let warm = count / 10;
        let (mut before, mut tasks) = (0, 0);
        let start = Instant::now();
        for number in 0..warm + count {
            if number == warm {
                (before, tasks) = (resident(), Handle::current().metrics().num_alive_tasks());
            }
            let cx = ToolContext::builder().workspace("acme").user("ann").conversation(format!("c-{number}")).build();
            let outcome = runtime.respond("buyer", "Buy a book.", &cx).await.expect("an outcome");
            assert!(matches!(outcome, Outcome::Waiting(_)), "{outcome:?}");
        }
        let bytes = resident().saturating_sub(before) / count;
        let tasks = Handle::current().metrics().num_alive_tasks().saturating_sub(tasks);
        println!("{count} conversations that wait: {bytes} bytes of resident memory each, {tasks} tasks in all, {:.0} s", start.elapsed().as_secs_f64());
    });
}
