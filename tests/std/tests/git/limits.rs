//! The limits of git runs, 120 seconds and 5 MB by default, and the variables that git gets. The tests use fake git programs.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tool_core::ErrorKind;
use tool_core::prelude::*;
use tool_std::git::Git;
use tool_std::isolate::{Cause, Exit, Isolation, Job, JobOutcome, Keep};

use crate::world::{World, call, isolation, script, tree};

/// Returns a number of seconds that no other process sleeps for.
fn mark(number: u32) -> String {
    format!("1{:07}.{number}", std::process::id())
}

fn alive(mark: &str) -> usize {
    let wanted = format!("sleep\0{mark}\0");
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
        .filter(|line| line == wanted.as_bytes())
        .count()
}

fn fake(world: &World, lines: &str) -> (Git, PathBuf) {
    let path = world.path("bin/git");
    script(&path, lines);
    (world.files().program(&path), path)
}

async fn cloning(cx: &ToolContext) -> CallResult {
    call(cx, "git_clone", json!({ "repo": "acme/site" })).await
}

// S1-83, S1-92, S1-94: a git that sleeps is killed at its deadline with all its children, and leaves no file behind.
#[tokio::test]
async fn sleeping_git_is_killed_at_its_deadline_with_its_children() {
    for (number, isolation) in [(1, isolation()), (2, Isolation::GroupOnly)] {
        // On a busy machine, the deadline may pass before both processes sleep. In that case the test proves nothing, so the call is
        // repeated with a longer deadline.
        let deadlines = [1500, 6000, 24_000].map(Duration::from_millis);
        let mut both_slept = false;
        for deadline in deadlines {
            if !both_slept {
                both_slept = killed_while_both_slept(&mark(number), &isolation, deadline).await;
            }
        }
        assert!(both_slept);
    }
}

/// Calls a git that starts two processes, and checks that no process or file remains after its deadline. Returns whether both slept before the
/// deadline.
async fn killed_while_both_slept(mark: &str, isolation: &Isolation, deadline: Duration) -> bool {
    let world = World::new();
    let (git, _) = fake(&world, &format!("sleep {mark} & sleep {mark}"));
    let server = world.server();
    let git = git.host(&server.base()).unwrap().deadline(deadline);
    let cx = world.conversation(git, "c1", isolation.clone());
    let ended = Arc::new(AtomicBool::new(false));
    let watcher = {
        let (mark, ended) = (mark.to_owned(), Arc::clone(&ended));
        std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                if alive(&mark) == 2 {
                    return true;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            false
        })
    };
    let result = cloning(&cx).await;
    assert_eq!(alive(mark), 0);
    ended.store(true, Ordering::Relaxed);
    let error = result.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    let text = error.model_text();
    let expected = format!("timed out after {} s", deadline.as_secs_f64());
    assert!(text.contains(&expected), "{text}");
    assert!(tree(&world.workspace()).is_empty());
    assert!(
        tree(&world.state()).is_empty(),
        "{:?}",
        tree(&world.state())
    );
    watcher.join().unwrap()
}

// S1-92: git has 120 seconds and 5 MB by default.
#[test]
fn default_limits_are_120_seconds_and_5_megabytes() {
    let text = format!("{:?}", Git::new());
    assert!(
        text.contains("deadline: 120s") && text.contains("output: 5000000"),
        "{text}"
    );
}

/// Runs a script in place of `gh`, with limits for this call only.
async fn gh(world: &World, lines: &str, deadline: Duration, limit: u64) -> JobOutcome {
    let program = world.path("bin/gh");
    script(&program, lines);
    let job = Job::new(&program)
        .env("PATH", std::env::var_os("PATH").unwrap())
        .cwd(world.path(""))
        .reads(world.path(""))
        .deadline(deadline);
    let keep = Keep {
        limit,
        ..Keep::default()
    };
    isolation().run(job, keep).await.unwrap()
}

// S1-93, S1-94: each call sets its own limits, for example 30 s and 5 MB for `gh`.
#[tokio::test]
async fn each_run_of_a_program_has_the_limits_of_its_call() {
    const MEGABYTE: u64 = 1_000_000;
    let world = [World::new(), World::new(), World::new(), World::new()];
    let (short, long) = (Duration::from_millis(1500), Duration::from_secs(30));
    let mark = [mark(4), mark(5)];
    let sleeps = mark
        .each_ref()
        .map(|mark| format!("sleep {mark} & sleep {mark}"));
    let floods = format!("head -c 6000000 /dev/zero; {}", sleeps[1]);
    // All calls run at the same time in one process.
    let (late, in_time, flood, fits) = tokio::join!(
        gh(&world[0], &sleeps[0], short, 5 * MEGABYTE),
        gh(&world[1], "sleep 3; echo done", long, 5 * MEGABYTE),
        gh(&world[2], &floods, long, 5 * MEGABYTE),
        gh(
            &world[3],
            "head -c 6000000 /dev/zero; exit 7",
            long,
            7 * MEGABYTE
        ),
    );
    // The first call was killed at its deadline with its process group, and the cause contains the deadline.
    assert_eq!(late.ended.because, Cause::Deadline(short));
    assert!(!late.ended.success() && !late.too_much);
    assert_eq!(alive(&mark[0]), 0);
    // The second call ran longer than the first call's deadline, but not longer than its own deadline.
    assert_eq!(in_time.ended.because, Cause::Itself);
    assert_eq!(
        (in_time.ended.exit, in_time.stdout.text()),
        (Exit::Code(0), String::from("done\n"))
    );
    assert!(in_time.took > short);
    // The same output exceeds the limit of the third call, but not the limit of the fourth call.
    assert!(flood.too_much && flood.ended.because == Cause::Killed);
    assert!(flood.stdout.head.len() + flood.stdout.tail.len() <= 32 << 10);
    assert_eq!(alive(&mark[1]), 0);
    assert!(!fits.too_much);
    assert_eq!(
        (fits.ended.exit, fits.stdout.bytes),
        (Exit::Code(7), 6 * MEGABYTE)
    );
}

// S1-92: git is killed once its output exceeds 5 MB.
#[tokio::test]
async fn six_megabytes_of_output_kill_git() {
    // Each stream gets three megabytes, so neither stream exceeds the limit alone.
    let lines = "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; touch";
    let world = World::new();
    let past = world.workspace().join("past");
    let (git, _) = fake(&world, &format!("{lines} {}; sleep 600", past.display()));
    let cx = world.cx(git);
    let result = cloning(&cx).await;
    let error = result.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::Failed);
    let text = error.model_text();
    assert!(text.contains("more than 5000000 bytes"), "{text}");
    assert!(tree(&world.workspace()).keys().all(|path| *path == past));
    // Output below the limit is not reported as too much.
    let (git, _) = fake(
        &world,
        "head -c 4900000 /dev/zero; echo 'fatal: fake' >&2; exit 7",
    );
    let result = cloning(&world.cx(git)).await;
    let text = result.error().unwrap().model_text();
    assert!(
        text.contains("exit 7") && text.contains("fatal: fake"),
        "{text}"
    );
    // The host may set a different limit.
    let (git, _) = fake(&world, "head -c 200 /dev/zero; exit 1");
    let result = cloning(&world.cx(git.output_limit(100))).await;
    let text = result.error().unwrap().model_text();
    assert!(text.contains("more than 100 bytes"), "{text}");
}

// S1-92: memory stays bounded while git writes output without end.
#[tokio::test]
async fn a_flood_does_not_fill_the_hosts_memory() {
    let peak = || {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmHWM"))
            .unwrap();
        line.split_whitespace()
            .nth(1)
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    let world = World::new();
    let (git, _) = fake(&world, "exec cat /dev/zero");
    let cx = world.cx(git);
    let before = peak();
    let result = cloning(&cx).await;
    assert!(result.error().unwrap().model_text().contains("more than"));
    assert!(peak() - before < 64 << 10, "{} KiB", peak() - before);
}

// S1-92: a dropped call kills its git and leaves no file behind.
#[tokio::test]
async fn dropped_call_kills_its_git_and_leaves_no_files() {
    let world = World::new();
    let mark = mark(3);
    let (git, _) = fake(&world, &format!("sleep {mark}"));
    let server = world.server();
    let cx = world.cx(git.host(&server.base()).unwrap());
    {
        let cloning = std::pin::pin!(cloning(&cx));
        let running = std::pin::pin!(async {
            while alive(&mark) == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        futures::future::select(cloning, running).await;
        assert_eq!(alive(&mark), 1);
    }
    let began = Instant::now();
    let left = || alive(&mark) + tree(&world.workspace()).len() + tree(&world.state()).len();
    while left() > 0 {
        assert!(began.elapsed().as_secs() < 20, "{}", left());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

// S1-80, S1-82, S1-91: git gets only listed variables and no secret of the host.
#[tokio::test]
async fn git_gets_only_listed_variables() {
    let world = World::new();
    let recorded = world.path("recorded/env");
    fs::create_dir(world.path("recorded")).unwrap();
    let (git, _) = fake(&world, &format!("env > {}; exit 1", recorded.display()));
    let cx = world.conversation(git, "c1", Isolation::GroupOnly);
    cloning(&cx).await;
    let text = fs::read_to_string(recorded).unwrap();
    let known = |name: &str| {
        let own = [
            "PATH",
            "HOME",
            "XDG_CONFIG_HOME",
            "LC_ALL",
            "SSH_ASKPASS",
            "PWD",
            "_",
            "SHLVL",
            "OLDPWD",
        ];
        own.contains(&name) || name.starts_with("GIT_")
    };
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name)
        .collect();
    assert!(names.iter().all(|name| known(name)), "{names:?}");
    assert!(
        text.lines().any(|line| line == "GIT_TERMINAL_PROMPT=0"),
        "{text}"
    );
    assert!(text.contains("\nHOME=/dev/null\n") || text.starts_with("HOME=/dev/null\n"));
    // Control test: this process itself has more variables.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
}

// S1-80: git receives the host's certificates and proxies in the form that git reads.
#[tokio::test]
async fn the_hosts_certificates_and_proxies_reach_git() {
    /// The variable that is set in the child process that runs this test again. A test must not change the environment of its own process.
    const AGAIN: &str = "STD_TESTS_GIT_ENVIRONMENT";

    if std::env::var_os(AGAIN).is_none() {
        let mut again = tokio::process::Command::new(std::env::current_exe().unwrap());
        again
            .args([
                "--exact",
                "limits::the_hosts_certificates_and_proxies_reach_git",
            ])
            .env(AGAIN, "1")
            .env("SSL_CERT_FILE", "/etc/ssl/certs/of-the-host.pem")
            .env("SSL_CERT_DIR", "/etc/ssl/of-the-host")
            .env("HTTPS_PROXY", "http://127.0.0.1:3129")
            .env("HTTP_PROXY", "http://127.0.0.1:3128")
            .env("NO_PROXY", "intranet.example")
            .env_remove("https_proxy")
            .env_remove("http_proxy")
            .env_remove("no_proxy");
        let done = again.output().await.unwrap();
        let text = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    for (base, proxy) in [
        ("https://git.example", "http://127.0.0.1:3129"),
        ("http://git.example:81/x", "http://127.0.0.1:3128"),
    ] {
        let world = World::new();
        let recorded = world.path("recorded");
        fs::create_dir(&recorded).unwrap();
        let (git, _) = fake(&world, &format!("env > {}/env; exit 1", recorded.display()));
        let git = git.host(base).unwrap();
        cloning(&world.conversation(git, "c1", Isolation::GroupOnly)).await;
        let text = fs::read_to_string(recorded.join("env")).unwrap();
        for line in [
            "GIT_SSL_CAINFO=/etc/ssl/certs/of-the-host.pem",
            "GIT_SSL_CAPATH=/etc/ssl/of-the-host",
            "NO_PROXY=intranet.example",
        ] {
            assert!(text.lines().any(|known| known == line), "{line}: {text}");
        }
        // The proxy for this scheme and URL is set in the configuration, so that git does not read a variable.
        let key = format!("http.{base}/acme/site.git.proxy");
        let number = text
            .lines()
            .find_map(|line| line.strip_suffix(&key)?.strip_prefix("GIT_CONFIG_KEY_"));
        let number = number.unwrap().trim_end_matches('=');
        let wanted = format!("GIT_CONFIG_VALUE_{number}={proxy}");
        assert!(text.lines().any(|line| line == wanted), "{wanted}: {text}");
        assert!(!text.to_lowercase().contains("\nhttp_proxy="));
        assert!(!text.to_lowercase().contains("\nhttps_proxy="));
    }
}
