//! A future that waits for a deadline.

use tokio::time::Instant;

/// Waits until this time. Waits forever if the time is `None`.
pub(super) async fn past(latest: Option<Instant>) {
    match latest {
        Some(latest) => tokio::time::sleep_until(latest).await,
        None => std::future::pending().await,
    }
}
