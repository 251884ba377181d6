//! A hook tries to use a permitted call twice.

use tool_core::Permitted;

fn twice(permitted: Permitted) -> (Permitted, Permitted) {
    (permitted.clone(), permitted)
}

fn main() {}
