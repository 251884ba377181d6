//! Fetching, caching and rotation of the issuer's keys.

use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use super::issuer::Reply;
use super::signer::{OTHER_RSA, RSA, Signer};
use super::{Setup, claims};
use crate::support::until;

const UNKNOWN: &str = "no key of the issuer matches the token";

// Tokens of the old and the new key are accepted while keys rotate.
#[tokio::test]
async fn tokens_of_old_and_new_keys_are_accepted_while_keys_rotate() {
    let setup = Setup::of(&[]).await;
    setup.issuer.publish(&[&RSA], Some(600));
    let (old, new) = (RSA.token(&claims()), OTHER_RSA.token(&claims()));
    assert_eq!(setup.status(&old).await, 200);
    // The issuer now signs with a new key, and publishes only that key.
    setup.issuer.publish(&[&OTHER_RSA], Some(600));
    setup.refuses(&new, UNKNOWN).await;
    setup.clock.advance(Duration::from_secs(31));
    let both = join_all([&new, &old, &new, &old].map(|token| setup.status(token))).await;
    assert_eq!(both, [200; 4]);
    assert_eq!(setup.issuer.fetches(), 2);
    // The cached key of the old response has expired, but the cached key of the new response has not.
    setup.clock.advance(Duration::from_secs(570));
    setup.refuses(&old, UNKNOWN).await;
    assert_eq!(setup.status(&new).await, 200);
}

// A key that was removed from the set is refused once it has expired.
#[tokio::test]
async fn revoked_key_is_refused_after_its_cache_lifetime() {
    let setup = Setup::of(&[]).await;
    setup.issuer.publish(&[&RSA, &OTHER_RSA], Some(300));
    let (revoked, kept) = (RSA.token(&claims()), OTHER_RSA.token(&claims()));
    assert_eq!(setup.status(&revoked).await, 200);
    setup.issuer.publish(&[&OTHER_RSA], Some(300));
    setup.clock.advance(Duration::from_secs(301));
    setup.refuses(&revoked, UNKNOWN).await;
    assert_eq!(setup.status(&kept).await, 200);
    // The issuer revokes all keys.
    setup.issuer.publish(&[], Some(300));
    setup.clock.advance(Duration::from_secs(301));
    setup.refuses(&kept, UNKNOWN).await;
}

#[tokio::test]
async fn key_with_the_same_kid_replaces_the_old_one() {
    let new = Signer::rsa("rsa-1");
    let setup = Setup::of(&[]).await;
    setup.issuer.publish(&[&RSA], Some(3600));
    assert_eq!(setup.status(&RSA.token(&claims())).await, 200);
    setup.issuer.publish(&[&new], Some(3600));
    setup.clock.advance(Duration::from_secs(40));
    // A token with an unknown key triggers a fetch.
    setup.refuses(&OTHER_RSA.token(&claims()), UNKNOWN).await;
    assert_eq!(setup.status(&new.token(&claims())).await, 200);
    setup
        .refuses(&RSA.token(&claims()), "the token's signature is wrong")
        .await;
}

#[tokio::test]
async fn two_keys_with_the_same_kid_are_refused() {
    let mut twin = OTHER_RSA.jwk();
    twin["kid"] = json!("rsa-1");
    let p256 = Signer::p256("rsa-1");
    let setup = Setup::of(&[]).await;
    setup
        .issuer
        .publish_keys(&[RSA.jwk(), twin, p256.jwk()], None);
    let twice = "several keys of the issuer have the token's `kid`";
    setup.refuses(&RSA.token(&claims()), twice).await;
    // Keys with the same `kid` can differ by their type (RFC 7517, section 4.5).
    assert_eq!(setup.status(&p256.token(&claims())).await, 200);
}

// Many requests with unknown keys cause one fetch in 30 seconds.
#[tokio::test]
async fn unknown_keys_are_fetched_once_in_thirty_seconds() {
    let setup = Setup::of(&[]).await;
    setup.issuer.publish(&[&RSA], Some(3600));
    let good = RSA.token(&claims());
    assert_eq!(setup.status(&good).await, 200);
    let unknown: Vec<_> = (0..100)
        .map(|number| {
            RSA.with_header(
                &json!({ "alg": "RS256", "kid": format!("k{number}") }),
                &claims(),
            )
        })
        .collect();
    let all = || join_all(unknown.iter().map(|token| setup.status(token)));
    assert!(all().await.iter().all(|status| *status == 401));
    assert_eq!(
        setup.issuer.fetches(),
        1,
        "the keys were fetched a moment ago"
    );
    setup.clock.advance(Duration::from_secs(31));
    setup.issuer.delay(Duration::from_millis(200));
    assert!(all().await.iter().all(|status| *status == 401));
    assert_eq!(setup.issuer.fetches(), 2);
    setup.clock.advance(Duration::from_secs(29));
    assert!(all().await.iter().all(|status| *status == 401));
    assert_eq!(setup.issuer.fetches(), 2);
    assert_eq!(setup.status(&good).await, 200);
}

#[tokio::test]
async fn first_requests_share_one_fetch() {
    let setup = Setup::of(&[&RSA]).await;
    setup.issuer.delay(Duration::from_millis(200));
    let token = RSA.token(&claims());
    let all = join_all((0..50).map(|_| setup.status(&token))).await;
    assert!(all.iter().all(|status| *status == 200));
    assert_eq!(setup.issuer.fetches(), 1);
}

// If a client could cancel the only fetch of 30 seconds, every other client would be refused.
#[tokio::test]
async fn disconnected_client_does_not_cancel_the_key_fetch() {
    let setup = Setup::of(&[&RSA]).await;
    setup.issuer.delay(Duration::from_millis(200));
    let token = RSA.token(&claims());
    let mut stream = tokio::net::TcpStream::connect(setup.web.address)
        .await
        .unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\ncontent-length: 0\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    until(|| setup.issuer.fetches() == 1).await;
    drop(stream);
    assert_eq!(setup.status(&token).await, 200);
    assert_eq!(setup.issuer.fetches(), 1);
}

// Keys stay valid until they expire while the endpoint is down.
#[tokio::test]
async fn keys_keep_their_lifetime_while_the_endpoint_is_down() {
    let setup = Setup::of(&[]).await;
    setup.issuer.publish(&[&RSA], Some(600));
    let token = RSA.token(&claims());
    assert_eq!(setup.status(&token).await, 200);
    setup.issuer.reply(Reply::Nothing);
    // After half of the lifetime of the keys, a request starts a fetch in the background, but not within 30 seconds of the previous fetch.
    for passed in [310, 100, 100, 80] {
        setup.clock.advance(Duration::from_secs(passed));
        let fetches = setup.issuer.fetches();
        // The previous fetch may not have ended yet.
        while setup.issuer.fetches() == fetches {
            assert_eq!(setup.status(&token).await, 200);
        }
    }
    setup.clock.advance(Duration::from_secs(20));
    let refused = setup.call(&token).await;
    assert_eq!(
        (refused.status.as_u16(), refused.header("retry-after")),
        (503, "5")
    );
    assert_eq!(
        refused.header("www-authenticate"),
        "",
        "the token may be valid"
    );
    // The keys are fetched again after a while, but not for every request. The first request may have waited for a fetch that was already running.
    assert_eq!(setup.status(&token).await, 503);
    let fetches = setup.issuer.fetches();
    assert_eq!(setup.status(&token).await, 503);
    assert_eq!(setup.issuer.fetches(), fetches);
    setup.issuer.publish(&[&RSA], Some(600));
    setup.clock.advance(Duration::from_secs(6));
    assert_eq!(setup.status(&token).await, 200);
}

#[tokio::test]
async fn keys_are_refreshed_before_they_expire() {
    let setup = Setup::of(&[]).await;
    setup.issuer.publish(&[&RSA], Some(600));
    let token = RSA.token(&claims());
    assert_eq!(setup.status(&token).await, 200);
    setup.clock.advance(Duration::from_secs(290));
    assert_eq!(setup.status(&token).await, 200);
    assert_eq!(setup.issuer.fetches(), 1);
    setup.issuer.delay(Duration::from_millis(300));
    setup.clock.advance(Duration::from_secs(20));
    let began = std::time::Instant::now();
    assert_eq!(setup.status(&token).await, 200);
    assert!(
        began.elapsed() < Duration::from_millis(250),
        "the request does not wait for the fetch"
    );
    until(|| setup.issuer.fetches() == 2).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    setup.issuer.reply(Reply::Nothing);
    // The lifetime of the second response begins with that response.
    setup.clock.advance(Duration::from_secs(400));
    assert_eq!(setup.status(&token).await, 200);
}

#[tokio::test]
async fn no_store_keys_are_cached_for_thirty_seconds() {
    let setup = Setup::of(&[]).await;
    let set = json!({ "keys": [RSA.jwk()] }).to_string();
    setup.issuer.reply(Reply::Response(
        200,
        "cache-control: no-store\r\n".to_owned(),
        set.into(),
    ));
    let token = RSA.token(&claims());
    for _ in 0..20 {
        assert_eq!(setup.status(&token).await, 200);
    }
    assert_eq!(setup.issuer.fetches(), 1);
    setup.clock.advance(Duration::from_secs(31));
    assert_eq!(setup.status(&token).await, 200);
    assert_eq!(setup.issuer.fetches(), 2);
}

#[tokio::test]
async fn keys_are_cached_for_at_most_one_day() {
    let setup = Setup::of(&[]).await;
    setup.issuer.publish(&[&RSA], Some(u64::MAX));
    let mut claims = claims();
    claims["exp"] = json!(super::now() + 1_000_000);
    let token = RSA.token(&claims);
    assert_eq!(setup.status(&token).await, 200);
    setup.issuer.reply(Reply::Nothing);
    setup.clock.advance(Duration::from_hours(25));
    assert_eq!(setup.status(&token).await, 503);
}
