//! Tests of every tool with paths and file states that would lead out of a workspace.
//!
//! inotify watches the files outside of the workspace, so a read or a listing is detected even if no result contains it. The files are also compared
//! before and after.

mod links;
mod outside;
mod paths;
mod races;
mod random;
mod states;
mod trial;

use trial::{CANARY, Trial, UNNAMED, calls};
