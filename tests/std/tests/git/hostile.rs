//! Repositories whose `.git` an attacker wrote, to run a program, to steal a token or to lead git out of the workspace.
//!
//! Jobs run with [`Isolation::GroupOnly`], so only the tools themselves prevent an attack. Cases that name commands are first given to plain git, to prove that
//! the attack works there.

mod elsewhere;
mod programs;
mod states;
mod target;
