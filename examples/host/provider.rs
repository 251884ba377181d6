//! A local server in place of a provider, which streams scripted Chat Completions.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures::StreamExt as _;
use futures::stream;
use serde::Deserialize;
use serde_json::{Value, json};

/// One message of the script.
enum Answer {
    Text(&'static str),
    /// Names and arguments of calls. In every message, the ids of the calls begin again with `call_0`, as with some models.
    Calls(&'static [(&'static str, &'static str)]),
    /// A text that continues until the client closes the connection.
    Endless,
}

/// Returns the model's next message. `asked` is the user's last message, and `said` is the number of the model's messages since then.
fn answer(asked: &str, said: usize) -> Answer {
    match (asked, said) {
        ("Send invoice 7 and import the payments.", 0) => Answer::Calls(&[
            ("unpaid_invoices", "{}"),
            ("remove_invoice", r#"{"number":7}"#),
            ("exchange_rate", r#"{"currency":"NOK"}"#),
        ]),
        ("Send invoice 7 and import the payments.", 1) => Answer::Calls(&[
            ("import_payments", "{}"),
            ("send_invoice", r#"{"number":7}"#),
        ]),
        ("Send invoice 7 and import the payments.", _) => {
            Answer::Text("Invoice 7 is sent, two payments are in.")
        }
        ("How many invoices are unpaid?", 0) => Answer::Calls(&[("unpaid_invoices", "{}")]),
        ("How many invoices are unpaid?", _) => Answer::Text("Two."),
        ("Write a report about every invoice.", _) => Answer::Endless,
        ("Never mind.", _) => Answer::Text("All right."),
        _ => Answer::Text("There is nothing about that in the script."),
    }
}

/// The part of a request that the server reads.
#[derive(Deserialize)]
struct Request {
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    #[serde(default)]
    content: Value,
}

/// Starts the server, and returns the URL to which a client appends `/chat/completions`. The server ends with the program.
pub(crate) async fn start() -> std::io::Result<String> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/v1", listener.local_addr()?);
    let routes = Router::new().route("/v1/chat/completions", post(complete));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    Ok(url)
}

async fn complete(body: Bytes) -> Response {
    let Ok(Request { messages }) = serde_json::from_slice(&body) else {
        return (StatusCode::BAD_REQUEST, "the body is not a request").into_response();
    };
    if messages.first().is_none_or(|first| first.role != "system") {
        return (StatusCode::BAD_REQUEST, "the model has no instructions").into_response();
    }
    let said = messages
        .iter()
        .rev()
        .take_while(|message| message.role != "user");
    let said = said.filter(|message| message.role == "assistant").count();
    let asked = messages.iter().rev().find(|message| message.role == "user");
    let asked = asked.and_then(|message| message.content.as_str());
    let events = match answer(asked.unwrap_or_default(), said) {
        Answer::Text(text) => {
            let text = chunk(&json!({ "content": text }), None);
            stream::iter([text, chunk(&json!({}), Some("stop")), done()]).boxed()
        }
        Answer::Calls(calls) => {
            let calls: Vec<Value> = (0..)
                .zip(calls)
                .map(|(n, call)| one_call(n, call))
                .collect();
            let calls = chunk(&json!({ "tool_calls": calls }), None);
            stream::iter([calls, chunk(&json!({}), Some("tool_calls")), done()]).boxed()
        }
        Answer::Endless => stream::repeat(chunk(&json!({ "content": "word " }), None))
            .then(|word| async {
                tokio::time::sleep(Duration::from_millis(20)).await;
                word
            })
            .boxed(),
    };
    let body = Body::from_stream(events.map(Ok::<_, Infallible>));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

fn one_call(number: u32, (name, arguments): &(&str, &str)) -> Value {
    json!({
        "index": number,
        "id": format!("call_{number}"),
        "type": "function",
        "function": { "name": name, "arguments": arguments },
    })
}

fn chunk(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    format!("data: {}\n\n", json!({ "choices": [choice] }))
}

fn done() -> String {
    "data: [DONE]\n\n".to_owned()
}
