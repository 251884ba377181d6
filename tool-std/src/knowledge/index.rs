//! The worker that indexes documents.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, interval_at, sleep, timeout};
use tool_core::store::{
    ChunkEmbedding, Document, DocumentRow, EmbeddingClaim, EmbeddingOutcome, EmbeddingWork,
    IndexClaim, IndexOutcome, Scope, StoreError, Timestamp,
};

use super::extract::{Extractor, NoText};
use super::handle::Knowledge;
use crate::embedding::{Embedder, vectors};

/// A worker that indexes documents, and computes their embeddings if [`Knowledge::embedder`] is set. [`Knowledge::indexer`] creates it. The host runs
/// it in the background, in any number of processes.
#[derive(Clone)]
#[must_use = "an indexer does nothing until it is run"]
pub struct Indexer {
    knowledge: Knowledge,
    worker: String,
    lease: Duration,
    poll: Duration,
    most_recoveries: u32,
    extractor: Extractor,
    backoff: Backoff,
    /// The failures of the embedder, which all clones share.
    embedder: Arc<Mutex<EmbedderState>>,
}

/// The maximum number of chunks of one batch.
const BATCH: u32 = 64;

/// The pauses after failures of the embedder.
#[derive(Clone, Copy, Debug)]
struct Backoff {
    first: Duration,
    longest: Duration,
}

impl Backoff {
    /// Returns the pause after `failures` failures in a row; `failures` is at least 1. The pause doubles with each failure, up to the longest pause.
    fn after(self, failures: u32) -> Duration {
        let factor = 1_u32 << failures.saturating_sub(1).min(20);
        self.first.saturating_mul(factor).min(self.longest)
    }
}

/// The failures of the embedder, and the pause after them.
#[derive(Debug, Default)]
struct EmbedderState {
    /// The number of failures in a row.
    failures: u32,
    /// The embedder is not called before this time.
    paused: Option<Instant>,
}

/// The work that one step of the worker has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worked {
    Indexed,
    Embedded,
    Nothing,
}

/// The pause before the worker retries a document that the host could not read.
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
            backoff: Backoff {
                first: Duration::from_secs(5),
                longest: Duration::from_mins(10),
            },
            embedder: Arc::default(),
        }
    }

    /// Sets the name of the worker, for operators. The default contains the id of the process.
    pub fn worker(mut self, name: impl Into<String>) -> Self {
        self.worker = name.into();
        self
    }

    /// Sets the length of the lease of a document. If a worker dies, another worker claims its document when the lease has expired. The default is 60
    /// seconds. While a worker indexes a document, it extends the lease. While it computes embeddings, it does not, so this time is also the maximum
    /// duration of one call of the embedder.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Sets the interval at which the worker reads the store to find work that is not reported in this process, for example documents that other
    /// processes have written, and retries. The default is one second.
    pub fn poll(mut self, pause: Duration) -> Self {
        self.poll = pause;
        self
    }

    /// Sets the pauses after failures of the embedder. The first pause doubles with each further failure in a row, up to the longest pause. The
    /// defaults are 5 seconds and 10 minutes. They apply in two ways: a document whose embeddings failed is retried after the pause for its own
    /// failures in a row, and after each failure, the worker calls the embedder for no document during the pause for all failures since the last
    /// success.
    pub fn embedding_retry(mut self, first: Duration, longest: Duration) -> Self {
        // Without a pause, `run_until_idle` would not end while the embedder fails.
        let first = first.max(Duration::from_millis(1));
        let longest = longest.max(first);
        self.backoff = Backoff { first, longest };
        self
    }

    /// Sets the sandbox of the child process that reads PDF files. The default is [`Isolation::new`](crate::isolate::Isolation::new), which requires
    /// that the host's `main` first calls [`tool_std::helper`](crate::helper).
    #[cfg(all(feature = "knowledge-pdf", unix))]
    pub fn isolation(mut self, isolation: crate::isolate::Isolation) -> Self {
        self.extractor.pdf.isolation = isolation;
        self
    }

    /// Sets the limits of the child process for one PDF file: its memory in bytes (512 MiB by default) and its time (30 seconds by default).
    #[cfg(all(feature = "knowledge-pdf", unix))]
    pub fn pdf_limits(mut self, memory: u64, time: Duration) -> Self {
        self.extractor.pdf.memory = memory;
        self.extractor.pdf.time = time;
        self
    }

    /// Indexes documents and computes embeddings until the future is dropped. A slow embedder does not delay the index. Errors of the store are
    /// logged, and the worker continues after the interval of [`poll`](Self::poll).
    pub async fn run(self) {
        tokio::join!(self.run_index(), self.run_embedder());
    }

    async fn run_index(&self) {
        loop {
            match self.index().await {
                Ok(true) => {}
                Ok(false) => drop(timeout(self.poll, self.knowledge.written()).await),
                Err(error) => {
                    tracing::warn!(%error, "documents cannot be indexed");
                    sleep(self.poll).await;
                }
            }
        }
    }

    async fn run_embedder(&self) {
        let Some(embedder) = self.knowledge.model() else {
            return;
        };
        loop {
            match self.embed(embedder).await {
                Ok(true) => {}
                Ok(false) => drop(timeout(self.poll, self.knowledge.indexed()).await),
                Err(error) => {
                    tracing::warn!(%error, "embeddings cannot be computed");
                    sleep(self.poll).await;
                }
            }
        }
    }

    /// Indexes all documents that are ready, and computes the embeddings that are missing. If the embedder fails, a later call computes the missing
    /// embeddings. Returns the number of documents that were claimed for indexing, including documents that cannot be indexed.
    pub async fn run_until_idle(&self) -> Result<usize, StoreError> {
        let mut done = 0;
        loop {
            match self.step().await? {
                Worked::Indexed => done += 1,
                Worked::Embedded => {}
                Worked::Nothing => return Ok(done),
            }
        }
    }

    /// Indexes one document. If none is ready, computes the embeddings of at most 64 chunks of a document. Returns whether there was work.
    pub async fn run_once(&self) -> Result<bool, StoreError> {
        Ok(self.step().await? != Worked::Nothing)
    }

    /// Indexes a document, or computes a batch of embeddings if no document is ready. With this order, documents are found by their words while the
    /// embedder is slow.
    async fn step(&self) -> Result<Worked, StoreError> {
        if self.index().await? {
            return Ok(Worked::Indexed);
        }
        match self.knowledge.model() {
            Some(embedder) if self.embed(embedder).await? => Ok(Worked::Embedded),
            _ => Ok(Worked::Nothing),
        }
    }

    async fn index(&self) -> Result<bool, StoreError> {
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
                if finished? {
                    self.knowledge.wake_embedder();
                } else {
                    tracing::debug!(file = row.name.file(), "the document was written, claimed or removed meanwhile");
                }
            }
            () = self.hold(&row, &token) => {
                tracing::warn!(file = row.name.file(), "the lease of the document was lost");
            }
        }
        Ok(true)
    }

    /// Computes the embeddings of a batch of chunks, and returns true, also if the embedder fails. Returns false if no document is ready, and while
    /// the embedder is paused.
    async fn embed(&self, embedder: &dyn Embedder) -> Result<bool, StoreError> {
        if self.embedder_state(|state| state.paused.is_some_and(|until| until > Instant::now())) {
            return Ok(false);
        }
        let claim = EmbeddingClaim {
            model: embedder.model().to_owned(),
            lease: self.lease,
            most_chunks: BATCH,
            at: Timestamp::now(),
        };
        let store = self.knowledge.store();
        let Some(EmbeddingWork { row, chunks }) = store.claim_embedding(Scope::All, claim).await?
        else {
            return Ok(false);
        };
        let Some(token) = row.embedding.token.clone() else {
            return Ok(false);
        };
        let (places, texts): (Vec<u32>, Vec<String>) = chunks
            .into_iter()
            .map(|chunk| (chunk.index, chunk.content))
            .unzip();
        // The call may take as long as the lease: after that, a different worker computes the same embeddings.
        let outcome = match timeout(self.lease, vectors(embedder, &texts)).await {
            Ok(Ok(vectors)) => {
                self.embedder_state(|state| *state = EmbedderState::default());
                let embeddings = places.into_iter().zip(vectors);
                let embeddings = embeddings.map(|(index, vector)| ChunkEmbedding { index, vector });
                EmbeddingOutcome::Embedded(embeddings.collect())
            }
            Ok(Err(error)) => self.failed(&row, error.operator_text()),
            Err(_) => self.failed(
                &row,
                "the embedder did not return within the lease".to_owned(),
            ),
        };
        let now = Timestamp::now();
        if !store
            .finish_embedding(&row.name, &token, outcome, now)
            .await?
        {
            tracing::debug!(
                file = row.name.file(),
                "the document was indexed, claimed or removed meanwhile"
            );
        }
        Ok(true)
    }

    /// Pauses the calls of the embedder after a failure, and returns the outcome for the document.
    fn failed(&self, row: &DocumentRow, fault: String) -> EmbeddingOutcome {
        tracing::warn!(
            file = row.name.file(),
            error = fault,
            "the embeddings of a document cannot be computed, they are tried again later"
        );
        self.embedder_state(|state| {
            state.failures = state.failures.saturating_add(1);
            state.paused = Instant::now().checked_add(self.backoff.after(state.failures));
        });
        let retry = self.backoff.after(row.embedding.failures.saturating_add(1));
        EmbeddingOutcome::Failed { fault, retry }
    }

    fn embedder_state<T>(&self, change: impl FnOnce(&mut EmbedderState) -> T) -> T {
        let mut state = self.embedder.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state)
    }

    /// Extends the lease of a document at regular intervals, and returns when the lease is lost.
    async fn hold(&self, row: &DocumentRow, token: &str) {
        let pause = (self.lease / 3).max(Duration::from_millis(1));
        let mut ticks = interval_at(Instant::now() + pause, pause);
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
                    file = row.name.file(),
                    error,
                    "the child process that reads PDF files cannot be started or was lost"
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
