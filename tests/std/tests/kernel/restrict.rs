//! Restrictions of a job that the kernel enforces.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use tempfile::tempdir;
use test_support::{Missing, Ran};
use tool_std::isolate::{IsolateError, Isolation, Keep, Limits, Mechanism, Network};

use crate::support::{isolation, needs, run, sh};

pub(crate) async fn job_reads_and_writes_only_granted_paths_case() -> Ran {
    needs(Mechanism::Landlock).await?;
    let (inside, outside) = (tempdir().unwrap(), tempdir().unwrap());
    let (inside, outside) = (inside.path(), outside.path());
    fs::write(outside.join("kept"), "kept").unwrap();
    fs::write(inside.join("given"), "given").unwrap();
    let script = format!(
        "cat given; echo new > made && cat made; cat {0}/kept; echo x > {0}/kept; echo x > {0}/made; rm {0}/kept; ls {0}; ln {0}/kept got; true",
        outside.display()
    );
    // The second isolation has no namespaces, so that only Landlock is tested.
    for isolation in [isolation(), isolation().without(Mechanism::PidNamespace)] {
        let ran = run(&isolation, sh(&script).cwd(inside).writes(inside)).await;
        assert_eq!(ran.stdout.text(), "givennew\n", "{}", ran.stderr.text());
        assert_eq!(fs::read_to_string(outside.join("kept")).unwrap(), "kept");
        assert_eq!(fs::read_dir(outside).unwrap().count(), 1);
        assert!(!inside.join("got").exists());
        let ran = run(
            &isolation,
            sh("echo x > given; cat given").cwd(inside).reads(inside),
        )
        .await;
        assert_eq!(ran.stdout.text(), "given");
    }
    Ok(())
}

pub(crate) async fn read_only_mounts_refuse_changes_that_landlock_allows_case() -> Ran {
    needs(Mechanism::ReadOnlyMounts).await?;
    let (inside, outside) = (tempdir().unwrap(), tempdir().unwrap());
    let kept = outside.path().join("kept");
    fs::write(&kept, "kept").unwrap();
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o640)).unwrap();
    let before = kept.metadata().unwrap();
    let script = format!(
        "chmod 777 {0}; touch -d 2001-01-01 {0}; echo x >> {0}; touch mine && chmod 600 mine && echo done > mine && cat mine",
        kept.display()
    );
    let only = isolation().without(Mechanism::Landlock);
    for isolation in [isolation(), only] {
        let ran = run(
            &isolation,
            sh(&script).cwd(inside.path()).writes(inside.path()),
        )
        .await;
        assert_eq!(ran.stdout.text(), "done\n", "{}", ran.stderr.text());
        let after = kept.metadata().unwrap();
        assert_eq!(
            (before.mode(), before.mtime()),
            (after.mode(), after.mtime())
        );
        assert_eq!(fs::read_to_string(&kept).unwrap(), "kept");
    }
    // The host's own mounts are unchanged.
    fs::write(&kept, "new").unwrap();
    Ok(())
}

/// File modes by path, restored on drop, so that a failing test does not change the machine.
struct Modes(Vec<(&'static str, u32)>);

impl Modes {
    fn read(paths: &[&'static str]) -> Self {
        let mode = |path: &str| Some(fs::metadata(path).ok()?.mode());
        let modes = paths.iter().filter_map(|path| Some((*path, mode(path)?)));
        Self(modes.collect())
    }
}

impl Drop for Modes {
    fn drop(&mut self) {
        for (path, mode) in &self.0 {
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(*mode));
        }
    }
}

// A job that runs as root cannot change the mode of a device, of `/sys` or of a cgroup.
pub(crate) async fn devices_sysfs_and_cgroups_keep_their_modes_case() -> Ran {
    needs(Mechanism::ReadOnlyMounts).await?;
    let paths = ["/dev/full", "/dev/tty", "/sys/kernel", "/sys/fs/cgroup"];
    let before = Modes::read(&paths);
    let script = format!("chmod o+x {0}; chmod g+s {0}; true", paths.join(" "));
    for isolation in [
        isolation(),
        isolation().without(Mechanism::OwnRoot),
        isolation().without(Mechanism::Landlock),
        isolation()
            .without(Mechanism::OwnRoot)
            .without(Mechanism::PidNamespace),
    ] {
        let ran = run(&isolation, sh(&script)).await;
        let refused = ran.stderr.text().matches("/dev/full").count();
        assert_eq!(refused, 2, "{}", ran.stderr.text());
        assert_eq!(Modes::read(&paths).0, before.0, "{isolation:?}");
    }
    // Control test: without the mechanism, the change succeeds, so only the mechanism prevents it.
    let ran = run(&isolation().without(Mechanism::ReadOnlyMounts), sh(&script)).await;
    assert_ne!(Modes::read(&paths).0, before.0, "{}", ran.stderr.text());
    Ok(())
}

// Jobs cannot change the host's mounts, no matter which mechanisms the host turns off.
pub(crate) fn no_job_changes_the_mounts_of_the_host_case() -> Ran {
    // The test runs in a separate mount namespace, so that a failure does not change the machine.
    let child = std::process::Command::new("unshare")
        .arg("-m")
        .arg(std::env::current_exe().unwrap())
        .env(crate::workspace::CHILD, "mounts_stay")
        .output();
    match child {
        Ok(said) if String::from_utf8_lossy(&said.stdout).contains("child begins") => {
            assert!(said.status.success(), "{said:?}");
            Ok(())
        }
        _ => Err(Missing::new(
            "only root can create a mount namespace with `unshare`",
        )),
    }
}

pub(crate) fn mounts_stay() {
    let mounts = || fs::read_to_string("/proc/self/mountinfo").unwrap();
    let before = mounts();
    let alone = |one: Mechanism| {
        let others = Mechanism::ALL.iter().filter(|other| **other != one);
        others.copied().fold(isolation(), Isolation::without)
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for one in Mechanism::ALL.iter().copied() {
        for isolation in [alone(one), isolation().without(one)] {
            for network in [Network::Off, Network::Open] {
                let job = sh("true").network(network);
                assert!(runtime.block_on(run(&isolation, job)).ended.success());
                assert_eq!(mounts(), before, "{isolation:?}");
            }
        }
    }
}

// Paths that were not granted do not exist for the job, so it cannot connect to sockets at such paths.
pub(crate) async fn job_sees_only_granted_paths_case() -> Ran {
    needs(Mechanism::OwnRoot).await?;
    let (inside, outside) = (tempdir().unwrap(), tempdir().unwrap());
    let (inside, outside) = (inside.path(), outside.path());
    fs::create_dir_all(inside.join("given/made")).unwrap();
    fs::create_dir(inside.join("mine")).unwrap();
    fs::write(inside.join("given/file"), "given\n").unwrap();
    fs::write(inside.join("kept"), "kept\n").unwrap();
    std::os::unix::fs::symlink(inside.join("given"), inside.join("link")).unwrap();
    let socket = outside.join("socket");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o777)).unwrap();
    let connect = format!(
        "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('{}')\" 2>&1 | tail -n 1",
        socket.display()
    );
    let script = format!(
        "cat {0}/link/file; cat {0}/kept; echo a > {0}/given/made/new; echo b > {0}/given/new; cat {0}/given/made/new; echo c > {0}/mine/new; \
         cat {0}/mine/new; ls {0} {1}; echo x > /new; echo x > {0}/new; {connect}; true",
        inside.display(),
        outside.display()
    );
    // With Landlock, the job cannot list folders that were not granted, not even in its own root.
    let listed = format!("{}:\ngiven\nlink\nmine\n", inside.display());
    for (isolation, listed) in [
        (isolation(), ""),
        (isolation().without(Mechanism::Landlock), &*listed),
        (isolation().without(Mechanism::PidNamespace), ""),
    ] {
        let job = sh(&script)
            .reads(inside.join("link"))
            .writes(inside.join("given/made"))
            .writes(inside.join("mine"))
            // This folder is below a writable folder, so it is writable although it is granted for reading.
            .reads(inside.join("mine/below"))
            .cwd(inside);
        fs::create_dir_all(inside.join("mine/below")).unwrap();
        let ran = run(&isolation, job).await;
        assert_eq!(
            ran.stdout.text(),
            format!(
                "given\na\nc\n{listed}FileNotFoundError: [Errno 2] No such file or directory\n"
            ),
            "{}",
            ran.stderr.text()
        );
        assert!(inside.join("given/made/new").exists() && !inside.join("given/new").exists());
        assert!(!inside.join("new").exists() && !std::path::Path::new("/new").exists());
        let report = isolation.report().await.unwrap();
        let item = report.item("sockets with a path").unwrap();
        assert!(item.mechanism.contains("separate root") && item.open.is_empty());
    }
    // A path through the host's `/proc` leads to the host's root.
    let around = |pid: u32| {
        let there = format!("/proc/{pid}/root{}", socket.display());
        connect.replace(&*socket.display().to_string(), &there)
    };
    let own = std::process::id();
    for isolation in [isolation(), isolation().without(Mechanism::PidNamespace)] {
        let ran = run(&isolation, sh(around(own))).await;
        assert!(ran.stdout.text().contains("Error"), "{isolation:?}");
    }
    let open = isolation()
        .without(Mechanism::PidNamespace)
        .without(Mechanism::Landlock);
    let report = open.report().await.unwrap();
    assert!(!report.item("sockets with a path").unwrap().open.is_empty());
    assert!(report.item("files").unwrap().open.contains("`stat`"));
    let shut = run(&open.require(Mechanism::UnixSockets), sh(around(own))).await;
    assert!(shut.stdout.text().contains("PermissionError"));
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err());
    // Control test: a granted socket is reachable.
    let granted = run(&isolation(), sh(&connect).writes(outside)).await;
    assert_eq!(granted.stdout.text(), "", "{}", granted.stderr.text());
    assert!(listener.accept().is_ok());
    // The error for a program that was not granted differs from the error for a nonexistent program.
    let program = inside.join("program");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let start = async |path: &std::path::Path| {
        let job = tool_std::isolate::Job::new(path).cwd("/");
        isolation().run(job, Keep::default()).await.unwrap_err()
    };
    let refused = start(&program).await;
    assert!(
        matches!(refused, IsolateError::Refused { .. }),
        "{refused:?}"
    );
    let missing = start(&inside.join("none")).await;
    assert!(
        matches!(missing, IsolateError::NotFound { .. }),
        "{missing:?}"
    );
    Ok(())
}

pub(crate) async fn missing_path_cannot_be_granted_case() -> Ran {
    needs(Mechanism::Landlock).await?;
    let error = isolation()
        .run(sh("true").reads("/no/such"), Keep::default())
        .await
        .unwrap_err();
    assert!(
        matches!(&error, IsolateError::Helper(why) if why.contains("/no/such")),
        "{error}"
    );
    Ok(())
}

// S1-82: a job cannot read the environment of another process.
pub(crate) async fn job_cannot_read_other_processes_environment_case() -> Ran {
    needs(Mechanism::Landlock).await?;
    let own = std::process::id();
    let script = format!(
        "cat /proc/{own}/environ /proc/$PPID/environ /proc/1/environ /proc/{own}/cmdline; \
         for p in /proc/[0-9]*; do [ $p = /proc/$$ ] || cat $p/environ; done; true"
    );
    for isolation in [
        isolation(),
        isolation().without(Mechanism::PidNamespace),
        isolation().without(Mechanism::Capabilities),
    ] {
        let ran = run(&isolation, sh(&script)).await;
        let others = ran
            .stdout
            .text()
            .replace("PATH=/usr/bin:/bin\0", "")
            .replace("PWD=/\0", "");
        assert_eq!(others, "");
    }
    // The supervisor runs as the same user and has the job's environment in its memory. The job cannot read this memory, even without Landlock.
    let bare = isolation()
        .without(Mechanism::Landlock)
        .without(Mechanism::PidNamespace);
    let ran = run(
        &bare,
        sh("cat /proc/$PPID/environ /proc/$PPID/mem").env("T", "x"),
    )
    .await;
    assert_eq!(ran.stdout.bytes, 0);
    Ok(())
}

pub(crate) async fn job_can_signal_only_its_own_processes_case() -> Ran {
    needs(Mechanism::Landlock).await?;
    let own = std::process::id();
    let script = format!(
        "kill -0 {own} && echo host; kill -9 $PPID && echo helper; sleep 60 & kill $! && echo own"
    );
    let ran = run(&isolation().without(Mechanism::PidNamespace), sh(script)).await;
    assert_eq!(ran.stdout.text(), "own\n", "{}", ran.stderr.text());
    assert!(ran.ended.success());
    Ok(())
}

pub(crate) async fn job_cannot_change_resources_shared_by_its_user_case() -> Ran {
    needs(Mechanism::PidNamespace).await?;
    let made = std::process::Command::new("ipcmk")
        .args(["-M", "64"])
        .output();
    let made = String::from_utf8(made.unwrap().stdout).unwrap();
    let id = made.trim().rsplit(' ').next().unwrap();
    let own = std::process::id();
    let script = format!("ipcrm -m {id}; prlimit --pid {own} --nofile=64:64; renice -n 5 -p {own}");
    let ran = run(&isolation(), sh(script)).await;
    assert!(!ran.ended.success());
    let removed = std::process::Command::new("ipcrm")
        .args(["-m", id])
        .status();
    assert!(removed.unwrap().success());
    let limits = fs::read_to_string("/proc/self/limits").unwrap();
    let files = limits.lines().find(|line| line.contains("open files"));
    assert!(!files.unwrap().contains(" 64 "), "{limits}");
    Ok(())
}

pub(crate) async fn a_fork_bomb_is_stopped_at_the_deadline_case() -> Ran {
    needs(Mechanism::PidsCgroup).await?;
    let limits = Limits::default().processes(48);
    for isolation in [isolation(), isolation().without(Mechanism::PidNamespace)] {
        let job = sh("bomb() { bomb | bomb & }; bomb; sleep 1; echo over").limits(limits.clone());
        let ran = run(&isolation, job.deadline(std::time::Duration::from_secs(3))).await;
        assert!(ran.took.as_secs() < 20, "{:?}", ran.took);
    }
    Ok(())
}

pub(crate) async fn tcp_connects_only_to_allowed_ports_case() -> Ran {
    needs(Mechanism::Landlock).await?;
    let listeners = [0, 1].map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let [open, shut] = listeners
        .each_ref()
        .map(|one| one.local_addr().unwrap().port());
    let script = format!(
        "python3 - <<'E'\nimport socket\nfor port in ({open}, {shut}):\n  try:\n    socket.create_connection(('127.0.0.1', port)).close(); print('yes')\n  except OSError as e: print(type(e).__name__)\nE\n"
    );
    let ask = async |network| {
        run(&isolation(), sh(&script).network(network))
            .await
            .stdout
            .text()
    };
    assert_eq!(ask(Network::tcp([open])).await, "yes\nPermissionError\n");
    assert_eq!(ask(Network::Open).await, "yes\nyes\n");
    let off = run(
        &isolation().without(Mechanism::NetworkNamespace),
        sh(&script),
    )
    .await;
    assert_eq!(off.stdout.text(), "PermissionError\nPermissionError\n");
    Ok(())
}

pub(crate) async fn job_without_a_network_cannot_send_udp_case() -> Ran {
    needs(Mechanism::NetworkNamespace).await?;
    let script = "python3 -c \"import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('192.0.2.1', 53))\"";
    let ran = run(&isolation(), sh(script)).await;
    assert!(
        ran.stderr.text().contains("unreachable"),
        "{}",
        ran.stderr.text()
    );
    Ok(())
}

// S1-96: the memory limit applies to the sum of all processes of a job.
pub(crate) async fn memory_limit_covers_all_processes_of_a_job_case() -> Ran {
    needs(Mechanism::MemoryCgroup).await?;
    let limits = Limits::default().memory(256 << 20);
    let many = "for i in 1 2 3 4 5 6 7 8; do python3 -c 'import time; b = bytearray(128 << 20); time.sleep(1); print(1)' & done; wait";
    let ran = run(&isolation(), sh(many).limits(limits)).await;
    assert!(ran.stdout.bytes < 16, "{}", ran.stdout.text());
    assert!(ran.ended.out_of_memory);
    Ok(())
}
