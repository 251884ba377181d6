//! Cache of an issuer's keys, which are fetched on demand and cached for as long as the response allows.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jsonwebtoken::DecodingKey;
use tokio::sync::watch;
use tool_store::env;

use super::JwtAlgorithm;
use super::fetch::{FetchedJwks, JwksError, JwksFetcher};
use super::keys::{self, Key, MOST_KEYS};
use crate::AuthError;

/// Shortest time between two fetches, unless [`RETRY`] applies. Without it, each token with an unknown `kid`, which any client can send, would
/// cause a request to the issuer.
const BETWEEN: Duration = Duration::from_secs(30);
/// Shortest time between two fetches if no cached key matches the token and the last response has expired, or no fetch has succeeded yet.
const RETRY: Duration = Duration::from_secs(5);
/// Timeout of a fetch, whether or not the fetcher has its own timeout.
const PATIENCE: Duration = Duration::from_secs(15);
/// Time for which keys are cached if their response has no `max-age`.
const DEFAULT_AGE: Duration = Duration::from_mins(10);
/// Minimum and maximum time for which keys are cached, regardless of the `max-age` of their response.
const AGES: (Duration, Duration) = (BETWEEN, Duration::from_hours(24));

/// The cached keys of an issuer, and their fetcher.
pub(super) struct Cache(Arc<Shared>);

struct Shared {
    fetcher: Box<dyn JwksFetcher>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    keys: Vec<Arc<CachedKey>>,
    /// The number of key sets that were stored so far.
    responses: u64,
    /// The time at which the last response expires; `None` before the first response.
    fresh_until: Option<Instant>,
    /// The time after which the next token starts a fetch in the background.
    refresh_at: Option<Instant>,
    /// The time at which the last fetch began.
    began: Option<Instant>,
    /// A channel that closes when the last fetch has ended; `None` before the first fetch.
    fetching: Option<watch::Receiver<()>>,
}

/// A key and the time at which it expires.
pub(super) struct CachedKey {
    key: Key,
    until: Instant,
    /// The number of the last response that contained the key.
    response: u64,
}

impl CachedKey {
    pub(super) fn decoding(&self) -> &DecodingKey {
        self.key.decoding()
    }
}

/// The reason why no key was found for a token.
enum Missing {
    /// No key matches the token, or several keys match.
    Unknown(&'static str),
    /// No cached key matches the token, and the last response has expired or no fetch has succeeded yet.
    NoKeys,
}

impl Cache {
    pub(super) fn new(fetcher: impl JwksFetcher) -> Self {
        Self(Arc::new(Shared {
            fetcher: Box::new(fetcher),
            state: Mutex::default(),
        }))
    }

    /// Returns the key that verifies a token.
    pub(super) async fn find(
        &self,
        kid: Option<&str>,
        algorithm: JwtAlgorithm,
    ) -> Result<Arc<CachedKey>, AuthError> {
        let fetched = {
            let mut state = self.0.state();
            let now = env::monotonic();
            match state.look_up(kid, algorithm, now) {
                Ok(key) => {
                    if state.refresh_at.is_some_and(|at| now >= at) {
                        self.0.fetch(&mut state, now, BETWEEN);
                    }
                    return Ok(key);
                }
                Err(Missing::Unknown(_)) => self.0.fetch(&mut state, now, BETWEEN),
                Err(Missing::NoKeys) => self.0.fetch(&mut state, now, RETRY),
            }
        };
        if let Some(mut fetched) = fetched {
            // No value is sent on this channel: it closes when its sender is dropped.
            let _ = fetched.changed().await;
        }
        let found = self.0.state().look_up(kid, algorithm, env::monotonic());
        found.map_err(|missing| match missing {
            Missing::Unknown(reason) => AuthError::Rejected(reason),
            Missing::NoKeys => AuthError::Unavailable,
        })
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a fetch, unless a fetch is running or the last fetch began less than `between` ago. Returns a channel that closes when the running
    /// fetch ends, or `None` if no fetch is running.
    ///
    /// The fetch runs in its own task, so that a client that cancels its request does not cancel the fetch: other requests may wait for it, and it
    /// cannot be repeated soon.
    fn fetch(
        self: &Arc<Self>,
        state: &mut State,
        now: Instant,
        between: Duration,
    ) -> Option<watch::Receiver<()>> {
        if let Some(running) = &state.fetching
            && running.has_changed().is_ok()
        {
            return Some(running.clone());
        }
        if state
            .began
            .is_some_and(|began| now.saturating_duration_since(began) < between)
        {
            return None;
        }
        let (ends, ended) = watch::channel(());
        state.began = Some(now);
        state.fetching = Some(ended.clone());
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            let fetched = tokio::time::timeout(PATIENCE, shared.fetcher.fetch()).await;
            let fetched = fetched.unwrap_or_else(|_| Err(JwksError::new("the fetch timed out")));
            let read = fetched.and_then(|fetched| Ok((keys::read(&fetched.body)?, fetched)));
            match read {
                Ok((keys, fetched)) => shared.state().keep(keys, &fetched, now),
                Err(error) => {
                    tracing::warn!(%error, "the keys of the token issuer could not be fetched");
                }
            }
            drop(ends);
        });
        Some(ended)
    }
}

impl State {
    fn look_up(
        &self,
        kid: Option<&str>,
        algorithm: JwtAlgorithm,
        now: Instant,
    ) -> Result<Arc<CachedKey>, Missing> {
        let mut fitting = self.keys.iter().filter(|kept| {
            let named = match kid {
                Some(kid) => kept.key.kid.as_deref() == Some(kid),
                // A token without `kid` can use only the keys of the last response.
                None => kept.response == self.responses,
            };
            named && now < kept.until && kept.key.fits(algorithm)
        });
        match (fitting.next(), fitting.next()) {
            (Some(key), None) => Ok(Arc::clone(key)),
            (Some(_), Some(_)) if kid.is_some() => Err(Missing::Unknown(
                "several keys of the issuer have the token's `kid`",
            )),
            (Some(_), Some(_)) => Err(Missing::Unknown(
                "the token has no `kid`, and several keys of the issuer match",
            )),
            (None, _) if self.fresh_until.is_some_and(|until| now < until) => {
                Err(Missing::Unknown("no key of the issuer matches the token"))
            }
            (None, _) => Err(Missing::NoKeys),
        }
    }

    /// Stores the keys of a response. Cached keys that are missing from the response are kept until they expire, so that issued tokens remain valid
    /// when keys rotate. At most [`MOST_KEYS`] of them are kept.
    fn keep(&mut self, keys: Vec<Key>, fetched: &FetchedJwks, began: Instant) {
        let age = fetched.max_age.unwrap_or(DEFAULT_AGE).clamp(AGES.0, AGES.1);
        let until = began + age;
        let replaced = |old: &CachedKey| keys.iter().any(|key| key.kid == old.key.kid);
        self.keys.retain(|old| began < old.until && !replaced(old));
        self.keys.sort_by_key(|old| std::cmp::Reverse(old.until));
        self.keys.truncate(MOST_KEYS);
        self.responses += 1;
        let response = self.responses;
        let new = keys.into_iter().map(|key| CachedKey {
            key,
            until,
            response,
        });
        self.keys.extend(new.map(Arc::new));
        self.fresh_until = Some(until);
        self.refresh_at = Some(began + (age / 2).max(BETWEEN));
    }
}
