//! A server that checks a token and passes requests to git's own HTTP backend.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use base64::Engine as _;

/// A request that the server received.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) authorization: Option<String>,
}

/// The behaviour of the server for an authorised request.
#[derive(Clone, Debug, Default)]
pub(crate) enum Manner {
    /// Passes the request to the backend.
    #[default]
    Serve,
    /// Reads the request and never answers.
    Hang,
    /// Redirects the request to this URL.
    Redirect(String),
}

/// A server on loopback for the repositories below a folder.
#[derive(Clone)]
pub(crate) struct Server {
    address: SocketAddr,
    inner: Arc<Inner>,
}

struct Inner {
    folder: PathBuf,
    token: Mutex<Option<String>>,
    manner: Mutex<Manner>,
    seen: Mutex<Vec<Seen>>,
}

impl Server {
    /// Starts a server. If a token is given, the server refuses requests without that token.
    pub(crate) fn start(folder: &Path, token: Option<&str>) -> Self {
        Self::start_at(folder, token, ([127, 0, 0, 1], 0).into())
    }

    pub(crate) fn start_at(folder: &Path, token: Option<&str>, address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let inner = Arc::new(Inner {
            folder: folder.to_owned(),
            token: Mutex::new(token.map(str::to_owned)),
            manner: Mutex::default(),
            seen: Mutex::default(),
        });
        let server = Self { address, inner };
        let worker = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let worker = worker.clone();
                // An error in this thread, such as a client that disconnects, does not fail the test.
                std::thread::spawn(move || worker.answer(stream));
            }
        });
        server
    }

    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Replaces the token that requests must have.
    pub(crate) fn expect(&self, token: &str) {
        *self.inner.token.lock().unwrap() = Some(token.to_owned());
    }

    pub(crate) fn behave(&self, manner: Manner) {
        *self.inner.manner.lock().unwrap() = manner;
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.inner.seen.lock().unwrap().clone()
    }

    fn answer(&self, mut stream: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let mut words = line.split_whitespace();
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            match line.trim_end().split_once(": ") {
                Some((name, value)) => {
                    headers.push((name.to_ascii_lowercase(), value.to_owned()));
                }
                None => break,
            }
        }
        let header = |name: &str| {
            let mut all = headers.iter();
            all.find(|(known, _)| known == name)
                .map(|(_, value)| value.clone())
        };
        if header("expect").is_some() {
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?;
        }
        let body = match header("content-length") {
            Some(length) => {
                let mut body = vec![0; length.parse().ok()?];
                reader.read_exact(&mut body).ok()?;
                body
            }
            None if header("transfer-encoding").is_some() => chunks(&mut reader)?,
            None => Vec::new(),
        };
        let authorization = header("authorization");
        self.inner.seen.lock().unwrap().push(Seen {
            authorization: authorization.clone(),
        });
        let token = self.inner.token.lock().unwrap().clone();
        if let Some(token) = token {
            let pair = format!("x-access-token:{token}");
            let wanted = base64::engine::general_purpose::STANDARD.encode(pair);
            if authorization != Some(format!("Basic {wanted}")) {
                let response = b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                return stream.write_all(response).ok();
            }
        }
        let manner = self.inner.manner.lock().unwrap().clone();
        match manner {
            Manner::Serve => {}
            Manner::Hang => {
                // Wait until the client disconnects.
                let _ = reader.read(&mut [0; 1]);
                return None;
            }
            Manner::Redirect(base) => {
                let response = format!(
                    "HTTP/1.1 302 Found\r\nLocation: {base}{target}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                );
                return stream.write_all(response.as_bytes()).ok();
            }
        }
        self.serve(&stream, &method, &target, &headers, &body)
    }

    /// Passes the request to `git http-backend`.
    fn serve(
        &self,
        mut stream: &TcpStream,
        method: &str,
        target: &str,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Option<()> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut backend = Command::new("git");
        backend
            .arg("http-backend")
            .env_clear()
            .env("PATH", std::env::var_os("PATH")?)
            .env("GIT_PROJECT_ROOT", &self.inner.folder)
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "http.receivepack")
            .env("GIT_CONFIG_VALUE_0", "true")
            .env("REQUEST_METHOD", method)
            .env("PATH_INFO", path)
            .env("QUERY_STRING", query)
            .env("REMOTE_USER", "somebody")
            .env("REMOTE_ADDR", "127.0.0.1")
            .env("CONTENT_LENGTH", body.len().to_string());
        for (name, variable) in [
            ("content-type", "CONTENT_TYPE"),
            ("content-encoding", "HTTP_CONTENT_ENCODING"),
            ("git-protocol", "HTTP_GIT_PROTOCOL"),
        ] {
            if let Some((_, value)) = headers.iter().find(|(known, _)| known == name) {
                backend.env(variable, value);
            }
        }
        let mut child = backend
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        child.stdin.take()?.write_all(body).ok()?;
        let answer = child.wait_with_output().ok()?.stdout;
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        let status = head
            .lines()
            .find_map(|line| line.strip_prefix("Status: "))
            .unwrap_or("200 OK")
            .to_owned();
        let head: Vec<&str> = head
            .lines()
            .filter(|line| !line.starts_with("Status: "))
            .collect();
        let body = &answer[end + 4..];
        let head = format!(
            "HTTP/1.1 {status}\r\n{}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            head.join("\r\n"),
            body.len()
        );
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(body).ok()
    }
}

fn chunks(reader: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let length = usize::from_str_radix(line.trim(), 16).ok()?;
        let mut chunk = vec![0; length + 2];
        reader.read_exact(&mut chunk).ok()?;
        if length == 0 {
            return Some(body);
        }
        body.extend(&chunk[..length]);
    }
}
