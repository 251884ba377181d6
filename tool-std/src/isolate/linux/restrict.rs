//! Starts a job without what it does not need.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::Pid;

use super::namespaces::Namespaces;
use crate::isolate::job::Program;
use crate::isolate::modes::MODE;
use crate::isolate::wire::{Failure, InForce, Spec};

/// Starts the job from a thread of its own, because what is taken away from a thread is taken away from what it starts.
pub(super) fn start(
    spec: Spec,
    files: Vec<OwnedFd>,
    namespaces: Namespaces,
) -> Result<(Pid, InForce), Failure> {
    let held = InForce {
        pid_namespace: namespaces.pid,
        network_namespace: namespaces.net,
        proc_mount: namespaces.proc_mount,
        ..InForce::default()
    };
    let thread = std::thread::spawn(move || {
        let child = job(&spec, files);
        (child, held)
    });
    let (child, held) = thread
        .join()
        .map_err(|_| Failure::Helper(String::from("it panicked")))?;
    let pid = Pid::from_child(&child?);
    Ok((pid, held))
}

fn job(spec: &Spec, files: Vec<OwnedFd>) -> Result<Child, Failure> {
    let mut command = match &spec.program {
        Program::Named(name) => {
            let mut command = Command::new(find(name, spec).ok_or(Failure::NotFound)?);
            command.arg0(name);
            command
        }
        Program::Mode(mode) => {
            let mut command = Command::new("/proc/self/exe");
            command.args([MODE, mode]);
            command
        }
    };
    let mut files = files.into_iter().map(Stdio::from);
    command
        .args(&spec.args)
        .env_clear()
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&spec.cwd)
        .process_group(0)
        .stdin(files.next().unwrap_or_else(Stdio::null))
        .stdout(files.next().unwrap_or_else(Stdio::null))
        .stderr(files.next().unwrap_or_else(Stdio::null));
    command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if Path::new(&spec.cwd).is_dir() => Failure::NotFound,
        _ => Failure::Refused(error.to_string()),
    })
}

/// Looks a name up in the job's own `PATH`.
fn find(name: &OsStr, spec: &Spec) -> Option<PathBuf> {
    if name.as_encoded_bytes().contains(&b'/') {
        return Some(Path::new(&spec.cwd).join(name));
    }
    let path = spec.env.iter().find(|(known, _)| known == "PATH");
    std::env::split_paths(path.map(|(_, path)| path.as_os_str())?)
        .map(|directory| Path::new(&spec.cwd).join(directory).join(name))
        .find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
