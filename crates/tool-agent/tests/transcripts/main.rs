//! Golden transcripts of conversations with agents that call each other.
//!
//! Each file in `golden` has two parts. The first part, in TOML, declares the agents, the replies of their models, and the actions of a user and a host.
//! The second part, after the line `---`, is the transcript: the events and the requests in order, and then the stored messages, files, variables and child
//! threads. `UPDATE=1 cargo test -p tool-agent --test transcripts` writes the second parts. Read the difference before you commit it. The variable
//! `TRANSCRIPT` selects the files whose name contains its value.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

mod conversation;
mod difference;
mod ids;
mod record;
mod stage;
mod tools;

use conversation::Conversation;
use stage::Stage;

const SEPARATOR: &str = "\n---\n";

/// Returns the files of the conversations, sorted by name.
fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts/golden");
    let files = std::fs::read_dir(folder).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|file| file.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort_unstable();
    files
}

/// Reads a file. Returns the conversation and the two parts of the file.
fn read(file: &Path) -> (Conversation, String, String) {
    let text = std::fs::read_to_string(file).unwrap();
    let (declared, happened) = text.split_once(SEPARATOR).unwrap_or((&text, ""));
    let conversation =
        toml::from_str(declared).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    (conversation, declared.to_owned(), happened.to_owned())
}

/// Runs a conversation. Returns its transcript.
async fn play(conversation: &Conversation) -> Result<String, String> {
    let mut stage = Stage::open(conversation).await;
    for step in &conversation.steps {
        stage.play(step).await;
    }
    let mut text = stage.journal.raw();
    text.push_str(&record::threads(&stage).await);
    let mut faults = stage.unused();
    if text.contains("the file has no reply") {
        faults.push("a request has no reply in the file".to_owned());
    }
    let needs = conversation
        .agents
        .iter()
        .flat_map(|agent| &agent.variables);
    let secret: Vec<&String> = needs
        .filter(|need| need.secret)
        .map(|need| &need.name)
        .collect();
    let answers = conversation.steps.iter().filter_map(|step| match step {
        conversation::Step::Answer(values) => Some(values),
        _ => None,
    });
    let answers = answers
        .flatten()
        .filter(|(name, _)| secret.contains(name))
        .map(|(_, value)| value);
    let stored = conversation.stored.iter();
    let stored = stored
        .filter(|[_, kind, _]| kind == "secret")
        .map(|[_, _, value]| value);
    let secrets = conversation.secrets.values().chain(answers);
    for secret in secrets.chain(stored) {
        if text.contains(&**secret) {
            faults.push(format!("the transcript contains the secret `{secret}`"));
        }
    }
    let text = ids::numbered(&text).trim_start().to_owned();
    if faults.is_empty() {
        Ok(text)
    } else {
        Err(format!("{}\n{text}", faults.join("\n")))
    }
}

// S4-01 to S4-60: each conversation has the events, the requests and the stored messages that its file records.
#[tokio::test(start_paused = true)]
async fn conversations_match_their_files() {
    let selected = std::env::var("TRANSCRIPT").unwrap_or_default();
    let updates = std::env::var_os("UPDATE").is_some();
    let mut failures = String::new();
    for file in files() {
        let name = file.file_stem().unwrap().to_str().unwrap();
        if !name.contains(&selected) {
            continue;
        }
        let (conversation, declared, expected) = read(&file);
        match play(&conversation).await {
            Err(fault) => {
                let _ = writeln!(failures, "{name}: {}\n{fault}", conversation.title);
            }
            Ok(happened) if happened == expected => {}
            Ok(happened) if updates => {
                std::fs::write(&file, format!("{declared}{SEPARATOR}{happened}")).unwrap();
            }
            Ok(happened) => {
                let difference = difference::between(&expected, &happened);
                let _ = writeln!(failures, "{name}: {}\n{difference}", conversation.title);
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{failures}\n`UPDATE=1 cargo test -p tool-agent --test transcripts` writes what happened to the files."
    );
}

// Each conversation lists the capabilities that it demonstrates, and the number of conversations is at least
// 40.
#[test]
fn conversations_name_their_capabilities() {
    let files = files();
    assert!(files.len() >= 40, "{} conversations", files.len());
    for file in files {
        let (conversation, ..) = read(&file);
        let named = &conversation.proves;
        let is_id = |id: &String| id.starts_with("S4-") && id.len() == 5;
        assert!(!named.is_empty() && named.iter().all(is_id), "{named:?}");
    }
}

// A second run of a conversation has the same transcript. So the files depend neither on random names nor on the clock or the load of the machine.
#[tokio::test(start_paused = true)]
async fn transcripts_are_the_same_in_each_run() {
    for file in files() {
        let (conversation, ..) = read(&file);
        let (first, second) = (play(&conversation).await, play(&conversation).await);
        let both = [first, second].map(|text| text.unwrap_or_else(|fault| fault));
        if both[0] != both[1] {
            let difference = difference::between(&both[0], &both[1]);
            panic!("{}\n{difference}", file.display());
        }
    }
}
