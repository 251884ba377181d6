//! Worker processes and their log file.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

const JOB: &str = "TOOL_STORE_TEST_JOB";

/// The place at which a worker blocks for longer than its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// The worker does not block.
    No,
    /// The worker waits in the second request to the model.
    Model,
    /// The worker blocks the thread of the task in the second request to the model.
    Block,
    /// The worker waits in the body of a tool.
    Tool,
}

const HOLDS: [(&str, Hold); 4] = [
    ("no", Hold::No),
    ("model", Hold::Model),
    ("block", Hold::Block),
    ("tool", Hold::Tool),
];

/// The arguments of a worker process.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) name: String,
    pub(crate) hold: Hold,
    /// The URL of a database, or the path of a SQLite file.
    pub(crate) store: String,
    pub(crate) folder: PathBuf,
}

impl Job {
    /// Returns the job of this process, if a test has started it as a worker.
    pub(crate) fn of_this_process() -> Option<Self> {
        let job = std::env::var(JOB).ok()?;
        let mut parts = job.splitn(4, ' ').map(str::to_owned);
        let mut next = || parts.next().unwrap();
        let (name, hold) = (next(), next());
        let hold = HOLDS.into_iter().find(|(word, _)| *word == hold);
        let (store, folder) = (next(), next().into());
        Some(Self {
            name,
            hold: hold.unwrap().1,
            store,
            folder,
        })
    }

    fn to_text(&self) -> String {
        let hold = HOLDS.into_iter().find(|(_, hold)| *hold == self.hold);
        let (hold, folder) = (hold.unwrap().0, self.folder.display());
        format!("{} {hold} {} {folder}", self.name, self.store)
    }

    /// Adds a line to the log.
    pub(crate) fn log(&self, line: &str) {
        append(&self.folder.join("log"), &format!("{} {line}", self.name));
    }
}

/// Appends a line to a file.
pub(crate) fn append(file: &Path, line: &str) {
    let file = OpenOptions::new().create(true).append(true).open(file);
    // Each line is one write, so that lines of different processes are not mixed.
    file.unwrap()
        .write_all(format!("{line}\n").as_bytes())
        .unwrap();
}

/// Returns the lines of a file.
pub(crate) fn lines(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// A worker process. It is killed when dropped.
pub(crate) struct Worker {
    child: Child,
}

impl Worker {
    pub(crate) fn start(job: &Job) -> Self {
        Self::start_with((JOB, job.to_text()))
    }

    /// Starts this program with a variable that contains its job.
    pub(crate) fn start_with((name, job): (&str, String)) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .env(name, job)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        Self {
            child: child.unwrap(),
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = Pid::from_child(&self.child);
        kill_process(id, signal).unwrap();
    }

    /// Returns whether the process has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs `work` on the store of the job: a database URL or the path of a SQLite file. The macro generates the code for both stores.
macro_rules! on_store {
    ($place:expr, $store:ident => $work:expr) => {{
        let place: &str = $place;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        runtime.unwrap().block_on(async {
            if place.starts_with("postgres") {
                let $store = tool_store::PostgresStore::open(place).await.unwrap();
                $work
            } else {
                let file = std::path::Path::new(place);
                let $store = tool_store::SqliteStore::open(file).await.unwrap();
                $work
            }
        });
        std::process::ExitCode::SUCCESS
    }};
}

pub(crate) use on_store;
