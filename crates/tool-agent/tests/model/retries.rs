//! Error responses: retries, waits and the texts of errors.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tool_agent::model::{ApiKey, Credentials, Endpoint, HttpModel, ModelErrorKind, Timeouts};
use tool_core::{ExposeSecret as _, SecretString, ToolContext, ToolError};

use crate::standin::{Act, StandIn, events, json_response};
use crate::support::{Events, KEY, World, answer, anthropic, chat, chat_answer, quick};

#[tokio::test]
async fn overloaded_provider_is_asked_again() {
    let busy = |status| json_response(status, &[], &json!({"error": {"message": "busy"}}));
    for status in [408, 409, 429, 500, 502, 503, 529] {
        let server =
            StandIn::start(vec![busy(status), busy(status), events(answer("Done."))]).await;
        let mut model = anthropic(&server).build().unwrap();
        assert_eq!(
            World::new().await.answer(&mut model).await,
            "Done.",
            "{status}"
        );
        assert_eq!(server.received().len(), 3, "{status}");
    }
}

#[tokio::test]
async fn invalid_request_is_sent_once() {
    let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "max_tokens: too large"}});
    let server = StandIn::start(vec![json_response(400, &[], &body)]).await;
    let mut model = anthropic(&server).build().unwrap();
    let failure = World::new().await.failure(&mut model).await;
    assert_eq!(
        (failure.kind, failure.attempts),
        (ModelErrorKind::InvalidRequest, 1)
    );
    let text = "claude: the provider refused the request (400, invalid_request_error): max_tokens: too large";
    assert_eq!(failure.to_string(), text);
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn exhausted_quota_is_not_retried() {
    let body = json!({"error": {"message": "You exceeded your quota.", "type": "insufficient_quota", "code": "insufficient_quota"}});
    let server = StandIn::start(vec![json_response(429, &[("retry-after", "0")], &body)]).await;
    let mut model = chat(&server).build().unwrap();
    let failure = World::new().await.failure(&mut model).await;
    assert_eq!(
        (failure.kind, server.received().len()),
        (ModelErrorKind::QuotaExhausted, 1)
    );
}

// A retry is not sent before the end of the wait that the provider requested.
#[tokio::test]
async fn retry_waits_as_long_as_the_provider_asks() {
    let google = json!({"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED", "details": [
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.4s"},
    ]}});
    for response in [
        json_response(429, &[("retry-after-ms", "400")], &json!({})),
        json_response(503, &[("retry-after", "0.4")], &json!({})),
        json_response(429, &[], &google),
    ] {
        let server = StandIn::start(vec![response, events(chat_answer("Done."))]).await;
        let mut model = chat(&server).build().unwrap();
        assert_eq!(World::new().await.answer(&mut model).await, "Done.");
        let received = server.received();
        let waited = received[1].at - received[0].at;
        assert!(waited >= Duration::from_millis(400), "{waited:?}");
    }
}

// If a wait is longer than the budget or the time until the deadline, the request fails at once, and the error contains the wait.
#[tokio::test]
async fn wait_beyond_the_budget_or_the_deadline_is_reported() {
    let wait = |seconds| json_response(429, &[("retry-after", seconds)], &json!({}));
    let server = StandIn::start(vec![wait("65")]).await;
    let mut model = chat(&server).build().unwrap();
    let failure = World::new().await.failure(&mut model).await;
    assert_eq!(
        (failure.kind, failure.attempts),
        (ModelErrorKind::RateLimited, 1)
    );
    assert_eq!(failure.retry_after, Some(Duration::from_secs(65)));
    assert!(failure.to_string().ends_with("; retry after 65.0 s"));

    let server = StandIn::start(vec![wait("20")]).await;
    let mut model = chat(&server).build().unwrap();
    let builder = ToolContext::builder().deadline(Duration::from_secs(10));
    let failure = World::of(builder).await.failure(&mut model).await;
    assert_eq!(
        (failure.attempts, failure.retry_after),
        (1, Some(Duration::from_secs(20)))
    );
}

// All waits of a step share the budget.
#[tokio::test]
async fn waits_of_a_step_share_the_budget() {
    let wait = json_response(429, &[("retry-after", "0.2")], &json!({}));
    let server = StandIn::start(vec![wait]).await;
    let mut retry = quick();
    (retry.attempts, retry.budget) = (10, Duration::from_millis(500));
    let mut model = chat(&server).retry(retry).build().unwrap();
    let failure = World::new().await.failure(&mut model).await;
    assert_eq!(failure.attempts, 3);
}

/// A source that returns a new token after each refusal, and reports success for the first `most` refusals.
#[derive(Default)]
struct Renewed {
    number: AtomicUsize,
    refusals: AtomicUsize,
    most: usize,
}

impl Credentials for &'static Renewed {
    fn token(&self) -> BoxFuture<'_, Result<SecretString, ToolError>> {
        let number = self.number.load(Ordering::Relaxed);
        async move { Ok(SecretString::from(format!("token-{number}-of-the-host"))) }.boxed()
    }

    fn refused<'a>(&'a self, token: &'a SecretString) -> BoxFuture<'a, bool> {
        async move {
            assert_eq!(token.expose_secret(), "token-0-of-the-host");
            let refusals = self.refusals.fetch_add(1, Ordering::Relaxed) + 1;
            self.number.fetch_add(1, Ordering::Relaxed);
            refusals <= self.most
        }
        .boxed()
    }
}

fn renewed(most: usize) -> &'static Renewed {
    Box::leak(Box::new(Renewed {
        most,
        ..Renewed::default()
    }))
}

#[tokio::test]
async fn refused_token_is_renewed_once() {
    let refused = json_response(
        401,
        &[],
        &json!({"error": {"message": "expired token-0-of-the-host"}}),
    );
    for (most, requests) in [(1, 2), (0, 1), (5, 2)] {
        let answers = if most == 1 {
            vec![refused.clone(), events(chat_answer("Done."))]
        } else {
            vec![refused.clone()]
        };
        let server = StandIn::start(answers).await;
        let endpoint = Endpoint::compatible(&server.url).credentials(renewed(most));
        let mut model = HttpModel::builder(endpoint, "local")
            .retry(quick())
            .build()
            .unwrap();
        let world = World::new().await;
        if most == 1 {
            assert_eq!(world.answer(&mut model).await, "Done.");
            let received = server.received();
            assert_eq!(
                received[1].header("authorization"),
                Some("Bearer token-1-of-the-host")
            );
        } else {
            let failure = world.failure(&mut model).await;
            assert_eq!(failure.kind, ModelErrorKind::Authentication);
        }
        assert_eq!(server.received().len(), requests);
    }
}

// If a server repeats the key in its error, the key is redacted from the model's error.
#[tokio::test]
async fn key_is_redacted_from_errors() {
    let body =
        json!({"error": {"message": format!("Incorrect API key provided: {KEY}."), "code": KEY}});
    let server = StandIn::start(vec![json_response(401, &[], &body)]).await;
    let mut model = anthropic(&server).build().unwrap();
    let world = World::new().await;
    let error = world.drive(&mut model).await.unwrap_err().to_string();
    let failure = model.error().unwrap();
    for text in [
        error,
        failure.to_string(),
        format!("{failure:?}"),
        format!("{model:?}"),
    ] {
        assert!(!text.contains(KEY), "{text}");
    }
    assert!(
        failure
            .message
            .starts_with("Incorrect API key provided: [secret:key]"),
        "{failure}"
    );
}

/// Credentials that cannot be read.
struct Broken(Mutex<u32>);

impl Credentials for &'static Broken {
    fn token(&self) -> BoxFuture<'_, Result<SecretString, ToolError>> {
        *self.0.lock().unwrap() += 1;
        async { Err(ToolError::new("the vault is closed")) }.boxed()
    }
}

#[tokio::test]
async fn failing_credentials_end_the_request() {
    let server = StandIn::start(vec![events(chat_answer("Done."))]).await;
    let broken: &'static Broken = Box::leak(Box::new(Broken(Mutex::new(0))));
    let endpoint = Endpoint::compatible(&server.url).credentials(broken);
    let mut model = HttpModel::builder(endpoint, "local")
        .retry(quick())
        .build()
        .unwrap();
    let failure = World::new().await.failure(&mut model).await;
    assert_eq!(failure.kind, ModelErrorKind::Authentication);
    assert!(failure.message.contains("the vault is closed"));
    assert_eq!((server.received().len(), *broken.0.lock().unwrap()), (0, 1));
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let other = StandIn::start(vec![events(chat_answer("Stolen."))]).await;
    let to = format!("{}/chat/completions", other.url);
    // The query and the user may contain secrets, so the error does not contain them.
    let location = to.replace("http://", "http://ann:hunter2@");
    let location = format!("{location}?key=hunter2#part");
    let redirect = json_response(307, &[("location", &location)], &json!({}));
    let server = StandIn::start(vec![redirect]).await;
    let mut model = chat(&server).build().unwrap();
    let failure = World::new().await.failure(&mut model).await;
    let message = &failure.message;
    assert!(
        message.contains(&to) && message.contains("base URL") && !message.contains("hunter2"),
        "{failure}"
    );
    assert!(other.received().is_empty());
}

// A success clears the error of the earlier failure.
#[tokio::test]
async fn error_is_that_of_the_last_request() {
    let server = StandIn::start(vec![
        json_response(400, &[], &json!({})),
        events(chat_answer("Done.")),
    ])
    .await;
    let (mut model, seen) = Events::of(chat(&server).build().unwrap());
    let world = World::new().await;
    world.failure(&mut model).await;
    assert_eq!(world.answer(&mut model).await, "Done.");
    assert_eq!(model.error(), None);
    let expected = [
        "request local 1",
        "failed invalid_request end",
        "request local 1",
        "text Done.",
    ];
    assert_eq!(seen.lines(), expected);
}

// `Retry-After` may be a date, and `x-should-retry` decides whether to retry.
#[tokio::test]
async fn retry_headers_of_the_provider_are_respected() {
    let past = [("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")];
    let server = StandIn::start(vec![
        json_response(429, &past, &json!({})),
        events(chat_answer("Done.")),
    ])
    .await;
    let mut model = chat(&server).build().unwrap();
    assert_eq!(World::new().await.answer(&mut model).await, "Done.");
    let future = [("retry-after", "Fri, 21 Oct 2095 07:28:00 GMT")];
    for headers in [future, [("x-should-retry", "false")]] {
        let server = StandIn::start(vec![json_response(503, &headers, &json!({}))]).await;
        let mut model = chat(&server).build().unwrap();
        let failure = World::new().await.failure(&mut model).await;
        assert_eq!(failure.attempts, 1, "{headers:?}");
    }
}

// If the name of the error is generic, such as `invalid_request_error`, the status decides.
#[tokio::test]
async fn general_name_of_an_error_does_not_hide_the_status() {
    let body = json!({"error": {"message": "m", "type": "invalid_request_error", "code": null}});
    for (status, kind) in [
        (400, ModelErrorKind::InvalidRequest),
        (401, ModelErrorKind::Authentication),
        (402, ModelErrorKind::QuotaExhausted),
        (404, ModelErrorKind::NotFound),
        (429, ModelErrorKind::RateLimited),
    ] {
        let server = StandIn::start(vec![json_response(status, &[], &body)]).await;
        let mut model = chat(&server).build().unwrap();
        let failure = World::new().await.failure(&mut model).await;
        assert_eq!(failure.kind, kind, "{status}");
    }
}

// The key is redacted before a long page is cut, so no part of the key remains.
#[tokio::test]
async fn key_in_a_shortened_page_is_redacted() {
    let page = format!("<html>{} {KEY} and more</html>", "x".repeat(285));
    let response = vec![
        Act::Head(502, vec![("content-type", "text/html".to_owned())]),
        Act::Send(page),
        Act::End,
    ];
    let server = StandIn::start(vec![response]).await;
    let mut model = anthropic(&server).build().unwrap();
    let failure = World::new().await.failure(&mut model).await;
    assert!(!failure.message.contains("sk-s"), "{failure}");
}

// An error inside a Gemini stream contains the wait that Gemini asks for, and an exhausted daily quota is final.
#[tokio::test]
async fn error_in_a_stream_of_gemini_states_its_wait() {
    let error = |detail: &Value| json!({"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED", "details": [detail]}});
    let wait = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "300s"});
    let day = json!({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "RequestsPerDay"}]});
    for (detail, kind, wait) in [
        (
            wait,
            ModelErrorKind::RateLimited,
            Some(Duration::from_mins(5)),
        ),
        (day, ModelErrorKind::QuotaExhausted, None),
    ] {
        let server = StandIn::start(vec![events([error(&detail)])]).await;
        let endpoint = Endpoint::gemini(ApiKey::new(KEY)).base_url(&server.url);
        let builder = HttpModel::builder(endpoint, "gemini").retry(quick());
        let mut model = builder.build().unwrap();
        let failure = World::new().await.failure(&mut model).await;
        assert_eq!((failure.kind, failure.retry_after), (kind, wait));
        assert_eq!(server.received().len(), 1);
    }
}

// `Duration::MAX` disables a timeout and does not overflow.
#[tokio::test]
async fn endless_durations_are_accepted() {
    let server = StandIn::start(vec![
        json_response(500, &[], &json!({})),
        events(chat_answer("Done.")),
    ])
    .await;
    let (mut retry, mut timeouts) = (quick(), Timeouts::default());
    (retry.longest_wait, retry.budget) = (Duration::MAX, Duration::MAX);
    (timeouts.connect, timeouts.first_event, timeouts.idle) =
        (Duration::MAX, Duration::MAX, Duration::MAX);
    let builder = chat(&server).retry(retry).timeouts(timeouts);
    let mut model = builder.build().unwrap();
    assert_eq!(World::new().await.answer(&mut model).await, "Done.");
}
