//! Paths and file states that would lead out of a workspace, each tried with every tool.
//!
//! inotify watches the files outside, so a read or a listing is detected even if no result shows it. Their content is also compared before and after.

mod links;
mod outside;
mod paths;
mod races;
mod random;
mod states;
mod trial;

use trial::{CANARY, Trial, UNNAMED, calls};
