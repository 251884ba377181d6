//! Restrictions of the thread that starts a job: Landlock, capabilities and resource limits.

use std::fs;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus,
    NetPort, PathBeneath, PathFd, Ruleset, RulesetAttr as _, RulesetCreated,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities,
};

use crate::job::{Limits, Network, Program};
use crate::wire::{Held, InForce, Spec};

/// The newest ABI version of Landlock that this code supports. On older kernels, the restrictions of their version apply.
const INTERFACE: ABI = ABI::V9;

/// Paths that every job may read and execute: programs, libraries, and files of `/etc`, for example for name resolution, TLS, users and time.
pub(super) const SYSTEM: [&str; 32] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust",
    "/etc/ca-certificates",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/resolv.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/terminfo",
    "/etc/mime.types",
    "/etc/locale.alias",
    "/etc/magic",
];

/// Devices that every job may read and write.
pub(super) const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// Restricts files, TCP, signals, sockets and tracing for this thread and the processes that it starts, as far as the kernel supports it. Returns an
/// error if Landlock fails or a path cannot be granted, because the job would fail later with a less clear message.
pub(super) fn landlock(spec: &Spec, held: &mut InForce) -> Result<(), String> {
    let status = restrict_self(spec, held.proc_mount.is_yes())?;
    let (LandlockStatus::Available { effective_abi, .. }, false) =
        (status.0, status.1 == RulesetStatus::NotEnforced)
    else {
        held.landlock = Held::No(String::from(
            "the kernel has no Landlock, or it is not enabled",
        ));
        return Ok(());
    };
    in_force(effective_abi, &spec.network, held);
    Ok(())
}

/// Records the restrictions of a kernel with this ABI version.
fn in_force(interface: ABI, network: &Network, held: &mut InForce) {
    let number = interface as i32;
    held.landlock = Held::Yes(format!("Landlock, interface {number}"));
    let since = |least: ABI, what: &str| {
        if interface >= least {
            Held::Yes(format!("Landlock, interface {number}"))
        } else {
            Held::No(format!(
                "Landlock restricts {what} since interface {}, the kernel has interface {number}",
                least as i32
            ))
        }
    };
    held.truncate = since(ABI::V3, "the truncation of files");
    held.signals = since(ABI::V6, "signals");
    held.abstract_sockets = since(ABI::V6, "abstract sockets");
    held.path_sockets = since(ABI::V9, "sockets with a path");
    if *network != Network::Open {
        held.tcp = since(ABI::V4, "TCP");
    }
}

fn restrict_self(spec: &Spec, own_proc: bool) -> Result<(LandlockStatus, RulesetStatus), String> {
    let refused = |error: RulesetError| format!("Landlock: {error}");
    let read = AccessFs::from_read(INTERFACE);
    // Creating a device in a writable folder would give access to the whole disk.
    let write = AccessFs::from_all(INTERFACE) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(INTERFACE))
        .and_then(|rules| rules.scope(Scope::from_all(INTERFACE)))
        .and_then(|rules| match spec.network {
            Network::Open => Ok(rules),
            Network::Off | Network::Tcp { .. } => {
                rules.handle_access(AccessNet::from_all(INTERFACE))
            }
        })
        .and_then(Ruleset::create)
        .and_then(|rules| rules.add_rules(path_beneath_rules(SYSTEM, read)))
        .and_then(|rules| {
            let access = AccessFs::ReadFile | AccessFs::WriteFile;
            rules.add_rules(path_beneath_rules(DEVICES, access))
        })
        .map_err(refused)?;
    if own_proc {
        rules = grant(rules, Path::new("/proc"), read)?;
    }
    if let Program::Mode(_) = spec.program {
        rules = grant(rules, Path::new("/proc/self/exe"), read)?;
    }
    for path in &spec.reads {
        rules = grant(rules, Path::new(path), read)?;
    }
    for path in &spec.writes {
        rules = grant(rules, Path::new(path), write)?;
    }
    if let Network::Tcp { connect, bind } = &spec.network {
        let connect = connect.iter().map(|port| (*port, AccessNet::ConnectTcp));
        let bind = bind.iter().map(|port| (*port, AccessNet::BindTcp));
        for (port, access) in connect.chain(bind) {
            rules = rules
                .add_rule(NetPort::new(port, access))
                .map_err(refused)?;
        }
    }
    let status = rules.restrict_self().map_err(refused)?;
    Ok((status.landlock, status.ruleset))
}

fn grant(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, String> {
    let refused = |error: &dyn std::fmt::Display| format!("`{}`: {error}", path.display());
    let is_folder = fs::metadata(path)
        .map_err(|error| refused(&error))?
        .is_dir();
    let access = if is_folder {
        access
    } else {
        access & AccessFs::from_file(INTERFACE)
    };
    let file = PathFd::new(path).map_err(|error| refused(&error))?;
    rules
        .add_rule(PathBeneath::new(file, access))
        .map_err(|error| refused(&error))
}

/// Drops all capabilities, so that the next program of this thread has none, even as root.
pub(super) fn drop_capabilities() -> Held {
    let Ok(own) = capabilities(None) else {
        return Held::No(String::from("they cannot be read"));
    };
    for capability in CapabilitySet::all().iter() {
        // This fails for capabilities that the kernel does not support, and without the right to drop them; the result is checked below.
        let _ = remove_capability_from_bounding_set(capability);
    }
    let without = CapabilitySets {
        inheritable: CapabilitySet::empty(),
        ..own
    };
    let cleared = clear_ambient_capability_set().and_then(|()| set_capabilities(None, without));
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let bounded = status
        .lines()
        .find_map(|line| line.strip_prefix("CapBnd:"))
        .is_some_and(|set| set.trim().bytes().all(|digit| digit == b'0'));
    match cleared {
        Ok(()) if bounded => Held::Yes(String::from("all are dropped")),
        Ok(()) if own.permitted.is_empty() => Held::Yes(String::from("the host has none")),
        Ok(()) => Held::No(String::from("the host is not permitted to drop them")),
        Err(error) => Held::No(error.to_string()),
    }
}

/// Sets the limits of each process. They also apply to the supervisor, which needs few resources.
pub(super) fn limit(limits: &Limits) -> Held {
    let wanted = [
        (Resource::Core, Some(0)),
        (
            Resource::Data,
            limits.memory.map(|bytes| bytes.max(32 << 20)),
        ),
        (
            Resource::Nofile,
            limits.open_files.map(|count| count.max(16)),
        ),
        (Resource::Fsize, limits.file_size),
        (Resource::Cpu, limits.cpu_seconds),
    ];
    for (resource, limit) in wanted {
        let Some(limit) = limit else { continue };
        // Without privileges, a process cannot raise the host's own limit.
        let most = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let limit = Some(limit.min(most));
        let limit = Rlimit {
            current: limit,
            maximum: limit,
        };
        if let Err(error) = setrlimit(resource, limit) {
            return Held::No(format!("{resource:?}: {error}"));
        }
    }
    Held::Yes(String::from("`setrlimit`, for each process"))
}

#[cfg(test)]
mod tests {
    use super::in_force;
    use crate::isolation::missing;
    use crate::job::{Job, Network};
    use crate::mechanism::Mechanism;
    use crate::report::Report;
    use crate::wire::{Held, InForce};
    use landlock::ABI;

    // S1-97: before ABI version 3, Landlock alone does not restrict the truncation of files
    #[test]
    fn landlock_before_abi_3_does_not_restrict_truncation() {
        let required = [Mechanism::Landlock];
        let job = Job::new("true");
        for (interface, holds) in [(ABI::V1, false), (ABI::V2, false), (ABI::V3, true)] {
            let mut held = InForce::default();
            in_force(interface, &Network::Off, &mut held);
            let refused = missing(&required, &job, &held);
            assert_eq!(refused.is_none(), holds, "{interface:?}: {refused:?}");
            let report = Report::of(&held, true);
            let open = report.item("files").map(|item| item.open.as_str());
            let says = open.is_some_and(|open| open.contains("empties every file"));
            assert_eq!(says, !holds, "{open:?}");
            // Read-only mounts refuse the truncation too.
            held.read_only = Held::Yes(String::from("mounts"));
            assert_eq!(missing(&required, &job, &held), None);
        }
    }

    #[test]
    fn network_off_is_reported_open_if_nothing_enforces_it() {
        let mut held = InForce::default();
        for (interface, kept) in [(ABI::V3, false), (ABI::V4, true)] {
            in_force(interface, &Network::Off, &mut held);
            let report = Report::of(&held, true);
            let open = report.item("network off").map(|item| item.open.as_str());
            let says = open.is_some_and(|open| open.contains("every address"));
            assert_eq!(says, !kept, "{open:?}");
        }
    }
}
