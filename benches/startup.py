#!/usr/bin/env python3
"""Measures the cost of 1,000 linked tools when a process starts: the time to a ready registry, and memory.

    python3 startup.py [--tools 1000] [--runs 21]

Makes a crate with that many tools in a temporary folder, builds it in release, runs it and prints the medians.
"""
import argparse, pathlib, statistics, subprocess, tempfile

HERE = pathlib.Path(__file__).resolve().parent

HEAD = """use std::time::Instant;
use tool_core::prelude::*;

fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    text.lines().find(|line| line.starts_with("Rss:")).and_then(|line| line.split_whitespace().nth(1)).unwrap().parse().unwrap()
}

/// Pages that this process touched for the first time, without reading a file.
fn faults() -> u64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    text.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(7)).unwrap().parse().unwrap()
}

fn main() {
    let before = resident();
    let start = Instant::now();
    let registry = Registry::linked();
    let ready = start.elapsed();
    let after = resident();
    let tools = registry.map(|registry| registry.open());
    let (first, fresh, next, floor, bytes, touched, copied) = match &tools {
        Ok(tools) => {
            let time = |f: &dyn Fn() -> String| { let start = Instant::now(); let text = f(); (start.elapsed().as_nanos(), text) };
            let start = faults();
            let (first, text) = time(&|| tools.definitions(Dialect::OpenAi));
            let touched = faults() - start;
            let start = faults();
            // Like the first listing, this copy is written to memory that was not touched before.
            let (fresh, _copy) = time(&|| text.clone());
            let copied = faults() - start;
            let next = (0..50).map(|_| time(&|| tools.definitions(Dialect::OpenAi)).0).min().unwrap();
            let floor = (0..50).map(|_| time(&|| text.clone()).0).min().unwrap();
            (first, fresh, next, floor, text.len(), touched, copied)
        }
        Err(_) => (0, 0, 0, 0, 0, 0, 0),
    };
    if let (Some(path), Ok(tools)) = (std::env::args().nth(1), &tools) {
        std::fs::write(path, tools.definitions(Dialect::OpenAi)).unwrap();
    }
    println!("{} {} {first} {fresh} {next} {floor} {bytes} {touched} {copied}", ready.as_nanos(), after - before);
}
"""

# The same listing as one text in the binary, which is copied once: the lowest possible cost of a first listing.
FLOOR = """static LISTING: &str = include_str!("listing.json");

fn main() {
    let start = std::time::Instant::now();
    let text = std::hint::black_box(LISTING).to_owned();
    let first = start.elapsed();
    println!("{} {}", first.as_nanos(), std::hint::black_box(text).len());
}
"""

TOOL = """
/// Searches index {i}. Use it before answering a question about a repository.
#[tool]
async fn search_{i}(
    /// What to search for.
    query: String,
    /// How many hits to return.
    limit: Option<u32>,
) -> Result<Vec<String>, ToolError> {{
    let _ = limit;
    Ok(vec![query])
}}
"""


def built(root: pathlib.Path, name: str, package: str, dependencies: str, main: str) -> pathlib.Path:
    folder = root / name
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "Cargo.toml").write_text(f'[package]\nname = "{package}"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\n{dependencies}\n')
    (folder / "src/main.rs").write_text(main)
    subprocess.run(["cargo", "build", "--release", "--quiet", "--target-dir", root / "target"], cwd=folder, check=True)
    return root / "target/release" / package


def medians(programs: list[pathlib.Path], runs: int) -> list[float]:
    """Runs the programs alternately, and returns the median of each number that they print."""
    lines = [[float(word) for program in programs for word in subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()] for _ in range(runs)]
    return [statistics.median(column) for column in zip(*lines)]


def run(root: pathlib.Path, tools: int, runs: int) -> list[float]:
    main = HEAD + "".join(TOOL.format(i=i) for i in range(tools))
    ours = built(root, f"tools-{tools}", "startup", f'tool-core = {{ path = "{HERE.parent / "tool-core"}" }}', main)
    floor = root / f"floor-{tools}"
    (floor / "src").mkdir(parents=True)
    subprocess.run([ours, floor / "src/listing.json"], capture_output=True, check=True)
    return medians([ours, built(root, f"floor-{tools}", "floor", "", FLOOR)], runs)


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--tools", type=int, default=1000)
    words.add_argument("--runs", type=int, default=21)
    words = words.parse_args()
    print("| tools | to a ready registry, µs | memory, KiB | first listing, µs | a static text's first copy, µs | first copy of the bytes, µs | next listing, µs | next copy, µs | bytes | page faults of the first listing | of the first copy |\n|---|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as root:
        for tools in (1, words.tools):
            ready, memory, first, fresh, next_, copy, size, touched, copied, floor, _ = run(pathlib.Path(root), tools, words.runs)
            print(f"| {tools} | {ready / 1e3:.1f} | {memory:.0f} | {first / 1e3:.1f} | {floor / 1e3:.1f} | {fresh / 1e3:.1f} | {next_ / 1e3:.1f} | {copy / 1e3:.1f} | {size:.0f} | {touched:.0f} | {copied:.0f} |")


if __name__ == "__main__":
    main()
