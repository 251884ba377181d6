//! Tests that the documents and packages name every required item, and only items that exist.

mod capabilities;
mod front_page;
mod ignored;
mod packages;
mod repairs_page;
mod rules_page;
mod threat_model;
