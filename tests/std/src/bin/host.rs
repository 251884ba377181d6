//! The helper of the tests, whose `main` is not theirs.

fn main() {
    tool_std::helper();
}
