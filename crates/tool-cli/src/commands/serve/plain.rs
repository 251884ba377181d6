//! A server without a store, for programs without the feature `admin`. Its items have the same names as in `admin.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use tool_core::{CancellationToken, Gate, Registry};
use tool_mcp::Tools;

use super::StoredSecrets;
use crate::args::Serve;
use crate::commands::missing;
use crate::host::{Cli, Offer};
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

/// The gate of the calls.
pub(super) struct Backend(Gate);

/// The tasks that run in addition to the server. Without a store, there are none.
pub(super) struct Running;

impl Backend {
    /// Fails if the command line names a store.
    #[expect(clippy::unused_async, reason = "a store is opened in `admin.rs`")]
    pub(super) async fn open(
        words: &Serve,
        cli: &Cli,
        _: &Registry,
        _: Screen,
    ) -> Result<Self, Failure> {
        if words.store.is_some() {
            return Err(missing(
                "serve --store",
                "admin",
                "run `cargo tool serve --store URL`, which builds it",
            ));
        }
        cli.gate_of().map(Self)
    }

    pub(super) fn gate(&self) -> &Gate {
        &self.0
    }

    pub(super) fn secrets(&self) -> StoredSecrets {
        Arc::new(BTreeMap::new)
    }

    #[expect(clippy::unused_async, reason = "a store is read in `admin.rs`")]
    pub(super) async fn start(
        self,
        _: &Serve,
        _: &Cli,
        offer: Offer,
        _: Screen,
    ) -> Result<(Tools, Running), Failure> {
        Ok((Tools::each(move |cx| offer.toolset(cx)), Running))
    }
}

impl Running {
    pub(super) async fn beside(
        self,
        serving: impl Future<Output = Result<Exit, Failure>>,
        _: &CancellationToken,
        _: Screen,
    ) -> Result<Exit, Failure> {
        serving.await
    }
}
