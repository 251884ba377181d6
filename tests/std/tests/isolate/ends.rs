//! The end of a job: the reported causes, and the processes that must not remain.

use std::time::{Duration, Instant};

use tokio::time::timeout;
use tool_std::isolate::{Cause, Exit, IsolateError, Isolation, Keep, Mechanism};

use crate::mark::Mark;
use crate::support::{bare, isolation, run, sh};

/// Returns a script that starts two processes with a session and a group of their own and without pipes. Their parent exits.
fn daemon(mark: &Mark) -> String {
    format!(
        "setsid sh -c 'sleep {0} & exec sleep {0}' </dev/null >/dev/null 2>&1 &",
        mark.seconds()
    )
}

// S1-92: daemons that a job started are killed at its end.
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

// S1-92, S1-94: all processes are killed at the deadline, even if they ignore signals.
#[tokio::test]
async fn deadline_kills_processes_that_ignore_signals() {
    for isolation in [isolation(), bare()] {
        let mark = Mark::new();
        let after = Duration::from_secs(1);
        let script = format!(
            "trap '' TERM INT HUP QUIT; {} echo begun; sleep {}",
            daemon(&mark),
            mark.seconds()
        );
        let ran = run(&isolation, sh(script).deadline(after)).await;
        assert_eq!(ran.ended.because, Cause::Deadline(after));
        assert_eq!(ran.ended.exit, Exit::Signal(9));
        // On a busy machine, the deadline may expire before the shell prints the line.
        assert!(["begun\n", ""].contains(&&*ran.stdout.text()));
        assert_eq!(mark.alive(), 0);
    }
}

#[tokio::test]
async fn dropped_job_is_killed() {
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

// S1-92: a job is ended when its output exceeds the limit, and the head and the tail of the output are kept.
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

// S1-94: if a job kills its supervisor, the call reports the job as lost without waiting for its processes.
#[tokio::test]
async fn job_that_kills_its_supervisor_is_reported_as_lost() {
    // Neither isolation has the mechanisms that would block the signal; only the second one has a cgroup.
    let cgroup = isolation()
        .without(Mechanism::PidNamespace)
        .without(Mechanism::Landlock);
    for isolation in [bare(), cgroup] {
        // No mechanism kills the rest of the job in the first isolation, so the sleep is finite.
        let script = "sleep 0.2; echo begun; kill -9 $PPID; exec sleep 600";
        let began = Instant::now();
        let job = sh(script).deadline(Duration::from_secs(5));
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
        assert!(
            began.elapsed().as_secs() < 300,
            "the call waited for the sleep"
        );
    }
}

#[tokio::test]
async fn dropped_wait_does_not_lose_the_exit_code() {
    for isolation in [isolation(), bare(), Isolation::GroupOnly] {
        for _ in 0..10 {
            let mut running = isolation.spawn(sh("exit 7")).await.unwrap();
            let ended = loop {
                // A zero timeout polls the future once and drops it.
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
async fn maximal_deadline_is_accepted() {
    for isolation in [isolation(), bare(), Isolation::GroupOnly] {
        let ran = run(&isolation, sh("true").deadline(Duration::MAX)).await;
        assert!(ran.ended.success());
    }
}

#[tokio::test]
async fn endless_fork_chain_is_killed() {
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
