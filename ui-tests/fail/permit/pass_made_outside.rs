use tool_core::prelude::*;

fn main() {
    let _ = tool_core::private::Pass(());
}
