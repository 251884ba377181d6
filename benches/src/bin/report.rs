//! Binary that runs the scenarios of `dispatch` under callgrind and prints the tables of `README.md`.
//!
//! `cargo build --release --features peers && cargo run --release --features peers --bin report`
//!
//! `report times ROUNDS` prints times instead of instructions: the median of the rounds, and of the ratios to the floor in the same round.

use std::process::Command;

const CALLS: [u64; 2] = [200, 1_200];
/// The numbers of calls through a gate. They are so small that the buffer of audit rows does not become full: from 500 rows on, calls wait until
/// rows are written.
const WITHOUT_ROWS: [u64; 2] = [50, 450];

struct Cost {
    instructions: u64,
    allocations: u64,
    nanos: u64,
}

fn main() {
    let dispatch = std::env::current_exe().expect("path").with_file_name("dispatch");
    let mut words = std::env::args().skip(1);
    if words.next().as_deref() == Some("times") {
        let rounds = words.next().and_then(|rounds| rounds.parse().ok()).unwrap_or(9);
        return times(&dispatch, rounds);
    }
    let mut scenarios = vec![("floor", 1), ("tool-core", 1), ("tool-core", 100), ("tool-core", 1_000), ("tool-core-deadline", 1), ("tool-core-gate", 1), ("tool-core-gate-flushed", 1)];
    if cfg!(feature = "peers") {
        scenarios.extend([("swiftide", 1), ("rmcp", 1), ("rmcp-default", 1), ("rig", 1)]);
    }
    println!("| hits | library | tools | instructions | times floor | allocations | ns, one run |");
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

/// Measures every scenario in turn, round by round, so that other load on the machine affects all of them.
fn times(dispatch: &std::path::Path, rounds: usize) {
    let mut scenarios = vec!["floor", "tool-core", "tool-core-gate-unaudited", "tool-core-gate-flushed"];
    if cfg!(feature = "peers") {
        scenarios.extend(["swiftide", "rig", "rmcp"]);
    }
    println!("| hits | library | ns | times floor | least ratio | greatest ratio |");
    println!("|---|---|---|---|---|---|");
    for hits in [3, 20] {
        let mut measured = vec![Vec::new(); scenarios.len()];
        for _ in 0..rounds.max(1) {
            for (who, of) in scenarios.iter().zip(&mut measured) {
                let calls = if who.ends_with("flushed") { 20_000 } else { 100_000 };
                of.push(run(dispatch, who, hits, 1, calls).1);
            }
        }
        let floor = measured[0].clone();
        for (who, of) in scenarios.iter().zip(&mut measured) {
            #[expect(clippy::cast_precision_loss, reason = "a ratio to print")]
            let mut ratios: Vec<f64> = of.iter().zip(&floor).map(|(own, floor)| *own as f64 / *floor as f64).collect();
            ratios.sort_by(f64::total_cmp);
            of.sort_unstable();
            let middle = of.len() / 2;
            println!(
                "| {hits} | {who} | {} | {:.2} | {:.2} | {:.2} |",
                of[middle],
                ratios[middle],
                ratios[0],
                ratios[ratios.len() - 1]
            );
        }
    }
}

/// Runs a scenario, and returns the allocations and nanoseconds per call.
fn run(dispatch: &std::path::Path, who: &str, hits: usize, tools: usize, calls: u64) -> (u64, u64) {
    let output = Command::new(dispatch)
        .args([who, &hits.to_string(), &tools.to_string(), &calls.to_string()])
        .output()
        .expect("run");
    let text = String::from_utf8(output.stdout).expect("text");
    let mut numbers = text.split_whitespace().map(|word| word.parse().expect("number"));
    (numbers.next().expect("allocations"), numbers.next().expect("nanoseconds"))
}

fn cost(dispatch: &std::path::Path, who: &str, hits: usize, tools: usize) -> Cost {
    let without_rows = who == "tool-core-gate";
    let counts = if without_rows { WITHOUT_ROWS } else { CALLS };
    let timed = if without_rows { WITHOUT_ROWS[1] } else { 100_000 };
    let [few, many] = counts.map(|calls| instructions(dispatch, who, hits, tools, calls));
    let (allocations, nanos) = run(dispatch, who, hits, tools, timed);
    Cost {
        instructions: (many - few) / (counts[1] - counts[0]),
        allocations,
        nanos,
    }
}

/// Returns the number of instructions inside `counted_region`, as counted by callgrind. The number is the same for each run.
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
