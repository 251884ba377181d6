//! Calls through a host's [`Gate`](tool_core::Gate): approvals, effects, audit, limits and turns.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the real clock and spawn their own tasks"
)]

#[macro_use]
mod passing;

mod aliases;
mod approvals;
mod audit;
mod backlog;
mod boot;
mod closing;
mod contract;
mod conversation;
mod deadlines;
mod delegated;
mod dropped_callers;
mod effects;
mod forgery;
mod four_eyes;
mod hooks;
mod identity;
mod instances;
mod interleave;
mod leaks;
mod nested;
mod nested_approvals;
mod not_run;
mod outcomes;
mod recovery;
mod redacted_outputs;
mod renamed;
mod reruns;
mod respond;
mod retries;
mod rules;
mod secret_spellings;
mod shared_limits;
mod skills;
mod slow;
mod steps;
mod stopping;
mod store_panics;
mod stored;
mod support;
mod switches;
mod turns;
mod typed;
mod vault;
