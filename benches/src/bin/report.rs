//! Runs every scenario of `dispatch` under callgrind and prints the table of `README.md`.
//!
//! `cargo build --release --features peers && cargo run --release --features peers --bin report`

use std::process::Command;

const CALLS: [u64; 2] = [200, 1_200];
/// Through a gate without the rows of the audit: from 500 rows on, calls wait until they are written.
const WITHOUT_ROWS: [u64; 2] = [50, 450];

struct Cost {
    instructions: u64,
    allocations: u64,
    nanos: u64,
}

fn main() {
    let dispatch = std::env::current_exe().expect("path").with_file_name("dispatch");
    let mut scenarios = vec![("floor", 1), ("tool-core", 1), ("tool-core", 100), ("tool-core", 1_000), ("tool-core-deadline", 1), ("tool-core-gate", 1), ("tool-core-gate-flushed", 1)];
    if cfg!(feature = "peers") {
        scenarios.extend([("swiftide", 1), ("rmcp", 1), ("rmcp-default", 1), ("rig", 1)]);
    }
    println!("| hits | who | tools | instructions | times floor | allocations | ns, one run |");
    println!("|---|---|---|---|---|---|---|");
    for hits in [3, 20] {
        let mut floor = None;
        for &(who, tools) in &scenarios {
            let cost = cost(&dispatch, who, hits, tools);
            #[expect(clippy::cast_precision_loss, reason = "a ratio to print")]
            let ratio = cost.instructions as f64 / *floor.get_or_insert(cost.instructions) as f64;
            println!(
                "| {hits} | {who} | {tools} | {} | {ratio:.3} | {} | {} |",
                cost.instructions, cost.allocations, cost.nanos
            );
        }
    }
}

fn cost(dispatch: &std::path::Path, who: &str, hits: usize, tools: usize) -> Cost {
    let without_rows = who == "tool-core-gate";
    let counts = if without_rows { WITHOUT_ROWS } else { CALLS };
    let timed = if without_rows { WITHOUT_ROWS[1] } else { 100_000 };
    let [few, many] = counts.map(|calls| instructions(dispatch, who, hits, tools, calls));
    let output = Command::new(dispatch)
        .args([who, &hits.to_string(), &tools.to_string(), &timed.to_string()])
        .output()
        .expect("run");
    let text = String::from_utf8(output.stdout).expect("text");
    let mut numbers = text.split_whitespace().map(|word| word.parse().expect("number"));
    Cost {
        instructions: (many - few) / (counts[1] - counts[0]),
        allocations: numbers.next().expect("allocations"),
        nanos: numbers.next().expect("nanoseconds"),
    }
}

/// Instructions of a whole run, as callgrind counts them: the same every time.
fn instructions(dispatch: &std::path::Path, who: &str, hits: usize, tools: usize, calls: u64) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(["--collect-atstart=no", "--toggle-collect=dispatch::counted_region"])
        .arg(dispatch)
        .args([who, &hits.to_string(), &tools.to_string(), &calls.to_string()])
        .output()
        .expect("valgrind");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = text.lines().find(|line| line.contains("Collected :")).unwrap_or_else(|| panic!("{text}"));
    line.rsplit(' ').next().and_then(|word| word.parse().ok()).expect("count")
}
