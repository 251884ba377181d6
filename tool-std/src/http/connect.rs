//! A connection for one request, to an address that the guard has checked.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, crypto::ring};
use rustls_platform_verifier::Verifier;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use url::{Host, Url};

/// Timeout for a connection to each address.
const EACH_ADDRESS: Duration = Duration::from_secs(5);

/// Maximum number of headers of a response.
const MOST_HEADERS: usize = 100;

/// Maximum number of bytes of a response's headers.
const MOST_HEADER_BYTES: usize = 64 * 1024;

/// Maximum number of bytes before the end of a response's head, including interim responses such as `100 Continue`. If one read returns the end of
/// the head and a part of the body, this part counts as well.
const MOST_BEFORE_BODY: usize = 512 * 1024;

/// The TLS configuration of connections.
#[derive(Clone, Default)]
pub(super) struct Tls {
    roots: Vec<CertificateDer<'static>>,
    /// Built on first use, because that reads the system's certificates.
    config: Arc<OnceLock<Result<Arc<ClientConfig>, rustls::Error>>>,
}

impl Tls {
    pub(super) fn with_root(&self, certificate: Vec<u8>) -> Self {
        let mut roots = self.roots.clone();
        roots.push(certificate.into());
        Self {
            roots,
            config: Arc::default(),
        }
    }

    fn config(&self) -> Result<Arc<ClientConfig>, ExchangeError> {
        let made = self.config.get_or_init(|| {
            let provider = Arc::new(ring::default_provider());
            let verifier = if self.roots.is_empty() {
                Verifier::new(Arc::clone(&provider))?
            } else {
                Verifier::new_with_extra_roots(self.roots.iter().cloned(), Arc::clone(&provider))?
            };
            let config = ClientConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()?
                .dangerous() // rustls calls every custom verifier dangerous; this one is the verifier of the platform
                .with_custom_certificate_verifier(Arc::new(verifier))
                .with_no_client_auth();
            Ok(Arc::new(config))
        });
        made.clone().map_err(ExchangeError::Roots)
    }
}

/// The reason why a request received no response.
#[derive(Debug)]
pub(super) enum ExchangeError {
    /// No address accepted a connection.
    Connect(io::Error),
    /// TLS failed, for example because of the certificate, the negotiation or a host that is not a valid name for a certificate.
    Tls(io::Error),
    /// The system has no usable root certificates, or a certificate that the host has added is invalid.
    Roots(rustls::Error),
    /// The exchange failed: the connection broke, a limit was exceeded, or the request or the response is not valid HTTP.
    Http(hyper::Error),
}

/// A response whose body has not been read. The connection stays open while the value exists.
pub(super) struct Exchange {
    pub(super) response: http::Response<Incoming>,
    #[expect(
        dead_code,
        reason = "held: it ends the connection's task when it is dropped"
    )]
    connection: JoinSet<()>,
}

/// Connects to one of these addresses, sends the request and reads the head of the response.
pub(super) async fn exchange(
    tls: &Tls,
    url: &Url,
    addresses: &[SocketAddr],
    request: http::Request<Full<Bytes>>,
) -> Result<Exchange, ExchangeError> {
    let socket = connect(addresses).await.map_err(ExchangeError::Connect)?;
    if url.scheme() != "https" {
        return talk(socket, request).await;
    }
    let name = server_name(url).map_err(ExchangeError::Tls)?;
    let connector = TlsConnector::from(tls.config()?);
    let socket = connector.connect(name, socket).await;
    talk(socket.map_err(ExchangeError::Tls)?, request).await
}

async fn connect(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match tokio::time::timeout(EACH_ADDRESS, TcpStream::connect(address)).await {
            Ok(Ok(socket)) => return Ok(socket),
            Ok(Err(error)) => last = error,
            Err(_) => last = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(last)
}

/// Returns the name that the certificate must have: the URL's host, not the address that it resolved to.
fn server_name(url: &Url) -> io::Result<ServerName<'static>> {
    match url.host() {
        Some(Host::Domain(domain)) => {
            ServerName::try_from(domain.trim_end_matches('.').to_owned()).map_err(io::Error::other)
        }
        Some(Host::Ipv4(address)) => Ok(ServerName::IpAddress(address.into())),
        Some(Host::Ipv6(address)) => Ok(ServerName::IpAddress(address.into())),
        None => Err(io::ErrorKind::InvalidInput.into()),
    }
}

async fn talk(
    socket: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    request: http::Request<Full<Bytes>>,
) -> Result<Exchange, ExchangeError> {
    let mut sender_of = http1::Builder::new();
    sender_of
        .max_headers(MOST_HEADERS)
        .max_header_size(MOST_HEADER_BYTES);
    let left = Arc::new(AtomicUsize::new(MOST_BEFORE_BODY));
    let socket = BeforeBody {
        socket,
        left: Arc::clone(&left),
    };
    let (mut sender, driver) = sender_of
        .handshake(TokioIo::new(socket))
        .await
        .map_err(ExchangeError::Http)?;
    let mut connection = JoinSet::new();
    // An error of the connection is also an error of the request or of the body, so it is ignored here.
    connection.spawn(async move { drop(driver.await) });
    let response = sender.send_request(request).await;
    left.store(usize::MAX, Ordering::Relaxed);
    Ok(Exchange {
        response: response.map_err(ExchangeError::Http)?,
        connection,
    })
}

/// A socket that limits the number of bytes that are read before the body. The parser itself accepts any number of interim responses.
struct BeforeBody<S> {
    socket: S,
    /// Number of bytes that may still be read; `usize::MAX` once the body begins.
    left: Arc<AtomicUsize>,
}

impl<S: AsyncRead + Unpin> AsyncRead for BeforeBody<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = ready!(Pin::new(&mut self.socket).poll_read(cx, buf));
        let read_bytes = buf.filled().len() - before;
        let left = self.left.load(Ordering::Relaxed);
        if left == usize::MAX {
            return Poll::Ready(read);
        }
        let Some(left) = left.checked_sub(read_bytes) else {
            return Poll::Ready(Err(io::Error::other(format!(
                "more than {MOST_BEFORE_BODY} bytes came before the body"
            ))));
        };
        self.left.store(left, Ordering::Relaxed);
        Poll::Ready(read)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for BeforeBody<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
