//! Starting a job from a restricted thread.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread::Builder;

use rustix::process::Pid;
use rustix::thread::set_no_new_privs;

use super::cgroups::Cgroups;
use super::mounts;
use super::namespaces::Namespaces;
use super::restrict::{drop_capabilities, landlock, limit};
use super::sockets;
use crate::job::Program;
use crate::mechanism::Mechanism;
use crate::wire::MODE;
use crate::wire::{Failure, Held, InForce, Spec};

/// A started job, and the mechanisms that are in force for it.
pub(super) struct Started {
    pub(super) job: Pid,
    pub(super) held: InForce,
}

/// Starts the job from a new thread: restrictions of a thread apply to the processes that it starts, and not to the rest of the supervisor.
pub(super) fn start(
    spec: &Spec,
    files: Vec<OwnedFd>,
    namespaces: Namespaces,
    cgroups: &Cgroups,
    mut held: InForce,
) -> Result<Started, Failure> {
    held.pid_namespace = namespaces.pid;
    held.ipc_namespace = namespaces.ipc;
    held.network_namespace = namespaces.net;
    held.proc_mount = namespaces.proc_mount;
    held.limits = limit(&spec.limits);
    let (tell, joined) = mpsc::channel();
    let of_thread = &mut held;
    let child = std::thread::scope(|threads| {
        let thread = Builder::new().spawn_scoped(threads, move || {
            cgroups.join_thread().map_err(helper("cgroup"))?;
            let is_there = program(spec).is_some();
            restrict(spec, of_thread)?;
            joined.recv().map_err(helper("cgroup"))?;
            match program(spec) {
                Some(program) => job(spec, &program, files),
                None if is_there => Err(Failure::Refused(String::from(
                    "the job may not read the file of the program",
                ))),
                None => Err(Failure::NotFound),
            }
        });
        let thread = thread.map_err(helper("a thread cannot be started"))?;
        // The kernel may wait here for all processors, for some milliseconds. The new thread restricts itself at the same time.
        let this = cgroups.join().map_err(helper("cgroup"));
        match &this {
            Ok(()) => drop(tell.send(())),
            Err(_) => drop(tell),
        }
        let started = thread
            .join()
            .unwrap_or_else(|_| Err(Failure::Helper(String::from("it panicked"))));
        this.and(started)
    });
    let left = cgroups.leave().map_err(helper("cgroup"));
    let child = child?;
    left?;
    Ok(Started {
        job: Pid::from_child(&child),
        held,
    })
}

fn helper<E: std::fmt::Display>(what: &str) -> impl FnOnce(E) -> Failure {
    move |error| Failure::Helper(format!("{what}: {error}"))
}

fn restrict(spec: &Spec, held: &mut InForce) -> Result<(), Failure> {
    set_no_new_privs(true).map_err(helper("no-new-privs"))?;
    held.no_new_privs = Held::Yes(String::from("`PR_SET_NO_NEW_PRIVS`"));
    mounts::make(spec, held).map_err(Failure::Helper)?;
    if spec.has(Mechanism::Capabilities) {
        held.capabilities = drop_capabilities();
    }
    if spec.has(Mechanism::Landlock) {
        landlock(spec, held).map_err(Failure::Helper)?;
    }
    if spec.requires_unix_sockets && !held.keeps_unix_sockets() {
        held.socket_filter = sockets::refuse();
    }
    Ok(())
}

/// Returns the path of the file to execute, in the file system of the calling thread.
fn program(spec: &Spec) -> Option<PathBuf> {
    match &spec.program {
        Program::Named(name) => find(name, spec),
        Program::Mode(_) => Some(PathBuf::from("/proc/self/exe")),
    }
}

fn job(spec: &Spec, program: &Path, files: Vec<OwnedFd>) -> Result<Child, Failure> {
    let mut command = Command::new(program);
    match &spec.program {
        Program::Named(name) => command.arg0(name),
        Program::Mode(mode) => command.args([MODE, mode]),
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

/// Returns the file of a program that is named by a path, or by a name that is looked up in the job's own `PATH`.
fn find(name: &OsStr, spec: &Spec) -> Option<PathBuf> {
    if name.as_encoded_bytes().contains(&b'/') {
        return Some(Path::new(&spec.cwd).join(name)).filter(|file| file.exists());
    }
    let path = spec.env.iter().find(|(known, _)| known == "PATH");
    std::env::split_paths(path.map(|(_, path)| path.as_os_str())?)
        .map(|directory| Path::new(&spec.cwd).join(directory).join(name))
        .filter(|file| is_program(file))
        // Prefer a program that the job may read.
        .min_by_key(|file| std::fs::File::open(file).is_err())
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
