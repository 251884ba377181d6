//! A seccomp filter that denies a job all Unix sockets except pairs of streams or sequential packets, for kernels on which no other mechanism
//! restricts them.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

use crate::wire::Held;

/// The bits that mark the ABI in a system call number. On x86-64, programs for x32 set a bit,
/// <https://www.kernel.org/doc/html/latest/userspace-api/seccomp_filter.html>.
#[cfg(target_arch = "x86_64")]
const ABIS: [i64; 2] = [0, 0x4000_0000];
#[cfg(not(target_arch = "x86_64"))]
const ABIS: [i64; 1] = [0];

/// Installs the filter for the calling thread and the processes that it starts. `socketpair` with streams or sequential packets is still allowed:
/// both ends belong to the caller, and neither end can be connected a second time.
pub(super) fn refuse() -> Held {
    let set = program()
        .map_err(|error| error.to_string())
        .and_then(|program| apply_filter(&program).map_err(|error| error.to_string()));
    match set {
        Ok(()) => Held::Yes(String::from(
            "seccomp, no Unix sockets except pairs of streams or sequential packets",
        )),
        Err(error) => Held::No(format!("seccomp: {error}")),
    }
}

fn program() -> Result<BpfProgram, seccompiler::BackendError> {
    let unix = || is(0, SeccompCmpOp::Eq, libc::AF_UNIX.cast_unsigned());
    // The low bits are the type, the others are flags. A datagram socket can send to any path, even if it is one of a pair.
    let kind = |kind: i32| is(1, SeccompCmpOp::MaskedEq(0xf), kind.cast_unsigned());
    let socket = vec![SeccompRule::new(vec![unix()?])?];
    let pair = vec![
        SeccompRule::new(vec![unix()?, kind(libc::SOCK_DGRAM)?])?,
        SeccompRule::new(vec![unix()?, kind(libc::SOCK_RAW)?])?,
    ];
    let mut rules = BTreeMap::new();
    for abi in ABIS {
        rules.insert(abi | libc::SYS_socket, socket.clone());
        rules.insert(abi | libc::SYS_socketpair, pair.clone());
        // `io_uring` can open sockets as well, and seccomp filters do not apply to its operations.
        rules.insert(abi | libc::SYS_io_uring_setup, Vec::new());
    }
    let refused = SeccompAction::Errno(libc::EACCES.cast_unsigned());
    let target = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::Allow, refused, target)?.try_into()
}

fn is(
    argument: u8,
    how: SeccompCmpOp,
    value: u32,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, how, value.into())
}
