use super::*;
use ModelErrorKind::{
    Authentication, ContextWindow, InvalidRequest, NotFound, Overloaded, QuotaExhausted,
    RateLimited, Server,
};
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::json;

fn read(status: u16, body: &Value) -> Refusal {
    let status = StatusCode::from_u16(status).unwrap();
    response(status, &HeaderMap::new(), &body.to_string(), false)
}

fn headers(given: &[(&'static str, &'static str)]) -> HeaderMap {
    let given = given.iter().map(|(name, value)| {
        (
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        )
    });
    given.collect()
}

fn waits(given: &[(&'static str, &'static str)]) -> Option<Duration> {
    let status = StatusCode::TOO_MANY_REQUESTS;
    response(status, &headers(given), "", false).retry_after
}

// Errors of exhausted quotas are final, and errors of rate limits are retried.
#[test]
fn errors_are_classified_by_name_and_status() {
    let openai =
        |kind: &str, code: &str| json!({"error": {"message": "m", "type": kind, "code": code}});
    let anthropic = |kind: &str| json!({"type": "error", "error": {"type": kind, "message": "m"}});
    let google = |status: &str| json!({"error": {"code": 429, "message": "m", "status": status}});
    for (status, body, kind, transient) in [
        (
            429,
            openai("tokens", "rate_limit_exceeded"),
            RateLimited,
            true,
        ),
        (
            429,
            openai("insufficient_quota", "insufficient_quota"),
            QuotaExhausted,
            false,
        ),
        (
            400,
            openai("invalid_request_error", "context_length_exceeded"),
            ContextWindow,
            false,
        ),
        (
            401,
            openai("invalid_request_error", "invalid_api_key"),
            Authentication,
            false,
        ),
        (
            404,
            openai("invalid_request_error", "model_not_found"),
            NotFound,
            false,
        ),
        (
            400,
            openai("invalid_request_error", "unknown_parameter"),
            InvalidRequest,
            false,
        ),
        (429, anthropic("rate_limit_error"), RateLimited, true),
        (529, anthropic("overloaded_error"), Overloaded, true),
        (500, anthropic("api_error"), Server, true),
        (402, anthropic("billing_error"), QuotaExhausted, false),
        (413, anthropic("request_too_large"), InvalidRequest, false),
        (429, google("RESOURCE_EXHAUSTED"), RateLimited, true),
        (503, google("UNAVAILABLE"), Overloaded, true),
        (400, google("INVALID_ARGUMENT"), InvalidRequest, false),
        (
            429,
            json!([{"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED"}}]),
            RateLimited,
            true,
        ),
        (429, json!({"error": "slow down"}), RateLimited, true),
        (502, json!("<html>"), Server, true),
        (408, json!({}), Server, true),
        (409, json!({}), Server, true),
        (422, json!({"detail": "wrong"}), InvalidRequest, false),
    ] {
        let refusal = read(status, &body);
        assert_eq!(refusal.kind, Some(kind), "{status} {body}");
        assert_eq!(refusal.is_transient(), transient, "{status} {body}");
    }
    let long = read(400, &anthropic("invalid_request_error"));
    assert_eq!(long.kind, Some(InvalidRequest));
    let long = json!({"type": "error", "error": {
        "type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum",
    }});
    assert_eq!(read(400, &long).kind, Some(ContextWindow));
}

#[test]
fn azure_uses_quota_codes_for_limits_per_minute() {
    let body = json!({"error": {"message": "m", "code": "insufficient_quota"}}).to_string();
    let status = StatusCode::TOO_MANY_REQUESTS;
    for (azure, kind) in [(false, QuotaExhausted), (true, RateLimited)] {
        let refusal = response(status, &HeaderMap::new(), &body, azure);
        assert_eq!(refusal.kind, Some(kind));
    }
}

#[test]
fn quota_of_a_day_is_final_and_quota_of_a_minute_is_not() {
    let body = |id: &str| {
        json!({"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED", "details": [
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": id}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "45.837906927s"},
        ]}})
    };
    let day = read(
        429,
        &body("GenerateRequestsPerDayPerProjectPerModel-FreeTier"),
    );
    assert_eq!(day.kind, Some(QuotaExhausted));
    assert!(!day.is_transient());
    let minute = read(429, &body("GenerateRequestsPerMinutePerProjectPerModel"));
    assert_eq!(minute.kind, Some(RateLimited));
    assert_eq!(
        minute.retry_after,
        Some(Duration::from_nanos(45_837_906_927))
    );
}

#[test]
fn retry_after_headers_set_the_wait() {
    assert_eq!(waits(&[]), None);
    assert_eq!(
        waits(&[("retry-after", "65")]),
        Some(Duration::from_secs(65))
    );
    assert_eq!(
        waits(&[("retry-after", "1.5")]),
        Some(Duration::from_millis(1500))
    );
    assert_eq!(
        waits(&[("retry-after-ms", "250")]),
        Some(Duration::from_millis(250))
    );
    let both = [("retry-after-ms", "250"), ("retry-after", "2")];
    assert_eq!(waits(&both), Some(Duration::from_secs(2)));
    for nonsense in ["-1", "soon", "NaN", "inf", ""] {
        assert_eq!(waits(&[("retry-after", nonsense)]), None, "{nonsense}");
    }
    let past = waits(&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")]);
    assert_eq!(past, Some(Duration::ZERO));
    let future = waits(&[("retry-after", "Fri, 21 Oct 2095 07:28:00 GMT")]).unwrap();
    assert!(future > Duration::from_hours(24 * 365));
}

#[test]
fn header_of_the_provider_decides_whether_to_retry() {
    let read = |status: u16, value: &'static str| {
        let status = StatusCode::from_u16(status).unwrap();
        let headers = headers(&[("x-should-retry", value)]);
        response(status, &headers, "", false).is_transient()
    };
    assert!(!read(500, "false"));
    assert!(read(400, "true"));
    assert!(read(500, "perhaps"));
    let quota = json!({"error": {"code": "insufficient_quota"}}).to_string();
    let headers = headers(&[("x-should-retry", "true")]);
    let refusal = response(StatusCode::TOO_MANY_REQUESTS, &headers, &quota, false);
    assert!(!refusal.is_transient());
}

#[test]
fn page_of_a_proxy_is_quoted_in_part() {
    let page = format!(
        "<html>\n  <body>bad gateway {}</body></html>",
        "x".repeat(1000)
    );
    let refusal = response(StatusCode::BAD_GATEWAY, &HeaderMap::new(), &page, false);
    assert!(refusal.message.starts_with("<html> <body>bad gateway xxx"));
    assert!(refusal.message.chars().count() == 301 && refusal.message.ends_with('…'));
}

#[test]
fn errors_inside_of_replies_are_classified() {
    let read = |names: &[&str]| reported(names, "m", "", &HeaderMap::new(), false);
    for (names, kind) in [
        (&["overloaded_error"][..], Overloaded),
        (&["insufficient_quota"], QuotaExhausted),
        (&["rate_limit_exceeded", "requests"], RateLimited),
        (&["invalid_request_error"], InvalidRequest),
        (&["503"], Overloaded),
        (&["429"], RateLimited),
    ] {
        assert_eq!(read(names).kind, Some(kind), "{names:?}");
    }
    // An unknown error inside a reply has the class `Server` and is retried.
    assert!(read(&["surprise"]).is_transient());
    let azure = reported(&["insufficient_quota"], "m", "", &HeaderMap::new(), true);
    assert_eq!(azure.kind, Some(RateLimited));
}
