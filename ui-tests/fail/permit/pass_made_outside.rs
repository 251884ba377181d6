fn main() {
    let _ = tool_core::__private0::Pass(());
}
