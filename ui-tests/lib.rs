//! Helpers that run cargo on a workspace like an editor, and read the messages of rustc.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// An error or a warning of rustc with a primary span.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// The file, relative to the workspace's folder.
    pub file: String,
    /// The line of the primary span, from 1.
    pub line: usize,
    /// The text that the primary span underlines.
    pub underlined: String,
    /// The level, which is `error` or `warning`.
    pub level: String,
    /// The message without its notes.
    pub message: String,
}

/// The result of running cargo.
#[derive(Debug)]
pub struct Run {
    /// The messages, ordered by file and line.
    pub told: Vec<Diagnostic>,
    /// The binaries that cargo built, with their names.
    pub executables: Vec<(String, PathBuf)>,
    /// Whether cargo exited with success.
    pub success: bool,
    /// Other output of cargo on standard error.
    pub stderr: String,
}

/// Returns the folder of the repository.
pub fn repository() -> &'static Path {
    let ui_tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    ui_tests.parent().unwrap_or(ui_tests)
}

/// Runs `cargo <arguments> --message-format=json` in the workspace, with the versions in the repository's lock file.
///
/// `folder` determines the folder for build output. Pass `env!("CARGO_TARGET_TMPDIR")`, which is set only in tests.
pub fn cargo(folder: &str, workspace: &Path, arguments: &[&str]) -> std::io::Result<Run> {
    std::fs::copy(
        repository().join("Cargo.lock"),
        workspace.join("Cargo.lock"),
    )?;
    // Use trybuild's target folder, so that dependencies are built once.
    let target = Path::new(folder).with_file_name("tests/trybuild");
    let (command, rest) = arguments.split_at(1);
    let output = tool_tests::cargo::command()
        .args(command)
        .args([
            "--offline",
            "--quiet",
            "--keep-going",
            "--message-format=json",
        ])
        .args(rest)
        .current_dir(workspace)
        .env("CARGO_TARGET_DIR", target)
        // `check` is incremental like in an editor, because an incremental rustc does not merge equal errors of two items. Other commands build a
        // program only once, so they are not incremental.
        .env(
            "CARGO_INCREMENTAL",
            if command[0] == "check" { "1" } else { "0" },
        )
        .env_remove("RUSTFLAGS")
        .output()?;
    let mut run = Run {
        told: Vec::new(),
        executables: Vec::new(),
        success: output.status.success(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let message: Value = serde_json::from_str(line)?;
        match message["reason"].as_str() {
            Some("compiler-message") => run.told.extend(told(workspace, &message)),
            Some("compiler-artifact") => {
                let executable = message["executable"].as_str().map(PathBuf::from);
                let name = message["target"]["name"].as_str().map(str::to_owned);
                run.executables.extend(name.zip(executable));
            }
            _ => {}
        }
    }
    run.told.sort();
    Ok(run)
}

/// Converts a message with a primary span. Returns `None` for a summary such as "aborting due to 2 previous errors".
fn told(workspace: &Path, message: &Value) -> Option<Diagnostic> {
    let package = Path::new(message["manifest_path"].as_str()?).parent()?;
    let folder = package.strip_prefix(workspace).unwrap_or(package);
    let message = &message["message"];
    let spans = message["spans"].as_array()?;
    let primary = spans.iter().find(|span| span["is_primary"] == true)?;
    let number = |key: &str| {
        primary[key]
            .as_u64()
            .and_then(|number| usize::try_from(number).ok())
    };
    let file = Path::new(primary["file_name"].as_str()?);
    // Paths are relative to the workspace's folder, or to the package's folder for a package outside of the workspace.
    let file = if workspace.join(file).is_file() {
        file.to_owned()
    } else {
        folder.join(file)
    };
    let text = std::fs::read_to_string(workspace.join(&file)).ok()?;
    let bytes = number("byte_start")?..number("byte_end")?;
    Some(Diagnostic {
        file: file.to_string_lossy().into_owned(),
        line: number("line_start")?,
        underlined: text.get(bytes)?.to_owned(),
        level: message["level"].as_str()?.to_owned(),
        message: message["message"].as_str()?.to_owned(),
    })
}
