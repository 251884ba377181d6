//! Tools that are renamed between two starts of a host: waiting calls, approvals, switches and enablement rows of the earlier name continue.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use tool_core::prelude::*;
use tool_core::search::ToolSearch;
use tool_core::store::*;
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, ToolMessage, Turn, Turns};
use tool_core::{
    Approvals, Audit, CancellationToken, ErrorKind, Gate, InstanceRules, KeyRing, Reply, Rules,
    Switches, Ticket, Toolset,
};

use crate::each_store;

trait Host: ThreadStore + RunStore + EffectLedger + ApprovalStore + AuditSink + Clone {}
impl<T: ThreadStore + RunStore + EffectLedger + ApprovalStore + AuditSink + Clone> Host for T {}

/// Counts the messages that were sent.
#[derive(Clone, Default)]
struct Mailbox(Arc<AtomicUsize>);
tool_core::host_value!(Mailbox, tool_core::Effect::WRITE);

impl Mailbox {
    fn send(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn sent(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// The tools of the first version of the program.
mod before {
    use super::*;

    /// Sends a message.
    #[tool(approval)]
    pub(super) async fn send_mail(
        mailbox: &Mailbox,
        /// The recipient of the message.
        to: String,
    ) -> String {
        mailbox.send();
        format!("sent to {to}")
    }

    /// Writes a note.
    #[tool]
    pub(super) async fn note(mailbox: &Mailbox) -> &'static str {
        mailbox.send();
        "noted"
    }

    /// Sends a message to two people.
    #[tool]
    pub(super) async fn send_twice(
        #[context] uses: tool_core::Uses<(send_mail,)>,
    ) -> Result<u32, ToolError> {
        uses.invoke(send_mail { to: "bob".into() }).await?;
        uses.invoke(send_mail { to: "eve".into() }).await?;
        Ok(2)
    }
}

/// The renamed tools of the second version of the program.
mod after {
    use super::*;

    /// Sends a message.
    #[tool(approval, alias = "send_mail")]
    pub(super) async fn send_message(
        mailbox: &Mailbox,
        /// The recipient of the message.
        to: String,
    ) -> String {
        mailbox.send();
        format!("sent to {to}")
    }

    /// Writes a note.
    #[tool(alias = "note")]
    pub(super) async fn write_note(mailbox: &Mailbox) -> &'static str {
        mailbox.send();
        "noted"
    }

    /// Sends a message to two people.
    #[tool(alias = "send_twice")]
    pub(super) async fn send_to_both(
        #[context] uses: tool_core::Uses<(send_message,)>,
    ) -> Result<u32, ToolError> {
        uses.invoke(send_message { to: "bob".into() }).await?;
        uses.invoke(send_message { to: "eve".into() }).await?;
        Ok(2)
    }
}

/// The renamed tool with a different description, so that more than its name has changed.
mod changed {
    use super::*;

    /// Sends a message to everybody.
    #[tool(approval, alias = "send_mail")]
    pub(super) async fn send_message(
        mailbox: &Mailbox,
        /// The recipient of the message.
        to: String,
    ) -> String {
        mailbox.send();
        format!("sent to {to}")
    }
}

fn old() -> Toolset {
    toolset![before::send_mail, before::note, before::send_twice]
}

fn new() -> Toolset {
    toolset![after::send_message, after::write_note, after::send_to_both]
}

/// A process of the host with one version of the tools.
struct Process {
    turns: Turns,
    gate: Gate,
    tools: Toolset,
}

impl Process {
    fn start(store: &impl Host, tools: Toolset) -> Self {
        let keys = KeyRing::new("k", *b"thirty-two bytes of randomness!!").unwrap();
        let approvals = Approvals::builder(store.clone()).keys(keys);
        let gate = Gate::builder()
            .approvals(approvals.build().unwrap())
            .ledger(store.clone())
            .audit(Audit::required(store.clone()))
            .build();
        let tools = tools.through(&gate);
        Self {
            turns: Turns::new(store.clone()),
            gate,
            tools,
        }
    }

    async fn drive(&self, cx: &ToolContext, says: ModelMessage) -> Outcome {
        let mut model = Script(Some(says));
        self.turns
            .drive(&mut model, |_| self.tools.clone(), cx)
            .await
            .unwrap()
    }

    async fn answer(&self, workspace: &str, ticket: &Ticket, reply: Reply) {
        let approvals = self.gate.approvals().unwrap();
        let workspace = Workspace::new(workspace);
        let answer = approvals.answer(&workspace, &self.tools, &ticket.token, reply, "boss", None);
        answer.await.unwrap();
    }
}

/// A model that writes one message, and then only text.
struct Script(Option<ModelMessage>);

impl Model for Script {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let says = self.0.take().unwrap_or_else(|| ModelMessage::text("done"));
        Box::pin(async { Ok(says) })
    }
}

fn builder(workspace: &str, mailbox: &Mailbox) -> tool_core::ToolContextBuilder {
    let cx = ToolContext::builder()
        .workspace(workspace)
        .user("ann")
        .conversation("t");
    cx.with(mailbox.clone())
}

fn cx(workspace: &str, mailbox: &Mailbox) -> ToolContext {
    builder(workspace, mailbox).build()
}

fn calls(names: &[&str]) -> ModelMessage {
    let arguments = |name: &str| {
        if name.starts_with("send_m") {
            r#"{"to":"bob"}"#
        } else {
            "{}"
        }
    };
    let calls = (0..).zip(names);
    ModelMessage::calls(
        calls.map(|(id, name)| ToolCall::new(format!("c{id}"), *name, arguments(name))),
    )
}

#[track_caller]
fn waiting(outcome: Outcome) -> Vec<Ticket> {
    match outcome {
        Outcome::Waiting(tickets) => tickets,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn answered(outcome: &Outcome) {
    assert!(
        matches!(outcome, Outcome::Answered(text) if text == "done"),
        "{outcome:?}"
    );
}

/// Returns the results in the conversation of a workspace.
async fn results(store: &impl Host, workspace: &str) -> Vec<ToolMessage> {
    let thread = ThreadId::new(workspace, "t").unwrap();
    let messages = ThreadStore::read(store, &thread, None).await.unwrap();
    let results = messages
        .into_iter()
        .filter(|message| message.role == Role::Tool);
    results
        .map(|message| serde_json::from_str(&message.content).unwrap())
        .collect()
}

/// Returns the tools of the audit rows of a workspace that have this outcome.
async fn audited(store: &impl Host, workspace: &str, outcome: &str) -> Vec<String> {
    let workspace = Workspace::new(workspace);
    let rows = store
        .export(Scope::Workspace(&workspace), &AuditFilter::default())
        .await
        .unwrap();
    let rows = rows
        .into_iter()
        .filter(|row| row.outcome.as_deref() == Some(outcome));
    rows.map(|row| row.tool).collect()
}

each_store! {
    // S1-43: a call that waits for an approval under the earlier name runs once as the renamed tool, whether it was approved before or after the
    // rename
    #[test]
    async fn waiting_call_of_a_renamed_tool_continues_with_its_approval(store: impl Host) {
        let first = Process::start(&store, old());
        let mut asked = Vec::new();
        let mailbox = Mailbox::default();
        for workspace in ["acme", "globex"] {
            let cx = cx(workspace, &mailbox);
            first.turns.say("Send it.", &cx).await.unwrap();
            let outcome = first.drive(&cx, calls(&["note", "send_mail"])).await;
            asked.extend(waiting(outcome));
        }
        assert_eq!(mailbox.sent(), 2, "only the notes");
        first.answer("acme", &asked[0], Reply::Approve).await;

        let second = Process::start(&store, new());
        let waits = waiting(second.drive(&cx("globex", &mailbox), ModelMessage::text("no")).await);
        assert_eq!(waits[0].id, asked[1].id, "the same request still waits");
        second.answer("globex", &asked[1], Reply::Approve).await;
        for workspace in ["acme", "globex"] {
            let cx = cx(workspace, &mailbox);
            let sent = mailbox.sent();
            answered(&second.drive(&cx, ModelMessage::text("done")).await);
            assert_eq!(mailbox.sent(), sent + 1, "{workspace}");
            let results = results(&store, workspace).await;
            let names: Vec<_> = results.iter().map(|result| (&*result.name, &*result.text)).collect();
            // The model reads the name that it wrote.
            assert_eq!(names, [("note", "noted"), ("send_mail", "sent to bob")], "{workspace}");
            let mut audited = audited(&store, workspace, "ok").await;
            audited.sort();
            assert_eq!(audited, ["note", "send_message"], "{workspace}");
            // A token of a used approval returns the result, and does not run the call again.
            let token = &asked[usize::from(workspace == "globex")].token;
            let again = second.tools.resume(token, &cx).await;
            assert!(again.is_replayed(), "{again:?}");
            assert_eq!(mailbox.sent(), sent + 1, "{workspace}");
        }
    }

    // S1-43: a token of an approval under the earlier name resumes the renamed tool, with the arguments that the approver edited
    #[test]
    async fn token_of_the_earlier_name_resumes_the_renamed_tool(store: impl Host) {
        let first = Process::start(&store, old());
        let mailbox = Mailbox::default();
        for (workspace, reply, expected) in [
            ("acme", Reply::Approve, "sent to bob"),
            ("globex", Reply::Edit(r#"{"to":"eve"}"#.to_owned()), "sent to eve"),
        ] {
            let cx = cx(workspace, &mailbox);
            first.turns.say("Send it.", &cx).await.unwrap();
            let asked = waiting(first.drive(&cx, calls(&["send_mail"])).await);
            let second = Process::start(&store, new().prefix("post").unwrap());
            second.answer(workspace, &asked[0], reply).await;
            let sent = mailbox.sent();
            let result = second.tools.resume(&asked[0].token, &cx).await;
            assert_eq!((result.name(), &*result.model_text()), ("post__send_message", expected));
            // The thread continues with the stored result.
            answered(&second.drive(&cx, ModelMessage::text("done")).await);
            assert_eq!(mailbox.sent(), sent + 1, "{workspace}");
        }
    }

    // S1-43: if more than the name has changed, the call needs a new approval, and the old one is refused
    #[test]
    async fn approval_of_a_changed_tool_is_refused(store: impl Host) {
        let first = Process::start(&store, old());
        let mailbox = Mailbox::default();
        for workspace in ["acme", "globex"] {
            let cx = cx(workspace, &mailbox);
            first.turns.say("Send it.", &cx).await.unwrap();
            let asked = waiting(first.drive(&cx, calls(&["send_mail"])).await);
            first.answer(workspace, &asked[0], Reply::Approve).await;

            let second = Process::start(&store, toolset![changed::send_message]);
            let anew = waiting(second.drive(&cx, ModelMessage::text("no")).await);
            assert_ne!(anew[0].id, asked[0].id, "{workspace}");
            assert_eq!(anew[0].tool, "send_message", "{workspace}");
            let refused = second.tools.resume(&asked[0].token, &cx).await;
            assert!(refused.model_text().contains("the tool has changed"), "{refused:?}");
            assert_eq!(mailbox.sent(), 0, "{workspace}");
            second.answer(workspace, &anew[0], Reply::Deny).await;
            answered(&second.drive(&cx, ModelMessage::text("done")).await);
            assert_eq!(mailbox.sent(), 0, "{workspace}");
        }
    }

    // S1-43: a denial under the earlier name is the result of the stored call
    #[test]
    async fn denial_of_the_earlier_name_refuses_the_stored_call(store: impl Host) {
        let first = Process::start(&store, old());
        let (mailbox, cx) = (Mailbox::default(), |mailbox| cx("acme", mailbox));
        let cx = cx(&mailbox);
        first.turns.say("Send it.", &cx).await.unwrap();
        let asked = waiting(first.drive(&cx, calls(&["send_mail"])).await);
        first.answer("acme", &asked[0], Reply::Deny).await;
        let second = Process::start(&store, new());
        answered(&second.drive(&cx, ModelMessage::text("done")).await);
        let results = results(&store, "acme").await;
        assert!(results[0].is_of(ErrorKind::Denied), "{results:?}");
        assert_eq!(mailbox.sent(), 0);
    }

    // S1-43: a deny list and a kill switch of the earlier name also stop a stored call that was approved
    #[test]
    async fn denials_of_the_earlier_name_stop_an_approved_call(store: impl Host) {
        let first = Process::start(&store, old());
        let mailbox = Mailbox::default();
        let cx = cx("acme", &mailbox);
        first.turns.say("Send it.", &cx).await.unwrap();
        let asked = waiting(first.drive(&cx, calls(&["send_mail"])).await);
        first.answer("acme", &asked[0], Reply::Approve).await;
        let registry = Registry::builder().tool::<after::send_message>().build().unwrap();
        let policy = tool_core::policy::SharedPolicy::default();
        policy.kill("send_mail", Some("acme"));
        for rules in [Rules::default().deny(["send_mail"]), Rules::default().policy(&policy)] {
            let second = Process::start(&store, registry.toolset(&cx, &rules));
            let result = second.tools.resume(&asked[0].token, &cx).await;
            assert!(result.is_error(), "{result:?}");
        }
        let second = Process::start(&store, registry.toolset(&cx, &Rules::default().deny(["send_mail"])));
        answered(&second.drive(&cx, ModelMessage::text("done")).await);
        let results = results(&store, "acme").await;
        assert!(results[0].is_error(), "{results:?}");
        assert_eq!(mailbox.sent(), 0);
    }

    // S1-43: a call that a model makes under the earlier name after the rename is refused
    #[test]
    async fn new_call_under_the_earlier_name_is_refused(store: impl Host) {
        let mailbox = Mailbox::default();
        let second = Process::start(&store, new());
        for workspace in ["acme", "globex"] {
            let cx = cx(workspace, &mailbox);
            second.turns.say("Send it.", &cx).await.unwrap();
            answered(&second.drive(&cx, calls(&["send_mail", "note"])).await);
            let results = results(&store, workspace).await;
            assert!(results.iter().all(|result| result.is_of(ErrorKind::UnknownTool)), "{results:?}");
            assert!(results[0].text.contains("did you mean `send_message`?"), "{results:?}");
        }
        assert_eq!(mailbox.sent(), 0);
    }

    // S1-43: a call that ran under the earlier name, and whose result was not stored, is not repeated after the rename
    #[test]
    async fn call_that_ran_under_the_earlier_name_is_not_repeated(store: impl Host) {
        let first = Process::start(&store, old());
        let mailbox = Mailbox::default();
        for workspace in ["acme", "globex"] {
            let cx = cx(workspace, &mailbox);
            let sent = mailbox.sent();
            let message = first.turns.record(calls(&["note"]), &cx).await.unwrap();
            // The process ends after the body and before the result is stored in the thread.
            let own = cx.for_call(CallId::in_thread(message.thread(), message.seq(), 0));
            let ran = first.tools.call(message.message().calls[0].clone(), &own).await;
            assert!(!ran.is_error(), "{ran:?}");

            let second = Process::start(&store, new());
            let turn = second.turns.run(&second.tools, &message, &cx).await.unwrap();
            let Turn::Complete(results) = turn else { panic!("{turn:?}") };
            assert_eq!((&*results[0].name, &*results[0].text), ("note", "noted"));
            assert_eq!(mailbox.sent(), sent + 1, "{workspace}");
        }
    }

    // S1-43: a call that waits for a nested call continues, if both tools were renamed
    #[test]
    async fn call_that_waits_for_a_nested_call_continues_after_the_rename(store: impl Host) {
        let mailbox = Mailbox::default();
        for workspace in ["acme", "globex"] {
            let sent = mailbox.sent();
            let first = Process::start(&store, old());
            let cx = builder(workspace, &mailbox).tools(&first.tools).build();
            first.turns.say("Send it.", &cx).await.unwrap();
            let asked = waiting(first.drive(&cx, calls(&["send_twice"])).await);
            first.answer(workspace, &asked[0], Reply::Approve).await;
            let asked = waiting(first.drive(&cx, ModelMessage::text("no")).await);
            assert_eq!(mailbox.sent(), sent + 1, "{workspace}");

            let second = Process::start(&store, new());
            let cx = builder(workspace, &mailbox).tools(&second.tools).build();
            second.answer(workspace, &asked[0], Reply::Approve).await;
            let outcome = second.drive(&cx, ModelMessage::text("done")).await;
            let results = results(&store, workspace).await;
            assert_eq!((&*results[0].name, &*results[0].text), ("send_twice", "2"), "{outcome:?}");
            answered(&outcome);
            assert_eq!(mailbox.sent(), sent + 2, "{workspace}");
        }
    }

    // S1-43: the refusal of a call that has waited under the earlier name closes its key, so that no other run can begin the call
    #[test]
    async fn refusal_closes_a_call_that_waited_under_the_earlier_name(store: impl Host) {
        let mailbox = Mailbox::default();
        for workspace in ["acme", "globex"] {
            let first = Process::start(&store, old());
            let cx = builder(workspace, &mailbox).tools(&first.tools).build();
            let message = first.turns.record(calls(&["send_twice"]), &cx).await.unwrap();
            let turn = first.turns.run(&first.tools, &message, &cx).await.unwrap();
            assert!(matches!(turn, Turn::Waiting(_)), "{turn:?}");

            let second = Process::start(&store, new());
            let cancelled = CancellationToken::new();
            cancelled.cancel();
            let cx = builder(workspace, &mailbox).tools(&second.tools).cancellation(cancelled).build();
            let turn = second.turns.run(&second.tools, &message, &cx).await.unwrap();
            let Turn::Complete(results) = turn else { panic!("{turn:?}") };
            assert!(results[0].is_of(ErrorKind::Cancelled), "{results:?}");
            let key = CallId::in_thread(message.thread(), message.seq(), 0).key();
            let row = EffectLedger::get(&store, &key).await.unwrap().unwrap();
            assert_eq!((row.state, &*row.intent.tool), (EffectState::Failed, "send_twice"));
        }
        assert_eq!(mailbox.sent(), 0);
    }

    // S1-43: a stored call of `call_tool` continues with the renamed tool
    #[test]
    async fn stored_call_of_a_found_tool_continues_after_the_rename(store: impl Host) {
        let found = |tools: Toolset| {
            let search = ToolSearch::new(&tools);
            tools.searched(&search).unwrap()
        };
        let mailbox = Mailbox::default();
        for workspace in ["acme", "globex"] {
            let cx = cx(workspace, &mailbox);
            let sent = mailbox.sent();
            let first = Process::start(&store, found(old()));
            first.turns.say("Send it.", &cx).await.unwrap();
            let arguments = r#"{"name":"send_mail","arguments":"{\"to\":\"bob\"}"}"#;
            let call = ModelMessage::calls([ToolCall::new("c0", "call_tool", arguments)]);
            let asked = waiting(first.drive(&cx, call).await);
            first.answer(workspace, &asked[0], Reply::Approve).await;
            let second = Process::start(&store, found(new()));
            answered(&second.drive(&cx, ModelMessage::text("done")).await);
            let results = results(&store, workspace).await;
            assert_eq!((&*results[0].name, &*results[0].text), ("call_tool", "sent to bob"));
            assert_eq!(mailbox.sent(), sent + 1, "{workspace}");
        }
    }

    // S1-43: stored kill switches and disables of the earlier name apply to the renamed tool in their workspace only, before and during a turn
    #[test]
    async fn stored_switches_of_the_earlier_name_apply_to_the_renamed_tool(store: impl SwitchStore + Clone) {
        let (acme, globex) = (Workspace::new("acme"), Workspace::new("globex"));
        let switches = Switches::open(store.clone()).await.unwrap();
        switches.kill("send_mail", Some(&acme), "olga", None).await.unwrap();
        switches.disable("note", Some(&globex), true, "olga", None).await.unwrap();
        // The host starts again with the renamed tools.
        let switches = Switches::open(store.clone()).await.unwrap();
        let registry = Registry::builder().tool::<after::send_message>().tool::<after::write_note>();
        let registry = registry.build().unwrap();
        let mailbox = Mailbox::default();
        let turn = |workspace: &str| {
            registry.toolset(&cx(workspace, &mailbox), &Rules::default().switches(&switches))
        };
        assert!(turn("acme").names().eq(["write_note"]));
        assert!(turn("globex").names().eq(["send_message"]));
        assert_eq!(turn("acme").explain("send_message").as_str(), "killed");
        assert_eq!(turn("globex").explain("write_note").as_str(), "disabled");

        let running = turn("acme");
        let call = async || {
            let result = running.call(ToolCall::new("c", "write_note", "{}"), &cx("acme", &mailbox)).await;
            result.error().map(ToolError::kind)
        };
        assert_eq!(call().await, None);
        switches.disable("note", Some(&acme), true, "olga", None).await.unwrap();
        assert_eq!(call().await, Some(ErrorKind::UnknownTool));
        switches.disable("note", Some(&acme), false, "olga", None).await.unwrap();
        assert_eq!(call().await, None);
        switches.kill("note", None, "olga", None).await.unwrap();
        assert_eq!(call().await, Some(ErrorKind::UnknownTool));
        // A switch is removed by the name under which it was stored.
        assert!(!switches.revive("write_note", None, "olga", None).await.unwrap());
        assert!(switches.revive("note", None, "olga", None).await.unwrap());
        assert_eq!(call().await, None);
    }

    // S1-43: the sync moves the enablement rows of each workspace to the renamed tool, and reports them
    #[test]
    async fn enablement_rows_move_to_the_renamed_tool(store: impl EnablementStore + Clone) {
        let (acme, globex) = (InstanceId::new("acme", "support"), InstanceId::new("globex", "support"));
        let builder = Registry::builder().tool::<before::send_mail>().tool::<before::note>();
        builder.boot_reported(&store).await.unwrap();
        for instance in [&acme, &globex] {
            store.add_instance(instance, Timestamp::now()).await.unwrap();
        }
        store.enable(&acme, "send_mail", "olga", Timestamp::now()).await.unwrap();
        store.enable(&globex, "note", "olga", Timestamp::now()).await.unwrap();

        let builder = Registry::builder().tool::<after::send_message>().tool::<after::write_note>();
        let (registry, report) = builder.boot_reported(&store).await.unwrap();
        assert_eq!((report.added.len(), report.removed.len()), (0, 0));
        let moved: Vec<_> = report.renamed.iter().map(|tool| {
            let rows: Vec<_> = tool.rows.iter().map(|row| row.instance.clone()).collect();
            (&*tool.from, &*tool.to, rows)
        }).collect();
        let expected = [
            ("note", "write_note", vec![globex.clone()]),
            ("send_mail", "send_message", vec![acme.clone()]),
        ];
        assert_eq!(moved, expected);
        let instances = InstanceRules::open(store.clone()).await.unwrap();
        for (instance, expected) in [(&acme, "send_message"), (&globex, "write_note")] {
            let rules = instances.rules(instance).await.unwrap();
            let tools = registry.toolset(&ToolContext::anonymous(), &rules);
            assert!(tools.names().eq([expected]), "{tools:?}");
        }
        // A running turn respects a row that an operator removes under the earlier name.
        let rules = instances.rules(&acme).await.unwrap();
        let tools = registry.toolset(&ToolContext::anonymous(), &rules);
        assert!(instances.disable(&acme, "send_mail", "olga").await.unwrap());
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert!(tools.get("send_message").is_none());
    }
}
