//! Helpers that run the programs under test.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// The exit code and the output of a program that ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Parses the last line of the output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let last = self.out.lines().last();
        serde_json::from_str(last.expect("the program prints a line"))
            .unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Asserts that the program exited with this code and printed each of these texts on standard error.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "`{word}` is not in {self:?}");
        }
    }

    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }
}

/// A program with a few tools, built like a user's own program.
pub(crate) const DESK: &str = env!("CARGO_BIN_EXE_desk");

/// A program with more tools than Anthropic accepts in one request.
pub(crate) const CROWD: &str = env!("CARGO_BIN_EXE_crowd");

/// A program whose tools return files, use secrets, fail and panic.
pub(crate) const GALLERY: &str = env!("CARGO_BIN_EXE_gallery");

/// A program whose chat talks with agents that call each other.
pub(crate) const TEAM: &str = env!("CARGO_BIN_EXE_team");

/// The binary `cargo-tool`, which cargo runs for `cargo tool`.
pub(crate) const CARGO_TOOL: &str = env!("CARGO_BIN_EXE_cargo-tool-under-test");

/// Builds a command without the environment variables that would change the program's behaviour.
pub(crate) fn command(program: impl AsRef<Path>, words: &[&str]) -> Command {
    let mut command = Command::new(program.as_ref());
    command.args(words);
    for name in [
        "NO_COLOR",
        "CLICOLOR_FORCE",
        "TOOL_SECRET_BOX_KEY",
        "TOOL_VARIABLE_STREET",
        "TOOL_SECRET_TRACKER_KEY",
        "RUST_BACKTRACE",
    ] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm-256color");
    command
}

/// Runs a command to its end, with the given standard input.
#[track_caller]
pub(crate) fn run(mut command: Command, input: &str) -> Ran {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().unwrap();
    // A program that does not read its input may have exited already.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().expect("no signal ended the program"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs `desk`, a program with a few tools.
#[track_caller]
pub(crate) fn desk(words: &[&str]) -> Ran {
    run(command(DESK, words), "")
}

/// Runs `gallery`, a program whose tools return files, use secrets, fail and panic.
#[track_caller]
pub(crate) fn gallery(words: &[&str]) -> Ran {
    run(command(GALLERY, words), "")
}

/// Runs `gallery` with the secret that its tools need.
#[track_caller]
pub(crate) fn gallery_with_key(words: &[&str], key: &str) -> Ran {
    let mut command = command(GALLERY, words);
    command.env("TOOL_SECRET_TRACKER_KEY", key);
    run(command, "")
}
