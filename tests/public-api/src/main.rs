//! Binary that compares the public API of a crate with the recorded API, or records it.
//!
//! ```console
//! cargo run -p public-api-tests -- RUSTDOC_JSON RECORD [--update]
//! ```
//!
//! `RUSTDOC_JSON` is the output of rustdoc with `--output-format json`. `RECORD` has a line for each public item, method, variant, field and
//! implementation. If the record differs, the program prints the lines that differ and exits with 1. `.ci/public-api` creates the JSON and calls this
//! program.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Returns the API, with a line for each item. Blanket implementations, auto traits and derived implementations are left out.
fn listed(json: &str) -> Result<String, Box<dyn Error>> {
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_auto_derived_impls(true)
        .omit_auto_trait_impls(true)
        .omit_blanket_impls(true)
        .build()?;
    let mut text = String::new();
    for item in api.items() {
        writeln!(text, "{item}")?;
    }
    Ok(text)
}

/// Prints the lines that are in only one of the two texts, and returns whether the texts differ.
fn differ(recorded: &str, now: &str) -> bool {
    let (before, after): (BTreeSet<&str>, BTreeSet<&str>) =
        (recorded.lines().collect(), now.lines().collect());
    for line in before.difference(&after) {
        println!("- {line}");
    }
    for line in after.difference(&before) {
        println!("+ {line}");
    }
    recorded != now
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (json, record, update) = match args.as_slice() {
        [json, record] => (json, record, false),
        [json, record, flag] if flag == "--update" => (json, record, true),
        _ => return Err("usage: public-api-tests RUSTDOC_JSON RECORD [--update]".into()),
    };
    let now = listed(json)?;
    if update {
        std::fs::write(record, now)?;
        return Ok(ExitCode::SUCCESS);
    }
    if differ(&std::fs::read_to_string(record)?, &now) {
        println!(
            "the public API differs from the record: if the change is intended, run `.ci/public-api --update` and commit {record}"
        );
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
