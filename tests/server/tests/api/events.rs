//! Tests of the stream of events.

use std::time::Duration;

use serde_json::{Value, json};
use server_tests::{Site, StoreKind, document, seed, tokens};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tool_core::store::{AuditRow, CallId, MemoryStore, Timestamp, Workspace};
use tool_server::AdminServer;

use crate::event_stream::{Block, EventStream};

/// An event of a stream.
#[derive(Clone, Debug, PartialEq)]
struct Read {
    name: String,
    id: String,
    data: Value,
}

impl Read {
    /// Returns the resource and the key.
    fn row(&self) -> String {
        assert_eq!(self.data["resource"], self.name.as_str());
        assert!(self.data["at"].is_string(), "{self:?}");
        let key = self.data["key"].as_array().unwrap();
        let key: Vec<&str> = key.iter().map(|part| part.as_str().unwrap()).collect();
        format!("{} {}", self.name, key.join("/"))
    }
}

/// A client of the stream.
struct Stream(EventStream);

impl Stream {
    async fn open(site: &Site, token: &str, last: Option<&str>) -> Self {
        Self(EventStream::open(site, "/v1/events", token, last).await)
    }

    /// Waits for the next event.
    async fn next(&mut self) -> Read {
        let Block { name, id, data } = self.0.next().await;
        let data = serde_json::from_str(&data).unwrap();
        Read { name, id, data }
    }
}

async fn write(site: &Site, workspace: &str, number: usize) -> String {
    let identity = CallId::alone(workspace).unwrap();
    let key = identity.key().as_str().to_owned();
    let row = AuditRow::new(identity, "call", format!("tool_{number}"), Timestamp::now());
    site.store.write(vec![row]).await.unwrap();
    format!("audit {key}")
}

// Changes by operators and by the host are events of their workspace. Any number of readers receive them. An event identifies the row and does not
// contain the row's contents.
pub(crate) async fn changes_are_streamed_to_their_workspace(kind: StoreKind) {
    let site = Site::start(kind).await;
    let acme = seed(&*site.store, "acme").await;
    let globex = seed(&*site.store, "globex").await;
    let mut one = Stream::open(&site, "viewer-of-acme", None).await;
    let mut two = Stream::open(&site, "viewer-of-acme", None).await;
    let mut other = Stream::open(&site, "viewer-of-globex", None).await;
    for stream in [&mut one, &mut two, &mut other] {
        assert_eq!(stream.next().await.name, "ready");
    }
    let path = format!("/v1/approvals/{}/answer", acme.approval);
    let body = json!({"verdict": "deny"});
    let answer = site.ask("post", &path, "approver-of-acme", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let path = format!("/v1/runs/{}/1/cancel", globex.conversation);
    let answer = site
        .send("post", &path, Some("operator-of-globex"), &[], None)
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    for stream in [&mut one, &mut two] {
        // The change and its audit row are in one transaction.
        let mut rows = [stream.next().await.row(), stream.next().await.row()];
        rows.sort();
        assert_eq!(rows[0], format!("approvals {}", acme.approval));
        assert!(rows[1].starts_with("audit "), "{rows:?}");
    }
    let mut rows = [other.next().await.row(), other.next().await.row()];
    rows.sort();
    assert!(
        rows[0].starts_with("audit ") && rows[1] == format!("runs {}/1", globex.conversation),
        "{rows:?}"
    );
    // The client can read the row of an event from the API.
    let list = site.get("/v1/audit?limit=1", "viewer-of-acme").await;
    assert_eq!(list["items"][0]["notes"][0]["action"], "approval.answer");
    // A switch for every workspace is an event in each workspace.
    let body = json!({"on": true});
    let answer = site
        .ask(
            "put",
            "/v1/switches/kill/send_mail?reach=host",
            "host",
            &body,
        )
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    for stream in [&mut one, &mut other] {
        let rows = stream.next().await.row();
        let row = if rows.starts_with("audit ") {
            stream.next().await.row()
        } else {
            rows
        };
        assert_eq!(row, "switches kill/send_mail/");
    }
}

// A client that reconnects with the id of any event receives exactly the later events. The id may be in the header or in the query.
pub(crate) async fn client_continues_at_each_event(kind: StoreKind) {
    let site = Site::start(kind).await;
    let mut stream = Stream::open(&site, "viewer-of-acme", None).await;
    let mut ids = vec![stream.next().await.id];
    let mut rows = Vec::new();
    for number in 0..4 {
        rows.push(write(&site, "acme", number).await);
        write(&site, "globex", number).await;
    }
    for row in &rows {
        let event = stream.next().await;
        assert_eq!(event.row(), *row);
        ids.push(event.id);
    }
    drop(stream);
    for (at, id) in ids.iter().enumerate() {
        let mut again = Stream::open(&site, "viewer-of-acme", Some(id)).await;
        for row in &rows[at..] {
            assert_eq!(again.next().await.row(), *row);
        }
        // A new event follows, so nothing was repeated.
        let new = write(&site, "acme", 9).await;
        assert_eq!(again.next().await.row(), new);
        rows.push(new);
    }
    // The following events need several pages.
    for number in 0..250 {
        rows.push(write(&site, "acme", number).await);
    }
    let url = format!("http://{}/v1/events?last_event_id={}", site.address, ids[4]);
    let response = site
        .client
        .get(url)
        .header("authorization", "Bearer viewer-of-acme");
    let response = response.send().await.unwrap();
    let mut all = Stream(EventStream::new(response));
    for row in &rows[4..] {
        assert_eq!(all.next().await.row(), *row);
    }
}

// A client with an id that the server does not know receives the event `reset`, and then only new events.
pub(crate) async fn unknown_id_gets_a_reset(kind: StoreKind) {
    let site = Site::start(kind).await;
    write(&site, "acme", 0).await;
    for id in ["x", "1.2", "9-9-9.1:1:..1.x"] {
        let mut stream = Stream::open(&site, "viewer-of-acme", Some(id)).await;
        let reset = stream.next().await;
        assert_eq!((reset.name.as_str(), &reset.data), ("reset", &json!({})));
        let row = write(&site, "acme", 1).await;
        assert_eq!(stream.next().await.row(), row);
        let mut again = Stream::open(&site, "viewer-of-acme", Some(&reset.id)).await;
        assert_eq!(again.next().await.row(), row);
    }
}

// The stream is refused without a valid token, for a different workspace, with an unknown parameter, and with a closed store. The document describes
// the required role and the media type.
pub(crate) async fn streams_are_refused_without_access(kind: StoreKind) {
    let site = Site::with(kind, |server| server.authenticator(tokens(&["acme"]))).await;
    for token in [None, Some("wrong")] {
        let answer = site.send("get", "/v1/events", token, &[], None).await;
        assert_eq!(answer.status, 401);
    }
    let header = [("tool-workspace", "globex")];
    let answer = site
        .send("get", "/v1/events", Some("viewer-of-acme"), &header, None)
        .await;
    assert_eq!(answer.status, 403);
    let unknown = site
        .send(
            "get",
            "/v1/events?since=1",
            Some("viewer-of-acme"),
            &[],
            None,
        )
        .await;
    assert_eq!(unknown.status, 400, "{}", unknown.text);
    site.close_store().await;
    let answer = site
        .send("get", "/v1/events", Some("viewer-of-acme"), &[], None)
        .await;
    assert_eq!(answer.status, 503, "{}", answer.text);
    let operation = &document()["paths"]["/v1/events"]["get"];
    assert_eq!(operation["x-required-role"], "viewer");
    assert!(operation["responses"]["200"]["content"]["text/event-stream"].is_object());
}

// A server that shuts down ends its streams, and does not wait for their readers.
pub(crate) async fn streams_end_when_the_server_stops(_: StoreKind) {
    let store = MemoryStore::default();
    let server = AdminServer::builder(store)
        .workspace(Workspace::new("acme"))
        .build()
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let token = server.token().unwrap().to_owned();
    let serving = tokio::spawn(async move {
        let stop = async { drop(stopped.await) };
        server.serve_until(listener, stop).await.unwrap();
    });
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client
        .get(format!("http://{address}/v1/events"))
        .header("authorization", format!("Bearer {token}"));
    let response = request.send().await.unwrap();
    let mut stream = Stream(EventStream::new(response));
    assert_eq!(stream.next().await.name, "ready");
    stop.send(()).unwrap();
    timeout(Duration::from_secs(10), serving)
        .await
        .unwrap()
        .unwrap();
    let rest = timeout(Duration::from_secs(5), stream.0.response.text()).await;
    assert!(rest.is_ok());
}
