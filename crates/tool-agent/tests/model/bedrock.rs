//! Amazon Bedrock: signed requests, and event streams in binary frames. The mock provider checks signatures and writes frames as the documentation of
//! AWS describes them, without the crates of AWS.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tool_agent::model::{
    ApiKey, AwsCredentials, AwsKeys, CacheTime, ConfigError, Endpoint, HttpModel, HttpModelBuilder,
    ModelErrorKind, TimeoutPhase, Timeouts,
};
use tool_core::ToolError;

use crate::standin::{Act, Received, StandIn, json_response};
use crate::support::{Events, KEY, World, quick};

const ID: &str = "AKIDEXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const SESSION: &str = "FwoGZXIvYXdzEXAMPLESESSION";
const MODEL: &str = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0";

// --- Signature Version 4, from the documentation of AWS ---

fn sha256(data: &[u8]) -> Vec<u8> {
    Sha256::digest(data).to_vec()
}

/// Returns the HMAC-SHA-256 of the data (RFC 2104).
fn hmac(key: &[u8], data: &[u8]) -> Vec<u8> {
    let mut block = if key.len() > 64 {
        sha256(key)
    } else {
        key.to_vec()
    };
    block.resize(64, 0);
    let pad = |with: u8| block.iter().map(|byte| byte ^ with).collect::<Vec<_>>();
    let inner = sha256(&[&pad(0x36)[..], data].concat());
    sha256(&[&pad(0x5c)[..], &inner].concat())
}

fn hex(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.concat()
}

/// Percent-encodes every byte except the unreserved characters and the separators of the path.
fn encoded(path: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(byte);
    path.bytes()
        .map(|byte| match byte {
            byte if plain(&byte) => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

/// Returns the signature of a canonical request.
fn signature(secret: &str, canonical: &str, time: &str, scope: &str) -> String {
    let digest = hex(&sha256(canonical.as_bytes()));
    let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{digest}");
    let start = format!("AWS4{secret}").into_bytes();
    let key = scope
        .split('/')
        .fold(start, |key, part| hmac(&key, part.as_bytes()));
    hex(&hmac(&key, to_sign.as_bytes()))
}

/// Returns whether the signature of a request is valid for a secret, and the headers that it covers.
fn verified(received: &Received, secret: &str) -> (bool, Vec<String>) {
    let (method, path) = received.line.split_once(' ').unwrap();
    let given = received.header("authorization").unwrap();
    let given = given.strip_prefix("AWS4-HMAC-SHA256 Credential=").unwrap();
    let mut parts = given.split(", ");
    let (id, scope) = parts.next().unwrap().split_once('/').unwrap();
    assert!(id.starts_with("AK"), "{id}");
    let signed = parts.next().unwrap().strip_prefix("SignedHeaders=");
    let signed = signed.unwrap();
    let given = parts.next().unwrap().strip_prefix("Signature=").unwrap();
    let headers: Vec<String> = signed.split(';').map(str::to_owned).collect();
    let line = |name: &String| format!("{name}:{}\n", received.header(name).unwrap());
    let lines = headers.iter().map(line).collect::<Vec<_>>().concat();
    let body = hex(&sha256(received.text.as_bytes()));
    let canonical = format!("{method}\n{}\n\n{lines}\n{signed}\n{body}", encoded(path));
    let time = received.header("x-amz-date").unwrap();
    assert_eq!(&time[..8], &scope[..8]);
    assert!(scope.ends_with("/eu-central-1/bedrock/aws4_request"));
    (signature(secret, &canonical, time, scope) == given, headers)
}

// The signature of the example in the documentation: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
#[test]
fn independent_signature_is_that_of_the_documentation() {
    let canonical = "GET\n/\nAction=ListUsers&Version=2010-05-08\n\
        content-type:application/x-www-form-urlencoded; charset=utf-8\nhost:iam.amazonaws.com\nx-amz-date:20150830T123600Z\n\n\
        content-type;host;x-amz-date\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let scope = "20150830/us-east-1/iam/aws4_request";
    assert_eq!(
        signature(SECRET, canonical, "20150830T123600Z", scope),
        "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
    );
}

// --- Frames, from the documentation of AWS ---

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & 0_u32.wrapping_sub(crc & 1))
        })
    })
}

fn frame(headers: &[(&str, &str)], payload: &str) -> Vec<u8> {
    let mut named = Vec::new();
    for (name, value) in headers {
        named.push(u8::try_from(name.len()).unwrap());
        named.extend(name.as_bytes());
        // 7 is the type of string values.
        named.push(7);
        named.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        named.extend(value.as_bytes());
    }
    let length = |length: usize| u32::try_from(length).unwrap().to_be_bytes();
    let mut frame = length(16 + named.len() + payload.len()).to_vec();
    frame.extend(length(named.len()));
    frame.extend(crc32(&frame).to_be_bytes());
    frame.extend(named);
    frame.extend(payload.as_bytes());
    frame.extend(crc32(&frame).to_be_bytes());
    frame
}

fn event(name: &str, payload: &Value) -> Vec<u8> {
    let headers = [
        (":event-type", name),
        (":content-type", "application/json"),
        (":message-type", "event"),
    ];
    frame(&headers, &payload.to_string())
}

fn exception(name: &str) -> Vec<u8> {
    let headers = [
        (":exception-type", name),
        (":content-type", "application/json"),
        (":message-type", "exception"),
    ];
    frame(&headers, r#"{"message":"the message of AWS"}"#)
}

fn text(text: &str) -> Vec<Vec<u8>> {
    vec![
        event(
            "messageStart",
            &json!({"role": "assistant", "p": "abcdefgh"}),
        ),
        event(
            "contentBlockDelta",
            &json!({"contentBlockIndex": 0, "delta": {"text": text}}),
        ),
        event("contentBlockStop", &json!({"contentBlockIndex": 0})),
    ]
}

fn call() -> Vec<Vec<u8>> {
    let delta =
        |input: &str| json!({"contentBlockIndex": 0, "delta": {"toolUse": {"input": input}}});
    vec![
        event("messageStart", &json!({"role": "assistant"})),
        event(
            "contentBlockStart",
            &json!({"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "t-1", "name": "ping"}}}),
        ),
        event("contentBlockDelta", &delta(r#"{"host":"#)),
        event("contentBlockDelta", &delta(r#""a"}"#)),
        event("contentBlockStop", &json!({"contentBlockIndex": 0})),
    ]
}

fn stop(reason: &str) -> Vec<Vec<u8>> {
    vec![
        event("messageStop", &json!({"stopReason": reason})),
        event(
            "metadata",
            &json!({"usage": {"inputTokens": 20, "outputTokens": 7, "totalTokens": 27}}),
        ),
    ]
}

/// Returns a response whose connection breaks after the last frame. It is sent in pieces of `size` bytes.
fn pieces(frames: &[Vec<u8>], size: usize) -> Vec<Act> {
    let kind = "application/vnd.amazon.eventstream".to_owned();
    let mut acts = vec![Act::Head(200, vec![("content-type", kind)])];
    let bytes = frames.concat();
    acts.extend(bytes.chunks(size).map(|piece| Act::Bytes(piece.to_vec())));
    acts
}

fn cut(frames: &[Vec<u8>]) -> Vec<Act> {
    pieces(frames, usize::MAX)
}

fn frames(frames: &[Vec<u8>]) -> Vec<Act> {
    let mut acts = cut(frames);
    acts.push(Act::End);
    acts
}

fn answer(said: &str) -> Vec<Act> {
    frames(&[text(said), stop("end_turn")].concat())
}

fn refusal(status: u16, kind: &'static str) -> Vec<Act> {
    let body = json!({"message": "the message of AWS"});
    json_response(status, &[("x-amzn-errortype", kind)], &body)
}

// --- The model ---

fn base(server: &StandIn) -> String {
    server.url.trim_end_matches("/v1").to_owned()
}

fn bedrock_with(server: &StandIn, credentials: impl AwsCredentials) -> HttpModelBuilder {
    let endpoint = Endpoint::bedrock("eu-central-1", credentials).base_url(base(server));
    HttpModel::builder(endpoint, MODEL).retry(quick())
}

fn keys() -> AwsKeys {
    AwsKeys::new(ID, SECRET).session_token(SESSION)
}

fn bedrock(server: &StandIn) -> HttpModelBuilder {
    bedrock_with(server, keys())
}

// The signature covers the host, the time, the body and the session token, and the model is one segment of the path.
#[tokio::test]
async fn request_is_signed() {
    let server = StandIn::start(vec![answer("Grüezi.")]).await;
    let builder = bedrock(&server).max_tokens(500).temperature(0.5);
    let mut model = builder.build().unwrap();
    assert_eq!(World::new().await.answer(&mut model).await, "Grüezi.");
    let received = &server.received()[0];
    assert_eq!(
        received.line,
        "POST /model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream"
    );
    let (is_valid, covered) = verified(received, SECRET);
    assert!(is_valid);
    for header in ["content-type", "host", "x-amz-date", "x-amz-security-token"] {
        assert!(
            covered.iter().any(|covered| covered == header),
            "{covered:?}"
        );
    }
    assert!(!verified(received, "another secret").0);
    assert_eq!(received.header("x-amz-security-token"), Some(SESSION));
    let mut body = received.body.clone();
    let tools = body.as_object_mut().unwrap().remove("toolConfig").unwrap();
    assert!(tools.to_string().contains("\"ping\""));
    assert_eq!(
        body,
        json!({"messages": [{"role": "user", "content": [{"text": "Ping the hosts."}]}],
            "inferenceConfig": {"maxTokens": 500, "temperature": 0.5}})
    );
}

// An inference profile is an ARN, whose slashes are not separators of the path.
#[tokio::test]
async fn request_to_an_inference_profile_is_signed() {
    let server = StandIn::start(vec![answer("Done.")]).await;
    let arn = "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.m-v1:0";
    let endpoint = Endpoint::bedrock("eu-central-1", AwsKeys::new(ID, SECRET));
    let endpoint = endpoint.base_url(base(&server));
    let mut model = HttpModel::builder(endpoint, arn).build().unwrap();
    assert_eq!(World::new().await.answer(&mut model).await, "Done.");
    let received = &server.received()[0];
    assert_eq!(
        received.line,
        "POST /model/arn%3Aaws%3Abedrock%3Aeu-central-1%3A123456789012%3Ainference-profile%2Feu.m-v1%3A0/converse-stream"
    );
    assert!(verified(received, SECRET).0);
    assert_eq!(received.header("x-amz-security-token"), None);
}

// Requests contain prompt-cache markers if the API of the provider has them. Converse has blocks `cachePoint` of the type `default`, with the
// optional key `ttl` (`5m`, the default, or `1h`), at most 4 in a request. Amazon Nova refuses them among the tools, and reads only prefixes that end
// at a block.
#[tokio::test]
async fn cache_points_follow_the_system_prompt_and_the_last_two_messages_of_the_user() {
    for (time, point) in [
        (CacheTime::FiveMinutes, json!({"type": "default"})),
        (CacheTime::OneHour, json!({"type": "default", "ttl": "1h"})),
    ] {
        let calling = || frames(&[call(), stop("tool_use")].concat());
        let mut bodies = Vec::new();
        for is_cached in [false, true] {
            let server = StandIn::start(vec![calling(), calling(), answer("Done.")]).await;
            let mut builder = bedrock(&server);
            if is_cached {
                builder = builder.cache_prompt(time);
            }
            let (mut model, world) = (builder.build().unwrap(), World::new().await);
            world.turns.instruct("Be brief.", &world.cx).await.unwrap();
            assert_eq!(world.answer(&mut model).await, "Done.");
            let stored = world.stored().await.concat();
            assert!(!stored.contains("cachePoint"), "{stored}");
            let received = server.received();
            assert!(received.iter().all(|received| verified(received, SECRET).0));
            bodies.push(received.into_iter().map(|received| received.body));
        }
        let mut bodies = bodies.into_iter();
        let (plain, cached) = (bodies.next().unwrap(), bodies.next().unwrap());
        // The user's message is message 0, and the results of the two calls are messages 2 and 4.
        let marked = [&[0][..], &[0, 2], &[2, 4]];
        for ((mut expected, body), marked) in plain.zip(cached).zip(marked) {
            assert!(!expected.to_string().contains("cachePoint"), "{expected}");
            let mut append = |pointer: &str| {
                let blocks = expected.pointer_mut(pointer).unwrap();
                let blocks = blocks.as_array_mut().unwrap();
                blocks.push(json!({"cachePoint": point}));
            };
            append("/system");
            for message in marked {
                append(&format!("/messages/{message}/content"));
            }
            assert_eq!(body, expected);
        }
    }
}

// A request without a system prompt has cache points in its messages only.
#[tokio::test]
async fn cache_points_add_no_system_prompt() {
    let server = StandIn::start(vec![answer("Done.")]).await;
    let builder = bedrock(&server).cache_prompt(CacheTime::FiveMinutes);
    let mut model = builder.build().unwrap();
    assert_eq!(World::new().await.answer(&mut model).await, "Done.");
    let body = &server.received()[0].body;
    assert_eq!(body.get("system"), None);
    let content = json!([{"text": "Ping the hosts."}, {"cachePoint": {"type": "default"}}]);
    assert_eq!(
        body["messages"],
        json!([{"role": "user", "content": content}])
    );
    assert!(!body["toolConfig"].to_string().contains("cachePoint"));
}

// The events do not depend on where the network splits the frames. Unknown events are ignored.
#[tokio::test]
async fn call_runs_once_however_the_frames_arrive() {
    for size in [1, 7, 100_000] {
        let unknown = event("laterEvent", &json!({"a": 1}));
        let calling = [vec![unknown], call(), stop("tool_use")].concat();
        let mut first = pieces(&calling, size);
        first.push(Act::End);
        let server = StandIn::start(vec![first, answer("Done.")]).await;
        let (mut model, seen) = Events::of(bedrock(&server).build().unwrap());
        let world = World::new().await;
        assert_eq!(world.answer(&mut model).await, "Done.");
        assert_eq!((world.calls(), server.received().len()), (1, 2), "{size}");
        assert_eq!(
            seen.lines(),
            [
                format!("request {MODEL} 1"),
                "call ping".to_owned(),
                "delta".to_owned(),
                "delta".to_owned(),
                format!("request {MODEL} 1"),
                "text Done.".to_owned()
            ]
        );
        let second = &server.received()[1];
        assert!(verified(second, SECRET).0);
        let messages = second.body["messages"].to_string();
        assert!(messages.contains(r#""toolUseId":"t-1""#), "{messages}");
        assert!(messages.contains("pong from a"), "{messages}");
    }
}

// A frame with a wrong checksum is not read: its attempt stores nothing and runs no call.
#[tokio::test]
async fn corrupt_frame_is_retried() {
    let whole = [call(), stop("tool_use")].concat();
    let position = whole[0].len() + whole[1].len() - 20;
    for change in [position, 9] {
        let mut bytes = whole.concat();
        bytes[change] ^= 1;
        let server = StandIn::start(vec![frames(&[bytes]), answer("Done.")]).await;
        let world = World::new().await;
        let mut model = bedrock(&server).build().unwrap();
        assert_eq!(world.answer(&mut model).await, "Done.");
        assert_eq!((world.calls(), server.received().len()), (0, 2));
        assert_eq!(world.stored().await.len(), 2);
    }
    let endless = [0xff; 16].to_vec();
    let server = StandIn::start(vec![frames(&[endless])]).await;
    let failure = World::new()
        .await
        .failure(&mut bedrock(&server).build().unwrap())
        .await;
    assert_eq!(
        (failure.kind, failure.attempts),
        (ModelErrorKind::BrokenStream, 3)
    );
    assert!(failure.message.contains("invalid length"), "{failure}");
}

// An exception inside of a stream has the class of the same exception as a response.
#[tokio::test]
async fn exceptions_in_a_stream_are_classified() {
    use ModelErrorKind::{InvalidRequest, Overloaded, RateLimited, Server};
    for (name, kind, requests) in [
        ("throttlingException", RateLimited, 3),
        ("serviceUnavailableException", Overloaded, 3),
        ("internalServerException", Server, 3),
        ("modelStreamErrorException", Server, 3),
        ("somethingNewException", Server, 3),
        ("validationException", InvalidRequest, 1),
    ] {
        let broken = cut(&[text("Half"), vec![exception(name)]].concat());
        let server = StandIn::start(vec![broken]).await;
        let (mut model, seen) = Events::of(bedrock(&server).build().unwrap());
        let world = World::new().await;
        let failure = world.failure(&mut model).await;
        assert_eq!((failure.kind, failure.code.as_deref()), (kind, Some(name)));
        assert_eq!(failure.message, "the message of AWS");
        assert_eq!(server.received().len(), requests, "{name}");
        assert_eq!(seen.lines()[2], "restarted", "{name}");
        assert_eq!(world.stored().await.len(), 1);
    }
    let headers = [
        (":message-type", "error"),
        (":error-code", "InternalError"),
        (":error-message", "a general error"),
    ];
    let server = StandIn::start(vec![cut(&[frame(&headers, "")]), answer("Done.")]).await;
    let mut model = bedrock(&server).build().unwrap();
    assert_eq!(World::new().await.answer(&mut model).await, "Done.");
    assert_eq!(server.received().len(), 2);
}

// The name of the error is in a header of the response, followed by an address.
#[tokio::test]
async fn refusals_are_classified() {
    use ModelErrorKind::{
        Authentication, InvalidRequest, NotFound, Overloaded, Permission, QuotaExhausted,
        RateLimited, Server,
    };
    for (status, name, kind, requests) in [
        (429, "ThrottlingException", RateLimited, 3),
        (429, "ModelNotReadyException", Overloaded, 3),
        (503, "ServiceUnavailableException", Overloaded, 3),
        (500, "InternalServerException", Server, 3),
        (408, "ModelTimeoutException", Server, 3),
        (424, "ModelErrorException", Server, 3),
        (400, "ValidationException", InvalidRequest, 1),
        (400, "ServiceQuotaExceededException", QuotaExhausted, 1),
        (403, "AccessDeniedException", Permission, 1),
        (403, "UnrecognizedClientException", Authentication, 1),
        (403, "ExpiredTokenException", Authentication, 1),
        (403, "InvalidSignatureException", Authentication, 1),
        (404, "ResourceNotFoundException", NotFound, 1),
    ] {
        let server = StandIn::start(vec![refusal(status, name)]).await;
        let mut model = bedrock(&server).build().unwrap();
        let failure = World::new().await.failure(&mut model).await;
        assert_eq!((failure.kind, failure.code.as_deref()), (kind, Some(name)));
        assert_eq!(failure.message, "the message of AWS");
        assert_eq!(server.received().len(), requests, "{name}");
    }
    let with_address = "ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/";
    let body = json!({"message": "Input is too long for requested model."});
    let too_long = json_response(400, &[("x-amzn-errortype", "ValidationException")], &body);
    for (response, kind) in [
        (refusal(429, with_address), RateLimited),
        (too_long, ModelErrorKind::ContextWindow),
    ] {
        let server = StandIn::start(vec![response]).await;
        let mut model = bedrock(&server).build().unwrap();
        assert_eq!(World::new().await.failure(&mut model).await.kind, kind);
    }
}

// A stream without `messageStop` and `metadata` is broken, and the call in it does not run.
#[tokio::test]
async fn stream_without_its_last_events_is_broken() {
    for kept in [1, 5, 6] {
        let mut whole = [call(), stop("tool_use")].concat();
        whole.truncate(kept);
        for end in [true, false] {
            let mut first = cut(&whole);
            first.extend(end.then_some(Act::End));
            let server = StandIn::start(vec![first, answer("Done.")]).await;
            let world = World::new().await;
            let mut model = bedrock(&server).build().unwrap();
            assert_eq!(world.answer(&mut model).await, "Done.");
            assert_eq!((world.calls(), server.received().len()), (0, 2), "{kept}");
        }
    }
}

// Bytes of a frame that never ends do not count as events.
#[tokio::test]
async fn silent_stream_times_out() {
    let mut timeouts = Timeouts::default();
    (timeouts.first_event, timeouts.idle) =
        (Duration::from_millis(150), Duration::from_millis(150));
    let mut silent = cut(&text("Half"));
    for byte in event("contentBlockDelta", &json!({"contentBlockIndex": 9})) {
        silent.push(Act::Pause(Duration::from_millis(25)));
        silent.push(Act::Bytes(vec![byte]));
    }
    silent.push(Act::UntilClosed);
    let server = StandIn::start(vec![silent]).await;
    let mut retry = quick();
    retry.attempts = 1;
    let builder = bedrock(&server).timeouts(timeouts).retry(retry);
    let failure = World::new()
        .await
        .failure(&mut builder.build().unwrap())
        .await;
    let kind = ModelErrorKind::Timeout(TimeoutPhase::Idle);
    assert_eq!(failure.kind, kind, "{failure}");
    server.closed(1).await;
}

/// Keys that are renewed when AWS refuses them.
#[derive(Clone, Default)]
struct Renewed {
    generation: Arc<AtomicUsize>,
    refused: Arc<Mutex<Vec<String>>>,
}

impl AwsCredentials for Renewed {
    fn keys(&self) -> BoxFuture<'_, Result<AwsKeys, ToolError>> {
        let generation = self.generation.load(Ordering::SeqCst);
        async move {
            Ok(AwsKeys::new(
                format!("AK{generation}"),
                format!("secret-{generation}"),
            ))
        }
        .boxed()
    }

    fn refused<'a>(&'a self, keys: &'a AwsKeys) -> BoxFuture<'a, bool> {
        async move {
            self.refused.lock().unwrap().push(format!("{keys:?}"));
            self.generation.fetch_add(1, Ordering::SeqCst) == 0
        }
        .boxed()
    }
}

// Expired keys are renewed once, and the request is sent again with a new signature. Other refusals renew nothing.
#[tokio::test]
async fn expired_keys_are_renewed() {
    let expired = refusal(403, "ExpiredTokenException");
    let server = StandIn::start(vec![expired.clone(), answer("Done.")]).await;
    let renewed = Renewed::default();
    let mut model = bedrock_with(&server, renewed.clone()).build().unwrap();
    assert_eq!(World::new().await.answer(&mut model).await, "Done.");
    let received = server.received();
    assert!(verified(&received[0], "secret-0").0);
    assert!(verified(&received[1], "secret-1").0);
    let refused = renewed.refused.lock().unwrap().clone();
    assert_eq!(refused.len(), 1);
    assert!(refused[0].contains("AK0") && !refused[0].contains("secret"));

    let renewed = Renewed::default();
    let server = StandIn::start(vec![expired]).await;
    let mut model = bedrock_with(&server, renewed.clone()).build().unwrap();
    let failure = World::new().await.failure(&mut model).await;
    assert_eq!(failure.kind, ModelErrorKind::Authentication);
    assert_eq!(server.received().len(), 2);

    let renewed = Renewed::default();
    let server = StandIn::start(vec![refusal(403, "AccessDeniedException")]).await;
    let mut model = bedrock_with(&server, renewed.clone()).build().unwrap();
    World::new().await.failure(&mut model).await;
    assert!(renewed.refused.lock().unwrap().is_empty());
}

/// Credentials that always return an error.
struct NoKeys;

impl AwsCredentials for NoKeys {
    fn keys(&self) -> BoxFuture<'_, Result<AwsKeys, ToolError>> {
        async { Err(ToolError::new("the metadata service does not answer")) }.boxed()
    }
}

#[tokio::test]
async fn missing_keys_are_reported() {
    let server = StandIn::start(vec![answer("Done.")]).await;
    let mut model = bedrock_with(&server, NoKeys).build().unwrap();
    let failure = World::new().await.failure(&mut model).await;
    assert_eq!(failure.kind, ModelErrorKind::Authentication);
    assert_eq!(failure.message, "the metadata service does not answer");
    let invalid = AwsKeys::new("AK\n", SECRET);
    let mut model = bedrock_with(&server, invalid).build().unwrap();
    let failure = World::new().await.failure(&mut model).await;
    assert_eq!(failure.kind, ModelErrorKind::Authentication, "{failure}");
    assert!(server.received().is_empty());
}

// An API key of Bedrock is sent as a bearer token, without a signature.
#[tokio::test]
async fn api_key_replaces_the_signature() {
    let server = StandIn::start(vec![answer("Done.")]).await;
    let endpoint = Endpoint::bedrock_with_key("eu-central-1", ApiKey::new(KEY));
    let endpoint = endpoint.base_url(base(&server));
    let mut model = HttpModel::builder(endpoint, MODEL).build().unwrap();
    assert_eq!(World::new().await.answer(&mut model).await, "Done.");
    let received = &server.received()[0];
    let expected = format!("Bearer {KEY}");
    assert_eq!(received.header("authorization"), Some(&*expected));
    assert_eq!(received.header("x-amz-date"), None);
}

// AWS repeats parts of the request in the errors of signatures.
#[tokio::test]
async fn secrets_appear_in_no_error() {
    let body =
        json!({"message": format!("the canonical string has x-amz-security-token:{SESSION}")});
    let kind = [("x-amzn-errortype", "InvalidSignatureException")];
    let server = StandIn::start(vec![json_response(403, &kind, &body)]).await;
    let builder = bedrock(&server);
    let mut model = builder.clone().build().unwrap();
    let failure = World::new().await.failure(&mut model).await;
    let debug = format!("{builder:?} {model:?} {:?} {failure:?} {failure}", keys());
    assert!(
        !debug.contains(SESSION) && !debug.contains(SECRET),
        "{debug}"
    );
    assert!(
        failure.message.contains("x-amz-security-token"),
        "{failure}"
    );
}

// A credential of fewer than 6 bytes cannot be redacted. The other credentials of the request are redacted nevertheless.
#[tokio::test]
async fn credential_too_short_to_redact_leaves_the_others_redacted() {
    let body = json!({"message": format!("the secret {SECRET} and the token tiny do not match")});
    let kind = [("x-amzn-errortype", "InvalidSignatureException")];
    let server = StandIn::start(vec![json_response(403, &kind, &body)]).await;
    let keys = AwsKeys::new(ID, SECRET).session_token("tiny");
    let mut model = bedrock_with(&server, keys).build().unwrap();
    let failure = World::new().await.failure(&mut model).await;
    assert_eq!(
        failure.message,
        "the secret [secret:key] and the token tiny do not match"
    );
}

// Signed requests are not sent over http either, because a third party could read and repeat them.
#[test]
fn signed_requests_over_http_are_refused() {
    let endpoint = Endpoint::bedrock("eu-central-1", keys()).base_url("http://gpu.example.com");
    let error = HttpModel::builder(endpoint, MODEL).build().unwrap_err();
    assert!(matches!(error, ConfigError::PlainHttp { .. }), "{error}");
}

// The events of the frames are recorded as text.
#[tokio::test]
async fn conversation_is_recorded_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bedrock.jsonl");
    let calling = frames(&[call(), stop("tool_use")].concat());
    let server = StandIn::start(vec![calling, answer("Done.")]).await;
    let model = bedrock(&server).build().unwrap();
    let mut model = model.record(&file).unwrap();
    assert_eq!(World::new().await.answer(&mut model).await, "Done.");
    let recorded = std::fs::read_to_string(&file).unwrap();
    assert!(recorded.contains("contentBlockDelta") && !recorded.contains(SESSION));

    let elsewhere = StandIn::start(vec![answer("Other.")]).await;
    let model = bedrock_with(&elsewhere, NoKeys).build().unwrap();
    let mut model = model.replay(&file).unwrap();
    let world = World::new().await;
    assert_eq!(world.answer(&mut model).await, "Done.");
    assert_eq!((world.calls(), elsewhere.received().len()), (1, 0));
}
