//! Rates, quotas and concurrency limits by tenant, principal and tool. Most tests pause the clock and advance it.

#![cfg(feature = "host")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the real clock and spawn their own tasks"
)]

use std::time::Duration;

use tokio::time::advance;
use tool_core::limits::{Limit, LimitGuard, LimitScope, Limits};
use tool_core::prelude::*;
use tool_core::{ErrorKind, ToolDef};

/// Returns the number of a record.
#[tool(read_only)]
fn look_up() -> u32 {
    1
}

/// Sends a message to a user.
#[tool]
fn send() -> u32 {
    1
}

const LOOK_UP: ToolDef = <look_up as Tool>::DEF;
const SEND: ToolDef = <send as Tool>::DEF;
const MINUTE: Duration = Duration::from_mins(1);

fn cx(workspace: &str, user: &str) -> ToolContext {
    ToolContext::builder()
        .workspace(workspace)
        .user(user)
        .build()
}

fn limits(limits: impl IntoIterator<Item = Limit>) -> Limits {
    let mut builder = Limits::builder();
    for limit in limits {
        builder = builder.limit(limit);
    }
    builder.build().unwrap()
}

/// Makes a call that ends immediately.
fn passes(limits: &Limits, cx: &ToolContext, tool: &ToolDef) {
    drop(limits.enter(cx, tool).unwrap());
}

/// Returns the wait that the refusal states.
fn refused(outcome: Result<LimitGuard, ToolError>) -> Duration {
    let error = outcome.expect_err("the call was allowed");
    assert_eq!(error.kind(), ErrorKind::RateLimited);
    error.wait().expect("the refusal states a wait")
}

// A rate allows a burst, and then one call per interval.
#[tokio::test(start_paused = true)]
async fn a_rate_refills_evenly() {
    let limits = limits([Limit::rate(6, MINUTE).per(LimitScope::Principal)]);
    let ann = cx("acme", "ann");
    for _ in 0..6 {
        passes(&limits, &ann, &LOOK_UP);
    }
    let wait = refused(limits.enter(&ann, &SEND));
    assert_eq!(wait, Duration::from_secs(10));
    advance(wait).await;
    passes(&limits, &ann, &SEND);
    refused(limits.enter(&ann, &SEND));
}

// A quota that is used up is available again in the next window.
#[tokio::test(start_paused = true)]
async fn a_quota_is_spent_until_its_window_ends() {
    let limits = limits([Limit::quota(3, MINUTE).per(LimitScope::Tenant)]);
    let (ann, bob) = (cx("acme", "ann"), cx("acme", "bob"));
    passes(&limits, &ann, &LOOK_UP);
    advance(Duration::from_secs(20)).await;
    passes(&limits, &bob, &LOOK_UP);
    passes(&limits, &ann, &LOOK_UP);
    assert_eq!(
        refused(limits.enter(&bob, &LOOK_UP)),
        Duration::from_secs(40)
    );
    // A different tenant has its own quota.
    passes(&limits, &cx("other", "bob"), &LOOK_UP);
    advance(Duration::from_secs(40)).await;
    for _ in 0..3 {
        passes(&limits, &bob, &LOOK_UP);
    }
    assert_eq!(refused(limits.enter(&bob, &LOOK_UP)), MINUTE);
}

// A limit counts concurrent calls by their live guards.
#[tokio::test(start_paused = true)]
async fn concurrent_calls_are_counted_by_live_guards() {
    let limits = limits([Limit::at_once(2).per(LimitScope::Principal)]);
    let (ann, bob) = (cx("acme", "ann"), cx("acme", "bob"));
    let first = limits.enter(&ann, &LOOK_UP).unwrap();
    let second = limits.enter(&ann, &SEND).unwrap();
    refused(limits.enter(&ann, &LOOK_UP));
    let _bob = limits.enter(&bob, &LOOK_UP).unwrap();
    drop(first);
    let _third = limits.enter(&ann, &LOOK_UP).unwrap();
    refused(limits.enter(&ann, &LOOK_UP));
    // A guard may be dropped on another thread, as happens for a body that outlives its call.
    std::thread::spawn(move || drop(second)).join().unwrap();
    passes(&limits, &ann, &LOOK_UP);
}

// A limit of the host counts all calls, a limit per tenant counts the calls of one workspace, and a limit per principal counts the calls of one user
// of one workspace.
#[tokio::test(start_paused = true)]
async fn equal_users_of_two_workspaces_have_separate_limits() {
    for (per, other_user, other_tenant) in [
        (LimitScope::Host, false, false),
        (LimitScope::Tenant, false, true),
        (LimitScope::Principal, true, true),
    ] {
        let limits = limits([Limit::quota(1, MINUTE).per(per)]);
        passes(&limits, &cx("acme", "ann"), &SEND);
        refused(limits.enter(&cx("acme", "ann"), &SEND));
        assert_eq!(
            limits.enter(&cx("acme", "bob"), &SEND).is_ok(),
            other_user,
            "{per:?}"
        );
        assert_eq!(
            limits.enter(&cx("other", "ann"), &SEND).is_ok(),
            other_tenant,
            "{per:?}"
        );
    }
    // Anonymous callers share a key that no named principal has.
    let limits = limits([Limit::quota(1, MINUTE).per(LimitScope::Principal)]);
    passes(&limits, &ToolContext::anonymous(), &SEND);
    passes(&limits, &cx("", ""), &SEND);
    refused(limits.enter(&ToolContext::anonymous(), &SEND));
}

// A limit counts the calls of all tools together, of each tool separately, or only of the tools that it names.
#[tokio::test(start_paused = true)]
async fn tools_are_counted_together_or_apart() {
    let ann = cx("acme", "ann");
    let together = limits([Limit::quota(1, MINUTE)]);
    passes(&together, &ann, &SEND);
    refused(together.enter(&ann, &LOOK_UP));

    let apart = limits([Limit::quota(1, MINUTE).each_tool()]);
    passes(&apart, &ann, &SEND);
    passes(&apart, &ann, &LOOK_UP);
    refused(apart.enter(&ann, &SEND));

    let named = limits([Limit::quota(1, MINUTE).tools(["send"])]);
    passes(&named, &ann, &SEND);
    refused(named.enter(&ann, &SEND));
    for _ in 0..3 {
        passes(&named, &ann, &LOOK_UP);
    }
}

// A call that one limit refuses does not use the quotas and slots of the other limits.
#[tokio::test(start_paused = true)]
async fn refused_call_uses_no_other_limit() {
    let limits = limits([
        Limit::quota(2, MINUTE).per(LimitScope::Tenant),
        Limit::at_once(1).per(LimitScope::Host),
        Limit::quota(1, MINUTE).per(LimitScope::Principal),
    ]);
    let ann = limits.enter(&cx("acme", "ann"), &SEND).unwrap();
    // The call is refused because the only slot is taken.
    refused(limits.enter(&cx("acme", "bob"), &SEND));
    drop(ann);
    // The calls are refused because ann's own quota is used up.
    for _ in 0..3 {
        refused(limits.enter(&cx("acme", "ann"), &SEND));
    }
    passes(&limits, &cx("acme", "bob"), &SEND);
    refused(limits.enter(&cx("acme", "cid"), &SEND));
}

// The refusal states the wait of the limit that refuses the call. Quotas are checked before rates.
#[tokio::test(start_paused = true)]
async fn retry_after_comes_from_the_limit_that_refuses() {
    let limits = limits([
        Limit::rate(1, Duration::from_secs(5)),
        Limit::quota(1, MINUTE),
    ]);
    let ann = cx("acme", "ann");
    passes(&limits, &ann, &SEND);
    assert_eq!(refused(limits.enter(&ann, &SEND)), MINUTE);
}

// Idle keys are evicted. While no key is idle, callers beyond the maximum number of keys are refused.
#[tokio::test(start_paused = true)]
async fn idle_keys_are_evicted_and_excess_callers_refused() {
    let limits = Limits::builder()
        .limit(Limit::rate(1, MINUTE).per(LimitScope::Principal))
        .limit(Limit::quota(1, MINUTE).per(LimitScope::Principal))
        .limit(Limit::at_once(1).per(LimitScope::Principal))
        .most_keys(100)
        .build()
        .unwrap();
    for round in 0..5 {
        for user in 0..100 {
            passes(&limits, &cx("acme", &format!("{round}-{user}")), &SEND);
        }
        assert!(limits.keys() <= 300);
        // The window of each key has not ended, so no key can be evicted.
        refused(limits.enter(&cx("acme", "one more"), &SEND));
        refused(limits.enter(&cx("acme", &format!("{round}-0")), &SEND));
        advance(MINUTE).await;
    }
    let held = limits.enter(&cx("acme", "ann"), &SEND).unwrap();
    advance(MINUTE).await;
    for user in 0..99 {
        passes(&limits, &cx("acme", &format!("last-{user}")), &SEND);
    }
    // A key with a live guard is not evicted, although idle keys are.
    advance(MINUTE).await;
    passes(&limits, &cx("acme", "makes room"), &SEND);
    refused(limits.enter(&cx("acme", "ann"), &SEND));
    drop(held);
    passes(&limits, &cx("acme", "ann"), &SEND);
}

// A limit that can never allow a call is an error when it is built.
#[test]
fn limits_that_allow_no_call_are_refused() {
    for limit in [
        Limit::rate(0, MINUTE),
        Limit::rate(1, Duration::ZERO),
        Limit::rate(2, Duration::from_nanos(1)),
        Limit::quota(0, MINUTE),
        Limit::quota(1, Duration::ZERO),
        Limit::at_once(0),
    ] {
        assert!(Limits::builder().limit(limit).build().is_err());
    }
    assert_eq!(
        Limits::builder()
            .limit(Limit::at_once(0))
            .build()
            .unwrap_err()
            .to_string(),
        "limit 1 allows no calls, hide the tool instead"
    );
}

// 100 concurrent tasks use exactly the quota.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quota_is_exact_under_contention() {
    let limits = limits([
        Limit::quota(37, MINUTE * 60).per(LimitScope::Tenant),
        Limit::rate(1_000, MINUTE),
    ]);
    let tasks = (0..100).map(|user| {
        let limits = limits.clone();
        tokio::spawn(async move { limits.enter(&cx("acme", &user.to_string()), &SEND).is_ok() })
    });
    let mut through = 0;
    for task in tasks.collect::<Vec<_>>() {
        through += u32::from(task.await.unwrap());
    }
    assert_eq!(through, 37);
}
