#!/usr/bin/env python3
"""Measures the compile time of 200 tools, compared with structs with the same fields and only serde's and schemars' derives.

    python3 compile.py [--tools 200] [--rounds 5]

Makes two crates in a temporary folder and builds their dependencies. Measures the user CPU time of `cargo check`, of `cargo build`, and of a
rebuild after an edit of one tool, in interleaved rounds. Prints the medians, their ratios, and the size of the binary per tool.
"""
import argparse, os, pathlib, resource, statistics, subprocess, tempfile

HERE = pathlib.Path(__file__).resolve().parent

TYPES = """
/// A language.
#[derive({enum})]
#[serde(rename_all = "snake_case")]
pub enum Lang{i} {{ Rust, Go, Python, TypeScript, C }}

/// Narrows a search.
#[derive({derive})]
pub struct Filter{i} {{
    /// Language of the repository.
    pub lang: Lang{i},
    /// Tags that must all be present.
    pub tags: Vec<String>,
    /// Fewest stars.
    pub min_stars: Option<u32>,
}}

/// One result.
#[derive({out})]
pub struct Hit{i} {{
    /// Title of the page.
    pub title: String,
    /// Where it is.
    pub url: String,
    /// How well it fits.
    pub score: f64,
}}
"""

FLOOR = """
/// Searches index {i}. Use it before answering a question about a repository.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Search{i} {{
    /// What to search for.
    pub query: String,
    /// How many hits to return.
    pub limit: Option<u32>,
    /// Narrow the search.
    pub filter: Option<Filter{i}>,
}}
pub async fn search_{i}(query: String, limit: Option<u32>, filter: Option<Filter{i}>) -> Result<Vec<Hit{i}>, String> {{
    let _ = (limit, filter);
    Ok(vec![Hit{i} {{ title: query, url: String::new(), score: {i}.0 }}])
}}
"""

OURS = """
/// Searches index {i}. Use it before answering a question about a repository.
#[tool(example("A narrow search", {{ "query": "serde rename", "limit": 3, "filter": {{ "lang": "rust", "tags": ["derive"], "min_stars": 10 }} }}))]
pub async fn search_{i}(
    /// What to search for.
    query: String,
    /// How many hits to return.
    limit: Option<u32>,
    /// Narrow the search.
    filter: Option<Filter{i}>,
) -> Result<Vec<Hit{i}>, ToolError> {{
    let _ = (limit, filter);
    Ok(vec![Hit{i} {{ title: query, url: String::new(), score: {i}.0 }}])
}}
"""

KINDS = {
    "floor": dict(
        head="",
        item=FLOOR,
        derive="serde::Deserialize, schemars::JsonSchema",
        enum="serde::Deserialize, schemars::JsonSchema",
        out="serde::Serialize, schemars::JsonSchema",
        main="fn main() {{ let n: usize = [{schemas}].iter().map(|s: &schemars::Schema| serde_json::to_string(s).unwrap().len()).sum(); println!(\"{{n}}\");\n{calls} }}",
        deps='serde = { version = "1", features = ["derive"] }\nserde_json = { version = "1", features = ["raw_value"] }\nschemars = "1"\n',
    ),
    "ours": dict(
        head="use tool_core::prelude::*;\n",
        item=OURS,
        derive="StrictSchema",
        enum="StrictSchema",
        out="Serialize, StrictSchema",
        main="fn main() {{ let t = tool_core::Registry::linked().unwrap().open(); println!(\"{{}}\", tool_core::Dialect::ALL.map(|d| t.definitions(d).len()).iter().sum::<usize>()); }}",
        deps=f'tool-core = {{ path = "{HERE.parent / "tool-core"}" }}\nserde = {{ version = "1", features = ["derive"] }}\n',
    ),
}


def write(root: pathlib.Path, kind: str, tools: int) -> pathlib.Path:
    words = KINDS[kind]
    folder = root / kind
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text(
        f'[package]\nname = "{kind}"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\n{words["deps"]}'
        '[profile.dev]\ndebug = "line-tables-only"\n'
    )
    body = ""
    for i in range(tools):
        body += TYPES.format(i=i, derive=words["derive"], enum=words["enum"], out=words["out"])
        body += words["item"].format(i=i)
    schemas = ", ".join(f"schemars::schema_for!(Search{i})" for i in range(tools))
    calls = "\n".join(
        f'if n == {i} {{ let a: Search{i} = serde_json::from_str("").unwrap(); drop(search_{i}(a.query, a.limit, a.filter)); println!("{{}}", serde_json::to_string(&Hit{i} {{ title: String::new(), url: String::new(), score: 0.0 }}).unwrap()); }}'
        for i in range(tools)
    )
    (folder / "src/main.rs").write_text("#![allow(dead_code)]\n" + words["head"] + body + words["main"].format(schemas=schemas, calls=calls))
    return folder


def cargo(folder: pathlib.Path, *words: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    environment = dict(os.environ, CARGO_INCREMENTAL="1")
    environment.pop("CARGO_TARGET_DIR", None)
    done = subprocess.run(["cargo", *words, "--quiet"], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr[-4000:])
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def edit(folder: pathlib.Path, round_: int) -> None:
    main = folder / "src/main.rs"
    text = main.read_text()
    main.write_text(text.replace("score: 7.0" if not round_ else f"score: 7.{round_}1", f"score: 7.{round_ + 1}1", 1))


def clean(folder: pathlib.Path, profile: str = "debug") -> None:
    subprocess.run(["cargo", "clean", "--quiet", "-p", folder.name], cwd=folder, check=True)
    subprocess.run(["rm", "-rf", f"target/{profile}/incremental"], cwd=folder, check=True)


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--tools", type=int, default=200)
    words.add_argument("--rounds", type=int, default=5)
    words = words.parse_args()
    with tempfile.TemporaryDirectory() as root:
        folders = {kind: write(pathlib.Path(root), kind, words.tools) for kind in KINDS}
        times = {(kind, what): [] for kind in KINDS for what in ("check", "build", "edit")}
        for kind, folder in folders.items():
            cargo(folder, "check")
            cargo(folder, "build")
        for round_ in range(words.rounds):
            for kind, folder in folders.items():
                clean(folder)
                times[kind, "check"].append(cargo(folder, "check"))
                clean(folder)
                times[kind, "build"].append(cargo(folder, "build"))
                edit(folder, round_)
                times[kind, "edit"].append(cargo(folder, "build"))
        print(f"| {words.tools} tools | floor, s | ours, s | ratio |\n|---|---|---|---|")
        for what in ("check", "build", "edit"):
            floor, ours = (statistics.median(times[kind, what]) for kind in ("floor", "ours"))
            print(f"| `{what}` | {floor:.2f} | {ours:.2f} | {ours / floor:.2f} |")
        sizes = {}
        for kind, folder in folders.items():
            cargo(folder, "build", "--release")
            subprocess.run(["strip", f"target/release/{kind}"], cwd=folder, check=True)
            sizes[kind] = (folder / "target/release" / kind).stat().st_size
        print(f"\nRelease binary, stripped: floor {sizes['floor']} bytes, ours {sizes['ours']}: "
              f"{(sizes['ours'] - sizes['floor']) / words.tools:+.0f} bytes a tool.")


if __name__ == "__main__":
    main()
