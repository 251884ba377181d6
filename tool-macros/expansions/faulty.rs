/// Read a file.
#[tool(read_only, destructive, titel = "Read")]
async fn read_file(
    /// The path.
    path: &str,
    lines: u32,
) -> String {
    read(path, lines).await
}
