//! Tests of JSON Web Tokens as access tokens: a real issuer over HTTP, and a real server that verifies its tokens.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod endpoint;
mod issuer;
mod keys;
mod signer;
mod tokens;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tool_core::env::{Entered, Env, Task, Work};
use tool_core::prelude::*;
use tool_core::store::Timestamp;
use tool_mcp::{
    Auth, HttpJwks, HttpOptions, JwtAlgorithm, JwtVerifier, JwtVerifierBuilder, McpServer,
    Principal, Tools,
};

use crate::support::web::{Answer, Web};
use issuer::Issuer;
use signer::Signer;

/// The resource address of the test server.
const RESOURCE: &str = "https://mcp.example.com/mcp";
/// The issuer that the test server trusts.
const ISSUER: &str = "https://login.example.com";

/// Returns the user and the workspace of the call.
#[tool(read_only)]
fn whoami(cx: &ToolContext) -> String {
    format!("{:?} in {:?}", cx.user(), cx.workspace())
}

/// Takes an item from the store.
#[tool(read_only)]
fn take() -> String {
    "taken".to_owned()
}

/// A server that requires tokens, and the issuer of its tokens.
struct Setup {
    web: Web,
    issuer: Issuer,
    clock: Arc<Clock>,
    _entered: Entered,
}

impl Setup {
    /// Starts a server and an issuer that publishes the keys of these signers.
    async fn of(signers: &[&Signer]) -> Self {
        Self::with(signers, |verifier| verifier).await
    }

    async fn with(
        signers: &[&Signer],
        change: impl FnOnce(JwtVerifierBuilder) -> JwtVerifierBuilder,
    ) -> Self {
        let issuer = Issuer::of(signers).await;
        let keys = HttpJwks::new(&issuer.url()).unwrap();
        Self::from(issuer, keys.timeout(Duration::from_millis(500)), change).await
    }

    async fn from(
        issuer: Issuer,
        keys: HttpJwks,
        change: impl FnOnce(JwtVerifierBuilder) -> JwtVerifierBuilder,
    ) -> Self {
        let clock = Arc::new(Clock::default());
        let entered = tool_core::env::enter(Arc::clone(&clock) as Arc<dyn Env>);
        let verifier = JwtVerifier::builder(ISSUER, keys).algorithms(ALGORITHMS);
        let auth = Auth::new(RESOURCE, change(verifier).build().unwrap())
            .issuer(ISSUER)
            .scope("tools:call");
        let options = HttpOptions::new().auth(auth);
        Self {
            web: Web::of(&server(), options).await,
            issuer,
            clock,
            _entered: entered,
        }
    }

    /// Calls `whoami` with a token.
    async fn call(&self, token: &str) -> Answer {
        let authorization = format!("Bearer {token}");
        let headers = [("authorization", authorization.as_str())];
        let params = json!({ "name": "whoami" });
        self.web.modern(&headers, "tools/call", params).await
    }

    async fn status(&self, token: &str) -> u16 {
        self.call(token).await.status.as_u16()
    }

    /// Asserts that the token is refused as invalid for this reason.
    async fn refuses(&self, token: &str, reason: &str) {
        let refused = self.call(token).await;
        let shown: String = token.chars().take(80).collect();
        assert_eq!(refused.status, 401, "{shown}: {refused:?}");
        let challenge = refused.header("www-authenticate");
        assert!(
            challenge.starts_with(r#"Bearer error="invalid_token", "#),
            "{challenge}"
        );
        assert!(challenge.contains("resource_metadata="), "{challenge}");
        let described = format!(r#"error_description="{reason}""#);
        assert!(challenge.contains(&described), "{shown}: {challenge}");
    }
}

const ALGORITHMS: [JwtAlgorithm; 5] = [
    JwtAlgorithm::Rs256,
    JwtAlgorithm::Ps256,
    JwtAlgorithm::Es256,
    JwtAlgorithm::Es384,
    JwtAlgorithm::EdDsa,
];

/// Returns a server whose tool `take` requires the scope `tools:take`.
fn server() -> McpServer {
    let registry = Registry::builder().tool::<whoami>().tool::<take>();
    let registry = registry.build().unwrap();
    let tools = Tools::ruled(registry, |cx| {
        let principal = cx.extension::<Principal>();
        let may_take = principal.is_some_and(|who| who.scopes.iter().any(|s| s == "tools:take"));
        let rules = tool_core::Rules::default();
        if may_take {
            rules
        } else {
            rules.deny(["take"])
        }
    });
    McpServer::builder(tools)
        .context(|caller| {
            let mut cx = ToolContext::builder();
            if let Some(principal) = caller.principal() {
                cx = cx.user(&principal.subject).with(principal.clone());
                if let Some(workspace) = &principal.workspace {
                    cx = cx.workspace(workspace);
                }
            }
            cx.build()
        })
        .build()
}

/// Returns the claims of a valid token.
fn claims() -> Value {
    json!({
        "iss": ISSUER,
        "aud": RESOURCE,
        "sub": "alice",
        "exp": now() + 3600,
        "scope": "tools:call",
    })
}

/// Returns the claims of a valid token with one claim changed.
fn with(name: &str, value: impl Into<Value>) -> Value {
    let mut claims = claims();
    claims[name] = value.into();
    claims
}

fn without(name: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().unwrap().remove(name);
    claims
}

/// Returns the seconds since the epoch, by the test's clock.
fn now() -> i64 {
    Timestamp::now().as_millis() / 1000
}

/// A clock that runs in real time and that a test can advance.
#[derive(Default)]
struct Clock {
    /// The offset in milliseconds.
    ahead: AtomicI64,
}

impl Clock {
    fn advance(&self, time: Duration) {
        let millis = i64::try_from(time.as_millis()).unwrap();
        self.ahead.fetch_add(millis, Ordering::SeqCst);
    }

    fn ahead(&self) -> Duration {
        Duration::from_millis(self.ahead.load(Ordering::SeqCst).try_into().unwrap())
    }
}

impl Env for Clock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + self.ahead();
        Timestamp::from_millis(since.as_millis().try_into().unwrap())
    }

    fn monotonic(&self) -> Instant {
        Instant::now() + self.ahead()
    }

    fn random(&self, bytes: &mut [u8]) -> std::io::Result<()> {
        aws_lc_rs::rand::fill(bytes).map_err(std::io::Error::other)
    }

    fn spawn(&self, task: Task) {
        tokio::spawn(task);
    }

    fn spawn_blocking(&self, work: Work) {
        tokio::task::spawn_blocking(work);
    }
}
