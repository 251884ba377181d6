//! The conversations that `--store` stores.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tool_core::hidden::{escape, show};
use tool_core::store::{
    ChildStore, Message, Role, RunCursor, RunFilter, RunStore as _, Scope, StoreError, ThreadId,
    ThreadStore as _, Timestamp, Workspace,
};
use tool_core::turn::{ModelMessage, Turns, UserMessage};
use tool_core::{Approvals, Gate, KeyRing};
use tool_store::SqliteStore;

use crate::host::Cli;
use crate::outcome::{Exit, Failure};
use crate::screen::{Screen, count};
use crate::table::Table;

/// The prefix of the conversations of `chat`. Conversations of other programs on the same store do not have it and are not listed.
const PREFIX: &str = "chat-";

/// Maximum number of listed conversations.
const MOST_LISTED: usize = 50;

/// The number of runs that are read at once.
const PAGE: u32 = 200;

/// Maximum number of bytes of a message in a list.
const MOST_SHOWN: usize = 80;

/// The lease of a run. If a process was killed, the next process waits at most this time before it continues the answer.
const LEASE: Duration = Duration::from_secs(10);

/// The store of conversations.
pub(super) struct History {
    store: SqliteStore,
    workspace: Workspace,
}

/// A conversation in the list.
#[derive(Serialize)]
pub(super) struct Past {
    pub(super) id: String,
    /// When the newest run ended, or when it began if it has not ended, in milliseconds since 1970.
    last_ms: i64,
    /// The first message of the user; empty if it is not one of the first two messages.
    message: String,
}

impl History {
    /// Opens the store of a URL. A file that does not exist is created, or is an error if `exists` is set.
    pub(super) async fn open(
        url: &str,
        workspace: Workspace,
        exists: bool,
    ) -> Result<Self, Failure> {
        let path = url.strip_prefix("sqlite:").unwrap_or(url);
        if path.contains("://") {
            return Err(
                Failure::usage("`chat` keeps conversations in a SQLite file")
                    .hint("write `--store sqlite:FILE`"),
            );
        }
        let file = path.strip_prefix("//").unwrap_or(path);
        let file = file.split_once('?').map_or(file, |(file, _)| file);
        if exists && !std::path::Path::new(file).exists() {
            return Err(Failure::usage(format!("the file `{file}` does not exist"))
                .hint("give the `--store` of the chat that has the conversations"));
        }
        if file != ":memory:" {
            create_private(file);
        }
        let store = SqliteStore::open(url).await;
        let store = store.map_err(|error| Failure::usage(error.to_string()))?;
        Ok(Self { store, workspace })
    }

    /// Returns the turns of the chat, whose messages are stored in this store.
    pub(super) fn turns(&self) -> Turns {
        Turns::new(self.store.clone()).lease(LEASE)
    }

    /// Returns the store of the threads of sub-agents.
    pub(super) fn children(&self) -> Arc<dyn ChildStore> {
        Arc::new(self.store.clone())
    }

    /// Returns the host's own gate, or a gate that keeps approvals and effects in the store.
    pub(super) fn gate(&self, cli: &Cli) -> Result<Gate, Failure> {
        if let Some(gate) = cli.own_gate() {
            return Ok(gate.clone());
        }
        let failed = |error: &dyn std::fmt::Display| Failure::of(Exit::Failed, error.to_string());
        // A later process creates new tokens for the same approvals, so the key is not kept.
        let mut key = [0; 32];
        tool_core::env::random(&mut key).map_err(|error| failed(&error))?;
        let keys = KeyRing::new("process", key).map_err(|error| failed(&error))?;
        let approvals = Approvals::builder(self.store.clone()).keys(keys).build();
        let approvals = approvals.map_err(|error| failed(&error))?;
        let ledger = self.store.clone();
        Ok(Gate::builder().approvals(approvals).ledger(ledger).build())
    }

    /// Returns the name of a new conversation.
    pub(super) fn new_id() -> Result<String, Failure> {
        let mut bytes = [0; 4];
        let random = tool_core::env::random(&mut bytes);
        random.map_err(|error| Failure::of(Exit::Failed, error.to_string()))?;
        Ok(format!("{PREFIX}{:08x}", u32::from_be_bytes(bytes)))
    }

    /// Returns the conversation for `--continue`: the conversation with this id, or the last one if the id is
    /// empty.
    pub(super) async fn continued(&self, id: &str) -> Result<String, Failure> {
        if id.is_empty() {
            let last = self.list(1).await?.pop();
            return last.map(|past| past.id).ok_or_else(|| {
                Failure::usage("the store has no conversation that can be continued")
                    .hint("leave `--continue` out to begin one")
            });
        }
        let thread = ThreadId::new(self.workspace.clone(), id);
        let thread = thread.map_err(|error| Failure::usage(error.to_string()))?;
        let messages = self.store.read_page(&thread, 0, 1).await;
        if messages.map_err(|error| unread(&error))?.is_empty() {
            return Err(
                Failure::usage(format!("the store has no conversation `{id}`"))
                    .hint("`--list` shows the conversations"),
            );
        }
        Ok(id.to_owned())
    }

    /// Prints the conversations, the last one first.
    pub(super) async fn print(&self, screen: Screen) -> Result<Exit, Failure> {
        let conversations = self.list(MOST_LISTED).await?;
        if screen.is_json() {
            #[derive(Serialize)]
            struct All {
                conversations: Vec<Past>,
            }
            Screen::json(&All { conversations })?;
            return Ok(Exit::Ok);
        }
        if conversations.is_empty() {
            screen.note("the store has no conversation");
            return Ok(Exit::Ok);
        }
        let now = Timestamp::now().as_millis();
        let mut table = Table::new(["CONVERSATION", "LAST ANSWER", "FIRST MESSAGE"]);
        for past in conversations {
            let message = past
                .message
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ");
            table.row([
                escape(&past.id).into_owned(),
                age(now.saturating_sub(past.last_ms)),
                show(&message, MOST_SHOWN).into_owned(),
            ]);
        }
        screen.out(table.render(Screen::width()))?;
        Ok(Exit::Ok)
    }

    /// Returns at most `most` conversations that `chat` began and that have a run, the one with the newest run first.
    async fn list(&self, most: usize) -> Result<Vec<Past>, Failure> {
        let mut found: Vec<Past> = Vec::new();
        let mut after: Option<RunCursor> = None;
        loop {
            let filter = RunFilter {
                after,
                limit: Some(PAGE),
                ..RunFilter::default()
            };
            let scope = Scope::Workspace(&self.workspace);
            let runs = self.store.list_runs(scope, &filter).await;
            let runs = runs.map_err(|error| unread(&error))?;
            for run in &runs {
                let thread = run.id.thread();
                let id = thread.conversation();
                if !is_of_chat(id) || found.iter().any(|past| past.id == id) {
                    continue;
                }
                found.push(Past {
                    id: id.to_owned(),
                    last_ms: run.ended.unwrap_or(run.started).as_millis(),
                    message: self.first_message(thread).await?,
                });
                if found.len() == most {
                    return Ok(found);
                }
            }
            match runs.last() {
                Some(last) => after = Some(last.cursor()),
                None => return Ok(found),
            }
        }
    }

    async fn first_message(&self, thread: &ThreadId) -> Result<String, Failure> {
        // The first message may be the instructions.
        let messages = self.store.read_page(thread, 0, 2).await;
        let messages = messages.map_err(|error| unread(&error))?;
        let first = messages.iter().find(|message| message.role == Role::User);
        Ok(first.map_or_else(String::new, of_user))
    }
}

/// Creates a file for conversations. On Unix, only its owner can read it, and SQLite gives its other files the same mode. If the file exists or
/// cannot be created, opening the store uses it or reports the reason.
fn create_private(file: &str) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(file);
}

/// Returns whether `chat` began a conversation, and the conversation is not the thread of a sub-agent.
fn is_of_chat(id: &str) -> bool {
    let number = id.strip_prefix(PREFIX).unwrap_or_default();
    number.len() == 8 && number.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the text of a message of the user.
pub(super) fn of_user(message: &Message) -> String {
    let read = serde_json::from_str::<UserMessage>(&message.content);
    read.map_or_else(|_| String::new(), |message| message.to_text())
}

/// Returns whether the last message of a conversation is not answered yet.
pub(super) fn is_unanswered(messages: &[Message]) -> bool {
    let mut messages = messages.iter().rev();
    let last = messages.find(|message| message.role != Role::System);
    last.is_some_and(|last| match last.role {
        Role::Assistant => {
            let read = serde_json::from_str::<ModelMessage>(&last.content);
            read.is_ok_and(|message| !message.calls.is_empty())
        }
        _ => true,
    })
}

fn unread(error: &StoreError) -> Failure {
    Failure::of(Exit::Failed, format!("the store cannot be read: {error}"))
}

/// Formats the time since an event.
fn age(millis: i64) -> String {
    let minutes = usize::try_from(millis / 60_000).unwrap_or(0);
    match minutes {
        0 => "just now".to_owned(),
        1..60 => format!("{} ago", count(minutes, "minute")),
        60..1440 => format!("{} ago", count(minutes / 60, "hour")),
        _ => format!("{} ago", count(minutes / 1440, "day")),
    }
}
