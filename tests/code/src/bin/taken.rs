//! An engine that somebody has taken over: it says whatever the code tells it to, frame by frame.
//!
//! The code is lines: `say JSON`, `raw HEX`, `many COUNT JSON`, `wait`, `close`. This binary does not know `tool-code`.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::process::exit;

tool_std::mode!("tool-code-engine", taken);

fn main() {
    tool_std::helper();
}

fn taken(_: Vec<OsString>) -> u8 {
    let mut head = [0; 4];
    let _ = std::io::stdin().read_exact(&mut head);
    let mut frame = vec![0; u32::from_be_bytes(head) as usize];
    let _ = std::io::stdin().read_exact(&mut frame);
    let program: serde_json::Value = serde_json::from_slice(&frame).unwrap_or_default();
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
            "wait" => loop {
                std::thread::park();
            },
            _ => exit(3),
        }
    }
    0
}

fn say(message: &str) {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    send(&length.to_be_bytes());
    send(message.as_bytes());
}

/// A host that does not listen any more has killed this process, or is about to.
fn send(bytes: &[u8]) {
    let mut to = std::io::stdout();
    if to.write_all(bytes).and_then(|()| to.flush()).is_err() {
        exit(4);
    }
}
