//! A hook would make a permitted call of its own.

use tool_core::{Permit, Permitted};

fn made(permit: Permit) -> Permitted {
    Permitted { permit, body: todo!() }
}

fn main() {}
