//! The test cases of schedulers, each on PostgreSQL and on SQLite.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use test_support::Ran;
use tool_core::store::{
    NewTask, Role, TaskDefinition, TaskId, TaskRun, TaskRunFilter, TaskRunState, TaskTiming,
    ThreadId, ThreadStore, Timestamp, Workspace,
};

use crate::cases::{Stage, on_postgres, on_sqlite};
use crate::process::{Worker, lines};
use crate::schedule::{JOB, Job, LONG, SHORT, Schedules};

/// The time that a test waits for a change.
const PATIENCE: Duration = Duration::from_secs(30);

/// The interval between the due times of a repeated task, in milliseconds.
const EVERY: u64 = 400;

fn id(name: &str) -> TaskId {
    TaskId::new(&Workspace::new("acme"), name).unwrap()
}

async fn create(store: &impl Schedules, name: &str, prompt: &str, timing: TaskTiming) {
    let (TaskTiming::Once { at: due } | TaskTiming::Interval { from: due, .. }) = timing else {
        panic!("{timing:?}")
    };
    let new = NewTask {
        id: id(name),
        principal: None,
        definition: TaskDefinition {
            name: name.to_owned(),
            prompt: prompt.to_owned(),
            timing,
            delete_after_run: false,
            keep_history: false,
            outbound_channel: None,
            outbound_target: None,
        },
        enabled: true,
        due: Some(due),
        at: Timestamp::now(),
    };
    store.create_task(new).await.unwrap();
}

impl<S: Schedules> Stage<S> {
    /// Starts a scheduler process, and waits until it works.
    async fn schedule(&self, name: &str, lease: Duration) -> Worker {
        let job = Job {
            name: name.to_owned(),
            lease,
            store: self.place.clone(),
            folder: self.folder.path().to_owned(),
        };
        let worker = Worker::start_with((JOB, job.to_text()));
        let log = self.folder.path().join("log");
        self.wait(async || lines(&log).iter().any(|line| line == name))
            .await;
        worker
    }

    async fn wait(&self, mut holds: impl AsyncFnMut() -> bool) {
        let began = Instant::now();
        while !holds().await {
            assert!(began.elapsed() < PATIENCE, "nothing changed");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn task_runs(&self, name: &str) -> Vec<TaskRun> {
        let all = TaskRunFilter::default();
        self.store.list_task_runs(&id(name), &all).await.unwrap()
    }

    /// Returns how many runs of a task have succeeded.
    async fn succeeded(&self, name: &str) -> usize {
        let runs = self.task_runs(name).await;
        runs.iter()
            .filter(|run| run.state == TaskRunState::Succeeded)
            .count()
    }

    /// Three processes run 12 one-time tasks and one repeated task. Each run happens once.
    async fn three_processes_share_the_runs(&self) {
        let now = Timestamp::now();
        let names: Vec<String> = (0..12).map(|number| format!("once-{number}")).collect();
        for name in &names {
            create(&self.store, name, "work", TaskTiming::Once { at: now }).await;
        }
        let mut processes = Vec::new();
        for name in ["p1", "p2", "p3"] {
            processes.push(self.schedule(name, LONG).await);
        }
        let (every_ms, from) = (EVERY, Timestamp::now());
        create(
            &self.store,
            "often",
            "work",
            TaskTiming::Interval { every_ms, from },
        )
        .await;
        let all_done = async || {
            let mut done = self.succeeded("often").await >= 8;
            for name in &names {
                done = done && self.succeeded(name).await == 1;
            }
            done
        };
        self.wait(all_done).await;
        drop(processes);

        let written = lines(&self.folder.path().join("runs"));
        let unique: BTreeSet<&String> = written.iter().collect();
        assert_eq!(
            unique.len(),
            written.len(),
            "a run happened twice: {written:?}"
        );
        let mut ended = 0;
        for name in names.iter().map(String::as_str).chain(["often"]) {
            for run in self.task_runs(name).await {
                if run.state == TaskRunState::Succeeded {
                    assert_eq!(run.attempts, 1, "{run:?}");
                    assert!(
                        unique.contains(run.conversation.as_ref().unwrap()),
                        "{run:?}"
                    );
                    ended += 1;
                }
            }
        }
        // The process of the last run may have been killed before it stored the end.
        assert!(
            (ended..=ended + 1).contains(&written.len()),
            "{ended} of {written:?}"
        );
    }

    /// After a process was killed in the middle of a turn, a different process continues the turn as the second attempt of the same run.
    async fn killed_run_continues_as_the_same_turn(&self) {
        let at = Timestamp::now();
        create(&self.store, "deadly", "die", TaskTiming::Once { at }).await;
        let mut first = self.schedule("p1", SHORT).await;
        self.wait(async || first.has_ended()).await;
        let run = self.task_runs("deadly").await.remove(0);
        assert_eq!((run.state, run.attempts), (TaskRunState::Running, 1));
        let _second = self.schedule("p2", SHORT).await;
        let _third = self.schedule("p3", SHORT).await;
        self.wait(async || self.succeeded("deadly").await == 1)
            .await;

        let ended = self.task_runs("deadly").await;
        assert_eq!((ended.len(), ended[0].attempts), (1, 2));
        assert_eq!(
            (ended[0].due, &ended[0].conversation),
            (run.due, &run.conversation)
        );
        let thread = ThreadId::new("acme", run.conversation.unwrap()).unwrap();
        let messages = ThreadStore::read(&self.store, &thread, None).await.unwrap();
        let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
        assert_eq!(roles, [Role::User, Role::Assistant], "{messages:?}");
        assert_eq!(lines(&self.folder.path().join("runs")).len(), 1);
    }
}

pub(crate) async fn three_processes_run_each_task_once_on_postgres_case() -> Ran {
    on_postgres().await?.three_processes_share_the_runs().await;
    Ok(())
}

pub(crate) async fn three_processes_run_each_task_once_on_sqlite_case() -> Ran {
    on_sqlite().await.three_processes_share_the_runs().await;
    Ok(())
}

pub(crate) async fn killed_run_continues_in_a_different_scheduler_on_postgres_case() -> Ran {
    on_postgres()
        .await?
        .killed_run_continues_as_the_same_turn()
        .await;
    Ok(())
}

pub(crate) async fn killed_run_continues_in_a_different_scheduler_on_sqlite_case() -> Ran {
    on_sqlite()
        .await
        .killed_run_continues_as_the_same_turn()
        .await;
    Ok(())
}
