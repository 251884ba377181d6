//! Tests of the simulator: a seed always produces the same run, and the kept plans make the expected invariants fire.

mod agents;
mod determinism;
mod known;
mod packs;
