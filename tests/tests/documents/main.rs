//! Documents and packages: they name all items that they must name, and only existing ones.

mod capabilities;
mod front_page;
mod ignored;
mod packages;
mod repairs_page;
mod rules_page;
mod threat_model;
