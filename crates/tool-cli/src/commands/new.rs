//! The `new` command: creates a crate of tools that compiles, with tests that pass.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;

use crate::args::New;
use crate::outcome::{Exit, Failure};
use crate::screen::{BOLD, Screen, paint};

const LIB: &str = include_str!("../../template/lib.rs");
const MAIN: &str = include_str!("../../template/main.rs");
const TESTS: &str = include_str!("../../template/tools.rs");

/// The placeholder for the crate's name in the templates.
const CRATE: &str = "CRATE";

pub(super) fn run(words: &New, screen: Screen) -> Result<Exit, Failure> {
    let sources = Sources::of(words)?;
    // Cargo validates the name, adds the crate to the surrounding workspace and initializes version control.
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["new", "--quiet", "--lib", "--edition", "2024"]);
    if let Some(name) = &words.name {
        cargo.args(["--name", name]);
    }
    let made = cargo
        .arg(&words.path)
        .output()
        .map_err(|error| Failure::of(Exit::Failed, format!("cargo cannot be run: {error}")))?;
    if !made.status.success() {
        let text = String::from_utf8_lossy(&made.stderr);
        return Err(Failure::usage(
            text.trim().trim_start_matches("error: ").to_owned(),
        ));
    }
    fill(&words.path, &sources).map_err(|error| {
        Failure::of(
            Exit::Failed,
            format!("`{}` cannot be written: {error}", words.path.display()),
        )
    })?;
    let place = words.path.display().to_string();
    if screen.is_json() {
        #[derive(Serialize)]
        struct Made {
            path: String,
        }
        Screen::json(&Made { path: place })?;
        return Ok(Exit::Ok);
    }
    screen.out(format_args!(
        "{} is a crate of tools. Next:\n  cd {place}\n  cargo test\n  cargo run -- list\n  cargo run -- call greet --name Ada",
        paint(BOLD, &place)
    ))?;
    Ok(Exit::Ok)
}

/// The dependencies on this project's crates, as TOML.
struct Sources {
    core: String,
    cli: String,
}

impl Sources {
    fn of(words: &New) -> Result<Self, Failure> {
        if let Some(address) = &words.tool_git {
            let address = format!("git = {}", toml::Value::from(address.as_str()));
            return Ok(Self {
                core: address.clone(),
                cli: address,
            });
        }
        let Some(checkout) = &words.tool_path else {
            return Err(Failure::usage(
                "`tool-core` is not published in a registry yet, so a crate cannot depend on a version of it",
            )
            .hint("write `--tool-path FOLDER` for a checkout, or `--tool-git URL`"));
        };
        let place = |name: &str| -> Result<String, Failure> {
            let folder = checkout.join(name);
            let folder: PathBuf = folder.canonicalize().map_err(|_| {
                Failure::usage(format!("`{}` is not a folder", folder.display()))
                    .hint("`--tool-path` is the root folder of a checkout, which has the folder `tool-core`")
            })?;
            let text = toml::Value::from(folder.display().to_string());
            Ok(format!("path = {text}"))
        };
        Ok(Self {
            core: place("tool-core")?,
            cli: place("crates/tool-cli")?,
        })
    }
}

fn fill(folder: &Path, sources: &Sources) -> std::io::Result<()> {
    let manifest = folder.join("Cargo.toml");
    let mut text = fs::read_to_string(&manifest)?;
    let name = text
        .parse::<toml::Table>()
        .ok()
        .and_then(|table| Some(table.get("package")?.get("name")?.as_str()?.to_owned()))
        .ok_or_else(|| std::io::Error::other("cargo wrote a manifest without a name"))?;
    // The manifest that cargo wrote ends with an empty `[dependencies]` table.
    if !text.contains("[dependencies]") {
        text.push_str("\n[dependencies]\n");
    }
    // A registry rejects packages without description and license.
    text = text.replacen(
        "\nedition = ",
        "\ndescription = \"Tools that language models call.\"\nlicense = \"MIT OR Apache-2.0\"\nedition = ",
        1,
    );
    let Sources { core, cli } = sources;
    text = format!(
        r#"{text}tool-core = {{ {core}, default-features = false, features = ["stream"] }} # the API for tools
serde = {{ version = "1", features = ["derive"] }} # your own types
tool-cli = {{ {cli}, default-features = false, optional = true }} # the program

[dev-dependencies]
tool-core = {{ {core} }} # calls in tests
tokio = {{ version = "1", features = ["macros", "rt"] }}

[features]
default = ["cli", "serve"]
# The program. Turn this feature off if you only need the library of tools.
cli = ["dep:tool-cli"]
# The program's command `serve`: the tools over MCP.
serve = ["cli", "tool-cli/serve"]

[[bin]]
name = "{name}"
path = "src/main.rs"
required-features = ["cli"]
"#
    );
    let files = [
        ("Cargo.toml", text),
        ("src/lib.rs", LIB.to_owned()),
        ("src/main.rs", MAIN.to_owned()),
        ("tests/tools.rs", TESTS.to_owned()),
    ];
    fs::create_dir_all(folder.join("tests"))?;
    for (file, text) in files {
        fs::write(
            folder.join(file),
            text.replace(CRATE, &name.replace('-', "_")),
        )?;
    }
    Ok(())
}
