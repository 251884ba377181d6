//! The Node and Python packages that tests use as clients.
//!
//! `tests/clients/install FOLDER` installs them; the variables `TOOL_TEST_NODE` and `TOOL_TEST_PY` contain the paths of the installed folders.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::Missing;

/// Returns the interpreter of one of the Python environments: `venv`, `mcp1` or `mcp2`.
pub fn python(environment: &str) -> Result<PathBuf, Missing> {
    let needed = format!("../{environment}/bin/python");
    Ok(place("TOOL_TEST_PY", &needed)?.join(needed))
}

/// The installed Node packages.
#[derive(Clone, Debug)]
pub struct Node(PathBuf);

impl Node {
    /// Returns the Node packages if they include `package`.
    pub fn with(package: &str) -> Result<Self, Missing> {
        place("TOOL_TEST_NODE", &format!("node_modules/{package}")).map(Self)
    }

    /// Returns the path of a file in a package.
    pub fn package(&self, file: &str) -> PathBuf {
        self.0.join("node_modules").join(file)
    }

    /// Returns a command for the Node of the installed packages, because some clients need a newer version than the system's. Child processes use
    /// this Node too.
    pub fn command(&self) -> Command {
        let own = self.package("node/bin");
        let system = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(own.join("node"));
        command
            .env("PATH", format!("{}:{system}", own.display()))
            .current_dir(&self.0);
        command
    }

    /// Copies a script next to the packages, because Node resolves packages from the script's path. The copy is deleted with the returned folder.
    pub fn beside(&self, script: &Path) -> io::Result<(TempDir, PathBuf)> {
        let folder = tempfile::Builder::new()
            .prefix("script-")
            .tempdir_in(&self.0)?;
        let copy = folder.path().join(script.file_name().unwrap_or_default());
        std::fs::copy(script, &copy)?;
        Ok((folder, copy))
    }
}

fn place(variable: &str, needed: &str) -> Result<PathBuf, Missing> {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    let folder = folder.filter(|folder| folder.join(needed).exists());
    folder.ok_or_else(|| {
        Missing::new(format_args!(
            "`{variable}` is not set to a folder with `{needed}`, run `tests/clients/install FOLDER` and set the variable as its comment says"
        ))
    })
}
