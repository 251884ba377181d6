//! Who ends a job, and that nothing of it is left.

use std::process::Command;
use std::time::{Duration, Instant};

use tool_std::isolate::{Cause, Exit, IsolateError, Keep, Mechanism};

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
