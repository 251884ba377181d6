//! Restrictions of a job that do not depend on the kernel's features.

use tempfile::tempdir;
use tool_std::isolate::{Exit, IsolateError, Isolation, Job, Keep, Limits, Mechanism, Network};

use crate::support::{isolation, run, sh};

#[tokio::test]
async fn no_device_can_be_created_in_a_writable_folder() {
    let inside = tempdir().unwrap();
    let job = sh("mknod disk b 1 0; mknod null c 1 3; ls")
        .cwd(inside.path())
        .writes(inside.path());
    assert_eq!(run(&isolation(), job).await.stdout.text(), "");
}

#[tokio::test]
async fn a_job_has_no_capability_and_gets_none() {
    let ran = run(
        &isolation().without(Mechanism::Landlock),
        sh("grep -E 'Cap(Eff|Prm|Bnd|Amb)|NoNewPrivs' /proc/self/status"),
    )
    .await;
    for line in ran.stdout.text().lines() {
        let (name, value) = line.split_once(':').unwrap();
        if name == "CapBnd" && !rustix::process::geteuid().is_root() {
            // Only root can empty the bounding set. With `NoNewPrivs`, processes cannot gain the capabilities in it.
            continue;
        }
        assert_eq!(
            u64::from_str_radix(value.trim(), 16).unwrap(),
            u64::from(name == "NoNewPrivs"),
            "{line}"
        );
    }
    assert_eq!(ran.stdout.text().lines().count(), 5);
}

#[tokio::test]
async fn process_limits_are_enforced() {
    let inside = tempdir().unwrap();
    let limits = Limits::default()
        .open_files(40)
        .file_size(5000)
        .cpu_seconds(1)
        .memory(64 << 20);
    let job = |script: &str| {
        sh(script)
            .cwd(inside.path())
            .writes(inside.path())
            .limits(limits.clone())
    };
    let ran = run(&isolation(), job("ulimit -n; ulimit -c; ulimit -d")).await;
    assert_eq!(ran.stdout.text(), "40\n0\n65536\n");
    let ran = run(&isolation(), job("head -c 9000 /dev/zero > big")).await;
    assert_eq!(inside.path().join("big").metadata().unwrap().len(), 5000);
    assert!(!ran.ended.success());
    let ran = run(&isolation(), job("while :; do :; done")).await;
    assert!(
        matches!(ran.ended.exit, Exit::Signal(9 | 24)),
        "{:?}",
        ran.ended
    );
}

#[tokio::test]
async fn mechanism_that_a_job_does_not_use_is_not_required() {
    let strict = [
        Mechanism::NetworkNamespace,
        Mechanism::PidsCgroup,
        Mechanism::MemoryCgroup,
    ]
    .into_iter()
    .fold(isolation(), Isolation::require);
    let job = sh("true").network(Network::Open).limits(Limits::none());
    assert!(run(&strict, job).await.ended.success());
}

#[tokio::test]
async fn missing_required_mechanism_refuses_the_job() {
    let isolation = isolation()
        .without(Mechanism::Landlock)
        .require(Mechanism::Landlock);
    let error = isolation
        .run(Job::new("/bin/true"), Keep::default())
        .await
        .unwrap_err();
    assert!(matches!(error, IsolateError::NotInForce(_)), "{error}");
    // A required mechanism that needs the helper is an error if there is no helper.
    let isolation = Isolation::GroupOnly.require(Mechanism::Landlock);
    let error = isolation
        .run(Job::new("/bin/true"), Keep::default())
        .await
        .unwrap_err();
    assert!(matches!(error, IsolateError::NoHelper), "{error}");
}

// A host can require on every kernel that a job without its own root has no Unix sockets.
#[tokio::test]
async fn job_without_own_root_has_no_unix_sockets_if_required() {
    let outside = tempdir().unwrap();
    let (stream, packets) = (
        outside.path().join("stream"),
        outside.path().join("packets"),
    );
    let stream_listener = std::os::unix::net::UnixListener::bind(&stream).unwrap();
    let packet_listener = std::os::unix::net::UnixDatagram::bind(&packets).unwrap();
    stream_listener.set_nonblocking(true).unwrap();
    packet_listener.set_nonblocking(true).unwrap();
    let script = format!(
        "exec python3 - <<'E'
import ctypes, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
def attempt(what):
  try: print(what() or 'yes')
  except OSError as e: print(type(e).__name__)
def call(*args):
  if libc.syscall(*args) < 0: raise OSError(ctypes.get_errno(), '')
def pair():
  one, other = socket.socketpair()
  one.send(b'x')
  assert other.recv(1) == b'x'
attempt(lambda: socket.socket(socket.AF_UNIX).connect('{stream}'))
attempt(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', '{packets}') and None)
attempt(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', '{packets}') and None)
attempt(pair)
attempt(lambda: socket.socket(socket.AF_INET).close())
if struct.calcsize('P') == 8: attempt(lambda: call(425, 4, ctypes.create_string_buffer(256)))
E",
        stream = stream.display(),
        packets = packets.display()
    );
    let bare = crate::support::bare();
    let open = run(&bare, sh(&script)).await;
    assert!(
        open.stdout.text().starts_with("yes\nyes\nyes\nyes\nyes\n"),
        "{open:?}"
    );
    assert!(stream_listener.accept().is_ok());
    for _ in 0..2 {
        packet_listener.recv(&mut [0]).unwrap();
    }
    let strict = bare.require(Mechanism::UnixSockets);
    let shut = run(&strict, sh(&script)).await;
    let no = "PermissionError\n";
    assert_eq!(
        shut.stdout.text(),
        [no, no, no, "yes\nyes\n", no].concat(),
        "{shut:?}"
    );
    assert!(stream_listener.accept().is_err() && packet_listener.recv(&mut [0]).is_err());
    let report = strict.report().await.unwrap();
    let item = report.item("sockets with a path").unwrap();
    assert!(
        item.mechanism.contains("seccomp") && item.open.is_empty(),
        "{item:?}"
    );
}

// S1-96: a job that exceeds its memory limit fails, with and without a cgroup.
#[tokio::test]
async fn job_over_its_memory_limit_fails() {
    let limits = Limits::default().memory(256 << 20);
    let one = "python3 -c 'b = bytearray(1 << 30); print(len(b))'";
    for isolation in [isolation(), isolation().without(Mechanism::MemoryCgroup)] {
        let ran = run(&isolation, sh(one).limits(limits.clone())).await;
        assert!(!ran.ended.success());
        assert_eq!(ran.stdout.bytes, 0);
    }
}
