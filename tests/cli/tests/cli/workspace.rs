//! Tests of the `new` command, and of `cargo tool` in a workspace.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{CARGO_TOOL, DESK, Ran, command, run};

/// Returns the root folder of this repository.
fn checkout() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    folder.canonicalize().unwrap()
}

/// A folder with the same path in every run, so that cargo does not rebuild its crates. It is deleted when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let mut checkout_of = DefaultHasher::new();
        checkout().hash(&mut checkout_of);
        let folder = format!("cli-tests-{:016x}-{name}", checkout_of.finish());
        let folder = std::env::temp_dir().join(folder);
        // A killed run of the test may not have deleted the folder.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Makes cargo work offline and use trybuild's target folder. All tests that run cargo share this folder, so dependencies are built once.
fn without_network(mut command: Command, folder: &Path) -> Command {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tests/trybuild");
    command
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env_remove("RUSTFLAGS");
    tool_tests::cargo::remove_variables(&mut command);
    command
}

#[track_caller]
fn cargo_tool(folder: &Path, words: &[&str]) -> Ran {
    // cargo passes the subcommand's own name as the first argument.
    let words: Vec<&str> = std::iter::once("tool")
        .chain(words.iter().copied())
        .collect();
    run(without_network(command(CARGO_TOOL, &words), folder), "")
}

#[track_caller]
fn cargo(folder: &Path, words: &[&str]) -> Ran {
    run(without_network(command(env!("CARGO"), words), folder), "")
}

#[track_caller]
fn new(folder: &Path, name: &str) -> Ran {
    let tools = checkout();
    let ran = cargo_tool(
        folder,
        &["new", name, "--tool-path", tools.to_str().unwrap()],
    );
    if ran.code == 0 && !folder.join("Cargo.lock").exists() {
        // The versions of this project's lock file are already downloaded, so no network is needed.
        fs::copy(
            tools.join("Cargo.lock"),
            folder.join(name).join("Cargo.lock"),
        )
        .unwrap();
    }
    ran
}

// S0-02, S0-04: a crate that `new` generates links and lists its tools without a manually maintained table. In the crate, the completions, `call`,
// `check`, `lock`, `diff`, `budget` and its own tests work.
#[test]
fn a_new_crate_compiles_passes_its_tests_and_has_every_command() {
    let folder = Folder::new("whole");
    let made = new(folder.path(), "my-pack").succeeds();
    assert!(
        made.out.contains("cargo run -- call greet --name Ada"),
        "{}",
        made.out
    );
    let pack = folder.path().join("my-pack");

    // The harness links the library from any folder inside the package.
    let listed = cargo_tool(&pack.join("src"), &["list"]).succeeds();
    assert!(
        listed.out.lines().any(|line| line.starts_with("greet ")),
        "{}",
        listed.out
    );
    let called = cargo_tool(&pack, &["call", "greet", "--name", "Ada"]).succeeds();
    assert_eq!(called.out, "Hi Ada!\n");
    // The completions contain the tools of the crate.
    let mut asked = without_network(
        command(CARGO_TOOL, &["--", "cargo-tool", "call", "gr"]),
        &pack,
    );
    asked.env("TOOL_CLI_COMPLETE", "fish");
    let offered = run(asked, "").succeeds().out;
    assert!(offered.starts_with("greet\t"), "{offered}");
    cargo_tool(&pack, &["call", "greet", "--name", " "]).fails(1, &["write the name of a person"]);
    cargo_tool(&pack, &["call", "great"]).fails(2, &["did you mean `greet`?"]);
    cargo_tool(&pack, &["check", "--strict"]).succeeds();
    // The lock file is written to the package root, not to the current folder.
    cargo_tool(&pack.join("src"), &["lock"]).succeeds();
    assert!(pack.join("tools.lock").exists());
    cargo_tool(&pack, &["diff"]).succeeds();

    // A changed bound in the source changes the contract.
    let lib = pack.join("src/lib.rs");
    let text = fs::read_to_string(&lib)
        .unwrap()
        .replace("length = 1..=80", "length = 1..=40");
    fs::write(&lib, text).unwrap();
    cargo_tool(&pack, &["diff", "--breaking"]).fails(1, &[]);

    // The crate's own program calls the tool too.
    let own = cargo(
        &pack,
        &[
            "run", "--quiet", "--", "call", "greet", "--name", "Ada", "--tone", "formal",
        ],
    )
    .succeeds();
    assert_eq!(own.out, "Dear Ada,\n");
    // A missing feature is reported by name, and `cargo tool` enables the features that a command needs.
    cargo(&pack, &["run", "--quiet", "--", "budget"]).fails(
        2,
        &[
            "without the feature `tokens` of tool-cli, which `budget` needs",
            "features = [\"tokens\"]",
        ],
    );
    let budget = cargo_tool(&pack, &["budget"]).succeeds();
    assert!(budget.out.contains("greet"), "{}", budget.out);
    let tests = cargo(&pack, &["test", "--quiet"]).succeeds();
    assert!(tests.out.contains("3 passed"), "{tests:?}");
    cargo(&pack, &["fmt", "--check"]).succeeds();
}

#[test]
fn package_without_a_library_reports_what_to_do() {
    let folder = Folder::new("program");
    let core = checkout().join("tool-core");
    let manifest = format!(
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\ntool-core = {{ path = {core:?} }}\n\n[workspace]\n"
    );
    fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/main.rs"), "fn main() {}\n").unwrap();
    cargo_tool(folder.path(), &["list"]).fails(
        2,
        &[
            "`shop` is only a program",
            "call `tool_cli::main()` in its `main`, then run `cargo run -p shop -- list`",
            "no library of the workspace depends on `tool-core`",
            "cargo tool new NAME",
        ],
    );
}

#[test]
fn wrong_folders_and_names_are_reported() {
    let folder = Folder::new("words");
    let at = folder.path();
    cargo_tool(at, &["list"]).fails(
        2,
        &[
            "the workspace cannot be read",
            "--manifest-path",
            "cargo tool new NAME",
        ],
    );
    cargo_tool(at, &["lits"]).fails(2, &["lits", "list"]);
    cargo_tool(at, &["new", "fn", "--tool-path", "/nowhere"])
        .fails(2, &["/nowhere", "--tool-path"]);
    // `new` refuses to generate a crate that cannot be built.
    cargo_tool(at, &["new", "unsaid"]).fails(
        2,
        &[
            "not published in a registry yet",
            "--tool-path FOLDER",
            "--tool-git URL",
        ],
    );
    assert!(!at.join("unsaid").exists());
    let address = "https://git.example.org/tool-core";
    cargo_tool(at, &["new", "by-git", "--tool-git", address]).succeeds();
    let manifest = fs::read_to_string(at.join("by-git/Cargo.toml")).unwrap();
    let named = format!("tool-core = {{ git = \"{address}\", default-features = false");
    assert!(manifest.contains(&named), "{manifest}");
    // The manifest has the fields that a registry requires.
    for field in ["description = ", "license = "] {
        assert!(manifest.contains(field), "{manifest}");
    }
    new(at, "fn").fails(2, &["fn"]);
    fs::create_dir(at.join("there")).unwrap();
    new(at, "there").fails(2, &["there"]);
    new(at, "pack").succeeds();
    cargo_tool(&at.join("pack"), &["list", "-p", "pick"])
        .fails(2, &["no package `pick`", "its packages are pack"]);
    // Arguments are validated before anything is built.
    cargo_tool(&at.join("pack"), &["budget", "--limit", "few"]).fails(2, &["few"]);
}

#[test]
fn compile_error_is_printed_and_sets_the_exit_code() {
    let folder = Folder::new("broken");
    new(folder.path(), "broken").succeeds();
    let lib = folder.path().join("broken/src/lib.rs");
    fs::write(&lib, "pub fn broken() -> u8 { \"text\" }\n").unwrap();
    cargo_tool(&folder.path().join("broken"), &["list"])
        .fails(1, &["mismatched types", "cannot be built", "-p NAME"]);
    fs::write(&lib, "pub fn nothing() {}\n").unwrap();
    cargo_tool(&folder.path().join("broken"), &["list"]).fails(
        2,
        &["the libraries of the workspace have no tools", "#[tool]"],
    );
}

/// A definition that uses schema keywords which the tools of `desk` do not use.
const ODD: &str = r##"[
  {"type": "function", "function": {"name": "draw", "description": "Draws a \"shape\".", "strict": true, "parameters": {
    "type": "object", "additionalProperties": false, "required": ["shape", "size", "by", "layer", "where"],
    "properties": {
      "shape": {"description": "What.", "anyOf": [
        {"type": "object", "additionalProperties": false, "required": ["kind", "radius"], "properties": {
          "kind": {"type": "string", "enum": ["circle"]},
          "radius": {"type": "number", "description": "How wide.", "minimum": 0, "maximum": 10}}},
        {"type": "object", "additionalProperties": false, "required": ["kind", "sides"], "properties": {
          "kind": {"type": "string", "enum": ["many-sided"]},
          "sides": {"type": "integer", "description": "How many.", "minimum": 3}}}]},
      "size": {"description": "How large.", "anyOf": [{"type": "string"}, {"type": "integer"}]},
      "by": {"type": ["string", "null"], "description": "Who.", "maxLength": 9, "pattern": "^[a-z]+$"},
      "layer": {"type": "integer", "description": "On which layer.", "enum": [-1, 0, 1]},
      "where": {"type": "array", "description": "Where.", "minItems": 1, "items": {"$ref": "#/$defs/Point"}}
    },
    "$defs": {"Point": {"type": "object", "additionalProperties": false, "required": ["x", "type"], "properties": {
      "x": {"type": "number", "description": "Across."}, "type": {"type": "string", "description": "Of which sort."}}}}
  }}}
]"##;

#[test]
fn imported_tools_compile_and_keep_their_schemas() {
    let folder = Folder::new("imported");
    new(folder.path(), "imported").succeeds();
    let pack = folder.path().join("imported");
    fs::remove_dir_all(pack.join("tests")).unwrap();
    let ask = |words: &[&str]| {
        let mut desk = command(DESK, words);
        desk.env("TOOL_SECRET_BOX_KEY", "key-4711-xyz");
        run(desk, "").succeeds().out
    };
    let names = [
        "file_note",
        "count_pages",
        "send_letter",
        "print_note",
        "print_label",
    ];

    // Export the desk's own tools and import them again.
    fs::write(
        pack.join("desk.json"),
        ask(&["schema", "-d", "mcp", "--format", "json"]),
    )
    .unwrap();
    fs::write(pack.join("odd.json"), ODD).unwrap();
    cargo_tool(&pack, &["import", "desk.json", "--out", "src/desk.rs"]).succeeds();
    cargo_tool(&pack, &["import", "odd.json", "--out", "src/odd.rs"]).succeeds();
    fs::write(
        pack.join("src/lib.rs"),
        "//! Imported.\n#![deny(warnings)]\n\npub mod desk;\npub mod odd;\n",
    )
    .unwrap();
    let manifest = fs::read_to_string(pack.join("Cargo.toml")).unwrap();
    let manifest = manifest.replacen("[dependencies]", "[dependencies]\nserde_repr = \"0.1\"", 1);
    fs::write(pack.join("Cargo.toml"), manifest).unwrap();

    let schema = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    for name in names {
        let words = ["schema", name, "-d", "mcp", "--format", "json"];
        let again = cargo_tool(&pack, &words).succeeds().out;
        assert_eq!(schema(&again), schema(&ask(&words)), "{name}");
    }
    let words = ["schema", "draw", "-d", "json_schema", "--format", "json"];
    let draw = schema(&cargo_tool(&pack, &words).succeeds().out);
    let properties = &draw["properties"];
    assert_eq!(properties["layer"]["enum"], json!([-1, 0, 1]));
    assert_eq!(properties["by"]["maxLength"], 9);
    assert_eq!(properties["where"]["minItems"], 1);
    assert_eq!(draw["required"], json!(["shape", "size", "layer", "where"]));
    let draw = |arguments: &str| cargo_tool(&pack, &["call", "draw", "--json", arguments]);
    let right = r#"{"shape":{"kind":"many-sided","sides":3},"size":"big","layer":-1,"where":[{"x":1,"type":"a"}]}"#;
    draw(right).fails(1, &["`draw` is not implemented yet"]);
    for (wrong, place) in [
        (right.replace("\"sides\":3", "\"sides\":2"), "/shape/sides"),
        (right.replace("\"big\"", "[]"), "/size"),
        (right.replace("-1", "2"), "/layer"),
        (right.replace("\"x\":1,", ""), "/where/0/x"),
    ] {
        draw(&wrong).fails(2, &[place]);
    }
}
