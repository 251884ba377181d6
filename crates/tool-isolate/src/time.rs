//! Waiting for deadlines.

use tokio::time::Instant;

/// Ready after this time; never ready if there is no time.
pub(super) async fn past(latest: Option<Instant>) {
    match latest {
        Some(latest) => tokio::time::sleep_until(latest).await,
        None => std::future::pending().await,
    }
}
