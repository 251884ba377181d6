//! The tools of the example programs, which are linked into this test.

#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    clippy::pedantic,
    reason = "only the tools of the programs are used"
)]

#[path = "../../../../examples/quickstart.rs"]
mod quickstart;
#[path = "../../../../examples/shared_state.rs"]
mod shared_state;
#[path = "../../../../examples/streaming.rs"]
mod streaming;
#[path = "../../../../examples/host/tools.rs"]
mod tools;
#[path = "../../../../examples/typed_client.rs"]
mod typed_client;
#[path = "../../../../examples/weather.rs"]
mod weather;
