//! Child processes of the tests. This program starts itself as its child processes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, ExitCode, Stdio};

use tool_store::PostgresOptions;

const JOB: &str = "TOOL_STORE_TEST_JOB";
const URL: &str = "TOOL_STORE_TEST_URL";

/// Returns whether this process was started by a test.
pub(crate) fn is_child() -> bool {
    std::env::var_os(JOB).is_some()
}

/// Entry point of the child process: waits for a line, does its job, and prints one line for each result.
pub(crate) fn run_child() -> ExitCode {
    let (job, url) = (std::env::var(JOB).unwrap(), std::env::var(URL).unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        say("ready");
        let mut go = String::new();
        std::io::stdin().read_line(&mut go).unwrap();
        let store = PostgresOptions::new(&url).unwrap().open().await.unwrap();
        match job.as_str() {
            "open" => say("opened"),
            "work" => crate::crash::work(&store, &url).await,
            "take units" => crate::shared_limits::take_units(&store, say).await,
            "hold permits" => crate::shared_limits::hold_permits(&store, say).await,
            job => panic!("no job `{job}`"),
        }
        drop(store);
        say("done");
    });
    ExitCode::SUCCESS
}

/// Prints one line for the parent.
pub(crate) fn say(words: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{words}").unwrap();
    out.flush().unwrap();
}

/// A child process that runs one job.
pub(crate) struct Worker {
    child: Child,
    lines: Box<dyn Iterator<Item = String> + Send>,
}

impl Worker {
    pub(crate) fn start(job: &str, url: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .env(JOB, job)
            .env(URL, url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut lines = Box::new(lines.map_while(Result::ok));
        assert_eq!(lines.next().as_deref(), Some("ready"));
        Self { child, lines }
    }

    pub(crate) fn go(&mut self) {
        self.child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }

    /// Returns the next line of the process.
    pub(crate) fn line(&mut self) -> Option<String> {
        self.lines.next()
    }

    /// Kills the process, and returns the lines that it printed before. Fails if it had ended by itself.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        let status = self.child.wait().unwrap();
        let lines: Vec<String> = self.lines.collect();
        assert!(
            status.code().is_none(),
            "the process ended by itself: {lines:?}"
        );
        lines
    }

    /// Returns the lines that the child printed until it ended successfully.
    pub(crate) fn finish(mut self) -> Vec<String> {
        let mut lines: Vec<String> = self.lines.collect();
        assert!(self.child.wait().unwrap().success(), "{lines:?}");
        assert_eq!(lines.pop().as_deref(), Some("done"));
        lines
    }
}
