//! The binary that the tests start as the sandbox helper and as the engine.

use tool_code as _;

fn main() {
    tool_isolate::helper();
}
