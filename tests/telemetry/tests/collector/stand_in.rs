//! A test OTLP collector over HTTP that records the requests it receives.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

/// The path and the body of each received request.
type Requests = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

pub(crate) struct Collector {
    address: SocketAddr,
    requests: Requests,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Requests::default();
        let kept = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || while serve(stream.as_ref().unwrap(), &kept) {});
            }
        });
        Self { address, requests }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn bodies(&self, path: &str) -> Vec<Vec<u8>> {
        let requests = self.requests.lock().unwrap();
        let of_path = requests.iter().filter(|(at, _)| at == path);
        of_path.map(|(_, body)| body.clone()).collect()
    }

    /// Returns the bodies of all received requests.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let requests = self.requests.lock().unwrap();
        requests.iter().flat_map(|(_, body)| body.clone()).collect()
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        let sent = self.bodies("/v1/traces").into_iter().flat_map(|body| {
            let request = ExportTraceServiceRequest::decode(&*body).unwrap();
            request.resource_spans
        });
        sent.flat_map(|resource| resource.scope_spans)
            .flat_map(|scope| scope.spans)
            .collect()
    }

    pub(crate) fn metrics(&self) -> Vec<Metric> {
        let sent = self.bodies("/v1/metrics").into_iter().flat_map(|body| {
            let request = ExportMetricsServiceRequest::decode(&*body).unwrap();
            request.resource_metrics
        });
        sent.flat_map(|resource| resource.scope_metrics)
            .flat_map(|scope| scope.metrics)
            .collect()
    }
}

/// Reads one request and answers with 200; returns false at the end of the connection.
fn serve(stream: &TcpStream, kept: &Requests) -> bool {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line).unwrap_or(0) == 0 {
        return false;
    }
    let path = line.split(' ').nth(1).unwrap().to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let Some((name, value)) = header.trim().split_once(':') else {
            break;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    kept.lock().unwrap().push((path, body));
    let answer =
        b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n";
    let mut stream = stream;
    stream.write_all(answer).is_ok()
}

/// Returns the value of an attribute as text.
pub(crate) fn attribute(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    Some(match found.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        Value::DoubleValue(number) => number.to_string(),
        Value::BoolValue(truth) => truth.to_string(),
        other => format!("{other:?}"),
    })
}
