//! Approvals in toolsets that rename tools.

use tool_core::prelude::*;
use tool_core::store::*;
use tool_core::{ErrorKind, Reply};

use crate::support::{Host, count, kind, mail, pay, placed, send_mail, ticket};

mod other {
    use tool_core::prelude::*;

    use crate::support::Mailbox;

    /// Sends a letter.
    #[tool(approval)]
    pub(crate) async fn send_mail(
        mailbox: &Mailbox,
        /// The recipient of the letter.
        to: String,
    ) -> String {
        mailbox.send();
        format!("letter to {to}")
    }
}

/// Returns toolsets with three names for one tool: its own name, a name with a prefix, and a new name.
fn names(host: &Host) -> [(Toolset, &'static str); 3] {
    let tools = || toolset![send_mail, pay, count].through(&host.gate);
    [
        (tools(), "send_mail"),
        (tools().prefix("post").unwrap(), "post__send_mail"),
        (
            tools().rename([("send_mail", "deliver")]).unwrap(),
            "deliver",
        ),
    ]
}

// `resume` and `Reply::Edit` find a tool behind a prefix or under a different name
#[tokio::test]
async fn a_renamed_tool_is_resumed_and_edited() {
    let host = Host::new();
    let cx = host.ann();
    let mut position = 0;
    // The toolsets of the approver and of the resuming host may have names for the tool that differ from the name in the model's toolset.
    for (asking, name) in &names(&host) {
        for (answering, _) in &names(&host) {
            for (resuming, resumed) in &names(&host) {
                for edit in [None, Some(r#"{"to":"eve"}"#)] {
                    position += 1;
                    let cx = placed(&cx, position);
                    let call = ToolCall::new("c", *name, r#"{"to":"bob"}"#);
                    let asked = ticket(&asking.call(call, &cx).await);
                    let reply = edit.map_or(Reply::Approve, |text| Reply::Edit(text.to_owned()));
                    host.approvals()
                        .answer(&"acme".into(), answering, &asked.token, reply, "boss", None)
                        .await
                        .unwrap();
                    let result = resuming.resume(&asked.token, &cx).await;
                    assert_eq!(kind(&result), None, "{name} {resumed}: {result:?}");
                    assert_eq!(result.name(), *resumed);
                    let to = if edit.is_some() { "eve" } else { "bob" };
                    assert!(result.model_text().contains(to), "{}", result.model_text());
                }
            }
        }
    }
    assert_eq!(host.mailbox.sent(), position as usize);
}

// An approved call that is dispatched again runs with the arguments of the approver, under its own name, behind a prefix or under a new name
#[tokio::test]
async fn an_edit_reaches_a_renamed_call_that_is_dispatched_again() {
    let host = Host::new();
    for (position, (tools, name)) in (0..).zip(names(&host)) {
        let cx = placed(&host.ann(), position);
        let call = || ToolCall::new("c", name, r#"{"to":"bob"}"#);
        let asked = ticket(&tools.call(call(), &cx).await);
        let edit = Reply::Edit(r#"{"to":"eve"}"#.to_owned());
        let acme = "acme".into();
        let approvals = host.approvals();
        let answered = approvals.answer(&acme, &tools, &asked.token, edit, "boss", None);
        answered.await.unwrap();
        let result = tools.call(call(), &cx).await;
        assert!(result.model_text().contains("eve"), "{name}: {result:?}");
    }
}

// A valid approval stays valid when two tools swap their names
#[tokio::test]
async fn swapped_names_keep_the_approval() {
    let host = Host::new();
    let cx = placed(&host.ann(), 1);
    let asked = ticket(&host.tools.call(mail("c"), &cx).await);
    host.approve(&asked).await;
    let swapped = toolset![send_mail, count]
        .rename([("send_mail", "count"), ("count", "send_mail")])
        .unwrap()
        .through(&host.gate);
    let result = swapped.resume(&asked.token, &cx).await;
    assert_eq!(
        (kind(&result), result.name()),
        (None, "count"),
        "{result:?}"
    );
    assert_eq!(host.mailbox.sent(), 1);
}

// Of two tools with the same own name, the approved one runs
#[tokio::test]
async fn of_two_tools_with_one_name_the_approved_tool_runs() {
    let host = Host::new();
    let post = toolset![send_mail].prefix("post").unwrap();
    let office = toolset![other::send_mail].prefix("office").unwrap();
    let both = post.combine(&office).unwrap().through(&host.gate);
    for (position, (name, expected)) in
        [("post__send_mail", "sent"), ("office__send_mail", "letter")]
            .into_iter()
            .enumerate()
    {
        let cx = placed(&host.ann(), u32::try_from(position).unwrap());
        let call = ToolCall::new("c", name, r#"{"to":"bob"}"#);
        let asked = ticket(&both.call(call, &cx).await);
        host.approvals()
            .answer(
                &"acme".into(),
                &both,
                &asked.token,
                Reply::Approve,
                "boss",
                None,
            )
            .await
            .unwrap();
        let result = both.resume(&asked.token, &cx).await;
        assert_eq!(result.name(), name);
        assert!(result.model_text().contains(expected), "{result:?}");
    }
    assert_eq!(host.mailbox.sent(), 2);
}

// A call of a tool that has been hidden is refused, and its approval stays valid
#[tokio::test]
async fn a_hidden_tool_keeps_its_approval() {
    let host = Host::new();
    let cx = placed(&host.ann(), 1);
    let tools = toolset![send_mail, count].prefix("post").unwrap();
    let call = ToolCall::new("c", "post__send_mail", r#"{"to":"bob"}"#);
    let asked = ticket(&tools.clone().through(&host.gate).call(call, &cx).await);
    host.approve(&asked).await;
    let hidden = tools.clone().filter(|tool| tool.name() != "send_mail");
    let result = hidden.through(&host.gate).resume(&asked.token, &cx).await;
    assert_eq!(kind(&result), Some(ErrorKind::UnknownTool), "{result:?}");
    let row = host.approvals().get(&"acme".into(), &asked.id).await;
    let row = row.unwrap().unwrap();
    assert_eq!(row.status, ApprovalStatus::Approved);
    let result = tools.through(&host.gate).resume(&asked.token, &cx).await;
    assert_eq!(kind(&result), None, "{result:?}");
}
