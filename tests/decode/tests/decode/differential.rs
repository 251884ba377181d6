//! A differential test of every type with random texts, which the one-pass decoder and the guard with serde read.
//!
//! `DECODE_SEED` is the seed, and `DECODE_TEXTS` is the total number of texts, by default 200,000. A million texts take 90 seconds in a debug build.
//! The crate is not optimised, because `stack.rs` measures the stack that a debug build needs.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, thread};

use decode_tests::{Known, Tally, cases, run};

fn number(name: &str, default: u64) -> u64 {
    match env::var(name) {
        Ok(text) => text.parse().expect(name),
        Err(_) => default,
    }
}

#[test]
fn own_decoder_and_serde_agree() {
    let seed = number("DECODE_SEED", 1);
    let texts = number("DECODE_TEXTS", 200_000);
    let cases = cases();
    let each = usize::try_from(texts)
        .expect("a usize has at most 64 bits")
        .div_ceil(cases.len());
    let next = AtomicUsize::new(0);
    let all = Mutex::new((Tally::default(), Vec::new()));
    let threads = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            let work = || {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (tally, failures) = run(case, seed, each);
                    let mut all = all.lock().expect("no thread has panicked");
                    all.0.add(tally);
                    all.1.extend(failures);
                }
            };
            thread::Builder::new()
                .stack_size(16 << 20)
                .spawn_scoped(scope, work)
                .expect("a thread starts");
        }
    });
    let (tally, failures) = all.into_inner().expect("no thread has panicked");
    println!("{} types, {each} texts each: {tally:?}", cases.len());
    for (known, count) in Known::ALL.iter().zip(tally.known) {
        println!("{known:?}: {count}");
    }
    for failure in &failures {
        println!(
            "{}: {}\n  text: {:?}\n  own:  {}\n  twin: {}\n",
            failure.name, failure.why.what, failure.text, failure.why.own, failure.why.twin
        );
    }
    assert!(
        failures.is_empty(),
        "{} disagreements, seed {seed}",
        failures.len()
    );
    // The random texts are useful only if each verdict is frequent.
    for count in [tally.exact, tally.edited, tally.unfit, tally.refused] {
        assert!(count > each, "{tally:?}");
    }
}
