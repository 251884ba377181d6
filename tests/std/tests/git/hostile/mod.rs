//! Repositories whose `.git` was written by somebody who wants to run a program, to get a token or to lead git out of the workspace.
//!
//! Jobs run with [`Isolation::GroupOnly`]: nothing but the tools themselves keeps anything from happening. Where a case says by what
//! command, the same repository is first given to git as a person runs it, to see that it bites.

mod elsewhere;
mod programs;
mod states;
mod target;
