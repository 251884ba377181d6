//! Examples and fixtures that cargo builds, runs or refuses.

mod host_example;
mod link;
mod patches;
mod versions;
mod wire_example;
