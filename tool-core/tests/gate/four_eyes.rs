//! Four-eyes approvals when several rules and policies require an approval.

use tool_core::policy::{Condition, Policy, PolicyVerdict, Rule, SharedPolicy};
use tool_core::prelude::*;
use tool_core::{ApprovalError, Reply, Rules};

use crate::support::{Host, count, pay, placed, send_mail, ticket};

fn asks(name: &str) -> Rule {
    Rule::ask(name).tools(["send_mail"])
}

fn policy(rules: impl IntoIterator<Item = Rule>) -> SharedPolicy {
    let policy = Policy::builder().otherwise(PolicyVerdict::Allow);
    policy.rules(rules).share().unwrap()
}

fn toolset(host: &Host, rules: &Rules) -> Toolset {
    let registry = Registry::builder()
        .tool::<send_mail>()
        .tool::<pay>()
        .build()
        .unwrap();
    registry.toolset(&host.ann(), rules).through(&host.gate)
}

/// Returns whether ann is refused as the approver of her own call. If she is refused, bob approves the call.
async fn wants_another(host: &Host, tools: &Toolset, position: u32) -> bool {
    let cx = placed(&host.ann(), position);
    let call = ToolCall::new("c", "send_mail", r#"{"to":"bob"}"#);
    let asked = ticket(&tools.call(call, &cx).await);
    let answer = async |approver: &str| {
        let acme = "acme".into();
        let approvals = host.approvals();
        approvals
            .answer(&acme, tools, &asked.token, Reply::Approve, approver, None)
            .await
    };
    let nobody = answer(" ").await;
    assert!(matches!(nobody, Err(ApprovalError::Store(_))), "{nobody:?}");
    let own = answer("ann").await.is_err();
    assert_eq!(own, asked.four_eyes);
    if own {
        answer("bob").await.unwrap();
    }
    own
}

// A four-eyes rule applies even if a plain ask rule comes first, a parent policy asks, or toolsets are combined
#[tokio::test]
async fn four_eyes_of_every_asking_policy_apply() {
    let host = Host::new();
    let (plain, strict) = (
        || policy([asks("plain")]),
        || policy([asks("strict").four_eyes()]),
    );
    let of = |policy: &SharedPolicy| Rules::default().policy(policy);
    let fails = Condition::new("/to").greater(1);
    let applies_not = Condition::new("/to").equals("eve");
    let rules: Vec<(&str, Rules, bool)> = vec![
        ("one rule", of(&plain()), false),
        (
            "a plain rule first",
            of(&policy([asks("a"), asks("b"), asks("c").four_eyes()])),
            true,
        ),
        (
            "a strict rule first",
            of(&policy([asks("a").four_eyes(), asks("b")])),
            true,
        ),
        (
            "a strict rule about other arguments",
            of(&policy([
                asks("a"),
                asks("b").when(applies_not).four_eyes(),
            ])),
            false,
        ),
        (
            "a strict rule whose condition fails",
            of(&policy([asks("a"), asks("b").when(fails).four_eyes()])),
            true,
        ),
        (
            "a strict parent",
            of(&plain()).for_sub_agent(&of(&strict())),
            true,
        ),
        (
            "a strict child",
            of(&strict()).for_sub_agent(&of(&plain())),
            true,
        ),
        (
            "a strict grandparent",
            of(&plain()).for_sub_agent(&of(&plain()).for_sub_agent(&of(&strict()))),
            true,
        ),
    ];
    for (position, (name, rules, strict)) in (0..).zip(rules) {
        let tools = toolset(&host, &rules);
        assert_eq!(
            wants_another(&host, &tools, position).await,
            strict,
            "{name}"
        );
    }
    let others = |policy: &SharedPolicy| {
        let registry = Registry::builder().tool::<count>().build().unwrap();
        registry
            .toolset(&host.ann(), &of(policy))
            .through(&host.gate)
    };
    let one = toolset(&host, &of(&plain())).combine(&others(&strict()));
    assert!(wants_another(&host, &one.unwrap(), 20).await);
    let two = toolset(&host, &of(&strict())).combine(&others(&plain()));
    assert!(wants_another(&host, &two.unwrap(), 21).await);
}

// An approval by the requester becomes invalid when a rule requires four eyes
#[tokio::test]
async fn an_approval_of_the_requester_does_not_outlive_a_stricter_rule() {
    for strict_parent in [true, false] {
        let host = Host::new();
        let (first, second) = (policy([asks("first")]), policy([]));
        let of = |policy| Rules::default().policy(policy);
        let rules = if strict_parent {
            of(&first).for_sub_agent(&of(&second))
        } else {
            of(&second).for_sub_agent(&of(&first))
        };
        let tools = toolset(&host, &rules);
        let call = || ToolCall::new("c", "send_mail", r#"{"to":"bob"}"#);
        let mut asked = Vec::new();
        for position in [1, 2] {
            let cx = placed(&host.ann(), position);
            let ticket = ticket(&tools.call(call(), &cx).await);
            let (approvals, acme) = (host.approvals(), "acme".into());
            let answered =
                approvals.answer(&acme, &tools, &ticket.token, Reply::Approve, "ann", None);
            answered.await.unwrap();
            asked.push(ticket);
        }
        // The first policy, which asked, is unchanged. The second policy now requires four eyes.
        second.replace(
            Policy::builder()
                .otherwise(PolicyVerdict::Allow)
                .rules([asks("second").four_eyes()])
                .build()
                .unwrap(),
        );
        let cx = placed(&host.ann(), 1);
        let anew = ticket(&tools.resume(&asked[0].token, &cx).await);
        assert!(anew.four_eyes && anew.id != asked[0].id);
        let anew = ticket(&tools.call(call(), &placed(&host.ann(), 2)).await);
        assert!(anew.four_eyes && anew.id != asked[1].id);
        assert_eq!(host.mailbox.sent(), 0);
    }
}
