//! Repositories in which an attacker changed `.git` to run a program, to steal a token or to make git access files outside of the workspace.
//!
//! Jobs run with [`Isolation::GroupOnly`], so only the tools themselves prevent an attack. If a case has commands, plain git runs them first, to
//! prove that the attack works without the tools.

mod elsewhere;
mod programs;
mod states;
mod target;
