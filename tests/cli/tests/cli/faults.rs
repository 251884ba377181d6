//! Calls that fail: what is printed, and to whom.

use crate::support::{GALLERY, command, gallery_with_key, run};

const KEY: &str = "key-4711-xyz";

// A panic printed the secret
#[test]
fn panic_message_holds_no_secret() {
    for words in [
        &["call", "panic_with_key"][..],
        &["call", "panic_with_key", "--format", "json"],
        &["call", "panic_with_key", "--model"],
    ] {
        let ran = gallery_with_key(words, KEY);
        ran.fails(1, &["panicked at", "key [secret:tracker_key]"]);
        assert!(!format!("{ran:?}").contains(KEY), "{ran:?}");
    }
}

#[test]
fn panic_under_serve_holds_no_secret() {
    let mut serve = command(GALLERY, &["serve"]);
    serve.env("TOOL_SECRET_TRACKER_KEY", KEY);
    let ran = run(
        serve,
        concat!(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"panic_with_key","arguments":{}}}"#,
            "\n",
        ),
    );
    ran.fails(0, &["panicked at", "key [secret:tracker_key]"]);
    assert!(!format!("{ran:?}").contains(KEY), "{ran:?}");
}
