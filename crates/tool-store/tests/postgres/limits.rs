//! Processes that share limits on one database.

use test_support::Ran;

use crate::database::Database;
use crate::processes::Worker;
use crate::shared_limits as shared;

const PROCESSES: u32 = 4;

// Issue 16: processes that take units of one limit at the same time never exceed it together.
pub(crate) async fn processes_together_do_not_exceed_a_limit_case() -> Ran {
    let database = Database::create().await?;
    database.options().open().await.unwrap();
    let start = |_| Worker::start("take units", &database.url);
    let mut workers: Vec<Worker> = (0..PROCESSES).map(start).collect();
    workers.iter_mut().for_each(Worker::go);
    let lines: Vec<String> = workers.into_iter().flat_map(Worker::finish).collect();
    shared::check_units(&lines, PROCESSES);
    Ok(())
}

// Issue 16: the permits of a killed process are released within one lease.
pub(crate) async fn permits_of_a_killed_process_return_case() -> Ran {
    let database = Database::create().await?;
    let store = database.options().open().await.unwrap();
    let mut worker = Worker::start("hold permits", &database.url);
    worker.go();
    assert_eq!(worker.line().as_deref(), Some("holds"));
    shared::killed_process_returns_its_permits(&store, || drop(worker.kill())).await;
    Ok(())
}
