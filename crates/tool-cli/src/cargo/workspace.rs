//! Detection of the libraries in a workspace that may contain tools.

use std::path::{Path, PathBuf};

use cargo_metadata::{Dependency, DependencyKind, MetadataCommand, Package, TargetKind};

use crate::args::cargo::CargoArgs;
use crate::outcome::Failure;

/// The crate that every crate with tools depends on.
const CORE: &str = "tool-core";

/// Crates of this project that are not linked, because they contain no tools.
const OURS: [&str; 5] = [
    "tool-core-macros",
    "tool-core",
    "tool-cli",
    "tool-mcp",
    "tool-server",
];

/// The libraries and programs of a workspace, and the source of `tool-core`.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) root: PathBuf,
    pub(super) target: PathBuf,
    /// Package and folder of each selected library that depends on `tool-core`.
    pub(super) libraries: Vec<(String, PathBuf)>,
    /// Selected packages that depend on `tool-core` and have no library.
    pub(super) programs: Vec<String>,
    /// The source of `tool-core`. `tool-cli` must come from the same source, because types of crates from different sources differ.
    pub(super) core: Source,
}

/// The source of a crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Path(PathBuf),
    /// The repository's URL, with the query that cargo appends to it.
    Git(String),
    Registry,
}

pub(super) fn read(cargo: &CargoArgs) -> Result<Workspace, Failure> {
    let mut command = MetadataCommand::new();
    command.no_deps();
    if let Some(path) = &cargo.manifest_path {
        command.manifest_path(path);
    }
    if cargo.offline {
        command.other_options(vec!["--offline".to_owned()]);
    }
    let metadata = command.exec().map_err(|error| {
        let text = match error {
            cargo_metadata::Error::CargoMetadata { stderr } => {
                stderr.trim().trim_start_matches("error: ").to_owned()
            }
            error => error.to_string(),
        };
        Failure::usage(format!("the workspace cannot be read: {text}"))
            .hint("change to the folder of a workspace, write `--manifest-path PATH`, or create a crate of tools with `cargo tool new NAME`")
    })?;
    let members = metadata.workspace_packages();
    for wanted in &cargo.packages {
        if !members
            .iter()
            .any(|package| package.name.as_str() == wanted.as_str())
        {
            let names: Vec<&str> = members.iter().map(|package| &**package.name).collect();
            return Err(
                Failure::usage(format!("the workspace has no package `{wanted}`"))
                    .hint(format!("its packages are {}", names.join(", "))),
            );
        }
    }
    let mut workspace = Workspace {
        root: metadata.workspace_root.clone().into_std_path_buf(),
        target: metadata.target_directory.clone().into_std_path_buf(),
        libraries: Vec::new(),
        programs: Vec::new(),
        core: Source::Registry,
    };
    for package in members {
        let chosen = cargo.packages.is_empty()
            || cargo
                .packages
                .iter()
                .any(|name| package.name.as_str() == name.as_str());
        let Some(core) = core(package) else {
            continue;
        };
        if !chosen || OURS.contains(&&**package.name) {
            continue;
        }
        workspace.core = source(core);
        if package
            .targets
            .iter()
            .any(|target| is_library(&target.kind))
        {
            let folder = package.manifest_path.parent();
            let folder = folder.map(|folder| folder.as_std_path().to_owned());
            workspace
                .libraries
                .push((package.name.to_string(), folder.unwrap_or_default()));
        } else {
            workspace.programs.push(package.name.to_string());
        }
    }
    Ok(workspace)
}

fn core(package: &Package) -> Option<&Dependency> {
    let mut dependencies = package.dependencies.iter();
    dependencies.find(|one| one.name == CORE && one.kind == DependencyKind::Normal)
}

fn is_library(kinds: &[TargetKind]) -> bool {
    kinds
        .iter()
        .any(|kind| matches!(kind, TargetKind::Lib | TargetKind::RLib | TargetKind::DyLib))
}

fn source(dependency: &Dependency) -> Source {
    if let Some(path) = &dependency.path {
        return Source::Path(path.as_std_path().to_owned());
    }
    let said = dependency.source.as_ref().map(ToString::to_string);
    match said.as_deref().and_then(|said| said.strip_prefix("git+")) {
        Some(address) => Source::Git(address.to_owned()),
        None => Source::Registry,
    }
}

impl Source {
    /// Returns the dependency entry for another crate of this project from the same source, as TOML.
    pub(super) fn of(&self, name: &str) -> Result<toml::Table, Failure> {
        let mut table = toml::Table::new();
        match self {
            Self::Path(core) => {
                // A checkout has `tool-core` at its root and most other crates in `crates`; unpacked packages are all in one folder.
                let root = core.parent().unwrap_or(Path::new(""));
                let folders = [root.join("crates").join(name), root.join(name)];
                let Some(folder) = folders
                    .into_iter()
                    .find(|folder| folder.join("Cargo.toml").exists())
                else {
                    let text = format!(
                        "`tool-core` is taken from {}, but there is no `{name}` in the same folder or in `crates`",
                        core.display()
                    );
                    return Err(Failure::usage(text).hint(
                        "call `tool_cli::main()` in your own program, which then has the same commands",
                    ));
                };
                table.insert("path".into(), folder.display().to_string().into());
            }
            Self::Git(said) => {
                let (address, what) = said.split_once('?').unwrap_or((said, ""));
                table.insert("git".into(), address.into());
                // The query selects a reference, for example `branch=main`.
                if let Some((key, value)) = what.split_once('=') {
                    table.insert(key.into(), value.into());
                }
            }
            Self::Registry => {
                let version = format!("={}", env!("CARGO_PKG_VERSION"));
                table.insert("version".into(), version.into());
            }
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::Source;

    #[test]
    fn tool_cli_has_the_same_source_as_tool_core() {
        let text = |source: Source| {
            source
                .of("tool-cli")
                .map_or_else(|failure| failure.text, |table| table.to_string())
        };
        let git = Source::Git("https://example.org/tools?branch=main".into());
        assert_eq!(
            text(git),
            "branch = \"main\"\ngit = \"https://example.org/tools\"\n"
        );
        let registry = text(Source::Registry);
        assert_eq!(
            registry,
            format!("version = \"={}\"\n", env!("CARGO_PKG_VERSION"))
        );
        let nowhere = text(Source::Path("/nowhere/tool-core".into()));
        assert!(
            nowhere.contains("no `tool-cli` in the same folder"),
            "{nowhere}"
        );
        let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tool-core");
        assert!(text(Source::Path(here)).contains("tool-cli"));
    }
}
