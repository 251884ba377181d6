//! Tests of the example host, with and without telemetry.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Mutex, PoisonError};

/// A lock for the example's binary. Both builds have the same file name, so only one of them may be built and run at a time.
static PROGRAM: Mutex<()> = Mutex::new(());

/// Runs the host with additional arguments for cargo, and returns its output and its log.
fn run(arguments: &[&str]) -> (String, String) {
    let _alone = PROGRAM.lock().unwrap_or_else(PoisonError::into_inner);
    let output = tool_tests::cargo::command()
        // Without `-p`, cargo uses the features of the whole workspace, for which the dependencies are already built.
        .args(["run", "--quiet", "--locked", "--example", "host"])
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (stdout, log) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{stdout}\n{log}");
    (stdout, log)
}

// The example builds with its feature `otel` and exports a span for each call.
#[test]
fn host_with_otel_exports_a_span_for_each_call() {
    let (stdout, _) = run(&["--features", "examples/otel"]);
    let spans: Vec<_> = stdout
        .lines()
        .filter(|line| line.starts_with("span "))
        .collect();
    for call in ["exchange_rate", "import_payments", "send_invoice"] {
        assert!(
            spans.iter().any(|span| span.contains(call)),
            "{call}: {spans:?}"
        );
    }
    assert!(!stdout.contains("sk-rates"), "{stdout}");
}

// S0-24, S2-11, S2-13, S2-15, S2-17, M5, M6, M8: the host denies and approves calls, restarts, streams and redacts.
#[test]
fn host_denies_approves_restarts_streams_and_redacts() {
    let (stdout, log) = run(&[]);
    let lines: Vec<&str> = stdout.lines().map(str::trim).collect();
    // These lines appear in this order.
    let mut rest = lines.iter();
    for expected in [
        "`change_account` [deny]: ",
        "model, step 1",
        "unpaid_invoices: [7,9]",
        "remove_invoice: the call is not allowed: ",
        "exchange_rate: the bank refuses the key [secret:rates_key] for NOK",
        "model, step 2",
        r#"import_payments … "monday""#,
        r#"import_payments … "tuesday""#,
        "import_payments: 2",
        r#"waiting: send_invoice {"number":7} (a customer reads it)"#,
        // A call in a different conversation has the same id as the waiting call.
        "unpaid_invoices: [7,9]",
        "model: Two.",
        "the process starts again",
        "ann approves: conflict: ",
        "bob approves",
        "send_invoice: invoice 7 is on its way",
        "model, step 3",
        "model: Invoice 7 is sent, two payments are in.",
        "model, step 1",
        "model writes: word",
        "stopped: Cancelled",
        "model: All right.",
        "runs",
        "thread-1 run 1: waiting",
        "thread-2 run 1: replied",
        "thread-1 run 2: replied",
        "thread-1 run 3: cancelled",
        "thread-1 run 4: replied",
        "audit",
        r#"thread-1 call_1 remove_invoice {"number":7}: denied"#,
        r#"thread-1 call_2 exchange_rate {"currency":{"length":3}}: failed"#,
        "thread-1 call_0 import_payments {}: ok",
        r#"thread-1 call_1 send_invoice {"number":7}: ok, approved by bob"#,
    ] {
        assert!(
            rest.any(|line| line.starts_with(expected)),
            "`{expected}` is missing in\n{stdout}"
        );
    }
    let times = |text| lines.iter().filter(|line| line.starts_with(text)).count();
    assert_eq!(
        times("import_payments: 2"),
        1,
        "the call did not run exactly once"
    );
    assert_eq!(
        times("model, step 2"),
        2,
        "the model was not asked exactly once in each conversation"
    );
    assert!(
        log.contains("no rate of NOK for [secret:rates_key]"),
        "{log}"
    );
    for key in ["sk-rates", "sk-model"] {
        assert!(!stdout.contains(key) && !log.contains(key));
    }
}
