/// Search the documentation. Use it for questions about the product.
#[tool]
pub async fn search_docs(
    /// What to search for.
    query: String,
    /// The number of results.
    #[arg(range = 1..=50, default = 10)]
    limit: u32,
) -> Vec<String> {
    search(&query, limit).await
}
