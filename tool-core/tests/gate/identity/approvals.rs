//! Looking up, revoking and withdrawing approvals within one workspace.

use tool_core::prelude::*;
use tool_core::store::*;
use tool_core::{ApprovalError, ErrorKind, Reply};

use super::{ANN, cx};
use crate::support::{Host, kind, mail, placed, send_mail, thread, ticket};

/// Returns the tools of a host under a policy that requires four eyes for every mail.
fn four_eyes(host: &Host, cx: &ToolContext) -> Toolset {
    use tool_core::policy::{Policy, Rule};
    let rule = Rule::ask("mails").tools(["send_mail"]).four_eyes();
    let policy = Policy::builder().rules([rule]).share().unwrap();
    let registry = Registry::builder().tool::<send_mail>().build().unwrap();
    let rules = tool_core::Rules::default().policy(&policy);
    registry.toolset(cx, &rules).through(&host.gate)
}

// An approval that was not used can be revoked, whether it was given or is still requested
#[tokio::test]
async fn a_revoked_approval_runs_nothing() {
    let (host, acme) = (Host::new(), Workspace::new("acme"));
    let cx = cx(&host, ANN);
    let approvals = host.approvals();
    for (position, approved) in [(0, true), (1, false)] {
        let cx = placed(&cx, position);
        let asked = ticket(&host.tools.call(mail("call_0"), &cx).await);
        if approved {
            host.approve(&asked).await;
        }
        let row = approvals.get(&acme, &asked.id).await.unwrap().unwrap();
        assert_eq!(row.request.principal, "ann");
        assert_eq!(row.status == ApprovalStatus::Approved, approved);
        assert!(approvals.revoke(&acme, &asked.id).await.unwrap());
        assert!(
            !approvals.revoke(&acme, &asked.id).await.unwrap(),
            "a second revocation"
        );
        let row = approvals.get(&acme, &asked.id).await.unwrap().unwrap();
        assert_eq!(row.status, ApprovalStatus::Withdrawn);

        let result = host.tools.resume(&asked.token, &cx).await;
        assert_eq!(kind(&result), Some(ErrorKind::Denied));
        // A call that is dispatched again needs a new approval.
        let anew = ticket(&host.tools.call(mail("call_0"), &cx).await);
        assert_ne!(anew.id, asked.id);
    }
    assert_eq!(host.mailbox.sent(), 0);
    // A call that has begun is not undone.
    let cx = placed(&cx, 2);
    let asked = ticket(&host.tools.call(mail("call_0"), &cx).await);
    host.approve(&asked).await;
    host.tools.resume(&asked.token, &cx).await;
    assert!(!approvals.revoke(&acme, &asked.id).await.unwrap());
    assert_eq!(host.mailbox.sent(), 1);
}

// The requester can withdraw a request that requires four eyes; another user, or the same user of another workspace, cannot
#[tokio::test]
async fn only_the_requester_withdraws_a_request() {
    let host = Host::new();
    let ann = cx(&host, ANN);
    let tools = four_eyes(&host, &ann);
    for approved in [false, true] {
        let asked = ticket(&tools.call(mail("call_0"), &ann).await);
        assert!(asked.four_eyes);
        let approvals = host.approvals();
        if approved {
            host.approve(&asked).await;
        }
        for stranger in [
            ["acme", "th-1", "bob", "clerk"],
            ["globex", "th-1", "ann", "clerk"],
        ] {
            let error = approvals.withdraw(&asked.id, &cx(&host, stranger)).await;
            assert!(matches!(error, Err(ApprovalError::Invalid)), "{error:?}");
        }
        assert!(approvals.withdraw(&asked.id, &ann).await.unwrap());
        assert!(!approvals.withdraw(&asked.id, &ann).await.unwrap());
        let result = tools.resume(&asked.token, &ann).await;
        assert_eq!(kind(&result), Some(ErrorKind::Denied));
    }
    assert_eq!(host.mailbox.sent(), 0);
}

// Methods of `Approvals` find only approvals of the given workspace
#[tokio::test]
async fn approvals_of_another_workspace_are_not_found() {
    let (host, acme, globex) = (
        Host::new(),
        Workspace::new("acme"),
        Workspace::new("globex"),
    );
    let ann = cx(&host, ANN);
    let asked = ticket(&host.tools.call(mail("call_0"), &placed(&ann, 0)).await);
    let approvals = host.approvals();
    let (id, all) = (asked.id.as_str(), ApprovalFilter::default());
    let answered = approvals
        .answer(
            &globex,
            &host.tools,
            &asked.token,
            Reply::Approve,
            "boss",
            None,
        )
        .await;
    assert!(
        matches!(answered, Err(ApprovalError::Invalid)),
        "{answered:?}"
    );
    for reply in [Reply::Approve, Reply::Deny] {
        let answered = approvals
            .answer_id(&globex, &host.tools, id, reply, "boss", None)
            .await;
        assert!(
            matches!(answered, Err(ApprovalError::Invalid)),
            "{answered:?}"
        );
    }
    let lost = approvals.ticket_of(&globex, id).await;
    assert!(matches!(lost, Err(ApprovalError::Invalid)), "{lost:?}");
    let assigned = approvals.assign(&globex, id, Some("boss")).await;
    let missing = |result: &Result<ApprovalRow, _>| {
        matches!(result, Err(ApprovalError::Store(StoreError::Missing(_))))
    };
    assert!(missing(&assigned), "{assigned:?}");
    assert_eq!(approvals.get(&globex, id).await.unwrap(), None);
    assert!(!approvals.revoke(&globex, id).await.unwrap());
    let denied = approvals.deny_all(&globex, &all, "boss", None).await;
    assert_eq!(denied.unwrap(), 0);
    let scope = Scope::Workspace(&globex);
    assert_eq!(approvals.list(scope, &all).await.unwrap(), []);
    let late = Timestamp::now().plus(std::time::Duration::from_hours(48));
    assert_eq!(
        ApprovalStore::expire(&host.store, scope, late)
            .await
            .unwrap(),
        0
    );
    let elsewhere = ThreadId::new("globex", "th-1").unwrap();
    assert_eq!(approvals.waiting(&elsewhere).await.unwrap(), []);

    // These calls have not changed the approval in its own workspace.
    assert_eq!(approvals.ticket_of(&acme, id).await.unwrap(), asked);
    assert_eq!(
        approvals.waiting(&thread("th-1")).await.unwrap(),
        std::slice::from_ref(&asked)
    );
    let row = approvals.get(&acme, id).await.unwrap().unwrap();
    assert_eq!((row.status, row.assignee), (ApprovalStatus::Pending, None));
    host.approve(&asked).await;
    let result = host.tools.resume(&asked.token, &ann).await;
    assert_eq!(result.model_text(), "sent to bob");
}
