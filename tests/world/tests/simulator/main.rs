//! The simulator: one seed always gives the same run, and the kept plans do what they were kept for.

mod determinism;
mod known;
