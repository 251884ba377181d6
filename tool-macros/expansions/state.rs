/// List the orders of a customer.
#[tool(secret("audit_key"))]
async fn list_orders(
    /// The customer's name.
    customer: String,
    orders: &Orders,
    #[context] clock: Option<Clock>,
    #[secret("shop_key", label = "Key of the shop")] key: SecretString,
    #[variable("SHOP_URL")] url: Option<String>,
) -> Vec<Order> {
    orders.of(&customer, clock, key, url).await
}
