//! `run_command` with mechanisms of the kernel, and on a host without privileges.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::tempdir;
use test_support::{Missing, Ran};
use tool_std::isolate::{Limits, Mechanism};

use crate::commands::{HOST, Place, commands, leaves_nothing, left_in};
use crate::mark::Mark;
use crate::support::needs;

fn limited() -> Place {
    let limits = Limits::default()
        .memory(192 << 20)
        .processes(40)
        .file_size(20 << 20);
    Place::new(commands().shell("/bin/sh").limits(limits))
}

pub(crate) async fn a_fork_bomb_leaves_no_process_case() -> Ran {
    needs(Mechanism::PidsCgroup).await?;
    let mark = Mark::new();
    let sleep = format!("sleep {}", mark.seconds());
    let bomb = format!("bomb() {{ : {sleep}; bomb | bomb & }}; bomb; {sleep}");
    leaves_nothing(&limited(), &mark, &[bomb]).await;
    Ok(())
}

pub(crate) async fn writes_outside_the_workspace_are_refused_case() -> Ran {
    needs(Mechanism::Landlock).await?;
    let outside = tempdir().unwrap();
    let script = format!(
        "echo x > {0}/made; mkdir {0}/made; echo x > /etc/tool-std-was-here",
        outside.path().display()
    );
    leaves_nothing(&limited(), &Mark::new(), &[script]).await;
    assert!(!std::path::Path::new("/etc/tool-std-was-here").exists());
    assert_eq!(outside.path().read_dir().unwrap().count(), 0);
    Ok(())
}

pub(crate) async fn signals_do_not_reach_the_host_case() -> Ran {
    let report = commands().isolation().report().await.unwrap();
    let signals = &report.item("signals").unwrap().mechanism;
    if signals.starts_with("none") {
        return Err(Missing::new(format_args!("signals: {signals}")));
    }
    let mark = Mark::new();
    let script = format!(
        "kill -STOP $PPID; kill -KILL $PPID; kill -KILL {}; sleep {}",
        std::process::id(),
        mark.seconds()
    );
    leaves_nothing(&limited(), &mark, &[script]).await;
    Ok(())
}

// If the processes of a command exceed the memory limit together, the result reports that the command exceeded its limit.
pub(crate) async fn memory_of_all_processes_together_is_limited_case() -> Ran {
    needs(Mechanism::MemoryCgroup).await?;
    let place = Place::new(commands().limits(Limits::default().memory(128 << 20)));
    let script = "import subprocess, time\n\
        one = ['python3', '-c', 'import time; b = bytearray(64 << 20); time.sleep(60)']\n\
        many = [subprocess.Popen(one) for _ in range(4)]\n\
        while all(each.poll() is None for each in many): time.sleep(0.01)\n\
        for each in many: each.kill()";
    let output = place
        .run(json!({ "command": ["python3", "-c", script], "timeout_seconds": 60 }))
        .await;
    assert_eq!(output["ended"], "out_of_memory", "{output}");
    assert_eq!(
        output["note"],
        "The command exceeded its memory limit, and the system killed the command or one of its processes."
    );
    Ok(())
}

// A host that runs as an unprivileged user restricts its commands with a user namespace and Landlock, without the mechanisms that need privileges.
pub(crate) async fn unprivileged_host_restricts_its_commands_case() -> Ran {
    let report = commands().isolation().report().await.unwrap();
    let landlock = !report.item("files").unwrap().mechanism.starts_with("none");
    let root = tempdir().unwrap();
    let path = root.path();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    std::fs::copy(HOST, path.join("host")).unwrap();
    std::fs::write(path.join("secret"), "not for commands").unwrap();
    let mark = Mark::new();
    let script = format!(
        "import os, subprocess\n\
         subprocess.Popen(['sleep', '{0}'], start_new_session=True)\n\
         print(os.getuid(), os.path.exists('mine'))\n\
         try: print(open('{1}/secret').read())\n\
         except OSError as error: print(type(error).__name__)",
        mark.seconds(),
        path.display()
    );
    let as_nobody = |script: &str, bare: &[&str]| {
        let arguments = json!({ "command": ["python3", "-c", script] });
        let mut host = Command::new("setpriv");
        host.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        host.arg(path.join("host")).arg(path);
        host.arg(arguments.to_string()).args(bare);
        host.env("TMPDIR", path).output()
    };
    let said = match as_nobody(&script, &[]) {
        Ok(said) if said.status.success() => said,
        _ => {
            return Err(Missing::new(
                "only root can run a program as a different user with `setpriv`",
            ));
        }
    };
    let said: Value = serde_json::from_slice(&said.stdout).unwrap();
    let lines: Vec<_> = said["stdout"].as_str().unwrap().lines().collect();
    assert_eq!(lines[0], "65534 False", "{said}");
    // The mode of the file permits reading, but Landlock, which needs no privileges, denies it.
    if landlock {
        assert_eq!(lines[1], "PermissionError", "{said}");
    }
    assert_eq!(mark.alive(), 0);
    // File modes apply to this host. Folders that a command made read-only are deleted with the call's folder nevertheless.
    let lock = "import os\n\
        base = os.environ['TMPDIR']\n\
        os.makedirs(f'{base}/go/mod/a')\n\
        open(f'{base}/go/mod/a/x.go', 'w').close()\n\
        for folder, mode in ('/go/mod/a', 0), ('/go/mod', 0o555), ('/go', 0o311), ('', 0o555): os.chmod(base + folder, mode)\n\
        print('locked')";
    for bare in [&[][..], &["bare"]] {
        let said = as_nobody(lock, bare).unwrap();
        let said: Value = serde_json::from_slice(&said.stdout).unwrap();
        assert_eq!(said["stdout"], "locked\n", "{said}");
        assert_eq!(left_in(path), [""; 0]);
    }
    // The helper runs as the same user and has the job's environment in its memory. A job cannot inspect the helper, even without the other
    // mechanisms.
    let script = "import os\ntry: print(os.readlink(f'/proc/{os.getppid()}/exe'))\nexcept OSError as error: print(type(error).__name__)";
    let said = as_nobody(script, &["bare"]).unwrap();
    let said: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(said["stdout"], "PermissionError\n", "{said}");
    Ok(())
}
