//! Fuzzes responses of providers: nothing panics, a response in pieces of any size results in the same reply as in one piece, and no call of a
//! truncated response runs.
//!
//! `cargo +nightly fuzz run replies -- -max_total_time=600`; the recorded responses in `crates/tool-wire/tests/wire/recorded` are good seeds, if two
//! bytes are put before each: the provider, and the size of the pieces.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tool_wire::{ModelReply, Provider, WireError};

fn streamed(provider: Provider, body: &[u8], piece: usize) -> Result<ModelReply, WireError> {
    let mut stream = provider.stream();
    if provider == Provider::Bedrock {
        for line in String::from_utf8_lossy(body).lines() {
            stream.event(line)?;
        }
    } else {
        for bytes in body.chunks(piece) {
            stream.feed(bytes)?;
        }
    }
    stream.finish()
}

/// Asserts that a reply can be sent back as JSON.
fn sound(provider: Provider, reply: &ModelReply) {
    if reply.is_truncated() {
        assert!(!reply.stop().is_whole());
    }
    let message = provider.assistant(reply.message());
    for part in message {
        serde_json::from_str::<serde_json::Value>(part.get()).expect("JSON");
    }
}

fuzz_target!(|data: &[u8]| {
    let [provider, piece, body @ ..] = data else {
        return;
    };
    let provider = Provider::ALL[usize::from(*provider) % Provider::ALL.len()];
    if let Ok(text) = std::str::from_utf8(body)
        && let Ok(reply) = provider.reply(text)
    {
        sound(provider, &reply);
    }
    let whole = streamed(provider, body, body.len().max(1));
    let pieces = streamed(provider, body, usize::from(*piece).max(1));
    match (&whole, &pieces) {
        (Ok(whole), Ok(pieces)) => {
            assert_eq!(format!("{whole:?}"), format!("{pieces:?}"));
            sound(provider, whole);
        }
        (Err(_), Err(_)) => {}
        _ => panic!("{whole:?} in one piece, {pieces:?} in pieces of {piece}"),
    }
});
