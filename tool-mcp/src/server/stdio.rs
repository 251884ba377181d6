//! One message a line, over standard input and output or any other pair of streams.

use std::io;
use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::{RoleServer, ServerInitializeError, ServiceExt as _};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;

use super::message::{Incoming, Reject, read};
use super::{Composed, verbatim};

/// Longest line that is read, in bytes.
const LONGEST: usize = 16 * 1024 * 1024;
/// Most bytes that are gathered before they are written.
const GATHERED: usize = 64 * 1024;

/// Why a server of one connection ended before its client closed it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The client did not begin as the protocol has it, or its connection broke meanwhile.
    #[error("the session did not begin: {0}")]
    Initialize(Box<ServerInitializeError>),
    /// The task that served it panicked.
    #[error("the session ended with a panic: {0}")]
    Panicked(#[from] tokio::task::JoinError),
}

impl<H: ServerHandler> Composed<H> {
    /// Serves one client over standard input and output until it closes them.
    ///
    /// Whatever else the program prints to standard output breaks the protocol; logs belong on standard error.
    pub async fn stdio(&self) -> Result<(), ServeError> {
        self.serve_lines(tokio::io::stdin(), tokio::io::stdout())
            .await
    }

    /// Serves one client over a pair of streams, one message a line, until the first one ends.
    pub async fn serve_lines<R, W>(&self, reader: R, writer: W) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let core = Arc::clone(&self.core);
        let lines = Lines::new(reader, writer, core.host_tools);
        let service = match self.clone().serve(lines).await {
            Ok(service) => service,
            // A client that only looks whether the program starts.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Initialize(Box::new(error))),
        };
        service.waiting().await?;
        Ok(())
    }
}

/// rmcp's messages as lines; what cannot be read is answered, and the next line is.
struct Lines<R> {
    reader: BufReader<R>,
    /// What of a line has been read. It stays where a read is given up, because rmcp waits for other things beside it.
    line: Vec<u8>,
    /// The rest of the line is not wanted.
    skipping: bool,
    ended: bool,
    /// An answer to a line that could not be read.
    answer: Option<Vec<u8>>,
    /// `None` when closed.
    writer: Option<mpsc::Sender<Vec<u8>>>,
    writing: Arc<Mutex<Option<JoinHandle<()>>>>,
    /// The host's own tools read arguments as rmcp does.
    parsed: bool,
}

/// What came of a line.
enum Line {
    Whole,
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    fn new<W: AsyncWrite + Send + Unpin + 'static>(reader: R, writer: W, parsed: bool) -> Self {
        let (sender, lines) = mpsc::channel(64);
        let writing = tokio::spawn(write(lines, writer));
        Self {
            reader: BufReader::with_capacity(GATHERED, reader),
            line: Vec::new(),
            skipping: false,
            ended: false,
            answer: None,
            writer: Some(sender),
            writing: Arc::new(Mutex::new(Some(writing))),
            parsed,
        }
    }

    /// Reads up to the end of a line. Giving it up loses nothing.
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

    /// The message of the line that was read; an answer where it is none; nothing where the line is empty.
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
            tracing::debug!(?reject, "a message that nobody answers cannot be read");
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
        let line = line_of(&message);
        let writer = self.writer.clone();
        async move {
            let writer = writer.ok_or(io::ErrorKind::NotConnected)?;
            let sent = writer.send(line?).await;
            sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.answer.is_some() {
                // Room first, so that nothing is lost where this is given up while it waits.
                let permit = self.writer.as_ref()?.reserve().await.ok()?;
                if let Some(answer) = self.answer.take() {
                    permit.send(answer);
                }
            }
            if self.ended {
                return None;
            }
            match self.read_line().await {
                Ok(Line::Whole) => {}
                Ok(Line::TooLong) => {
                    self.refuse(Reject::too_long(LONGEST));
                    continue;
                }
                // A last line may lack its end.
                Ok(Line::End) => self.ended = true,
                Err(error) => {
                    tracing::error!(%error, "the client cannot be read any more");
                    return None;
                }
            }
            if let Some(message) = self.message() {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.writer = None;
        let writing = self.writing.lock().await.take();
        if let Some(writing) = writing {
            writing.await.map_err(io::Error::other)?;
        }
        Ok(())
    }
}

/// A message as a line.
fn line_of(message: &ServerJsonRpcMessage) -> Result<Vec<u8>, io::Error> {
    let written = serde_json::to_vec(message)?;
    let mut line = match verbatim::render(&written) {
        std::borrow::Cow::Owned(line) => line,
        std::borrow::Cow::Borrowed(_) => written,
    };
    line.push(b'\n');
    Ok(line)
}

/// Writes lines as they come, those that wait together.
async fn write<W: AsyncWrite + Unpin>(mut lines: mpsc::Receiver<Vec<u8>>, mut writer: W) {
    while let Some(mut line) = lines.recv().await {
        while line.len() < GATHERED
            && let Ok(next) = lines.try_recv()
        {
            line.extend_from_slice(&next);
        }
        let written = async {
            writer.write_all(&line).await?;
            writer.flush().await
        };
        if let Err(error) = written.await {
            tracing::debug!(%error, "the client does not read any more");
            return;
        }
    }
}
