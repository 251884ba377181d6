//! The state that a client builds from the events of a thread, and the rules of a legal stream.

use tool_agent::runtime::{AgentEvent, AgentEventKind};

/// A step that has no message yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Open {
    pub(crate) agent: String,
    pub(crate) step: u32,
    /// The pieces of the text.
    pub(crate) text: String,
}

/// The state that a client shows after a number of events.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fold {
    /// The messages, the results, and the other events, in order.
    pub(crate) done: Vec<String>,
    pub(crate) open: Option<Open>,
    in_run: bool,
}

impl Fold {
    /// Returns the state after all events, or panics if the stream is not legal.
    pub(crate) fn of<'e>(events: impl IntoIterator<Item = &'e AgentEvent>) -> Self {
        let mut fold = Self::default();
        for event in events {
            fold.apply(event);
        }
        fold
    }

    /// Adds an event. Panics if it is not legal after the events before it.
    pub(crate) fn apply(&mut self, event: &AgentEvent) {
        let agent = &event.agent;
        let is_start = matches!(event.kind, AgentEventKind::RunStarted);
        assert!(self.in_run || is_start, "not in a run: {event:?}");
        assert_eq!(
            (event.version, &*event.conversation, &event.parent),
            (1, "main", &None)
        );
        let mut done = |line: String| self.done.push(format!("{agent} {line}"));
        match &event.kind {
            AgentEventKind::RunStarted => {
                (self.in_run, self.open) = (true, None);
                done("run_started".to_owned());
            }
            AgentEventKind::RunEnded { cause, .. } => {
                (self.in_run, self.open) = (false, None);
                done(format!("run_ended {cause}"));
            }
            AgentEventKind::StepStarted { step } => {
                self.open = Some(Open {
                    agent: agent.clone(),
                    step: *step,
                    text: String::new(),
                });
            }
            AgentEventKind::StepRestarted => self.step(event).text.clear(),
            AgentEventKind::Text { delta } => self.step(event).text.push_str(delta),
            AgentEventKind::CallStarted { .. } | AgentEventKind::CallArguments { .. } => {
                self.step(event);
            }
            AgentEventKind::Message { text, calls, usage } => {
                let open = self.open.take();
                let open = open.unwrap_or_else(|| panic!("not in a step: {event:?}"));
                assert_eq!(open.agent, *agent);
                assert!(
                    text.starts_with(&open.text),
                    "{open:?} is not the beginning of {text}"
                );
                let calls: Vec<_> = calls
                    .iter()
                    .map(|call| (&call.name, &call.arguments))
                    .collect();
                let usage = usage.is_some();
                done(format!("step {} {text:?} {calls:?} {usage}", open.step));
            }
            AgentEventKind::Result {
                id,
                name,
                text,
                error,
                output,
            } => {
                assert_eq!(self.open, None, "a result within a step: {event:?}");
                done(format!("result {id} {name} {text} {error:?} {output:?}"));
            }
            AgentEventKind::Progress { .. } => {}
            AgentEventKind::Waiting { approvals } => {
                let tools: Vec<_> = approvals.iter().map(|approval| &approval.tool).collect();
                done(format!("waiting {tools:?}"));
            }
            AgentEventKind::Handoff { to } => done(format!("handoff {to}")),
            AgentEventKind::ChildStarted { child_agent, .. } => {
                done(format!("child_started {child_agent}"));
            }
            AgentEventKind::ChildEnded { failed, .. } => done(format!("child_ended {failed}")),
            other => panic!("unknown event {other:?}"),
        }
    }

    fn step(&mut self, event: &AgentEvent) -> &mut Open {
        let open = self.open.as_mut();
        open.unwrap_or_else(|| panic!("not in a step: {event:?}"))
    }

    /// Returns whether the finished events of this state are the first finished events of `later`.
    pub(crate) fn is_before(&self, later: &Self) -> bool {
        later.done.starts_with(&self.done)
    }
}
