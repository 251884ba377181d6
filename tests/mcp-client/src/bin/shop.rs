//! An MCP server built with this project, served over standard input and output.

use tool_core::prelude::*;
use tool_mcp::McpServer;

/// An accepted order.
#[derive(Serialize, StrictSchema)]
struct Order {
    /// The number of the order.
    id: u64,
    /// The number of items.
    items: u32,
}

/// Orders things from the shop.
#[tool(open_world)]
fn order(
    /// The item to order.
    thing: String,
    /// The number of items.
    #[arg(range = 1..=9, default = 1)]
    items: u32,
) -> Result<Order, ToolError> {
    if thing == "nothing" {
        return Err(ToolError::new(
            "the shop does not sell `nothing`, name an item",
        ));
    }
    Ok(Order {
        id: u64::MAX,
        items,
    })
}

/// Looks at the shelf step by step.
#[tool(read_only)]
fn look() -> ToolStream<String, u32> {
    tool_stream! {
        for shelf in 1..=3 {
            yield format!("shelf {shelf}");
        }
        3
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = McpServer::builder(Registry::linked()?).name("shop").build();
    server.stdio().await?;
    Ok(())
}
