//! MCP server over standard input and output, or any other pair of streams: one message per line.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::ServerHandler;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::{RoleServer, ServerInitializeError, ServiceExt as _};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{AcquireError, Mutex, Notify, Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::message::{Incoming, Reject, read};
use super::{Composed, verbatim};

/// Maximum length of a line in bytes.
const LONGEST: usize = 16 * 1024 * 1024;
/// Size of the read buffer, and the number of bytes from which no further line is added to a write.
const GATHERED: usize = 64 * 1024;
/// Maximum number of bytes that the client has not read. Above this number, no further message is read or sent. The limit allows 20,000 short
/// responses, so that a client may write all its requests before it reads the first response.
const UNREAD: u32 = 32 * 1024 * 1024;
/// Number of unanswered requests at which the next message has to wait. A running request uses a few KiB of memory, and the requests of a client
/// that writes thousands at once would be read faster than they are served.
const UNANSWERED: usize = 64;
/// Longest time that a message waits because of `UNANSWERED`. It is short because all running requests may take hours, and the message
/// may cancel one of them.
const HELD: Duration = Duration::from_millis(1);

/// The reason why the server of one connection ended before its client closed the connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The session could not be initialized, for example because the client violated the protocol or a response could not be sent.
    #[error("the session did not begin: {0}")]
    Initialize(Box<ServerInitializeError>),
    /// The task of the connection panicked.
    #[error("the session ended with a panic: {0}")]
    Panicked(#[from] tokio::task::JoinError),
}

impl<H: ServerHandler> Composed<H> {
    /// Serves one client over standard input and output until the client closes standard input or reading fails.
    ///
    /// The program must not print anything else to standard output, because that breaks the protocol; write logs to standard error.
    pub async fn stdio(&self) -> Result<(), ServeError> {
        self.serve_lines(tokio::io::stdin(), tokio::io::stdout())
            .await
    }

    /// Serves one client over a pair of streams, one message per line, until the reader ends or fails.
    pub async fn serve_lines<R, W>(&self, reader: R, writer: W) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let core = Arc::clone(&self.core);
        let lines = Lines::new(reader, writer, core.host_tools);
        let service = match self.clone().serve(lines).await {
            Ok(service) => service,
            // The client disconnected before the session began, for example because it only checked whether the program starts.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Initialize(Box::new(error))),
        };
        service.waiting().await?;
        Ok(())
    }
}

/// The transport that reads and writes rmcp's messages as lines. The response to an unreadable line is an error, and the next line is read.
struct Lines<R> {
    reader: BufReader<R>,
    /// The part of a line that has been read. It is stored here because rmcp cancels reads when it handles other events.
    line: Vec<u8>,
    /// Whether the rest of the line is skipped.
    skipping: bool,
    ended: bool,
    /// The response to a line that could not be parsed.
    answer: Option<Vec<u8>>,
    /// The queue of unread lines; `None` after the transport is closed.
    unread: Option<Unread>,
    writing: Arc<Mutex<Option<JoinHandle<()>>>>,
    unanswered: Arc<Unanswered>,
    /// The time until which the next message waits for the response to an earlier message.
    held: Option<Instant>,
    /// Whether rmcp must parse arguments, for tools of the host's own handler.
    parsed: bool,
}

/// The outcome of reading a line.
enum Line {
    Whole,
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    fn new<W: AsyncWrite + Send + Unpin + 'static>(reader: R, writer: W, parsed: bool) -> Self {
        let (unread, lines) = Unread::new();
        let writing = tokio::spawn(write(lines, Arc::clone(&unread.room), writer));
        Self {
            reader: BufReader::with_capacity(GATHERED, reader),
            line: Vec::new(),
            skipping: false,
            ended: false,
            answer: None,
            unread: Some(unread),
            writing: Arc::new(Mutex::new(Some(writing))),
            unanswered: Arc::default(),
            held: None,
            parsed,
        }
    }

    /// Reads up to the end of a line. This is cancel-safe.
    async fn read_line(&mut self) -> io::Result<Line> {
        loop {
            let bytes = self.reader.fill_buf().await?;
            if bytes.is_empty() {
                return Ok(Line::End);
            }
            let end = memchr::memchr(b'\n', bytes);
            let taken = end.map_or(bytes.len(), |at| at + 1);
            let too_long = !self.skipping && self.line.len() + taken > LONGEST;
            if !self.skipping && !too_long {
                self.line.extend_from_slice(&bytes[..taken]);
            }
            self.reader.consume(taken);
            if too_long {
                self.line.clear();
                self.skipping = end.is_none();
                return Ok(Line::TooLong);
            }
            if end.is_some() && !std::mem::take(&mut self.skipping) {
                return Ok(Line::Whole);
            }
        }
    }

    /// Returns the message of the line that was read. Returns `None` for an empty line, and for a line that is not a message. The error response to
    /// such a line is stored in `answer`, unless the line is a notification or a response.
    fn message(&mut self) -> Option<ClientJsonRpcMessage> {
        let line = self.line.trim_ascii();
        let read = if line.is_empty() {
            None
        } else {
            Some(read(line).and_then(|incoming| match incoming {
                Incoming::Call(call) => call.into_message(self.parsed),
                Incoming::Other(other) => other.into_message(),
            }))
        };
        self.line.clear();
        match read? {
            Ok(message) => Some(message),
            Err(reject) => {
                self.refuse(reject);
                None
            }
        }
    }

    fn refuse(&mut self, reject: Reject) {
        if reject.is_quiet() {
            tracing::debug!(
                ?reject,
                "a notification or a response that cannot be read was dropped"
            );
            return;
        }
        self.answer = line_of(&JsonRpcMessage::Error(reject.into_message())).ok();
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        if matches!(
            message,
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)
        ) {
            self.unanswered.remove();
        }
        let line = line_of(&message);
        let unread = self.unread.clone();
        async move {
            let unread = unread.ok_or(io::ErrorKind::NotConnected)?;
            let sent = unread.send(line?).await;
            sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let unread = self.unread.as_ref()?;
            // The room is reserved first, so that no message is lost if this future is dropped while it waits.
            unread.wait(self.answer.as_deref()).await.ok()?;
            if let Some(answer) = self.answer.take() {
                unread.put(answer);
            }
            if self.ended {
                return None;
            }
            if self.unanswered.is_many() {
                // The time is stored outside of the future, because rmcp creates a new future after every other event.
                let until = *self.held.get_or_insert_with(|| Instant::now() + HELD);
                let _ = tokio::time::timeout_at(until, self.unanswered.fewer()).await;
            }
            self.held = None;
            match self.read_line().await {
                Ok(Line::Whole) => {}
                Ok(Line::TooLong) => {
                    self.refuse(Reject::too_long(LONGEST));
                    continue;
                }
                // The last line may lack a line break.
                Ok(Line::End) => self.ended = true,
                Err(error) => {
                    tracing::error!(%error, "the client's messages can no longer be read");
                    return None;
                }
            }
            if let Some(message) = self.message() {
                self.unanswered.note(&message);
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.unread = None;
        let writing = self.writing.lock().await.take();
        if let Some(writing) = writing {
            writing.await.map_err(io::Error::other)?;
        }
        Ok(())
    }
}

/// Serializes a message as a line.
fn line_of(message: &ServerJsonRpcMessage) -> Result<Vec<u8>, io::Error> {
    let written = serde_json::to_vec(message)?;
    let mut line = match verbatim::render(&written) {
        std::borrow::Cow::Owned(line) => line,
        std::borrow::Cow::Borrowed(_) => written,
    };
    line.push(b'\n');
    Ok(line)
}

/// Counts the client's unanswered requests. The count only controls how fast messages are read, so it is acceptable that a request whose
/// cancellation is received after its response was sent is subtracted twice.
#[derive(Default)]
struct Unanswered {
    count: AtomicUsize,
    answered: Notify,
}

impl Unanswered {
    /// Counts a message of the client: a request gets a response, unless it is cancelled.
    fn note(&self, message: &ClientJsonRpcMessage) {
        match message {
            JsonRpcMessage::Request(_) => _ = self.count.fetch_add(1, Ordering::Relaxed),
            JsonRpcMessage::Notification(message)
                if matches!(
                    message.notification,
                    ClientNotification::CancelledNotification(_)
                ) =>
            {
                self.remove();
            }
            _ => {}
        }
    }

    fn remove(&self) {
        let fewer = |count: usize| count.checked_sub(1);
        let _ = self
            .count
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer);
        self.answered.notify_waiters();
    }

    fn is_many(&self) -> bool {
        self.count.load(Ordering::Relaxed) >= UNANSWERED
    }

    async fn fewer(&self) {
        loop {
            let answered = self.answered.notified();
            if !self.is_many() {
                return;
            }
            answered.await;
        }
    }
}

/// Queue of lines that the client has not read. The bytes of a line count until it is written.
#[derive(Clone)]
struct Unread {
    lines: mpsc::UnboundedSender<Vec<u8>>,
    /// Closed when the writer has ended.
    room: Arc<Semaphore>,
}

impl Unread {
    fn new() -> (Self, mpsc::UnboundedReceiver<Vec<u8>>) {
        let (lines, written) = mpsc::unbounded_channel();
        let room = Arc::new(Semaphore::new(UNREAD as usize));
        (Self { lines, room }, written)
    }

    /// Queues a line as soon as the queue has room for it. Unlike a bounded channel of lines, the queue counts bytes.
    async fn send(&self, line: Vec<u8>) -> Result<(), AcquireError> {
        self.wait(Some(&line)).await?;
        self.put(line);
        Ok(())
    }

    /// Waits until the queue has room for a line, and reserves the room. Without a line, waits until the queue has any room.
    async fn wait(&self, line: Option<&[u8]>) -> Result<(), AcquireError> {
        match line {
            Some(line) => self.room.acquire_many(room_of(line)).await?.forget(),
            None => drop(self.room.acquire().await?),
        }
        Ok(())
    }

    /// Queues a line whose room is reserved.
    fn put(&self, mut line: Vec<u8>) {
        line.shrink_to_fit();
        // Sending fails if the writer has ended; the line is dropped then.
        let _ = self.lines.send(line);
    }
}

/// Returns the room that a line takes. A line that is longer than the whole queue is sent when the queue is empty.
fn room_of(line: &[u8]) -> u32 {
    u32::try_from(line.len()).unwrap_or(UNREAD).min(UNREAD)
}

/// Writes queued lines, in batches if several lines wait, and releases their room.
async fn write<W: AsyncWrite + Unpin>(
    mut lines: mpsc::UnboundedReceiver<Vec<u8>>,
    room: Arc<Semaphore>,
    mut writer: W,
) {
    while let Some(mut line) = lines.recv().await {
        let mut taken = room_of(&line);
        while line.len() < GATHERED
            && let Ok(next) = lines.try_recv()
        {
            taken += room_of(&next);
            line.extend_from_slice(&next);
        }
        let written = async {
            writer.write_all(&line).await?;
            writer.flush().await
        };
        if let Err(error) = written.await {
            tracing::debug!(%error, "the client no longer reads responses");
            room.close();
            return;
        }
        room.add_permits(taken as usize);
    }
}
