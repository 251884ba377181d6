//! Paths and states of files that would lead out of a workspace, each tried with every tool.
//!
//! What is outside is watched by the kernel (inotify), so reading or listing shows even where a result says nothing of it, and it is
//! compared before and after.

mod links;
mod outside;
mod paths;
mod races;
mod random;
mod states;
mod trial;

use trial::{CANARY, Trial, UNNAMED, calls};
