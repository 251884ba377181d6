#!/usr/bin/env python3
"""What 1,000 linked tools add to the start of a process: time to a ready registry, and memory.

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

fn main() {
    let before = resident();
    let start = Instant::now();
    let registry = Registry::linked();
    let ready = start.elapsed();
    let after = resident();
    let tools = registry.map(|registry| registry.open());
    let (first, fresh, next, floor, bytes) = match &tools {
        Ok(tools) => {
            let time = |f: &dyn Fn() -> String| { let start = Instant::now(); let text = f(); (start.elapsed().as_nanos(), text) };
            let (first, text) = time(&|| tools.definitions(Dialect::OpenAi));
            // Into memory that was not touched before, as the first listing is.
            let (fresh, _) = time(&|| text.clone());
            let next = (0..50).map(|_| time(&|| tools.definitions(Dialect::OpenAi)).0).min().unwrap();
            let floor = (0..50).map(|_| time(&|| text.clone()).0).min().unwrap();
            (first, fresh, next, floor, text.len())
        }
        Err(_) => (0, 0, 0, 0, 0),
    };
    println!("{} {} {first} {fresh} {next} {floor} {bytes}", ready.as_nanos(), after - before);
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


def run(root: pathlib.Path, tools: int, runs: int) -> list[float]:
    folder = root / f"tools-{tools}"
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text(
        f'[package]\nname = "startup"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\ntool-core = {{ path = "{HERE.parent / "tool-core"}" }}\n'
    )
    (folder / "src/main.rs").write_text(HEAD + "".join(TOOL.format(i=i) for i in range(tools)))
    subprocess.run(["cargo", "build", "--release", "--quiet", "--target-dir", root / "target"], cwd=folder, check=True)
    lines = [subprocess.run([root / "target/release/startup"], capture_output=True, text=True, check=True).stdout.split() for _ in range(runs)]
    return [statistics.median(float(line[column]) for line in lines) for column in range(7)]


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--tools", type=int, default=1000)
    words.add_argument("--runs", type=int, default=21)
    words = words.parse_args()
    print("| tools | to a ready registry, µs | memory, KiB | first listing, µs | first copy of the bytes, µs | next listing, µs | next copy, µs | bytes |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as root:
        for tools in (1, words.tools):
            ready, memory, first, fresh, next_, floor, size = run(pathlib.Path(root), tools, words.runs)
            print(f"| {tools} | {ready / 1e3:.1f} | {memory:.0f} | {first / 1e3:.1f} | {fresh / 1e3:.1f} | {next_ / 1e3:.1f} | {floor / 1e3:.1f} | {size:.0f} |")


if __name__ == "__main__":
    main()
