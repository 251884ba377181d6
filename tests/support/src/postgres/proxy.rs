//! A TCP proxy in front of the PostgreSQL server. The proxy cuts connections at the point that a test chooses.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// The message that a client sends to commit: a simple query.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";

/// The point at which the next connections are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Cut {
    /// The connections are not cut.
    Nowhere,
    /// The server does not get the `COMMIT`, and both connections are closed.
    BeforeCommit,
    /// The server gets the `COMMIT`, the client does not get the response, and both connections are closed.
    AfterCommit,
    /// The server does not get the `COMMIT`, and both connections stay open.
    SilentBeforeCommit,
    /// The server gets the `COMMIT`, the client does not get the response, and both connections stay open.
    SilentAfterCommit,
}

impl Cut {
    fn read(number: u32) -> Self {
        let all = [
            Self::Nowhere,
            Self::BeforeCommit,
            Self::AfterCommit,
            Self::SilentBeforeCommit,
            Self::SilentAfterCommit,
        ];
        let at = usize::try_from(number).unwrap_or_default();
        all.get(at).copied().unwrap_or(Self::Nowhere)
    }
}

#[derive(Debug)]
struct Plan {
    cut: AtomicU32,
    /// The number of connections that remain to be cut.
    times: AtomicU32,
    /// The number of connections that were cut.
    cuts: AtomicU32,
    /// Whether new connections are refused.
    refuses: AtomicBool,
    /// Whether all connections stop forwarding and stay open.
    frozen: AtomicBool,
    /// The number of the next connection.
    next: AtomicU32,
    /// The number of the first connection that is not half open.
    first_whole: AtomicU32,
    /// Notifies all open connections that they must end.
    ends: Notify,
}

/// A proxy in front of a server. It stops with the test's runtime.
#[derive(Clone, Debug)]
pub struct Proxy {
    port: u16,
    plan: Arc<Plan>,
}

impl Proxy {
    /// Starts a proxy for a server.
    ///
    /// # Panics
    ///
    /// Panics if no port is free.
    pub async fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let plan = Arc::new(Plan {
            cut: AtomicU32::new(0),
            times: AtomicU32::new(0),
            cuts: AtomicU32::new(0),
            refuses: AtomicBool::new(false),
            frozen: AtomicBool::new(false),
            next: AtomicU32::new(0),
            first_whole: AtomicU32::new(0),
            ends: Notify::new(),
        });
        let accepting = Arc::clone(&plan);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if accepting.refuses.load(Ordering::SeqCst) {
                    continue;
                }
                let plan = Arc::clone(&accepting);
                tokio::spawn(async move {
                    let server = TcpStream::connect(server).await.unwrap();
                    forward(client, server, &plan).await;
                });
            }
        });
        Self { port, plan }
    }

    /// Returns the URL of the same database through the proxy.
    ///
    /// # Panics
    ///
    /// Panics if the URL does not contain a `/`.
    pub fn url(&self, direct: &str) -> String {
        let (_, database) = direct.rsplit_once('/').unwrap();
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Cuts the next `times` connections that commit.
    pub fn cut(&self, cut: Cut, times: u32) {
        self.plan.cut.store(cut as u32, Ordering::SeqCst);
        self.plan.times.store(times, Ordering::SeqCst);
    }

    /// Returns the number of connections that were cut.
    pub fn cuts(&self) -> u32 {
        self.plan.cuts.load(Ordering::SeqCst)
    }

    /// Sets whether new connections are refused.
    pub fn refuse(&self, refuses: bool) {
        self.plan.refuses.store(refuses, Ordering::SeqCst);
    }

    /// Ends all open connections.
    pub fn end_all(&self) {
        self.plan.ends.notify_waiters();
    }

    /// Permanently stops forwarding on the connections that are open now, without closing them.
    pub fn half_open(&self) {
        let next = self.plan.next.load(Ordering::SeqCst);
        self.plan.first_whole.store(next, Ordering::SeqCst);
    }

    /// Returns the number of connections since the start of the proxy, without the refused connections.
    pub fn connections(&self) -> u32 {
        self.plan.next.load(Ordering::SeqCst)
    }

    /// Stops forwarding on all connections without closing them, or continues.
    pub fn freeze(&self, frozen: bool) {
        self.plan.frozen.store(frozen, Ordering::SeqCst);
    }
}

impl Plan {
    /// Returns the point at which to cut a connection that commits, and counts the cut. Returns `Nowhere` if no connection remains to be cut.
    fn take(&self) -> Cut {
        let left = self
            .times
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(1)
            });
        if left.is_err() {
            return Cut::Nowhere;
        }
        self.cuts.fetch_add(1, Ordering::SeqCst);
        Cut::read(self.cut.load(Ordering::SeqCst))
    }

    /// Waits while the proxy is frozen or the connection is half open.
    async fn thawed(&self, number: u32) {
        while self.frozen.load(Ordering::SeqCst) || number < self.first_whole.load(Ordering::SeqCst)
        {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

async fn forward(client: TcpStream, server: TcpStream, plan: &Plan) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let silenced = AtomicBool::new(false);
    let number = plan.next.fetch_add(1, Ordering::SeqCst);
    let requests = async {
        let mut bytes = vec![0; 64 * 1024];
        loop {
            let count = from_client.read(&mut bytes).await.unwrap_or(0);
            if count == 0 {
                return;
            }
            plan.thawed(number).await;
            let commits = bytes[..count].ends_with(COMMIT);
            match if commits { plan.take() } else { Cut::Nowhere } {
                Cut::Nowhere => {}
                Cut::BeforeCommit => return,
                Cut::SilentBeforeCommit => std::future::pending().await,
                Cut::AfterCommit => {
                    silenced.store(true, Ordering::SeqCst);
                    let _ = to_server.write_all(&bytes[..count]).await;
                    // Give the server time to commit. The proxy does not forward the response.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    return;
                }
                Cut::SilentAfterCommit => {
                    silenced.store(true, Ordering::SeqCst);
                    let _ = to_server.write_all(&bytes[..count]).await;
                    std::future::pending::<()>().await;
                }
            }
            if to_server.write_all(&bytes[..count]).await.is_err() {
                return;
            }
        }
    };
    let answers = async {
        let mut bytes = vec![0; 64 * 1024];
        loop {
            let count = from_server.read(&mut bytes).await.unwrap_or(0);
            if count == 0 && silenced.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            plan.thawed(number).await;
            if count == 0 {
                return;
            }
            if !silenced.load(Ordering::SeqCst)
                && to_client.write_all(&bytes[..count]).await.is_err()
            {
                return;
            }
        }
    };
    tokio::select! {
        () = requests => {}
        () = answers => {}
        () = plan.ends.notified() => {}
    }
}
