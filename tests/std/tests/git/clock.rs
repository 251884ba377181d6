//! A test clock for the age of clones, and the call that removes old clones.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::json;
use tool_core::ToolContext;
use tool_std::git::Git;

use crate::world::{call, output, tree};

pub(crate) const HOURS: Duration = Duration::from_hours(2);

/// A clock that a test sets to a time after the last change in a folder.
#[derive(Clone)]
pub(crate) struct Clock(pub(crate) Arc<Mutex<SystemTime>>);

impl Clock {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(SystemTime::now())))
    }

    pub(crate) fn set(&self, folder: &Path, later: Duration) {
        let all = tree(folder).into_keys().chain([folder.to_owned()]);
        let changed = all.map(|path| fs::symlink_metadata(path).unwrap().modified().unwrap());
        *self.0.lock().unwrap() = changed.max().unwrap() + later;
    }

    pub(crate) fn of(&self, git: Git) -> Git {
        let clock = self.clone();
        git.clock(move || *clock.0.lock().unwrap())
    }
}

/// Returns the result of a future and its log output at level `WARN`.
async fn warnings<T>(work: impl Future<Output = T>) -> (T, String) {
    use tracing::instrument::WithSubscriber as _;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .with_max_level(tracing::Level::WARN)
        .with_ansi(false)
        .finish();
    let done = work.with_subscriber(subscriber).await;
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    (done, text)
}

/// Clones a repository. Returns the repositories that the call removed, and its log output.
pub(crate) async fn next(cx: &ToolContext) -> (Vec<PathBuf>, String) {
    let calling = call(cx, "git_clone", json!({ "repo": "acme/site" }));
    let (result, log) = warnings(calling).await;
    let removed = output(&result)["removed"].clone();
    (serde_json::from_value(removed).unwrap(), log)
}
