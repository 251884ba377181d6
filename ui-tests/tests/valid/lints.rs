//! Generated code causes no warning under strict lints, in both editions, and with a renamed `tool-core`.

use std::path::Path;

// S0-01: generated code compiles with `forbid(unsafe_code)` and `deny(missing_docs)`, and clippy's pedantic and nursery groups report no warning.
#[test]
fn generated_code_is_clean_under_strict_lints_in_both_editions() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/lints");
    let run = ui_tests::cargo(
        env!("CARGO_TARGET_TMPDIR"),
        &workspace,
        &["clippy", "--workspace", "--", "-D", "warnings"],
    )
    .unwrap();
    assert!(
        run.success && run.told.is_empty(),
        "{:#?}\n{}",
        run.told,
        run.stderr
    );
}
