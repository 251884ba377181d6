#[derive(ToolError)]
enum StockError {
    #[shown]
    SoldOut { product: String },
    Database(DatabaseError),
}

/// Reserve a product.
#[tool(destructive)]
async fn reserve(
    /// The product and the number of pieces.
    #[args]
    order: Order,
) -> Result<Reservation, StockError> {
    stock::reserve(order).await
}
