/// An order.
#[derive(StrictSchema)]
struct Order {
    /// The product.
    #[schema(length = 1..=80)]
    product: String,
    /// The number of pieces.
    pieces: Option<u32>,
    /// The way of delivery.
    delivery: Delivery,
}

#[derive(StrictSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Delivery {
    /// By mail.
    Mail {
        /// The address.
        address: String,
    },
    /// The customer fetches it.
    PickUp,
}
