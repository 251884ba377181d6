//! The worker that indexes documents.

use std::fmt;
use std::time::Duration;

use tokio::time::{interval_at, sleep, timeout};
use tool_core::store::{
    Document, DocumentRow, IndexClaim, IndexOutcome, Scope, StoreError, Timestamp,
};

use super::extract::{Extractor, NoText};
use super::handle::Knowledge;

/// A worker that indexes documents. [`Knowledge::indexer`] creates it; the host runs it in the background, in any number of processes.
#[derive(Clone)]
#[must_use = "an indexer does nothing until it is run"]
pub struct Indexer {
    knowledge: Knowledge,
    worker: String,
    lease: Duration,
    poll: Duration,
    most_recoveries: u32,
    extractor: Extractor,
}

/// The pause before a document is read again that the host could not read.
#[cfg(all(feature = "knowledge-pdf", unix))]
const HOST_PAUSE: Duration = Duration::from_mins(1);

impl Indexer {
    pub(super) fn new(knowledge: Knowledge) -> Self {
        Self {
            knowledge,
            worker: format!("indexer-{}", std::process::id()),
            lease: Duration::from_mins(1),
            poll: Duration::from_secs(1),
            most_recoveries: 3,
            extractor: Extractor::default(),
        }
    }

    /// Sets the name of the worker, for operators. The default contains the id of the process.
    pub fn worker(mut self, name: impl Into<String>) -> Self {
        self.worker = name.into();
        self
    }

    /// Sets the time after which another worker takes over the documents of a worker that died. The default is 60 seconds. A running worker extends its lease.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Sets the interval at which the worker reads the store to find documents that other processes have written. The default is one second.
    pub fn poll(mut self, pause: Duration) -> Self {
        self.poll = pause;
        self
    }

    /// Sets the sandbox of the child process that reads PDF files. The default is [`Isolation::new`](crate::isolate::Isolation::new), for which the `main` of
    /// the host begins with [`tool_std::helper`](crate::helper).
    #[cfg(all(feature = "knowledge-pdf", unix))]
    pub fn isolation(mut self, isolation: crate::isolate::Isolation) -> Self {
        self.extractor.pdf.isolation = isolation;
        self
    }

    /// Sets the memory and the time that the child process may use to read one PDF file: bytes, by default 512 MiB, and by default 30 seconds.
    #[cfg(all(feature = "knowledge-pdf", unix))]
    pub fn pdf_limits(mut self, memory: u64, time: Duration) -> Self {
        self.extractor.pdf.memory = memory;
        self.extractor.pdf.time = time;
        self
    }

    /// Indexes documents until the future is dropped. Errors of the store are logged, and the work continues after the pause.
    pub async fn run(self) {
        loop {
            match self.run_once().await {
                Ok(true) => {}
                Ok(false) => drop(timeout(self.poll, self.knowledge.written()).await),
                Err(error) => {
                    tracing::warn!(%error, "documents cannot be indexed");
                    sleep(self.poll).await;
                }
            }
        }
    }

    /// Indexes all documents that are ready. Returns their number.
    pub async fn run_until_idle(&self) -> Result<usize, StoreError> {
        let mut done = 0;
        while self.run_once().await? {
            done += 1;
        }
        Ok(done)
    }

    /// Indexes one document. Returns whether one was ready.
    pub async fn run_once(&self) -> Result<bool, StoreError> {
        let claim = IndexClaim {
            worker: self.worker.clone(),
            lease: self.lease,
            most_recoveries: self.most_recoveries,
            at: Timestamp::now(),
        };
        let store = self.knowledge.store();
        let Some(document) = store.claim_document(Scope::All, claim).await? else {
            return Ok(false);
        };
        let Document { row, content, .. } = document;
        let Some(token) = row.token.clone() else {
            return Ok(false);
        };
        let finished = async {
            let outcome = self.outcome(&row, content).await;
            store
                .finish_index(&row.name, &token, outcome, Timestamp::now())
                .await
        };
        tokio::select! {
            finished = finished => {
                if !finished? {
                    tracing::debug!(file = row.name.file(), "the document was written or claimed meanwhile");
                }
            }
            () = self.hold(&row, &token) => {
                tracing::warn!(file = row.name.file(), "the lease of the document was lost");
            }
        }
        Ok(true)
    }

    /// Extends the lease, until it is lost.
    async fn hold(&self, row: &DocumentRow, token: &str) {
        let pause = (self.lease / 3).max(Duration::from_millis(1));
        let mut ticks = interval_at(tokio::time::Instant::now() + pause, pause);
        loop {
            ticks.tick().await;
            let store = self.knowledge.store();
            let extended = store.extend_index(&row.name, token, self.lease, Timestamp::now());
            match extended.await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => tracing::warn!(%error, "the lease of a document cannot be extended"),
            }
        }
    }

    async fn outcome(&self, row: &DocumentRow, content: Vec<u8>) -> IndexOutcome {
        let text = match self.extractor.text(&row.mime, &content).await {
            Ok(text) => text,
            Err(NoText::Fault(fault)) => return IndexOutcome::Failed(fault.code().to_owned()),
            #[cfg(all(feature = "knowledge-pdf", unix))]
            Err(NoText::Host(error)) => {
                tracing::warn!(
                    error,
                    "the child process that reads PDF files cannot be started"
                );
                return IndexOutcome::Retry(HOST_PAUSE);
            }
        };
        let chunks = match &text {
            Some(text) => Document::chunks(text),
            None => Document::chunks(&String::from_utf8_lossy(&content)),
        };
        IndexOutcome::Indexed { text, chunks }
    }
}

impl fmt::Debug for Indexer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indexer")
            .field("worker", &self.worker)
            .field("lease", &self.lease)
            .field("poll", &self.poll)
            .finish_non_exhaustive()
    }
}
