//! Changes that are stored in one transaction with their audit row; idempotency keys; entity tags.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, ETAG};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tool_core::store::{
    Applied, AuditRow, Change, ChangeRequest, Changed, RequestKey, StoreError, Timestamp,
};

use crate::auth::Caller;
use crate::extract::Idempotency;
use crate::problem::Problem;
use crate::state::Inner;

/// Time for which a response is stored for repetitions of its request.
const KEPT: Duration = Duration::from_hours(24);

/// A change that a caller requests.
pub(crate) struct Wanted<'a> {
    pub(crate) change: Change,
    /// The name of the change in the audit, such as `approval.answer`.
    pub(crate) action: &'static str,
    /// Details for the audit. They contain no arguments of tools.
    pub(crate) details: Value,
    /// The ids in the path and the body of the request. Their hash detects an idempotency key that is reused for a different request.
    pub(crate) request: &'a str,
    /// The name of the resource, for the error text about a missing row.
    pub(crate) what: &'static str,
}

impl Inner {
    /// Makes a change for a caller, and returns the text of the response.
    pub(crate) async fn change(
        &self,
        caller: &Caller,
        key: Idempotency,
        wanted: Wanted<'_>,
        respond: fn(&Changed) -> String,
    ) -> Result<String, Problem> {
        let at = Timestamp::now();
        let failed = |error: StoreError| Problem::of_store(&error, wanted.what);
        let audit = AuditRow::of_operator(
            &caller.workspace,
            caller.subject.as_str(),
            wanted.action,
            wanted.details.to_string(),
            at,
        )
        .map_err(failed)?;
        let key = key.of(caller, (wanted.action, wanted.request), at, respond);
        let request = ChangeRequest {
            change: wanted.change,
            audit,
            key,
        };
        match self.store.apply(request).await {
            Ok(Applied::Changed(changed)) => Ok(respond(&changed)),
            Ok(Applied::Repeated(response)) => Ok(response),
            Err(error) => Err(Problem::of_store(&error, wanted.what)),
        }
    }

    /// Writes only the audit row of a change that is made in a different way, such as a change of the policy or a purge.
    pub(crate) async fn note(
        &self,
        caller: &Caller,
        action: &'static str,
        details: Value,
    ) -> Result<(), Problem> {
        let wanted = Wanted {
            change: Change::Note,
            action,
            details,
            request: "",
            what: "audit row",
        };
        self.change(caller, Idempotency(None), wanted, |_| String::new())
            .await
            .map(drop)
    }
}

impl Idempotency {
    /// Returns the key as a store keeps it; `None` if the client sent no key. `action` and `request` identify the request: the name of the change,
    /// and the text of everything that the change depends on.
    pub(crate) fn of<T>(
        self,
        caller: &Caller,
        (action, request): (&str, &str),
        at: Timestamp,
        respond: fn(&T) -> String,
    ) -> Option<RequestKey<T>> {
        self.0.map(|key| RequestKey {
            caller: caller.subject.clone(),
            key,
            fingerprint: digest(&[action, request]),
            at,
            expires: at.plus(KEPT),
            respond,
        })
    }
}

fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_be_bytes());
        hash.update(part.as_bytes());
    }
    hex::encode(hash.finalize())
}

/// Serializes a response as JSON text. The types of this crate always serialize.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Returns the entity tag of a resource, computed from its JSON text.
pub(crate) fn tag(text: &str) -> String {
    let hash = digest(&[text]);
    format!("\"{}\"", &hash[..32])
}

/// Creates a response with a JSON text.
pub(crate) fn answer(text: String) -> Response {
    ([(CONTENT_TYPE, "application/json")], text).into_response()
}

/// Creates a response with the JSON text of a resource, and its entity tag.
pub(crate) fn tagged(text: String) -> Response {
    let tag = tag(&text);
    (
        [(CONTENT_TYPE, "application/json".to_owned()), (ETAG, tag)],
        text,
    )
        .into_response()
}
