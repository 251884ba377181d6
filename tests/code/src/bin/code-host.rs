//! The binary that becomes the helper and the engine of the tests.

use tool_code as _;

fn main() {
    tool_std::helper();
}
