//! A hook tries to create a permitted call.

use tool_core::{Permit, Permitted};

fn made(permit: Permit) -> Permitted {
    Permitted { permit, body: any() }
}

fn any<T>() -> T {
    std::process::exit(1)
}

fn main() {}
