//! The recursive walk over the files below a folder.
//!
//! Each folder is opened below the handle of the conversation's folder, so the walk stays inside even if a folder is replaced by a link while it
//! runs. A walk by paths, such as the walk of the `ignore` crate, could list a folder outside of the conversation's folder before any check.
//! The `ignore` crate interprets the patterns of ignore files.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use tool_core::{ErrorKind, ToolError};

use super::open::{self, Home, walked};
use crate::workspace::{Facts, Kind, WorkspacePath};

/// Limits on ignore files: bytes that are read of one file, patterns of one file, and patterns of all files of a walk. Each pattern is matched
/// against each path, and 859 KiB of patterns took 1.3 s and 480 MB.
const RULES: u64 = 64 << 10;
const PATTERNS: usize = 1_000;
const ALL_PATTERNS: usize = 10_000;

/// The parameters of a walk.
pub(super) struct Walk<'a> {
    pub(super) home: &'a Home<'a>,
    /// Whether names that begin with a dot are included; `.git` is never included.
    pub(super) hidden: bool,
    /// Whether files that `.gitignore` and `.ignore` exclude are included.
    pub(super) ignored: bool,
    /// Maximum number of files that the walk returns.
    pub(super) most: usize,
    pub(super) cancelled: &'a (dyn Fn() -> bool + Sync),
    pub(super) rules: RuleCount,
}

/// Counts the patterns of ignore files that a walk has read.
#[derive(Default)]
pub(super) struct RuleCount {
    patterns: AtomicUsize,
    cut: Mutex<Option<CutRules>>,
}

/// The first ignore file, in the order of paths, whose patterns were not all applied.
struct CutRules {
    path: String,
    applied: Applied,
}

/// The patterns of an ignore file that were applied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Applied {
    All,
    /// The patterns at the beginning, up to a limit.
    Some,
    /// No pattern, because a limit was reached before.
    None,
    /// No pattern, because the patterns could not be compiled.
    NotCompiled,
}

impl RuleCount {
    /// Counts a pattern; returns whether it is within the limit of the walk.
    fn take(&self) -> bool {
        self.patterns.fetch_add(1, Ordering::Relaxed) < ALL_PATTERNS
    }

    fn record(&self, path: &str, applied: Applied) {
        if applied == Applied::All {
            return;
        }
        let mut cut = self.cut.lock().unwrap_or_else(PoisonError::into_inner);
        if cut.as_ref().is_none_or(|first| path < first.path.as_str()) {
            *cut = Some(CutRules {
                path: path.to_owned(),
                applied,
            });
        }
    }
}

/// The files that a walk found.
pub(super) struct Files {
    /// The folder or file at which the walk began, with its links resolved.
    pub(super) start: WorkspacePath,
    /// Paths relative to the conversation's folder, sorted.
    pub(super) paths: Vec<String>,
    /// Whether there are more files than the walk may return.
    pub(super) more: bool,
    cut_rules: Option<CutRules>,
}

impl Files {
    /// Returns the note for the model if the walk ended early or not all ignore rules were applied.
    pub(super) fn note(&self, most: usize) -> Option<String> {
        let more = self.more.then(|| {
            format!("there are more than {most} files and only that many were searched, give the `path` of a folder that has fewer")
        });
        let rules = self.cut_rules.as_ref().map(|CutRules { path, applied }| {
            let part = match applied {
                Applied::Some => "only the beginning",
                _ => "no pattern",
            };
            let limits = match applied {
                Applied::NotCompiled => "its patterns are too complex".to_owned(),
                _ => format!(
                    "at most 64 KiB and {PATTERNS} patterns of one file count, and {ALL_PATTERNS} patterns in all"
                ),
            };
            format!("{part} of `{path}` was applied, so files that it ignores may be in the result: {limits}")
        });
        let notes: Vec<String> = more.into_iter().chain(rules).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }
}

/// The rules of one ignore file, linked to the rules of earlier files and of the folders above.
struct Rules {
    above: Option<Arc<Rules>>,
    /// Length of the path of the folder that has the rules, with the slash after it. This prefix is removed from a path before the rules are matched.
    skip: usize,
    list: Gitignore,
}

/// A folder that is still to be listed. The conversation's folder itself has an empty path.
struct Task {
    path: String,
    rules: Option<Arc<Rules>>,
}

#[derive(Default)]
struct Queue {
    tasks: Vec<Task>,
    busy: usize,
}

struct Shared<'a> {
    walk: &'a Walk<'a>,
    queue: Mutex<Queue>,
    changed: Condvar,
    found: AtomicUsize,
}

/// Returns the number of threads of a walk or a search: one for each processor, at most eight.
pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |threads| threads.get().min(8))
}

impl Walk<'_> {
    /// Returns the regular files below `start` that are not left out, or `start` itself if it is a file.
    pub(super) fn files(&self, start: &WorkspacePath) -> Result<Files, ToolError> {
        let start = self.home.real(start)?;
        let told = |error| open::told(&start, &error);
        if self.home.dir.metadata(&start).map_err(told)?.is_file() {
            self.home.file(&start)?;
            return Ok(Files {
                paths: vec![start.to_string()],
                more: false,
                cut_rules: None,
                start,
            });
        }
        self.home.folder(&start)?;
        let first = Task {
            rules: self.rules_above(&start),
            path: start.names().collect::<Vec<_>>().join("/"),
        };
        let shared = Shared {
            walk: self,
            queue: Mutex::new(Queue {
                tasks: vec![first],
                busy: 0,
            }),
            changed: Condvar::new(),
            found: AtomicUsize::new(0),
        };
        let mut paths = std::thread::scope(|scope| {
            // If the system has no more threads, the walk runs with fewer.
            let others: Vec<_> = (1..threads())
                .filter_map(|_| Builder::new().spawn_scoped(scope, || shared.work()).ok())
                .collect();
            let mut paths = shared.work();
            for other in others {
                // A thread that panicked contributes no files.
                paths.append(&mut other.join().unwrap_or_default());
            }
            paths
        });
        if (self.cancelled)() {
            return Err(ToolError::of(
                ErrorKind::Cancelled,
                "the call was cancelled",
            ));
        }
        paths.sort_unstable();
        let more = paths.len() > self.most;
        paths.truncate(self.most);
        let cut_rules = self.rules.cut.lock();
        let cut_rules = cut_rules.unwrap_or_else(PoisonError::into_inner).take();
        Ok(Files {
            start,
            paths,
            more,
            cut_rules,
        })
    }

    /// Returns the rules of the folders from the conversation's folder down to the parent of `start`.
    fn rules_above(&self, start: &WorkspacePath) -> Option<Arc<Rules>> {
        let mut rules = None;
        let mut path = String::new();
        for name in start.names() {
            if let Ok(dir) = self.folder(&path) {
                rules = self.with_rules(&dir, &path, rules, [true, true]);
            }
            path = below(&path, name);
        }
        rules
    }

    fn folder(&self, path: &str) -> std::io::Result<Dir> {
        let dir = if path.is_empty() {
            self.home.dir.try_clone()?
        } else {
            self.home.dir.open_dir_nofollow(path)?
        };
        let facts = Facts::of(&dir)?;
        match facts.admit(self.home.place, self.home.workspace.trust()) {
            Ok(()) => Ok(dir),
            Err(_) => Err(std::io::ErrorKind::CrossesDevices.into()),
        }
    }

    /// Adds the rules of this folder to the rules of the folders above, unless the walk includes ignored files; `.ignore` takes precedence. `there`
    /// lists for each file of `RULE_FILES` whether it may exist.
    fn with_rules(
        &self,
        dir: &Dir,
        path: &str,
        above: Option<Arc<Rules>>,
        there: [bool; 2],
    ) -> Option<Arc<Rules>> {
        let mut rules = above;
        for (name, _) in RULE_FILES.iter().zip(there).filter(|(_, there)| *there) {
            if self.ignored || Facts::at(dir, name).is_err() {
                continue;
            }
            let Some(list) = self.read_rules(&below(path, name)) else {
                continue;
            };
            rules = Some(Arc::new(Rules {
                above: rules,
                skip: if path.is_empty() { 0 } else { path.len() + 1 },
                list,
            }));
        }
        rules
    }

    fn read_rules(&self, path: &str) -> Option<Gitignore> {
        use std::io::Read as _;

        let (file, facts) = walked(self.home, path).ok()??;
        let mut text = Vec::new();
        file.take(RULES).read_to_end(&mut text).ok()?;
        let mut is_cut = facts.size > RULES;
        if is_cut {
            // The last line may be incomplete.
            text.truncate(text.iter().rposition(|byte| *byte == b'\n').unwrap_or(0));
        }
        let text = String::from_utf8_lossy(&text);
        let is_pattern = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
        let lines = text.trim_start_matches('\u{feff}').lines();
        let mut builder = GitignoreBuilder::new("");
        let mut count = 0;
        for line in lines.filter(is_pattern) {
            if count == PATTERNS || !self.rules.take() {
                is_cut = true;
                break;
            }
            count += 1;
            // A line that is not a valid pattern is skipped, as git does.
            let _ = builder.add_line(None, line);
        }
        let built = builder.build();
        let applied = match (&built, is_cut) {
            (Err(_), _) => Applied::NotCompiled,
            (Ok(_), false) => Applied::All,
            (Ok(_), true) if count == 0 => Applied::None,
            (Ok(_), true) => Applied::Some,
        };
        self.rules.record(path, applied);
        built.ok().filter(|list| !list.is_empty())
    }
}

/// The names of ignore files; the last one takes precedence.
const RULE_FILES: [&str; 2] = [".gitignore", ".ignore"];

impl Rules {
    fn leaves_out(&self, path: &str, is_folder: bool) -> bool {
        let mut rules = Some(self);
        while let Some(here) = rules {
            match here.list.matched(&path[here.skip..], is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => rules = here.above.as_deref(),
            }
        }
        false
    }
}

impl Shared<'_> {
    /// Lists folders until none is left; returns the files that this thread found.
    fn work(&self) -> Vec<String> {
        let mut found = Vec::new();
        while let Some(task) = self.next() {
            let busy = Busy(self);
            let folders = self.look(&task, &mut found);
            self.lock().tasks.extend(folders);
            drop(busy);
        }
        found
    }

    /// Returns the next folder; waits while another thread may still find a folder. Returns `None` if every folder was listed, the call was
    /// cancelled, or more files than the maximum were found.
    fn next(&self) -> Option<Task> {
        let mut queue = self.lock();
        loop {
            if (self.walk.cancelled)() || self.found.load(Ordering::Relaxed) > self.walk.most {
                queue.tasks.clear();
            }
            if let Some(task) = queue.tasks.pop() {
                queue.busy += 1;
                return Some(task);
            }
            if queue.busy == 0 {
                return None;
            }
            queue = self
                .changed
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the files of a folder to `found` and returns its subfolders. A folder that cannot be read, or is not a folder any more, is treated as
    /// empty.
    fn look(&self, task: &Task, found: &mut Vec<String>) -> Vec<Task> {
        let walk = self.walk;
        let Ok(dir) = walk.folder(&task.path) else {
            return Vec::new();
        };
        let Ok(entries) = dir.entries() else {
            return Vec::new();
        };
        let mut seen = Vec::new();
        let mut there = [false; 2];
        for entry in entries.flatten() {
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
                continue;
            };
            for (rules, there) in RULE_FILES.iter().zip(&mut there) {
                *there |= name == *rules;
            }
            if kind.is_dir() || kind.is_file() {
                seen.push((name, kind.is_dir()));
            } else if !kind.is_symlink()
                && Facts::at(&dir, &name).is_ok_and(|facts| facts.kind == Kind::File)
            {
                // Some file systems do not report the kinds of entries in a listing.
                seen.push((name, false));
            }
        }
        let rules = walk.with_rules(&dir, &task.path, task.rules.clone(), there);
        let mut folders = Vec::new();
        for (name, is_folder) in seen {
            if name == ".git" || (name.starts_with('.') && !walk.hidden) {
                continue;
            }
            let path = below(&task.path, &name);
            if rules
                .as_ref()
                .is_some_and(|rules| rules.leaves_out(&path, is_folder))
            {
                continue;
            }
            if is_folder {
                folders.push(Task {
                    path,
                    rules: rules.clone(),
                });
            } else {
                self.found.fetch_add(1, Ordering::Relaxed);
                found.push(path);
            }
        }
        folders
    }
}

/// Marks that a thread is listing a folder. The mark is also released if the thread panics, so that no other thread waits forever.
struct Busy<'a>(&'a Shared<'a>);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.lock().busy -= 1;
        self.0.changed.notify_all();
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}/{name}")
    }
}
