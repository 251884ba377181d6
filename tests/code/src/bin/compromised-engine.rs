//! A compromised engine, which sends arbitrary frames to the host.
//!
//! Each line of the code is a command: `say JSON`, `raw HEX`, `many COUNT JSON`, `wait` or `try FOLDER PORT`. `try` reports whether the sandbox
//! permits files, network, processes and threads. Any other command ends the process. This binary does not use the `tool-code` crate.

use std::ffi::OsString;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, exit};

use rustix::process::{Resource, getrlimit};
use serde_json::{Value, json};

tool_isolate::mode!("tool-code-engine", compromised);

fn main() {
    tool_isolate::helper();
}

fn compromised(_: Vec<OsString>) -> u8 {
    let mut head = [0; 4];
    let _ = std::io::stdin().read_exact(&mut head);
    let mut frame = vec![0; u32::from_be_bytes(head) as usize];
    let _ = std::io::stdin().read_exact(&mut frame);
    let program: Value = serde_json::from_slice(&frame).unwrap_or_default();
    for line in program["run"]["code"].as_str().unwrap_or_default().lines() {
        let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        match word {
            "say" => say(rest),
            "many" => {
                let (count, message) = rest.split_once(' ').unwrap_or(("1", rest));
                (0..count.parse::<u32>().unwrap_or(1)).for_each(|_| say(message));
            }
            "raw" => {
                let digits: Vec<u8> = rest.bytes().collect();
                let bytes = digits.chunks(2).filter_map(|pair| {
                    let pair = std::str::from_utf8(pair).ok()?;
                    u8::from_str_radix(pair, 16).ok()
                });
                send(&bytes.collect::<Vec<u8>>());
            }
            "try" => {
                let (folder, port) = rest.split_once(' ').unwrap_or((rest, ""));
                let can = attempts(Path::new(folder), port.parse().unwrap_or_default());
                say(&json!({"report": {"value": can}}).to_string());
            }
            "wait" => loop {
                std::thread::park();
            },
            _ => exit(3),
        }
    }
    0
}

/// Attempts to use files, the network, processes and threads, and returns whether each attempt succeeded.
fn attempts(folder: &Path, port: u16) -> Value {
    let limit = |resource| getrlimit(resource).current;
    let threads: Vec<_> = (0..64)
        .map_while(|_| std::thread::Builder::new().spawn(std::thread::park).ok())
        .collect();
    json!({
        "variables": std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect::<Vec<_>>(),
        "folder": std::env::current_dir().unwrap_or_default(),
        "reads": fs::read_to_string(folder.join("secret")).is_ok(),
        "lists": fs::read_dir(folder).is_ok(),
        "writes": fs::write(folder.join("new"), "new").is_ok(),
        "changes": fs::OpenOptions::new().append(true).open(folder.join("secret")).is_ok(),
        "connects": TcpStream::connect(("127.0.0.1", port)).is_ok(),
        "starts": Command::new("/bin/cat").arg(folder.join("secret")).output().is_ok_and(|cat| cat.status.success()),
        "threads": threads.len(),
        "files": limit(Resource::Nofile),
        "file_size": limit(Resource::Fsize),
        "data": limit(Resource::Data),
    })
}

fn say(message: &str) {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    send(&length.to_be_bytes());
    send(message.as_bytes());
}

/// Sends bytes. A failed write means that the host closed the pipe, so the process exits.
fn send(bytes: &[u8]) {
    let mut to = std::io::stdout();
    if to.write_all(bytes).and_then(|()| to.flush()).is_err() {
        exit(4);
    }
}
