//! Who ends a job, and that nothing of it is left.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tokio::time::timeout;
use tool_std::isolate::{Cause, Exit, IsolateError, Isolation, Keep, Mechanism};

use crate::mark::Mark;
use crate::support::{bare, has, isolation, run, sh};

/// Leaves its session, its group and its parent, and closes every pipe.
fn daemon(mark: &Mark) -> String {
    format!(
        "setsid sh -c 'sleep {0} & exec sleep {0}' </dev/null >/dev/null 2>&1 &",
        mark.seconds()
    )
}

// S1-92
#[tokio::test]
async fn daemons_end_with_the_job() {
    for isolation in [isolation(), bare()] {
        let mark = Mark::new();
        let script = format!("{} {} sleep 0.2; echo done", daemon(&mark), daemon(&mark));
        let ran = run(&isolation, sh(script)).await;
        assert_eq!(ran.stdout.text(), "done\n");
        assert!(ran.ended.success());
        assert_eq!(mark.alive(), 0);
    }
}

// S1-92, S1-94
#[tokio::test]
async fn at_the_deadline_everything_ends_signals_ignored_or_not() {
    for isolation in [isolation(), bare()] {
        let mark = Mark::new();
        let after = Duration::from_millis(300);
        let script = format!(
            "trap '' TERM INT HUP QUIT; {} echo begun; sleep {}",
            daemon(&mark),
            mark.seconds()
        );
        let ran = run(&isolation, sh(script).deadline(after)).await;
        assert_eq!(ran.ended.because, Cause::Deadline(after));
        assert_eq!(ran.ended.exit, Exit::Signal(9));
        assert_eq!(ran.stdout.text(), "begun\n");
        assert_eq!(mark.alive(), 0);
    }
}

#[tokio::test]
async fn a_job_that_is_dropped_ends() {
    for isolation in [isolation(), bare()] {
        let mark = Mark::new();
        let script = format!("{} echo begun; sleep {}", daemon(&mark), mark.seconds());
        let mut running = isolation.spawn(sh(script)).await.unwrap();
        running.read(&mut [0; 64]).await.unwrap();
        mark.wait_for(3);
        drop(running);
        mark.wait_for(0);
    }
}

// S1-92
#[tokio::test]
async fn a_flood_ends_at_the_limit_and_keeps_head_and_tail() {
    for isolation in [isolation(), bare()] {
        let keep = Keep {
            head: 8,
            tail: 4,
            limit: 6_000_000,
        };
        let ran = isolation.run(sh("yes 123"), keep).await.unwrap();
        assert!(ran.too_much);
        assert_eq!(ran.ended.because, Cause::Killed);
        assert_eq!(ran.stdout.head, b"123\n123\n");
        assert_eq!(ran.stdout.tail.len(), 4);
        assert!(ran.stdout.bytes < 6_100_000, "{}", ran.stdout.bytes);
    }
}

#[tokio::test]
async fn a_supervisor_that_is_killed_takes_its_job_along() {
    // In a namespace the kernel does it; without, the cgroup.
    let namespace = isolation().require(Mechanism::PidNamespace);
    let cgroup = isolation()
        .without(Mechanism::PidNamespace)
        .require(Mechanism::CgroupKill);
    for (isolation, needed) in [
        (namespace, Mechanism::PidNamespace),
        (cgroup, Mechanism::CgroupKill),
    ] {
        if !has(needed).await {
            continue;
        }
        let mark = Mark::new();
        let script = format!("{} echo begun; sleep {}", daemon(&mark), mark.seconds());
        let mut running = isolation.spawn(sh(script)).await.unwrap();
        running.read(&mut [0; 64]).await.unwrap();
        mark.wait_for(3);
        let helper = running.id().unwrap().to_string();
        Command::new("kill")
            .args(["-KILL", &helper])
            .status()
            .unwrap();
        let error = running.wait().await.unwrap_err();
        assert!(matches!(error, IsolateError::Lost(_)), "{error}");
        mark.wait_for(0);
    }
}

#[tokio::test]
async fn a_supervisor_that_is_killed_leaves_no_cgroup_whether_one_waits_or_not() {
    if !has(Mechanism::PidNamespace).await || !has(Mechanism::PidsCgroup).await {
        return;
    }
    for waits in [true, false] {
        let mark = Mark::new();
        let job = sh(format!("echo begun; exec sleep {}", mark.seconds()));
        let mut running = isolation().spawn(job).await.unwrap();
        running.read(&mut [0; 64]).await.unwrap();
        mark.wait_for(1);
        let name = cgroup_of(&mark).expect("the job is in a cgroup of its own");
        assert!(has_cgroup(&name));
        let helper = running.id().unwrap().to_string();
        Command::new("kill")
            .args(["-KILL", &helper])
            .status()
            .unwrap();
        mark.wait_for(0);
        while !is_zombie(&helper) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if waits {
            running.wait().await.unwrap_err();
        }
        drop(running);
        let began = Instant::now();
        while has_cgroup(&name) {
            assert!(began.elapsed().as_secs() < 20, "{name} is left");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

// S1-94
#[tokio::test]
async fn a_job_that_kills_its_supervisor_is_lost_and_nobody_waits_for_it() {
    // With a cgroup and without; and nothing that keeps the signal away.
    let cgroup = isolation()
        .without(Mechanism::PidNamespace)
        .without(Mechanism::Landlock);
    for isolation in [bare(), cgroup] {
        // Where nothing else ends it, it ends by itself.
        let script = "sleep 0.2; echo begun; kill -9 $PPID; exec sleep 30";
        let began = Instant::now();
        let job = sh(script).deadline(Duration::from_secs(1));
        let mut running = isolation.spawn(job).await.unwrap();
        let mut buffer = [0; 64];
        let mut said = Vec::new();
        while let Some((_, read)) = running.read(&mut buffer).await.unwrap() {
            said.extend_from_slice(&buffer[..read]);
        }
        assert_eq!(said, b"begun\n");
        for _ in 0..2 {
            let error = running.wait().await.unwrap_err();
            assert!(matches!(error, IsolateError::Lost(_)), "{error}");
        }
        assert!(began.elapsed().as_secs() < 15, "the sleep was waited for");
    }
}

#[tokio::test]
async fn a_wait_that_is_dropped_loses_nothing() {
    for isolation in [isolation(), bare(), Isolation::GroupOnly] {
        for _ in 0..10 {
            let mut running = isolation.spawn(sh("exit 7")).await.unwrap();
            let ended = loop {
                // Asked once and dropped.
                if let Ok(ended) = timeout(Duration::ZERO, running.wait()).await {
                    break ended;
                }
                tokio::time::sleep(Duration::from_micros(50)).await;
            };
            assert_eq!(ended.unwrap().exit, Exit::Code(7));
            assert_eq!(running.wait().await.unwrap().exit, Exit::Code(7));
        }
    }
}

#[tokio::test]
async fn the_longest_deadline_is_one() {
    for isolation in [isolation(), bare(), Isolation::GroupOnly] {
        let ran = run(&isolation, sh("true").deadline(Duration::MAX)).await;
        assert!(ran.ended.success());
    }
}

/// Without privileges, and where `/proc` has something of the host's over it as in a container, the end of the first process ends the rest.
#[test]
fn a_host_without_privileges_leaves_no_cgroup() {
    let host = |program: &str, arguments: &[&str]| {
        let without =
            "mount -t tmpfs none /proc/fs && exec setpriv --bounding-set=-sys_admin \"$@\"";
        Command::new("unshare")
            .args(["-m", "sh", "-c", without, "sh", program])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .and_then(|host| Ok((host.id(), host.wait_with_output()?)))
    };
    if !host("true", &[]).is_ok_and(|(_, said)| said.status.success()) {
        println!("skipped: nobody but root can take these rights from a host");
        return;
    }
    let mark = Mark::new();
    let root = tempfile::tempdir().unwrap();
    for _ in 0..5 {
        let command = r#"{"command": ["setsid", "--fork", "sleep", "MARK"]}"#;
        let command = command.replace("MARK", mark.seconds());
        let (pid, said) = host(
            env!("CARGO_BIN_EXE_std-host"),
            &[root.path().to_str().unwrap(), &command],
        )
        .unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        assert!(said.contains("exited"), "{said}");
        assert_eq!(mark.alive(), 0);
        assert!(!has_cgroup(&format!("tool-std-{pid}-*")), "{said}");
    }
}

/// Whether a process has ended and waits for its parent to hear so.
fn is_zombie(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.contains(") Z ")
}

/// The name of the cgroups that were made for the job of one that sleeps for it.
fn cgroup_of(mark: &Mark) -> Option<String> {
    let wanted = format!("sleep\0{}\0", mark.seconds());
    let mut all = std::fs::read_dir("/proc").unwrap().flatten();
    let one = all.find(|process| {
        std::fs::read(process.path().join("cmdline")).is_ok_and(|line| line == wanted.as_bytes())
    })?;
    let places = std::fs::read_to_string(one.path().join("cgroup")).ok()?;
    let mut names = places.lines().filter_map(|line| line.rsplit('/').next());
    names
        .find(|name| name.starts_with("tool-std-"))
        .map(String::from)
}

/// Whether any hierarchy has a cgroup of that name.
fn has_cgroup(name: &str) -> bool {
    let found = Command::new("find")
        .args(["/sys/fs/cgroup", "-type", "d", "-name", name])
        .output()
        .unwrap();
    !found.stdout.is_empty()
}

#[tokio::test]
async fn a_chain_that_forks_on_and_on_ends() {
    for isolation in [isolation(), bare()] {
        let mark = Mark::new();
        let script = format!(
            "chain() {{ (sleep 0.002; : {}; chain &) }}; echo begun; chain; sleep {0}",
            mark.seconds()
        );
        let mut running = isolation.spawn(sh(script)).await.unwrap();
        running.read(&mut [0; 64]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        running.kill();
        assert_eq!(running.wait().await.unwrap().because, Cause::Killed);
        assert_eq!(mark.mentioned(), 0);
    }
}
