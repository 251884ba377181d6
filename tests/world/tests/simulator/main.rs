//! Tests of the simulator: a seed always produces the same run, and the kept plans make the expected invariants fire.

mod determinism;
mod known;
