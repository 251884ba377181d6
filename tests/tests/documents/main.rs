//! Documents and packages: each names what exists, and all of it.

mod capabilities;
mod front_page;
mod packages;
mod repairs_page;
mod rules_page;
mod threat_model;
