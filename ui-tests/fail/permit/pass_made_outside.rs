fn main() {
    let _ = tool_core::private::Pass(());
}
