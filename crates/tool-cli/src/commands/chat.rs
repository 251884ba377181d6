//! The `chat` command: a conversation with a model that can call the tools.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::pin::pin;
use std::sync::Arc;

use futures::channel::oneshot;
use futures::future::{Either, select};
use tool_core::store::MemoryStore;
use tool_core::turn::{Outcome, TurnError, Turns};
use tool_core::{CancellationToken, Gate, Ticket, ToolContext};

use super::supply::Supplied;
use super::{ask, declaring, offered};
use crate::args::CallOptions;
use crate::args::chat::Chat;
use crate::host::{Cli, Offer};
use crate::outcome::{Exit, Failure};
use crate::screen::{DIM, Screen, WARN, paint};

mod demo;
mod model;
mod output;

use model::Chosen;
use output::Output;

/// The name of the only conversation.
const CONVERSATION: &str = "chat";

pub(super) async fn run(cli: &Cli, words: &Chat, screen: Screen) -> Result<Exit, Failure> {
    let registry = cli.tools()?;
    let made = offered(cli, &registry)?;
    let supplied = Supplied::gather(
        &words.supply,
        declaring(&registry, &made),
        declaring(&registry, &made),
    )?;
    let output = Arc::new(Output::new(screen));
    let chosen = model::choose(words, &output)?;
    let gate = cli.gate_of()?;
    let (results, progress) = (Arc::clone(&output), Arc::clone(&output));
    let turns = Turns::new(MemoryStore::default())
        .observe(move |result| results.result(result))
        .progress(move |call, step| progress.progress(call, step));
    let mut session = Session {
        cli,
        words,
        screen,
        offer: cli.offer(&registry, &gate),
        gate,
        supplied,
        turns,
        chosen,
        output,
    };
    if let Some(instructions) = instructions(words)? {
        let cx = session.context(&CancellationToken::new());
        let stored = session.turns.instruct(&instructions, &cx).await;
        stored.map_err(|error| Failure::usage(error.to_string()))?;
    }
    if let Some(message) = &words.message {
        return session.answer(message).await;
    }
    session.converse().await
}

/// Returns the text of `--instructions`.
fn instructions(words: &Chat) -> Result<Option<String>, Failure> {
    let Some(text) = &words.instructions else {
        return Ok(None);
    };
    let Some(path) = text.strip_prefix('@') else {
        return Ok(Some(text.clone()));
    };
    let read = std::fs::read_to_string(path);
    read.map(Some)
        .map_err(|error| Failure::usage(format!("`{path}` cannot be read: {error}")))
}

/// A conversation.
struct Session<'a> {
    cli: &'a Cli,
    words: &'a Chat,
    screen: Screen,
    offer: Offer,
    gate: Gate,
    supplied: Supplied,
    turns: Turns,
    chosen: Chosen,
    output: Arc<Output>,
}

impl Session<'_> {
    /// Answers the lines of the standard input until it ends.
    async fn converse(&mut self) -> Result<Exit, Failure> {
        let person = self.screen.is_interactive();
        if person {
            let about = format!("{}; Ctrl-D ends the chat", self.chosen.about());
            self.screen.note(paint(DIM, about));
        }
        let mut last = Exit::Ok;
        loop {
            let Some(line) = line(person).await? else {
                // A person has seen each failure; a program reads the exit code.
                return Ok(if person { Exit::Ok } else { last });
            };
            match line {
                Line::Interrupted => return Ok(Exit::Interrupted),
                Line::Text(text) if text.trim().is_empty() => {}
                Line::Text(text) => match self.answer(text.trim_end()).await {
                    Ok(Exit::Interrupted) if !person => return Ok(Exit::Interrupted),
                    Ok(exit) => last = exit,
                    // The conversation continues, because the next message may succeed.
                    Err(failure) => {
                        self.screen.fail(&failure);
                        last = failure.exit;
                    }
                },
            }
        }
    }

    /// Answers one message. The first Ctrl-C stops the answer.
    async fn answer(&mut self, message: &str) -> Result<Exit, Failure> {
        let token = CancellationToken::new();
        let stopper = token.clone();
        let mut interrupted = pin!(async move {
            interrupt().await;
            stopper.cancel();
            interrupt().await;
        });
        let work = pin!(self.work(message, &token));
        match select(work, &mut interrupted).await {
            Either::Left((exit, _)) => exit,
            Either::Right(_) => Ok(Exit::Interrupted),
        }
    }

    async fn work(&mut self, message: &str, token: &CancellationToken) -> Result<Exit, Failure> {
        let cx = self.context(token);
        let said = self.turns.say(message, &cx).await;
        said.map_err(|error| Failure::usage(error.to_string()))?;
        self.chosen.begin(&self.offer.toolset(&cx));
        loop {
            // The variables that a person has entered are in the context of the next drive.
            let cx = self.context(token);
            let outcome = self.drive(&cx).await;
            self.output.end_line();
            let outcome = outcome.map_err(|error| Failure::of(Exit::Failed, error.to_string()))?;
            self.output.outcome(&outcome)?;
            match outcome {
                Outcome::Waiting(tickets) => {
                    for ticket in &tickets {
                        if !self.approve(ticket, &cx).await? {
                            return Err(Failure::of(
                                Exit::Refused,
                                format!("`{}` needs an approval", ticket.tool),
                            )
                            .hint("chat in a terminal, which asks for the approval, or add `--approve`"));
                        }
                    }
                }
                Outcome::Lacking(needs) => {
                    if !ask::for_variables(&mut self.supplied, &needs, self.screen)? {
                        let names: Vec<&str> = needs.iter().map(|need| &*need.name).collect();
                        let text = format!("the variable `{}` has no value", names.join("`, `"));
                        return Err(Failure::usage(text).hint("write `--variable NAME=VALUE`"));
                    }
                }
                Outcome::Answered(_) | Outcome::Replied(_) => return Ok(Exit::Ok),
                Outcome::Cancelled => {
                    self.note("the answer was stopped");
                    return Ok(Exit::Interrupted);
                }
                other => {
                    return Err(Failure::of(Exit::Failed, why(&other)));
                }
            }
        }
    }

    async fn drive(&mut self, cx: &ToolContext) -> Result<Outcome, TurnError> {
        let offer = &self.offer;
        let tools = |cx: &ToolContext| offer.toolset(cx);
        self.turns.drive(self.chosen.model(), tools, cx).await
    }

    fn context(&self, token: &CancellationToken) -> ToolContext {
        let printed = self.cli.mask_panics();
        let cx = self.supplied.context(&self.words.supply);
        let cx = cx.conversation(CONVERSATION).cancellation(token.clone());
        self.cli.prepare(cx).redact_in(printed).build()
    }

    /// Asks the user to approve a call, and returns whether the user answered.
    async fn approve(&self, ticket: &Ticket, cx: &ToolContext) -> Result<bool, Failure> {
        let how = CallOptions {
            approve: self.words.approve,
            ..CallOptions::default()
        };
        let Some(reply) = ask::approval(ticket, &how, self.screen)? else {
            return Ok(false);
        };
        let Some(approvals) = self.gate.approvals() else {
            return Ok(false);
        };
        let (workspace, tools) = (cx.own_workspace(), self.offer.toolset(cx));
        let approver = cx.user().unwrap_or("terminal");
        let answered = approvals.answer(&workspace, &tools, &ticket.token, reply, approver, None);
        answered.await.map_err(|error| {
            let text = format!("the approval was not accepted: {error}");
            Failure::of(Exit::Refused, text)
        })?;
        Ok(true)
    }

    fn note(&self, text: &str) {
        if !self.screen.is_json() {
            self.screen.note(paint(WARN, text));
        }
    }
}

/// Describes why an answer is not complete.
fn why(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Length(_) => "the answer reached the limit on its length".to_owned(),
        Outcome::Filtered(_) => "a filter of the provider withheld the answer".to_owned(),
        Outcome::Cut(_) => "the provider stopped before the answer was complete".to_owned(),
        Outcome::StepLimit => "the model reached the limit on its steps".to_owned(),
        Outcome::Unsettled(row) => {
            format!("the outcome of a call of `{}` is unknown", row.intent.tool)
        }
        Outcome::Client(calls) => {
            let names: Vec<&str> = calls.iter().map(|call| &*call.name).collect();
            format!(
                "the tool `{}` runs in a client, and this chat has none",
                names.join("`, `")
            )
        }
        other => match other.cause() {
            Some(cause) => format!("the answer ended with the cause `{}`", cause.as_str()),
            None => "the conversation is in use".to_owned(),
        },
    }
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
    // A thread of its own, because reading blocks, and the process must be able to end while it waits.
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

/// Waits for Ctrl-C.
async fn interrupt() {
    // If the signal handler cannot be installed, no signal is received.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
