/// Export all orders.
#[tool]
fn export_orders(#[context] orders: Orders) -> ToolStream<Progress, usize> {
    tool_stream! {
        yield Progress(0);
        orders.len()
    }
}
