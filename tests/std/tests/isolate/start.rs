//! The environment and input of a job at its start, and the report of its end.

use tokio::io::AsyncReadExt as _;
use tool_std::isolate::{Cause, Exit, IsolateError, Isolation, Job, Keep};

use crate::support::{bare, isolation, run, sh};

#[tokio::test]
async fn a_job_has_the_environment_that_it_was_given() {
    for isolation in [isolation(), bare(), Isolation::GroupOnly] {
        let ran = run(
            &isolation,
            Job::new("env").env("PATH", "/usr/bin:/bin").env("A", "1 2"),
        )
        .await;
        assert_eq!(ran.stdout.text(), "A=1 2\nPATH=/usr/bin:/bin\n");
        assert!(ran.ended.success());
    }
}

#[tokio::test]
async fn exit_and_cause_are_reported() {
    for isolation in [isolation(), bare(), Isolation::GroupOnly] {
        let ran = run(&isolation, sh("echo out; echo err >&2; exit 7")).await;
        assert_eq!(ran.ended.exit, Exit::Code(7));
        assert_eq!(ran.ended.because, Cause::Itself);
        assert_eq!(
            (ran.stdout.text().as_str(), ran.stderr.text().as_str()),
            ("out\n", "err\n")
        );
        let ran = run(&isolation, sh("kill -SEGV $$")).await;
        assert_eq!(ran.ended.exit, Exit::Signal(11));
    }
}

#[tokio::test]
async fn missing_program_and_missing_directory_are_different_errors() {
    for isolation in [isolation(), bare(), Isolation::GroupOnly] {
        let job = Job::new("no-such-program").env("PATH", "/usr/bin");
        let error = isolation.run(job, Keep::default()).await.unwrap_err();
        assert!(matches!(error, IsolateError::NotFound { .. }), "{error}");
        let error = isolation
            .run(sh("true").cwd("/no/such"), Keep::default())
            .await
            .unwrap_err();
        assert!(matches!(error, IsolateError::Refused { .. }), "{error}");
    }
}

#[tokio::test]
async fn job_reads_exactly_its_stdin() {
    for isolation in [isolation(), bare(), Isolation::GroupOnly] {
        let mut running = isolation.spawn(Job::new("/bin/cat").stdin()).await.unwrap();
        running.feed(b"some text".to_vec());
        let mut text = String::new();
        running
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut text)
            .await
            .unwrap();
        assert_eq!(text, "some text");
        assert!(running.wait().await.unwrap().success());
        assert_eq!(run(&isolation, Job::new("/bin/cat")).await.stdout.bytes, 0);
    }
}

#[tokio::test]
async fn own_binary_runs_in_the_requested_mode() {
    for isolation in [isolation(), bare()] {
        let ran = run(
            &isolation,
            Job::this("tell").args(["a b", "c"]).env("A", "1"),
        )
        .await;
        assert_eq!(ran.stdout.text(), "a b\nc\n1\n");
        let ran = run(&isolation, Job::this("no-such-mode")).await;
        assert_eq!(ran.ended.exit, Exit::Code(127));
        assert!(
            ran.stderr.text().starts_with("no mode `no-such-mode`"),
            "{:?}",
            ran.stderr
        );
    }
}

#[tokio::test]
async fn missing_helper_line_in_main_is_an_error() {
    let error = Isolation::new()
        .run(sh("true"), Keep::default())
        .await
        .unwrap_err();
    assert!(matches!(error, IsolateError::NoHelper), "{error}");
    // A helper path that names a different program is an error too.
    let error = Isolation::new()
        .helper("/bin/true")
        .run(sh("true"), Keep::default())
        .await
        .unwrap_err();
    assert!(matches!(error, IsolateError::Helper(_)), "{error}");
}
