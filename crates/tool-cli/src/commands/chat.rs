//! The `chat` command: a conversation with a model that can call the tools.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::pin::pin;
use std::sync::Arc;

use futures::channel::oneshot;
use futures::future::{Either, select};
use tool_core::redact::SharedRedactor;
use tool_core::store::MemoryStore;
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

mod demo;
mod escape;
mod markdown;
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
    for def in registry.tools() {
        supplied.check_length(def)?;
    }
    let output = Arc::new(Output::new(screen));
    let chosen = model::choose(words, &output, screen.is_json())?;
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
        printed: cli.mask_panics(),
        supplied,
        turns,
        chosen,
        output,
    };
    if let Some(text) = &words.instructions {
        let instructions = text_or_file(text)?;
        let cx = session.context(&CancellationToken::new());
        let stored = session.turns.instruct(&instructions, &cx).await;
        stored.map_err(|error| Failure::usage(error.to_string()))?;
    }
    if let Some(message) = &words.message {
        return Ok(match session.answer(message).await? {
            Ended::Answered => Exit::Ok,
            Ended::Stopped | Ended::Chat => Exit::Interrupted,
        });
    }
    session.converse().await
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
        let mut first_failure = None;
        loop {
            let text = match line(person).await? {
                Some(Line::Text(text)) => text,
                Some(Line::Interrupted) => return Ok(Exit::Interrupted),
                // In a terminal, every failure was printed. A script needs the exit code of the first one.
                None if person => return Ok(Exit::Ok),
                None => return Ok(first_failure.unwrap_or(Exit::Ok)),
            };
            if text.trim().is_empty() {
                continue;
            }
            let failure = match self.answer(text.trim_end()).await {
                Ok(Ended::Answered) => continue,
                Ok(Ended::Stopped) if person => continue,
                Ok(Ended::Stopped | Ended::Chat) => return Ok(Exit::Interrupted),
                Err(failure) => failure,
            };
            if !person && failure.exit == Exit::Refused {
                // The call stays open, so the next message would not be answered.
                return Err(failure);
            }
            // The next message may succeed.
            self.screen.fail(&failure);
            first_failure.get_or_insert(failure.exit);
        }
    }

    /// Answers one message. The first Ctrl-C stops the answer, and the second one the chat.
    async fn answer(&mut self, message: &str) -> Result<Ended, Failure> {
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

    async fn work(&mut self, message: &str, token: &CancellationToken) -> Result<Ended, Failure> {
        let cx = self.context(token);
        let said = self.turns.say(message, &cx).await;
        said.map_err(|error| Failure::usage(error.to_string()))?;
        self.chosen.begin(|| self.offer.toolset(&cx));
        loop {
            // A new context contains the variables that the user has entered.
            let cx = self.context(token);
            let outcome = self.drive(&cx).await;
            self.output.end_line();
            let outcome = outcome.map_err(|error| {
                self.output.failed();
                Failure::of(Exit::Failed, error.to_string())
            })?;
            let continues = match &outcome {
                Outcome::Waiting(tickets) => self.approve_all(tickets, &cx, token).await,
                Outcome::Lacking(needs) => {
                    ask::for_variables(&mut self.supplied, needs, self.screen)
                }
                _ => Ok(false),
            };
            let continues = continues.inspect_err(|_| self.output.failed())?;
            if token.is_cancelled() {
                self.note("the answer was stopped");
                self.output.outcome(&Outcome::Cancelled)?;
                return Ok(Ended::Stopped);
            }
            if continues {
                self.output.waiting(&outcome);
                continue;
            }
            self.output.outcome(&outcome)?;
            return match outcome {
                Outcome::Answered(_) | Outcome::Replied(_) => Ok(Ended::Answered),
                outcome => Err(unanswered(&outcome)),
            };
        }
    }

    async fn drive(&mut self, cx: &ToolContext) -> Result<Outcome, TurnError> {
        let offer = &self.offer;
        let tools = |cx: &ToolContext| offer.toolset(cx);
        self.turns.drive(self.chosen.model(), tools, cx).await
    }

    fn context(&self, token: &CancellationToken) -> ToolContext {
        let cx = self.supplied.context(&self.words.supply);
        let cx = cx.conversation(CONVERSATION).cancellation(token.clone());
        let cx = self.cli.prepare(cx).redact_in(self.printed).build();
        if !self.screen.is_interactive() {
            return cx;
        }
        cx.with_asker(Arc::new(Terminal {
            screen: self.screen,
            bar: Bar::default(),
        }))
    }

    /// Asks the user to approve each call, and returns whether the user answered all questions. Ctrl-C at a question stops the answer.
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

    /// Asks about one call, on a thread of its own, because reading blocks.
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
    /// Ctrl-C stopped the answer.
    Stopped,
    /// A second Ctrl-C ends the chat.
    Chat,
}

/// The failure of a message without a complete answer.
fn unanswered(outcome: &Outcome) -> Failure {
    let text = match outcome {
        Outcome::Waiting(tickets) => {
            let names: Vec<&str> = tickets.iter().map(|ticket| &*ticket.tool).collect();
            let text = format!("a call needs an approval: `{}`", names.join("`, `"));
            let hint = "run the chat in a terminal to approve the call, or add `--approve`";
            return Failure::of(Exit::Refused, text).hint(hint);
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
