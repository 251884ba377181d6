//! Deadlines.

use tokio::time::Instant;

/// Ready after this time; never ready without one.
pub(super) async fn past(latest: Option<Instant>) {
    match latest {
        Some(latest) => tokio::time::sleep_until(latest).await,
        None => std::future::pending().await,
    }
}
