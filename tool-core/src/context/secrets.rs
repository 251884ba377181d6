//! The secrets of a turn: secrets that the host supplied, and tokens that tools requested later.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use secrecy::{ExposeSecret, SecretString};

use super::variables::Value;
use super::{ApiKeys, Host, ToolContext};
use crate::error::ToolError;
use crate::redact::Redactor;

/// Maximum number of tokens of one service that are redacted. A context may outlive its turn, and its tokens may be renewed.
const TOKENS: usize = 32;

/// The tokens that a turn got from its `TokenSource`. A context, its calls and the contexts that are derived from it outside of a call share them.
#[derive(Default)]
pub(super) struct RequestedTokens {
    any: AtomicBool,
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    /// Pairs of service and token, oldest first.
    tokens: Vec<(String, SecretString)>,
    /// Redacts these tokens and the host's secrets.
    redactor: Redactor,
}

impl Host {
    /// Returns every secret of the host that can be redacted, sorted by name. The order decides which name is shown if two secrets have the same value.
    pub(super) fn secrets(&self) -> Vec<(String, SecretString)> {
        let secrets = self
            .secrets
            .iter()
            .map(|(key, secret)| (key.clone(), secret));
        let variables = self.variables.iter();
        let variables = variables.filter_map(|(name, value)| match value {
            Value::Secret(secret) => Some((name.clone(), secret)),
            Value::Text(_) => None,
        });
        let keys = self.value::<ApiKeys>();
        let keys = keys.into_iter().flat_map(|ApiKeys(keys)| {
            let keys = keys.iter();
            keys.map(|(provider, key)| (format!("api_key:{provider}"), key))
        });
        let all = secrets.chain(variables).chain(keys);
        let mut all: Vec<(String, SecretString)> = all
            .filter(|(_, secret)| !is_short(secret))
            .map(|(name, secret)| (name, secret.clone()))
            .collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all
    }
}

impl ToolContext {
    /// Returns a text in which the secrets of the turn are replaced, for a log of the host.
    ///
    /// ```
    /// use tool_core::ToolContext;
    ///
    /// let cx = ToolContext::builder().secret("TOKEN", "s3cr3t-t0ken").build();
    /// assert_eq!(cx.redact("refused: s3cr3t-t0ken"), "refused: [secret:TOKEN]");
    /// ```
    pub fn redact(&self, text: &str) -> String {
        self.redactor().redact(text).into_owned()
    }

    /// Returns a redactor for the secrets of the turn that are known now.
    pub(crate) fn redactor(&self) -> Redactor {
        let learned = self.host().learned.as_ref();
        if let Some(learned) = learned.filter(|learned| learned.any.load(Ordering::Acquire)) {
            let state = learned.state.read().unwrap_or_else(PoisonError::into_inner);
            return state.redactor.clone();
        }
        let given = || Redactor::new(self.host().secrets()).unwrap_or_default();
        self.host().redactor.get_or_init(given).clone()
    }

    /// Redacts a token from now on, in every context of the turn. Fails if the token is too short to be redacted.
    pub(super) fn learn(&self, service: &str, token: &SecretString) -> Result<(), ToolError> {
        if is_short(token) {
            return Err(ToolError::unavailable(service).operator(format!(
                "the token of `{service}` has fewer than 6 bytes and cannot be redacted"
            )));
        }
        let Some(learned) = &self.host().learned else {
            return Ok(());
        };
        let mut state = learned
            .state
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let name = format!("oauth:{service}");
        let known = state
            .tokens
            .iter()
            .any(|(other, known)| *other == name && known.expose_secret() == token.expose_secret());
        if known {
            return Ok(());
        }
        let mut own = state
            .tokens
            .iter()
            .enumerate()
            .filter(|(_, (other, _))| *other == name);
        if let (Some((oldest, _)), Some(_)) = (own.next(), own.nth(TOKENS - 2)) {
            state.tokens.remove(oldest);
        }
        state.tokens.push((name, token.clone()));
        let mut all = self.host().secrets();
        all.extend(state.tokens.iter().cloned());
        if let Some(lease) = &self.host().lease {
            lease.replace(all.clone());
        }
        // `learn` refuses and `secrets` leaves out secrets that are too short, so this does not fail.
        state.redactor = Redactor::new(all).unwrap_or_default();
        drop(state);
        learned.any.store(true, Ordering::Release);
        Ok(())
    }

    /// Returns whether the host's secret with this key is too short to be redacted. An empty secret counts as missing.
    pub(crate) fn is_short_secret(&self, key: &str) -> bool {
        let secret = self.host().secrets.get(key);
        secret.is_some_and(|secret| !secret.expose_secret().is_empty() && is_short(secret))
    }
}

/// Returns whether a secret is too short to be redacted.
pub(super) fn is_short(secret: &SecretString) -> bool {
    Redactor::is_short(secret.expose_secret())
}
