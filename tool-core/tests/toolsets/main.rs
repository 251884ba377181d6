//! The tools of a turn: combined toolsets, visibility, policies from files, and tool search.

mod aliases;
mod combining;
mod policy_file;
mod search;
mod visibility;
