//! The generated program that links the libraries of a workspace.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::Message;

use super::workspace::Workspace;
use crate::args::cargo::CargoArgs;
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

/// The name of the file that contains the path of the last built program.
const BUILT: &str = "program";

/// Returns the program's name, which is different for each workspace, selection of libraries and set of features,
/// because several programs may be built into one folder.
fn name(workspace: &Workspace, features: &[&str]) -> String {
    let mut hasher = DefaultHasher::new();
    (&workspace.root, &workspace.libraries, features).hash(&mut hasher);
    format!("cargo-tool-{:016x}", hasher.finish())
}

/// Returns the folder of the program's source.
fn folder(workspace: &Workspace, features: &[&str]) -> PathBuf {
    let name = name(workspace, features);
    workspace.target.join("cargo-tool").join(name)
}

/// Returns the program with these features of tool-cli if it has been built.
pub(super) fn built(workspace: &Workspace, features: &[&str]) -> Option<PathBuf> {
    let program = fs::read_to_string(folder(workspace, features).join(BUILT)).ok()?;
    let program = PathBuf::from(program);
    program.is_file().then_some(program)
}

/// Writes and builds the program, and returns its path.
pub(super) fn build(
    workspace: &Workspace,
    cargo: &CargoArgs,
    features: &[&str],
    screen: Screen,
) -> Result<PathBuf, Failure> {
    let name = name(workspace, features);
    let folder = folder(workspace, features);
    let manifest = folder.join("Cargo.toml");
    write(&folder.join("src/main.rs"), &program(workspace))?;
    write(&manifest, &self::manifest(workspace, &name, features)?)?;
    lock(workspace, &folder)?;

    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args([
            "build",
            "--message-format",
            "json-render-diagnostics",
            "--manifest-path",
        ])
        .arg(&manifest)
        .arg("--target-dir")
        .arg(&workspace.target)
        // Run at the workspace's root, so that its cargo configuration applies.
        .current_dir(&workspace.root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    if cargo.release {
        command.arg("--release");
    }
    if cargo.offline {
        command.arg("--offline");
    }
    if !screen.draws() {
        command.arg("--quiet");
    }
    let cannot =
        |error: std::io::Error| Failure::of(Exit::Failed, format!("cargo cannot be run: {error}"));
    let mut child = command.spawn().map_err(cannot)?;
    let mut program = None;
    if let Some(out) = child.stdout.take() {
        for message in Message::parse_stream(BufReader::new(out)) {
            if let Message::CompilerArtifact(artifact) = message.map_err(cannot)?
                && artifact.target.name == name
            {
                program = artifact.executable;
            }
        }
    }
    let status = child.wait().map_err(cannot)?;
    let failed = || {
        Failure::of(
            Exit::Failed,
            "the libraries of the workspace cannot be built or linked together",
        )
        .hint("read cargo's errors above first; `-p NAME` links one package only")
    };
    match program {
        Some(program) if status.success() => {
            write(&folder.join(BUILT), program.as_str())?;
            Ok(program.into_std_path_buf())
        }
        _ => Err(failed()),
    }
}

/// Writes a file only if its content changes, because cargo rebuilds changed files.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    let written = path
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(path, text));
    written.map_err(|error| {
        Failure::of(
            Exit::Failed,
            format!("`{}` cannot be written: {error}", path.display()),
        )
    })
}

fn program(workspace: &Workspace) -> String {
    let mut text = String::from("//! Written by `cargo tool`.\n\n");
    for (name, _) in &workspace.libraries {
        text.push_str("use ");
        text.push_str(&name.replace('-', "_"));
        text.push_str(" as _;\n");
    }
    text.push_str("\nfn main() -> std::process::ExitCode {\n    tool_cli::cargo::linked()\n}\n");
    text
}

fn manifest(workspace: &Workspace, name: &str, features: &[&str]) -> Result<String, Failure> {
    let mut package = toml::Table::new();
    package.insert("name".into(), name.into());
    package.insert("version".into(), "0.0.0".into());
    package.insert("edition".into(), "2024".into());
    package.insert("publish".into(), false.into());
    let mut dependencies = toml::Table::new();
    for (name, folder) in &workspace.libraries {
        let mut path = toml::Table::new();
        path.insert("path".into(), folder.display().to_string().into());
        dependencies.insert(name.clone(), path.into());
    }
    let mut cli = workspace.core.of("tool-cli")?;
    cli.insert("default-features".into(), false.into());
    cli.insert("features".into(), features.to_vec().into());
    dependencies.insert("tool-cli".into(), cli.into());
    let mut root = toml::Table::new();
    root.insert("package".into(), package.into());
    root.insert("dependencies".into(), dependencies.into());
    // An empty workspace table excludes the package from the surrounding workspace.
    root.insert("workspace".into(), toml::Table::new().into());
    kept(workspace, &mut root);
    Ok(root.to_string())
}

/// Copies the settings of the workspace that affect every build: patched sources and profiles.
fn kept(workspace: &Workspace, root: &mut toml::Table) {
    let there = fs::read_to_string(workspace.root.join("Cargo.toml")).ok();
    let Some(mut there) = there.and_then(|text| text.parse::<toml::Table>().ok()) else {
        return;
    };
    if let Some(profile) = there.remove("profile") {
        root.insert("profile".into(), profile);
    }
    let Some(toml::Value::Table(mut patch)) = there.remove("patch") else {
        return;
    };
    let crates = patch
        .iter_mut()
        .filter_map(|(_, source)| source.as_table_mut());
    for (_, one) in crates.flat_map(|crates| crates.iter_mut()) {
        if let Some(toml::Value::String(path)) = one.get_mut("path") {
            *path = workspace.root.join(&**path).display().to_string();
        }
    }
    root.insert("patch".into(), patch.into());
}

/// Copies the workspace's `Cargo.lock` when it has changed, so that the program uses the same versions.
fn lock(workspace: &Workspace, folder: &Path) -> Result<(), Failure> {
    let Ok(there) = fs::read_to_string(workspace.root.join("Cargo.lock")) else {
        return Ok(());
    };
    let seen = folder.join("workspace.lock");
    if fs::read_to_string(&seen).is_ok_and(|seen| seen == there) {
        return Ok(());
    }
    write(&folder.join("Cargo.lock"), &there)?;
    write(&seen, &there)
}
