//! Forged and reused approvals: no call runs without its own approval.

use tool_core::policy::{Condition, Policy, Rule, SharedPolicy};
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, Scope};
use tool_core::{Approvals, ErrorKind, Gate, KeyRing, Reply, Rules, Ticket};

use crate::support::{Host, Mailbox, count, kind, mail, pay, placed, send_mail, ticket};

async fn refused(host: &Host, token: &str, cx: &ToolContext, what: &str) {
    let result = host.tools.resume(token, cx).await;
    assert_eq!(kind(&result), Some(ErrorKind::Denied), "{what}: {result:?}");
    assert_eq!(host.mailbox.sent(), 0, "{what}");
}

// M5, S2-16: a forged, changed or foreign token is refused.
#[tokio::test]
async fn forged_approval_tokens_are_refused() {
    let host = Host::new();
    let Ticket { token, .. } = host.asked().await;
    let ticket = host
        .approvals()
        .list(Scope::All, &tool_core::store::ApprovalFilter::default())
        .await
        .unwrap()
        .remove(0);
    host.approvals()
        .answer_id(
            &"acme".into(),
            &host.tools,
            &ticket.request.id,
            Reply::Approve,
            "boss",
            None,
        )
        .await
        .unwrap();
    let cx = host.ann();

    for invented in [
        "",
        "ta2",
        "ta2.process.e30.AAAA",
        &token[..token.len() - 4],
        &format!("{token}A"),
        &token.replacen("ta2", "ta1", 1),
    ] {
        refused(&host, invented, &cx, invented).await;
    }
    // A token with one changed character is refused; every seventh character is tried.
    for at in (0..token.len()).step_by(7) {
        let mut bytes = token.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap();
        if changed != token {
            refused(&host, &changed, &cx, &changed).await;
        }
    }
    // A token of a different host is refused, because it is signed with a different key.
    let other = Host::new();
    let theirs = other.asked().await;
    refused(&host, &theirs.token, &cx, "another host").await;

    refused(
        &host,
        &token,
        &host.of("acme", "eve", "th-1"),
        "another principal",
    )
    .await;
    refused(
        &host,
        &token,
        &host.of("globex", "ann", "th-1"),
        "another tenant",
    )
    .await;
    refused(&host, &token, &ToolContext::anonymous(), "nobody").await;

    // The real token is still valid.
    assert_eq!(
        host.tools.resume(&token, &cx).await.model_text(),
        "sent to bob"
    );
    assert_eq!(host.mailbox.sent(), 1);
}

// M5: an approval row that was tampered with is refused.
#[tokio::test]
async fn a_row_that_was_tampered_with_is_refused() {
    let host = Host::new();
    let ticket = host.asked().await;
    let filter = tool_core::store::ApprovalFilter::default();
    let row = host
        .approvals()
        .list(Scope::All, &filter)
        .await
        .unwrap()
        .remove(0);

    // The second host has the same keys, but its store contains a different row under the same id.
    let ring = || KeyRing::new("k", vec![7; 32]).unwrap();
    let (real, forged) = (MemoryStore::default(), MemoryStore::default());
    let approvals = |store: &MemoryStore| {
        Approvals::builder(store.clone())
            .keys(ring())
            .build()
            .unwrap()
    };
    let gate = Gate::builder().approvals(approvals(&real)).build();
    let tools = toolset![send_mail, pay, count].through(&gate);
    let own = crate::support::ticket(&tools.call(mail("c-1"), &host.ann()).await);
    let mut request = row.request.clone();
    request.id.clone_from(&own.id);
    request.arguments = r#"{"copies":3,"to":"eve"}"#.to_owned();
    tool_core::store::ApprovalStore::open(&forged, request)
        .await
        .unwrap();
    let gate = Gate::builder().approvals(approvals(&forged)).build();
    let tools = toolset![send_mail, pay, count].through(&gate);
    gate.approvals()
        .unwrap()
        .answer_id(
            &"acme".into(),
            &tools,
            &own.id,
            Reply::Approve,
            "boss",
            None,
        )
        .await
        .unwrap();
    let result = tools.resume(&own.token, &host.ann()).await;
    assert_eq!(kind(&result), Some(ErrorKind::Denied), "{result:?}");
    assert_eq!(host.mailbox.sent(), 0);
    let _ = ticket;
}

// M5: the token of one of two equal calls runs only that call.
#[tokio::test]
async fn token_of_an_identical_call_runs_only_that_call() {
    let host = Host::new();
    let cx = host.ann();
    let first = ticket(&host.tools.call(mail("c-1"), &placed(&cx, 1)).await);
    let twin = ticket(&host.tools.call(mail("c-2"), &placed(&cx, 2)).await);
    assert_ne!(first.token, twin.token);
    host.approve(&twin).await;
    // The approval of the second call does not permit the first call with equal arguments.
    assert_eq!(
        kind(&host.tools.call(mail("c-1"), &placed(&cx, 1)).await),
        Some(ErrorKind::Pending)
    );
    assert_eq!(
        kind(&host.tools.resume(&first.token, &cx).await),
        Some(ErrorKind::Pending)
    );
    let result = host.tools.resume(&twin.token, &cx).await;
    assert_eq!((result.id(), host.mailbox.sent()), ("c-2", 1));
    // A call with the same id in a different conversation is a different call.
    let next = host
        .tools
        .call(mail("c-2"), &placed(&host.of("acme", "ann", "th-2"), 2))
        .await;
    assert_eq!(kind(&next), Some(ErrorKind::Pending));
}

// M5: concurrent submissions of one approval run its call once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_submissions_of_an_approval_run_once() {
    for _ in 0..20 {
        let host = std::sync::Arc::new(Host::new());
        let ticket = host.asked().await;
        host.approve(&ticket).await;
        let tasks: Vec<_> = (0..16)
            .map(|_| {
                let (host, token) = (std::sync::Arc::clone(&host), ticket.token.clone());
                tokio::spawn(async move { host.tools.resume(&token, &host.ann()).await.is_error() })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(host.mailbox.sent(), 1);
    }
}

// M5: a changed tool needs a new approval.
#[tokio::test]
async fn changed_tool_needs_a_new_approval() {
    mod changed {
        use tool_core::prelude::*;
        /// Sends a mail to all customers.
        #[tool(approval)]
        pub(super) async fn send_mail(
            mailbox: &super::Mailbox,
            /// The recipient of the mail.
            to: String,
            /// The number of copies.
            #[arg(default = 1, range = 1..=3)]
            copies: u32,
        ) -> Result<String, ToolError> {
            let _ = (to, copies);
            mailbox.send();
            Ok("sent to all".to_owned())
        }
    }
    let host = Host::new();
    let ticket = host.asked().await;
    host.approve(&ticket).await;
    let tools = toolset![changed::send_mail].through(&host.gate);
    let result = tools.resume(&ticket.token, &host.ann()).await;
    assert_eq!(
        result.model_text(),
        "the tool has changed since the call was approved, call it again"
    );
    assert_eq!(host.mailbox.sent(), 0);
    // The old approval is withdrawn, for the old tool as well.
    refused(&host, &ticket.token, &host.ann(), "withdrawn").await;
}

// S0-21: an approved call is refused if its tool was hidden after the approval.
#[tokio::test]
async fn a_hidden_tool_cannot_be_resumed() {
    let registry = Registry::builder()
        .tool::<send_mail>()
        .tool::<pay>()
        .tool::<count>()
        .build()
        .unwrap();
    let host = Host::new();
    let ticket = host.asked().await;
    host.approve(&ticket).await;
    let rules = tool_core::Rules::default().deny(["send_mail"]);
    let tools = registry.toolset(&host.ann(), &rules).through(&host.gate);
    let hidden = tools.resume(&ticket.token, &host.ann()).await;
    let unknown = tools
        .call(ToolCall::new("c-9", "send_mall", "{}"), &host.ann())
        .await;
    assert_eq!(kind(&hidden), Some(ErrorKind::UnknownTool));
    assert_eq!(kind(&unknown), Some(ErrorKind::UnknownTool));
    assert_eq!(host.mailbox.sent(), 0);
}

#[test]
fn approval_keys_can_be_rotated() {
    let old = || KeyRing::new("old", vec![1; 32]).unwrap();
    let new = KeyRing::new("new", vec![2; 32])
        .unwrap()
        .keep("old", vec![1; 32])
        .unwrap();
    assert_eq!(
        format!("{new:?}"),
        r#"["new", "old"]"#,
        "`Debug` prints no key"
    );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let host = Host::new();
        let store = MemoryStore::default();
        let gate = |ring| {
            let approvals = Approvals::builder(store.clone())
                .keys(ring)
                .build()
                .unwrap();
            Gate::builder()
                .approvals(approvals)
                .ledger(store.clone())
                .build()
        };
        let before = toolset![send_mail].through(&gate(old()));
        let asked = ticket(&before.call(mail("c-1"), &host.ann()).await);
        let after_gate = gate(new);
        let after = toolset![send_mail].through(&after_gate);
        after_gate
            .approvals()
            .unwrap()
            .answer(
                &"acme".into(),
                &after,
                &asked.token,
                Reply::Approve,
                "boss",
                None,
            )
            .await
            .unwrap();
        assert_eq!(
            after.resume(&asked.token, &host.ann()).await.model_text(),
            "sent to bob"
        );
        let gone = toolset![send_mail].through(&gate(KeyRing::new("newest", vec![3; 32]).unwrap()));
        assert_eq!(
            kind(&gone.resume(&asked.token, &host.ann()).await),
            Some(ErrorKind::Denied)
        );
    });
}

// M5: an approval is valid only under the policy version under which it was requested.
#[tokio::test]
async fn changed_policy_invalidates_the_approval() {
    let host = Host::new();
    let policy = |rule: Rule| Policy::builder().rule(rule).build().unwrap();
    let registry = Registry::builder().tool::<send_mail>().build().unwrap();
    let tools = |policy| {
        let rules = Rules::default().policy(&SharedPolicy::new(policy));
        registry.toolset(&host.ann(), &rules).through(&host.gate)
    };
    let before = tools(policy(Rule::ask("mails").tools(["send_*"])));
    let after = tools(policy(Rule::ask("all").tools(["*"])));
    let never = tools(policy(
        Rule::deny("far").when(Condition::new("/to").equals("bob")),
    ));
    let asked = ticket(&before.call(mail("c-1"), &host.ann()).await);
    host.approve(&asked).await;

    let anew = ticket(&after.resume(&asked.token, &host.ann()).await);
    assert_ne!(anew.id, asked.id);
    for tools in [&before, &after] {
        let old = tools.resume(&asked.token, &host.ann()).await;
        assert_eq!(kind(&old), Some(ErrorKind::Denied));
    }
    host.approve(&anew).await;
    let denied = never.resume(&anew.token, &host.ann()).await;
    assert_eq!(kind(&denied), Some(ErrorKind::Denied));
    let dead = after.resume(&anew.token, &host.ann()).await;
    assert_eq!(kind(&dead), Some(ErrorKind::Denied));
    assert_eq!(host.mailbox.sent(), 0);
}
