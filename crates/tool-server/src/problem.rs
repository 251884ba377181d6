//! Errors as problem details (RFC 9457).

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use serde::Serialize;
use tool_core::store::StoreError;
use tool_core::store::seal::VaultError;
use tool_core::stored::SaveError;
use utoipa::ToSchema;

/// The media type of problem details.
pub(crate) const MEDIA_TYPE: &str = "application/problem+json";

/// The kind of a problem, which determines its status and its `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    Timeout,
    Conflict,
    PreconditionFailed,
    TooLarge,
    UnsupportedMediaType,
    InvalidInput,
    PreconditionRequired,
    Internal,
    Unavailable,
}

impl Kind {
    /// Returns the status, the last part of the `type`, and the title.
    pub(crate) const fn parts(self) -> (StatusCode, &'static str, &'static str) {
        use StatusCode as Status;
        match self {
            Self::BadRequest => (
                Status::BAD_REQUEST,
                "bad-request",
                "The request is malformed",
            ),
            Self::Unauthorized => (
                Status::UNAUTHORIZED,
                "unauthorized",
                "An access token is required",
            ),
            Self::Forbidden => (Status::FORBIDDEN, "forbidden", "The caller may not do this"),
            Self::NotFound => (
                Status::NOT_FOUND,
                "not-found",
                "The resource does not exist",
            ),
            Self::MethodNotAllowed => (
                Status::METHOD_NOT_ALLOWED,
                "method-not-allowed",
                "The resource does not support the method",
            ),
            Self::Timeout => (
                Status::REQUEST_TIMEOUT,
                "request-timeout",
                "The body did not arrive in time",
            ),
            Self::Conflict => (
                Status::CONFLICT,
                "conflict",
                "The state of the resource forbids the change",
            ),
            Self::PreconditionFailed => (
                Status::PRECONDITION_FAILED,
                "precondition-failed",
                "The resource has changed or does not exist",
            ),
            Self::TooLarge => (
                Status::PAYLOAD_TOO_LARGE,
                "too-large",
                "The body is too large",
            ),
            Self::UnsupportedMediaType => (
                Status::UNSUPPORTED_MEDIA_TYPE,
                "unsupported-media-type",
                "The body is not JSON",
            ),
            Self::InvalidInput => (
                Status::UNPROCESSABLE_ENTITY,
                "invalid-input",
                "The body is invalid",
            ),
            Self::PreconditionRequired => (
                Status::PRECONDITION_REQUIRED,
                "precondition-required",
                "The header `If-Match` is required",
            ),
            Self::Internal => (
                Status::INTERNAL_SERVER_ERROR,
                "internal",
                "The server failed",
            ),
            Self::Unavailable => (
                Status::SERVICE_UNAVAILABLE,
                "unavailable",
                "The server is unavailable",
            ),
        }
    }
}

/// An error in the body of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct InputError {
    /// JSON pointer (RFC 6901) of the value in the body.
    pub(crate) pointer: String,
    /// The problem with the value.
    pub(crate) detail: String,
}

/// Returns a key of an object as a step of a JSON pointer.
pub(crate) fn pointer_step(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The problem details of an error (RFC 9457).
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// The stable identifier of the kind of problem.
    #[serde(rename = "type")]
    kind: String,
    /// The kind of problem, for people.
    title: &'static str,
    /// The status of the response.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// The problem with this request, and what to send instead.
    detail: String,
    /// Errors in the body of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<InputError>,
    #[serde(skip)]
    #[schema(ignore)]
    challenge: bool,
}

impl Problem {
    pub(crate) fn new(kind: Kind, detail: impl Into<String>) -> Self {
        let (status, name, title) = kind.parts();
        Self {
            kind: format!("urn:tool-server:{name}"),
            title,
            status: status.as_u16(),
            detail: detail.into(),
            errors: Vec::new(),
            challenge: kind == Kind::Unauthorized,
        }
    }

    /// Creates the problem for unknown rows and for rows of other workspaces. Its text contains no data of the row.
    pub(crate) fn missing(what: &str) -> Self {
        Self::new(
            Kind::NotFound,
            format!(
                "the workspace does not have this {what}: read the list to find an existing one"
            ),
        )
    }

    pub(crate) fn input(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        let error = InputError {
            pointer: pointer.into(),
            detail: detail.into(),
        };
        let mut problem = Self::new(
            Kind::InvalidInput,
            format!("`{}`: {}", error.pointer, error.detail),
        );
        problem.errors.push(error);
        problem
    }

    /// Creates the problem for several errors in the body.
    pub(crate) fn inputs(errors: Vec<InputError>) -> Self {
        let details: Vec<&str> = errors.iter().map(|error| error.detail.as_str()).collect();
        let mut problem = Self::new(Kind::InvalidInput, details.join("; "));
        problem.errors = errors;
        problem
    }

    /// Creates the problem for an error of the store. `what` names the resource.
    pub(crate) fn of_store(error: &StoreError, what: &str) -> Self {
        match error {
            StoreError::Missing(_) => Self::missing(what),
            StoreError::Conflict(why) => Self::new(Kind::Conflict, why.clone()),
            StoreError::Forbidden(why) => Self::new(Kind::Forbidden, why.clone()),
            StoreError::Stale(why) => Self::new(Kind::PreconditionFailed, why.clone()),
            StoreError::Corrupt(_) => {
                tracing::error!(%error, "the server cannot read a stored row");
                Self::new(
                    Kind::Internal,
                    "a stored row cannot be read; the server's log contains the reason",
                )
            }
            // `Unavailable`, and variants that later versions of the non-exhaustive enum add.
            _ => {
                tracing::error!(%error, "the server cannot use the store");
                Self::new(
                    Kind::Unavailable,
                    "the store cannot be used now, try again later; the server's log contains the reason",
                )
            }
        }
    }
}

impl Problem {
    /// Creates the problem for a change of stored tools or functions that was refused or failed. `what` names the resource.
    pub(crate) fn of_save(error: SaveError, what: &str) -> Self {
        match error {
            SaveError::Store(error) => Self::of_store(&error, what),
            SaveError::Rejected(faults) => {
                let faults = faults.into_iter().map(|fault| InputError {
                    pointer: fault.pointer,
                    detail: fault.text,
                });
                Self::inputs(faults.collect())
            }
            // Variants that later versions of the non-exhaustive enum add.
            _ => Self::new(Kind::Internal, "the change was not saved"),
        }
    }
}

impl Problem {
    /// Creates the problem for values that are missing in the body although the body matches its schema.
    pub(crate) fn incomplete(detail: impl Into<String>, errors: Vec<InputError>) -> Self {
        let mut problem = Self::new(Kind::BadRequest, detail);
        problem.errors = errors;
        problem
    }

    /// Creates the problem for an error of the vault. No text of such an error contains a value or a key. `what` names the resource.
    pub(crate) fn of_vault(error: &VaultError, what: &str) -> Self {
        match error {
            VaultError::Store(error) => Self::of_store(error, what),
            VaultError::NoKeys => Self::new(
                Kind::Conflict,
                "the server has no key provider, so it can neither store nor open secrets: set the environment variable `TOOL_SEAL_KEYS` to `ID:KEY`, where KEY is the output of `openssl rand -base64 32`, and restart the server",
            ),
            VaultError::Retired(_) | VaultError::Current(_) => {
                Self::new(Kind::Conflict, error.to_string())
            }
            VaultError::ForeignThread(_) => Self::new(Kind::Forbidden, error.to_string()),
            VaultError::Damaged { .. } => Self::new(Kind::Internal, error.to_string()),
            // Errors of the key provider, and errors of later versions.
            _ => {
                tracing::error!(%error, "the admin API cannot use the keys of the vault");
                Self::new(
                    Kind::Unavailable,
                    "the keys of the vault cannot be used now; the server's log contains the reason",
                )
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (status, [(CONTENT_TYPE, MEDIA_TYPE)], body).into_response();
        let headers = response.headers_mut();
        if self.challenge {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}
