//! Tests of the end of a job that need kernel features or a privileged host.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use test_support::{Missing, Ran};
use tool_std::isolate::{Exit, IsolateError, Isolation, Job, Mechanism};

use crate::mark::Mark;
use crate::support::{isolation, needs, run, sh};

/// Returns a script that starts a daemon in its own session, with a second process next to it.
fn daemon(mark: &Mark) -> String {
    format!(
        "setsid sh -c 'sleep {0} & exec sleep {0}' </dev/null >/dev/null 2>&1 &",
        mark.seconds()
    )
}

async fn killing_the_supervisor_ends_the_job(isolation: Isolation) {
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

// If the supervisor of a job in a PID namespace is killed, the kernel kills the job.
pub(crate) async fn namespace_kills_the_job_of_a_killed_supervisor_case() -> Ran {
    needs(Mechanism::PidNamespace).await?;
    killing_the_supervisor_ends_the_job(isolation().require(Mechanism::PidNamespace)).await;
    Ok(())
}

// If the supervisor is killed and the job has no PID namespace, the job is killed with its cgroup.
pub(crate) async fn cgroup_kills_the_job_of_a_killed_supervisor_case() -> Ran {
    needs(Mechanism::CgroupKill).await?;
    let cgroup = isolation().without(Mechanism::PidNamespace);
    killing_the_supervisor_ends_the_job(cgroup.require(Mechanism::CgroupKill)).await;
    Ok(())
}

pub(crate) async fn killed_supervisor_leaves_no_cgroup_case() -> Ran {
    needs(Mechanism::PidNamespace).await?;
    needs(Mechanism::PidsCgroup).await?;
    for waits in [true, false] {
        let mark = Mark::new();
        let job = sh(format!("echo begun; exec sleep {}", mark.seconds()));
        let mut running = isolation().spawn(job).await.unwrap();
        running.read(&mut [0; 64]).await.unwrap();
        mark.wait_for(1);
        let name = cgroup_of(&mark).expect("the job has its own cgroup");
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
            assert!(
                began.elapsed().as_secs() < 20,
                "the cgroup {name} was not removed"
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    Ok(())
}

// A host without privileges and with a masked `/proc`, as in a container, kills the remaining processes when the first process exits, and leaves no
// cgroup.
pub(crate) fn unprivileged_host_leaves_no_cgroup_case() -> Ran {
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
        return Err(Missing::new(
            "only root with its own mount namespace can drop these privileges",
        ));
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
        assert!(!has_cgroup(&format!("tool-isolate-{pid}-*")), "{said}");
    }
    Ok(())
}

/// Returns whether a process has exited and its parent has not waited for it yet.
fn is_zombie(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.contains(") Z ")
}

/// Returns the name of the cgroups of the job that sleeps for this mark.
fn cgroup_of(mark: &Mark) -> Option<String> {
    let wanted = format!("sleep\0{}\0", mark.seconds());
    let mut all = std::fs::read_dir("/proc").unwrap().flatten();
    let one = all.find(|process| {
        std::fs::read(process.path().join("cmdline")).is_ok_and(|line| line == wanted.as_bytes())
    })?;
    let places = std::fs::read_to_string(one.path().join("cgroup")).ok()?;
    let mut names = places.lines().filter_map(|line| line.rsplit('/').next());
    names
        .find(|name| name.starts_with("tool-isolate-"))
        .map(String::from)
}

/// Returns whether any cgroup hierarchy has a cgroup of that name.
fn has_cgroup(name: &str) -> bool {
    let found = Command::new("find")
        .args(["/sys/fs/cgroup", "-type", "d", "-name", name])
        .output()
        .unwrap();
    !found.stdout.is_empty()
}

// On Ubuntu since 23.10, a user namespace can be created, but user ids cannot be mapped in it. Such a namespace is not used.
pub(crate) fn unusable_user_namespace_is_not_used_case() -> Ran {
    let host = |program: &str, arguments: &[&str]| {
        let without =
            "mount -o remount,bind,ro /proc && exec setpriv --bounding-set=-sys_admin \"$@\"";
        Command::new("unshare")
            .args(["-m", "sh", "-c", without, "sh", program])
            .args(arguments)
            .output()
    };
    if !host("true", &[]).is_ok_and(|said| said.status.success()) {
        return Err(Missing::new(
            "only root with its own mount namespace can drop these privileges",
        ));
    }
    let root = tempfile::tempdir().unwrap();
    let command = r#"{"command": ["readlink", "/proc/self/ns/pid"]}"#;
    let said = host(
        env!("CARGO_BIN_EXE_std-host"),
        &[root.path().to_str().unwrap(), command],
    );
    let said = String::from_utf8(said.unwrap().stdout).unwrap();
    let own = std::fs::read_link("/proc/self/ns/pid").unwrap();
    assert!(said.contains(own.to_str().unwrap()), "{said}");
    Ok(())
}

pub(crate) async fn own_binary_is_restricted_like_any_job_case() -> Ran {
    needs(Mechanism::Landlock).await?;
    let ran = run(&isolation(), Job::this("tell")).await;
    assert_eq!(ran.ended.exit, Exit::Code(0));
    Ok(())
}
