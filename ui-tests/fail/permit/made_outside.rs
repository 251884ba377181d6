fn main() {
    let _ = tool_core::Permit {};
}
