//! The `chat` command: a conversation with a model that can call the tools.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{Either, select};
use tool_agent::model::ModelObserver;
use tool_core::redact::SharedRedactor;
use tool_core::store::{MemoryStore, Message, Role, RunId, Timestamp};
use tool_core::turn::{Outcome, TurnError, Turns};
use tool_core::{CancellationToken, Gate, Reply, Ticket, ToolContext};

use super::call::{Bar, Terminal};
use super::supply::Supplied;
use super::{ask, declaring, interrupt, offered, text_or_file};
use crate::args::CallOptions;
use crate::args::chat::Chat;
use crate::host::{Cli, Offer};
use crate::outcome::{Exit, Failure};
use crate::screen::{DIM, Screen, WARN, paint};

mod agents;
mod demo;
mod escape;
mod history;
mod markdown;
mod model;
mod output;

use agents::Agents;
use history::History;
use model::Chosen;
use output::Output;

/// The name of the only conversation without `--store`.
const CONVERSATION: &str = "chat";

/// The number of the user's last messages that are shown when a conversation continues.
const SHOWN: usize = 2;

/// The hint for a call that needs an approval.
const APPROVE: &str = "run the chat in a terminal to approve the call, or add `--approve`";

/// The pause between two checks of whether another process still answers the conversation.
const PAUSE: Duration = Duration::from_millis(200);

pub(super) async fn run(cli: &Cli, words: &Chat, screen: Screen) -> Result<Exit, Failure> {
    let registry = cli.tools()?;
    let made = offered(cli, &registry)?;
    let supplied = Supplied::gather(
        &words.supply,
        declaring(&registry, &made),
        declaring(&registry, &made),
    )?;
    for def in registry.tools() {
        supplied.check_length(def)?;
    }
    let output = Arc::new(Output::new(screen));
    let history = match &words.store {
        Some(url) => {
            let cx = cli.prepare(supplied.context(&words.supply)).build();
            let exists = words.list || words.continued.is_some();
            Some(History::open(url, cx.own_workspace(), exists).await?)
        }
        None => None,
    };
    if let Some(history) = history.as_ref().filter(|_| words.list) {
        return history.print(screen).await;
    }
    let conversation = match (&history, &words.continued) {
        (Some(history), Some(id)) => history.continued(id).await?,
        (Some(_), None) => History::new_id()?,
        (None, _) => CONVERSATION.to_owned(),
    };
    let memory = MemoryStore::default();
    let (gate, turns) = match &history {
        Some(history) => (history.gate(cli)?, history.turns()),
        None => (cli.gate_of()?, Turns::new(memory.clone())),
    };
    let (turns, speaker) = if let Some(agents) = cli.own_agents() {
        agents::refuse_model(words)?;
        let children = history.as_ref().map(History::children);
        let children = children.unwrap_or_else(|| Arc::new(memory));
        let agents = Agents::new(agents, &turns, &gate, children, &output)?;
        (turns, Speaker::Agents(agents))
    } else {
        let chosen = model::choose(words, &output, screen.is_json())?;
        let (results, progress) = (Arc::clone(&output), Arc::clone(&output));
        let turns = turns
            .observe(move |result| results.result(result))
            .progress(move |call, step| progress.progress(call, step));
        (turns, Speaker::Model(chosen))
    };
    let mut session = Session {
        cli,
        words,
        screen,
        offer: cli.offer(&registry, &gate),
        gate,
        printed: cli.mask_panics(),
        supplied,
        conversation,
        turns,
        speaker,
        output,
    };
    if history.is_some() {
        session.output.conversation(&session.conversation)?;
    }
    let is_unanswered = session.begin().await?;
    let Some(message) = &words.message else {
        return session.converse(is_unanswered).await;
    };
    let messages = is_unanswered.then_some(None).into_iter();
    for message in messages.chain([Some(&**message)]) {
        match session.answer(message).await? {
            Ended::Answered => {}
            Ended::Stopped | Ended::Chat => return Ok(Exit::Interrupted),
        }
    }
    Ok(Exit::Ok)
}

/// The state of one `chat` command.
struct Session<'a> {
    cli: &'a Cli,
    words: &'a Chat,
    screen: Screen,
    offer: Offer,
    gate: Gate,
    /// The secrets that the panic hook redacts.
    printed: &'a SharedRedactor,
    supplied: Supplied,
    conversation: String,
    turns: Turns,
    speaker: Speaker,
    output: Arc<Output>,
}

/// The model or the agents that answer the user.
enum Speaker {
    Model(Chosen),
    Agents(Agents),
}

impl Speaker {
    fn about(&self) -> String {
        match self {
            Self::Model(chosen) => chosen.about(),
            Self::Agents(agents) => agents.about(),
        }
    }
}

impl Session<'_> {
    /// Shows the end of a continued conversation, and stores the instructions. Returns whether the last message is not answered yet, or a sub-agent
    /// has not ended.
    async fn begin(&mut self) -> Result<bool, Failure> {
        let cx = self.context(&CancellationToken::new());
        let messages = self.turns.messages(&cx, None).await;
        let messages = messages.map_err(|error| Failure::of(Exit::Failed, error.to_string()))?;
        if self.screen.is_interactive() {
            let of_user = |message: &Message| message.role == Role::User;
            let shown = messages.iter().enumerate().rev();
            let first = shown.filter(|(_, message)| of_user(message)).nth(SHOWN - 1);
            let first = first.map_or(0, |(at, _)| at);
            self.output.past(&messages[first..]);
        }
        if let Some(text) = &self.words.instructions {
            let instructions = text_or_file(text)?;
            let of_system = |message: &&Message| message.role == Role::System;
            let last = messages.iter().rev().find(of_system);
            let last = last.and_then(|last| serde_json::from_str::<String>(&last.content).ok());
            // Instructions that are stored already are not stored again, because each stored text is sent
            // with every request.
            if last.as_ref() != Some(&instructions) {
                let stored = self.turns.instruct(&instructions, &cx).await;
                stored.map_err(|error| Failure::usage(error.to_string()))?;
            }
        }
        if history::is_unanswered(&messages) {
            return Ok(true);
        }
        match &self.speaker {
            Speaker::Agents(agents) => agents.has_open_sessions(&cx).await,
            Speaker::Model(_) => Ok(false),
        }
    }

    /// Answers the last message if it is not answered yet, and then each line of the standard input until the input ends.
    async fn converse(&mut self, is_unanswered: bool) -> Result<Exit, Failure> {
        let mut is_unanswered = is_unanswered;
        let person = self.screen.is_interactive();
        if person {
            let about = format!("{}; Ctrl-D ends the chat", self.speaker.about());
            self.screen.note(paint(DIM, about));
        }
        let mut first_failure = None;
        loop {
            let text = if std::mem::take(&mut is_unanswered) {
                None
            } else {
                let text = match line(person).await? {
                    Some(Line::Text(text)) => text,
                    Some(Line::Interrupted) => return Ok(Exit::Interrupted),
                    // In a terminal, every failure was printed. A script gets the exit code of the first failure.
                    None if person => return Ok(Exit::Ok),
                    None => return Ok(first_failure.unwrap_or(Exit::Ok)),
                };
                if text.trim().is_empty() {
                    continue;
                }
                Some(text)
            };
            let failure = match self.answer(text.as_deref().map(str::trim_end)).await {
                Ok(Ended::Answered) => continue,
                Ok(Ended::Stopped) if person => continue,
                Ok(Ended::Stopped | Ended::Chat) => return Ok(Exit::Interrupted),
                Err(failure) => failure,
            };
            if !person && failure.exit == Exit::Refused {
                // The call stays open, so the next message could not be answered.
                return Err(failure);
            }
            // The next message may succeed.
            self.screen.fail(&failure);
            first_failure.get_or_insert(failure.exit);
        }
    }

    /// Answers one message, or the last message of an earlier process. The first Ctrl-C stops the answer, and the second ends the chat.
    async fn answer(&mut self, message: Option<&str>) -> Result<Ended, Failure> {
        let token = CancellationToken::new();
        let stopper = token.clone();
        let mut interrupted = pin!(async move {
            interrupt().await;
            stopper.cancel();
            interrupt().await;
        });
        let output = Arc::clone(&self.output);
        let work = pin!(self.work(message, &token));
        match select(work, &mut interrupted).await {
            Either::Left((ended, _)) => ended,
            Either::Right(_) => {
                output.outcome(&Outcome::Cancelled)?;
                Ok(Ended::Chat)
            }
        }
    }

    async fn work(
        &mut self,
        message: Option<&str>,
        token: &CancellationToken,
    ) -> Result<Ended, Failure> {
        let mut message = message;
        let mut was_busy = false;
        let cx = self.context(token);
        if let Speaker::Model(chosen) = &mut self.speaker {
            chosen.begin(|| self.offer.toolset(&cx));
        }
        loop {
            // A new context contains the variables that the user has entered.
            let cx = self.context(token);
            self.output.take_written();
            let outcome = self.drive(message.take(), &cx).await;
            self.output.end_line();
            let outcome = match outcome {
                Err(failure) => {
                    if failure.exit != Exit::Usage {
                        self.output.failed();
                    }
                    return Err(failure);
                }
                Ok(Outcome::Busy(run)) if !token.is_cancelled() => {
                    self.wait_for(&run, was_busy, token).await?;
                    was_busy = true;
                    continue;
                }
                Ok(outcome) => outcome,
            };
            if let Outcome::Answered(text) = &outcome
                && was_busy
                && !self.output.take_written()
            {
                self.output.answer(text);
            }
            let continues = match &outcome {
                Outcome::Waiting(tickets) => self.approve_all(tickets, &cx, token).await,
                Outcome::Lacking(needs) => {
                    ask::for_variables(&mut self.supplied, needs, self.screen)
                }
                Outcome::Answered(_) => self.settle(&cx, token).await,
                _ => Ok(false),
            };
            let continues = continues.inspect_err(|_| self.output.failed())?;
            if token.is_cancelled() {
                self.note("the answer was stopped");
                self.output.outcome(&Outcome::Cancelled)?;
                return Ok(Ended::Stopped);
            }
            if continues {
                if !matches!(outcome, Outcome::Answered(_)) {
                    self.output.waiting(&outcome);
                }
                continue;
            }
            self.output.outcome(&outcome)?;
            return match outcome {
                Outcome::Answered(_) | Outcome::Replied(_) => Ok(Ended::Answered),
                outcome => Err(unanswered(&outcome)),
            };
        }
    }

    async fn drive(&mut self, message: Option<&str>, cx: &ToolContext) -> Result<Outcome, Failure> {
        let offer = &self.offer;
        let tools = |cx: &ToolContext| offer.toolset(cx);
        let chosen = match &mut self.speaker {
            Speaker::Model(chosen) => chosen,
            Speaker::Agents(agents) => return agents.drive(message, cx).await,
        };
        let model = chosen.model();
        let driven = match message {
            Some(message) => self.turns.respond(message, model, tools, cx).await,
            None => self.turns.drive(model, tools, cx).await,
        };
        driven.map_err(|error| match error {
            TurnError::Message(_) => Failure::usage(error.to_string()),
            _ => Failure::of(Exit::Failed, error.to_string()),
        })
    }

    /// Waits until no sub-agent runs in the background, and asks for the approvals that sub-agents wait for. Returns whether all of them were
    /// answered.
    async fn settle(&self, cx: &ToolContext, token: &CancellationToken) -> Result<bool, Failure> {
        let Speaker::Agents(agents) = &self.speaker else {
            return Ok(false);
        };
        let settled = token.run_until_cancelled(agents.settle(cx)).await;
        let Some(tickets) = settled.transpose()? else {
            return Ok(false);
        };
        self.output.end_line();
        if tickets.is_empty() {
            return Ok(false);
        }
        let is_answered = self.approve_all(&tickets, cx, token).await?;
        if !is_answered && !token.is_cancelled() {
            let names: Vec<&str> = tickets.iter().map(|ticket| &*ticket.tool).collect();
            let names = names.join("`, `");
            let text = format!("a call of a sub-agent needs an approval: `{names}`");
            return Err(Failure::of(Exit::Refused, text).hint(APPROVE));
        }
        Ok(is_answered)
    }

    /// Waits until no other process answers the conversation: its run has ended, or the lease of the run has expired because the process was killed.
    /// Returns early if `token` is cancelled. `is_known` is true if the note about the wait was already written.
    async fn wait_for(
        &self,
        run: &RunId,
        is_known: bool,
        token: &CancellationToken,
    ) -> Result<(), Failure> {
        if !is_known {
            self.note("another process answers this conversation, or was killed; waiting for it");
        }
        loop {
            let row = self.turns.run_row(run).await;
            let row = row.map_err(|error| Failure::of(Exit::Failed, error.to_string()))?;
            if !row.is_some_and(|row| row.is_held(Timestamp::now())) {
                return Ok(());
            }
            let pause = tokio::time::sleep(PAUSE);
            if token.run_until_cancelled(pause).await.is_none() {
                return Ok(());
            }
        }
    }

    fn context(&self, token: &CancellationToken) -> ToolContext {
        let cx = self.supplied.context(&self.words.supply);
        let cx = cx
            .conversation(&*self.conversation)
            .cancellation(token.clone());
        let mut cx = self.cli.prepare(cx).redact_in(self.printed);
        if let Speaker::Agents(_) = &self.speaker {
            let output = Arc::clone(&self.output);
            cx = cx.with(ModelObserver::new(move |event| output.attempt(event)));
        }
        let cx = cx.build();
        if !self.screen.is_interactive() {
            return cx;
        }
        cx.with_asker(Arc::new(Terminal {
            screen: self.screen,
            bar: Bar::default(),
        }))
    }

    /// Stores the decision of `--approve` or of the user on each call. Returns whether every call has one. Ctrl-C at a question stops the answer.
    async fn approve_all(
        &self,
        tickets: &[Ticket],
        cx: &ToolContext,
        token: &CancellationToken,
    ) -> Result<bool, Failure> {
        let tools = self.offer.toolset(cx);
        for ticket in tickets {
            let asked = token.run_until_cancelled(self.ask(ticket)).await;
            let Some(Some(reply)) = asked.transpose()? else {
                return Ok(false);
            };
            if !ask::answer(&self.gate, &tools, ticket, reply, cx).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Asks about one call in a separate thread, because reading blocks.
    async fn ask(&self, ticket: &Ticket) -> Result<Option<Reply>, Failure> {
        let how = CallOptions {
            approve: self.words.approve,
            ..CallOptions::default()
        };
        let (ticket, screen) = (ticket.clone(), self.screen);
        let (sender, receiver) = oneshot::channel();
        std::thread::spawn(move || {
            // The receiver is dropped if Ctrl-C stops the answer.
            let _ = sender.send(ask::approval(&ticket, &how, screen));
        });
        receiver.await.unwrap_or(Ok(None))
    }

    fn note(&self, text: &str) {
        if !self.screen.is_json() {
            self.screen.note(paint(WARN, text));
        }
    }
}

/// The result of one message.
enum Ended {
    Answered,
    /// The user stopped the answer with Ctrl-C.
    Stopped,
    /// The user ended the chat with a second Ctrl-C.
    Chat,
}

/// Returns the failure of a message without a complete answer.
fn unanswered(outcome: &Outcome) -> Failure {
    let text = match outcome {
        Outcome::Waiting(tickets) => {
            let names: Vec<&str> = tickets.iter().map(|ticket| &*ticket.tool).collect();
            let text = format!("a call needs an approval: `{}`", names.join("`, `"));
            return Failure::of(Exit::Refused, text).hint(APPROVE);
        }
        Outcome::Lacking(needs) => {
            let names: Vec<&str> = needs.iter().map(|need| &*need.name).collect();
            let text = format!("variables without a value: `{}`", names.join("`, `"));
            return Failure::usage(text).hint("write `--variable NAME=VALUE`");
        }
        Outcome::Length(_) => "the answer reached the model's limit on tokens; ask for the rest in the next message".to_owned(),
        Outcome::Filtered(_) => "a filter of the provider withheld the answer".to_owned(),
        Outcome::Guardrail(tripped) => format!("a guardrail ended the answer: {}", tripped.text),
        Outcome::Cut(_) => "the provider stopped before the answer was complete".to_owned(),
        Outcome::StepLimit => "the model reached the limit on the steps of one message; write a further message to continue".to_owned(),
        Outcome::Unsettled(row) => {
            format!("the outcome of a call of `{}` is unknown, so it does not run again: check whether it had an effect", row.intent.tool)
        }
        Outcome::Client(calls) => {
            let names: Vec<&str> = calls.iter().map(|call| &*call.name).collect();
            let names = names.join("`, `");
            format!("the call runs in a client, which `chat` does not have: `{names}`")
        }
        other => match other.cause() {
            Some(cause) => format!("the answer is not complete (cause `{}`)", cause.as_str()),
            None => "the conversation is in use".to_owned(),
        },
    };
    Failure::of(Exit::Failed, text)
}

/// A line of the standard input, or Ctrl-C in place of it.
enum Line {
    Text(String),
    Interrupted,
}

/// Reads a line; `None` at the end of the input.
async fn line(person: bool) -> Result<Option<Line>, Failure> {
    if person {
        let mut err = io::stderr().lock();
        // If the prompt cannot be written, the line can still be read.
        let _ = write!(err, "> ").and_then(|()| err.flush());
    }
    let (sender, receiver) = oneshot::channel();
    // The line is read in a separate thread, because reading blocks, and the process must be able to end in
    // the meantime.
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = io::stdin().lock().read_line(&mut text);
        // The receiver is dropped if Ctrl-C ends the chat.
        let _ = sender.send(read.map(|bytes| (bytes > 0).then_some(text)));
    });
    match select(receiver, pin!(interrupt())).await {
        Either::Left((Ok(read), _)) => Ok(read?.map(Line::Text)),
        Either::Left((Err(_), _)) => Ok(None),
        Either::Right(_) => {
            if io::stderr().is_terminal() {
                let _ = writeln!(io::stderr());
            }
            Ok(Some(Line::Interrupted))
        }
    }
}
