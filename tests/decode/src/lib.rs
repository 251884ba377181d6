//! Random types and random texts, which the one-pass decoder and the guard with serde read. Both must return the same result.

mod case;
pub mod helpers;
mod mutate;
mod random;
mod run;
mod writer;

pub use case::{Case, Disagreement, Known, Verdict, case};
pub use run::{Failure, Tally, run, written};

/// The generated types with only `StrictSchema`, which the one-pass decoder reads.
#[allow(
    clippy::all,
    clippy::pedantic,
    dead_code,
    missing_docs,
    missing_debug_implementations,
    non_camel_case_types,
    reason = "generated"
)]
pub mod own {
    use tool_core::StrictSchema;
    include!(concat!(env!("OUT_DIR"), "/own.rs"));
}

/// The same types with `Deserialize` too, which serde reads after the guard has admitted the text.
#[allow(
    clippy::all,
    clippy::pedantic,
    dead_code,
    missing_docs,
    missing_debug_implementations,
    non_camel_case_types,
    reason = "generated"
)]
pub mod twin {
    use serde::Deserialize;
    use tool_core::StrictSchema;
    include!(concat!(env!("OUT_DIR"), "/twin.rs"));
}

/// Returns a case for every type.
#[must_use]
pub fn cases() -> Vec<Case> {
    include!(concat!(env!("OUT_DIR"), "/cases.rs")).to_vec()
}
