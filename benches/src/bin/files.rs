//! The cost of the file tools: `files [FOLDER]` prints tables. It creates a tree of 200 MB in the folder (by default `files-bench` in the folder for
//! temporary files) and does not remove the tree, so that a second run can use it.
//!
//! `rg` must be in `PATH`.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tool_core::prelude::*;
use tool_std::fs::{Limits, read_file, read_text, search_files};
use tool_std::workspace::{Workspace, WorkspacePath, Workspaces};

const MEGABYTE: usize = 1 << 20;

fn main() {
    let folder = std::env::args().nth(1).map_or_else(|| std::env::temp_dir().join("files-bench"), PathBuf::from);
    let workspaces = Workspaces::new(&folder);
    let workspace = workspaces.open("bench", "files").expect("a folder to write in");
    workspace.dir().expect("a folder to write in");
    paths(&workspace);
    reads(&workspaces, &workspace);
    searches(&workspaces, &workspace);
}

fn paths(workspace: &Workspace) {
    let base = workspace.path().display();
    println!("| path | ns |\n|---|---|");
    for (what, text) in [
        ("short", "src/main.rs".to_owned()),
        ("with `..` and `.`", "a/b/../../c/./d//e/../main.rs".to_owned()),
        ("absolute and inside", format!("{base}/src/main.rs")),
        ("absolute and outside", "/etc/passwd".to_owned()),
        ("4 KB, `..` in every other place", "ab/../".repeat(680)),
        ("70 KB", "x/".repeat(35_000)),
    ] {
        let time = best(|| {
            for _ in 0..100 {
                black_box(workspace.resolve(black_box(&text))).ok();
            }
        });
        println!("| {what} | {} |", time.as_nanos() / 100);
    }
}

fn reads(workspaces: &Workspaces, workspace: &Workspace) {
    let line = "let value = self.table.get(&key).copied().unwrap_or_default(); // as \"before\"\n";
    let text: String = line.chars().cycle().take(MEGABYTE).collect();
    workspace.dir().expect("there").write("text", &text).expect("room");
    let path = workspace.path().join("text");
    let inside = WorkspacePath::relative("text").expect("a path");
    let wide = Limits::default().lines(usize::MAX >> 1).bytes(MEGABYTE);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("a runtime");
    let tools = Registry::builder().tool::<read_file>().build().expect("one tool").open();
    let call = |limits: Limits| {
        let cx = ToolContext::builder().workspace("bench").conversation("files").with(workspaces.clone()).with(limits).build();
        let result = runtime.block_on(tools.call(ToolCall::new("1", "read_file", r#"{"path":"text"}"#), &cx));
        assert!(!result.is_error());
        result
    };
    println!("\n| reading 1 MB | us | times |\n|---|---|---|");
    let [read, whole, cut, both, called, called_cut] = interleaved(&mut [
        &mut || drop(black_box(std::fs::read_to_string(&path))),
        &mut || drop(black_box(read_text(workspace, &inside, 0, &wide))),
        &mut || drop(black_box(read_text(workspace, &inside, 0, &Limits::default()))),
        &mut || {
            let text = std::fs::read_to_string(&path).expect("there");
            black_box(serde_json::to_string(&text)).ok();
        },
        &mut || drop(black_box(call(wide))),
        &mut || drop(black_box(call(Limits::default()))),
    ]);
    let row = |what: &str, time: Duration, floor: Duration| {
        println!("| {what} | {} | {:.2} |", time.as_micros(), time.as_secs_f64() / floor.as_secs_f64());
    };
    row("`std::fs::read_to_string`", read, read);
    row("`read_text`, all of it", whole, read);
    row("`read_text`, 500 lines of it", cut, read);
    row("`read_to_string` and `serde_json::to_string`", both, both);
    row("a call of `read_file`, all of it", called, both);
    row("a call of `read_file`, 500 lines of it", called_cut, both);
}

fn searches(workspaces: &Workspaces, workspace: &Workspace) {
    let tree = workspace.path().join("tree");
    if !tree.exists() {
        plant(&tree);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("a runtime");
    let tools = Registry::builder().tool::<search_files>().build().expect("one tool").open();
    let cx = ToolContext::builder().workspace("bench").conversation("files").with(workspaces.clone()).build();
    println!("\n| searching 200 MB for | `rg`, ms | `search_files`, ms | times |\n|---|---|---|---|");
    for (pattern, flags, options) in [
        ("needle_in_the_hay", "-n", ""),
        (r"needle_\w+_hay\b", "-n", ""),
        ("NEEDLE_in_the_hay", "-ni", r#","ignore_case":true"#),
        (r"\w{5}\s+needle\w*;", "-n", ""),
    ] {
        let arguments = format!(r#"{{"path":"tree","limit":1000,"pattern":{}{options}}}"#, serde_json::to_string(pattern).expect("a text"));
        let ours = || {
            let result = runtime.block_on(tools.call(ToolCall::new("1", "search_files", arguments.clone()), &cx));
            result.output().expect("a result").get().matches("\"matched\":true").count()
        };
        let theirs = || {
            let said = Command::new("rg").args([flags, pattern]).arg(&tree).stdin(Stdio::null()).output().expect("`rg` is on the path");
            said.stdout.iter().filter(|byte| **byte == b'\n').count()
        };
        assert_eq!(ours(), theirs(), "{pattern}");
        let [rg, search] = interleaved(&mut [&mut || _ = black_box(theirs()), &mut || _ = black_box(ours())]);
        println!("| `{pattern}` | {} | {} | {:.2} |", rg.as_millis(), search.as_millis(), search.as_secs_f64() / rg.as_secs_f64());
    }
}

/// Creates 20,000 files of about 10 KB, in folders of 50. Every hundredth file contains the searched text.
fn plant(tree: &Path) {
    let words = ["let", "value", "=", "self", ".table", "(key)", "fn", "return", "if", "{", "}", "match", "=>", "Some", "hay", "use", "crate", "::", "// why", "needles"];
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    for folder in 0..400 {
        let path = tree.join(format!("part{}/module{folder}", folder % 20));
        std::fs::create_dir_all(&path).expect("room");
        for file in 0..50 {
            let mut text = String::with_capacity(11_000);
            while text.len() < 10_480 {
                for _ in 0..4 + random(10) {
                    text.push_str(words[random(words.len())]);
                    text.push(' ');
                }
                text.push('\n');
            }
            if (folder * 50 + file) % 100 == 0 {
                text.push_str("value needle_in_the_hay;\n");
            }
            std::fs::write(path.join(format!("file{file}.rs")), text).expect("room");
        }
    }
}

fn best(run: impl FnMut()) -> Duration {
    let mut run = run;
    let [time] = interleaved(&mut [&mut run]);
    time
}

/// Returns the best time of each run. The runs alternate, because other programs use the machine as well.
fn interleaved<const N: usize>(runs: &mut [&mut dyn FnMut(); N]) -> [Duration; N] {
    let mut times = [const { Vec::new() }; N];
    for round in 0..25 {
        for (run, times) in runs.iter_mut().zip(&mut times) {
            let since = Instant::now();
            run();
            if round >= 4 {
                times.push(since.elapsed());
            }
        }
    }
    times.map(|times| times.into_iter().min().unwrap_or_default())
}
