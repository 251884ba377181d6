//! Recordings: files of requests and responses that replace the network in tests and demonstrations.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{StatusCode, Url};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_core::redact::Redactor;

/// The response headers that are recorded, because this crate reads them.
const KEPT: &[&str] = &[
    "content-type",
    "retry-after",
    "retry-after-ms",
    "x-amzn-errortype",
    "x-should-retry",
];

/// An error of a recording: the file cannot be used, or a line of it is invalid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file cannot be opened, read or created.
    #[error("the recording {} cannot be opened, read or written: {error}", .path.display())]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// A line of the file is not a recorded exchange.
    #[error("line {line} of the recording {} is not valid: {why}; record it again", .path.display())]
    Line {
        /// The path of the file.
        path: PathBuf,
        /// The number of the line; the first is 1.
        line: usize,
        /// A description of the fault.
        why: String,
    },
}

/// One request and its response, a line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    request: Request,
    response: Recorded,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    /// The path of the URL. Its host and its query are not recorded.
    path: String,
    body: Value,
}

/// The response of a recorded exchange.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recorded {
    status: u16,
    headers: BTreeMap<String, String>,
    pub(super) body: String,
    /// Whether the request failed before the body was read to its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) cut: bool,
}

/// An open recording: the file that is written, or the exchanges that are replayed.
pub(super) enum Recording {
    Record { file: Mutex<File>, path: PathBuf },
    Replay(Mutex<Replay>),
}

pub(super) struct Replay {
    left: VecDeque<Exchange>,
    /// The number of requests so far.
    played: usize,
}

impl Recording {
    /// Creates a file, or empties it if it exists.
    pub(super) fn record(path: &Path) -> Result<Self, RecordingError> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        let file = options.open(path).map_err(|error| io(path, error))?;
        Ok(Self::Record {
            file: Mutex::new(file),
            path: path.to_owned(),
        })
    }

    /// Reads the exchanges of a file.
    pub(super) fn replay(path: &Path) -> Result<Self, RecordingError> {
        let file = File::open(path).map_err(|error| io(path, error))?;
        let mut left = VecDeque::new();
        for (line, text) in (1..).zip(BufReader::new(file).lines()) {
            let text = text.map_err(|error| io(path, error))?;
            let exchange = serde_json::from_str(&text).map_err(|error| RecordingError::Line {
                path: path.to_owned(),
                line,
                why: error.to_string(),
            })?;
            left.push_back(exchange);
        }
        Ok(Self::Replay(Mutex::new(Replay { left, played: 0 })))
    }

    /// Writes a line, without the secrets that the redactor finds. Fails if the file cannot be written.
    pub(super) fn write(
        &self,
        url: &Url,
        body: &str,
        response: Recorded,
        redactor: &Redactor,
    ) -> Result<(), String> {
        let Self::Record { file, path } = self else {
            return Ok(());
        };
        let exchange = Exchange {
            request: Request {
                path: url.path().to_owned(),
                body: serde_json::from_str(body).unwrap_or_default(),
            },
            response,
        };
        let line = serde_json::to_string(&exchange).map_err(|error| error.to_string())?;
        let line = redactor.redact_json(&line);
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(file, "{line}").map_err(|error| io(path, error).to_string())
    }

    /// Returns the recorded response of a request; `None` while recording, because the request is sent. Requests of concurrent runs may come in a
    /// different order than they were recorded in, so the first response of an equal request is taken. The error states how the request differs from
    /// the first recorded request that was not replayed, or that no recorded request is left.
    pub(super) fn next(&self, url: &Url, body: &str) -> Option<Result<Recorded, String>> {
        let Self::Replay(replay) = self else {
            return None;
        };
        let mut replay = replay.lock().unwrap_or_else(PoisonError::into_inner);
        replay.played += 1;
        let number = replay.played;
        let sent: Value = serde_json::from_str(body).unwrap_or_default();
        let equal = |exchange: &Exchange| {
            exchange.request.path == url.path() && exchange.request.body == sent
        };
        if let Some(at) = replay.left.iter().position(equal) {
            return replay.left.remove(at).map(|exchange| Ok(exchange.response));
        }
        let Some(Exchange { request, .. }) = replay.left.front() else {
            return Some(Err(format!(
                "request {number} has no recorded response left; record the conversation again"
            )));
        };
        let place = match difference(&request.body, &sent) {
            Some(pointer) if request.path == url.path() => {
                format!("its body differs at `{pointer}`")
            }
            _ => format!(
                "its path is `{}`, and the recorded path is `{}`",
                url.path(),
                request.path
            ),
        };
        Some(Err(format!(
            "request {number} differs from the next recorded request: {place}; record the conversation again"
        )))
    }
}

impl Recorded {
    pub(super) fn new(status: StatusCode, headers: &HeaderMap, body: String, cut: bool) -> Self {
        let kept = KEPT.iter().filter_map(|name| {
            let value = headers.get(*name)?.to_str().ok()?;
            Some(((*name).to_owned(), value.to_owned()))
        });
        Self {
            status: status.as_u16(),
            headers: kept.collect(),
            body,
            cut,
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::OK)
    }

    pub(super) fn headers(&self) -> HeaderMap {
        let headers = self.headers.iter().filter_map(|(name, value)| {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            Some((name, HeaderValue::from_str(value).ok()?))
        });
        headers.collect()
    }
}

fn io(path: &Path, error: std::io::Error) -> RecordingError {
    RecordingError::Io {
        path: path.to_owned(),
        error,
    }
}

/// Returns the JSON pointer of the first place at which two values differ.
fn difference(one: &Value, other: &Value) -> Option<String> {
    let inner = |key: &str, one: Option<&Value>, other: Option<&Value>| {
        let below = match (one, other) {
            (Some(one), Some(other)) => difference(one, other)?,
            _ => String::new(),
        };
        let key = key.replace('~', "~0").replace('/', "~1");
        Some(format!("/{key}{below}"))
    };
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let mut keys: Vec<&String> = one.keys().chain(other.keys()).collect();
            keys.sort();
            keys.into_iter()
                .find_map(|key| inner(key, one.get(key), other.get(key)))
        }
        (Value::Array(one), Value::Array(other)) => (0..one.len().max(other.len()))
            .find_map(|at| inner(&at.to_string(), one.get(at), other.get(at))),
        (one, other) => (one != other).then(String::new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn first_difference_is_a_pointer() {
        let one = json!({"a": [1, {"b/c": "x"}], "d": null});
        assert_eq!(difference(&one, &one), None);
        for (other, pointer) in [
            (json!({"a": [1, {"b/c": "y"}], "d": null}), "/a/1/b~1c"),
            (json!({"a": [1], "d": null}), "/a/1"),
            (json!({"a": [1, {"b/c": "x"}]}), "/d"),
            (json!({"a": [1, {"b/c": "x"}], "d": null, "e": 1}), "/e"),
            (json!({"a": {}, "d": null}), "/a"),
            (json!(1), ""),
        ] {
            assert_eq!(difference(&one, &other).as_deref(), Some(pointer));
        }
    }
}
