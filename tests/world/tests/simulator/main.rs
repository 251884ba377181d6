//! Tests of the simulator: for example, a seed always produces the same run, and a kept plan makes its invariant fire while its finding is open.

mod agents;
mod determinism;
mod known;
mod packs;
