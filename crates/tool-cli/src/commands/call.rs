//! The `call` command: one call, with the rules and the gate of the program.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::pin::pin;
use std::sync::Arc;

use futures::StreamExt as _;
use futures::future::{Either, select};
use futures::stream::Stream;
use tool_core::store::CallId;
use tool_core::{
    CallResult, CancellationToken, ErrorKind, Registry, Repair, ToolCall, ToolContext, ToolDef,
    ToolEvent, Toolset,
};

use super::supply::{self, Supplied};
use super::{ask, declaring, find_offered, interrupt, offered, text_or_file};
use crate::args::{Call, CallOptions, CallTarget};
use crate::host::{Cli, clap_color, misused_exit, wants_json};
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

mod files;
mod flags;
mod form;
mod progress;
mod save;
mod show;
mod sketch;

pub(super) use flags::completed;
pub(super) use form::Terminal;
pub(super) use progress::Bar;
use progress::Progress;

/// The id of the only call that the command makes.
const ID: &str = "cli";

pub(super) async fn run(cli: &Cli, words: Call, screen: Screen) -> Result<Exit, Failure> {
    let registry = cli.tools()?;
    let Some(CallTarget::Tool(after)) = words.tool else {
        return Err(
            Failure::usage("the name of the tool is missing").hint(format!(
                "`{}` shows the arguments of a tool, `{}` lists the tools",
                cli.line("call NAME --help"),
                cli.line("list")
            )),
        );
    };
    let mut after = after.into_iter();
    let name = after.next().unwrap_or_default();
    let offered = offered(cli, &registry)?;
    let def = find_offered(cli, &registry, &offered, &name.to_string_lossy()).await?;
    let after: Vec<OsString> = after.collect();
    let said = match flags::read(
        def,
        &cli.program(),
        after.clone(),
        clap_color(&std::env::args_os().collect::<Vec<_>>()),
    ) {
        Ok(said) => said?,
        Err(error) => {
            // If the tool has an argument named `format`, `--format` is not an option here.
            let json = !flags::has(def, "format") && wants_json(&after);
            return Ok(misused_exit(&error, json || screen.is_json()));
        }
    };
    let screen = screen.or(said.later.format, said.later.color);
    let how = words.how.and(said.later.how);
    let done = make(
        cli,
        (&registry, &offered),
        def,
        &how,
        said.arguments,
        screen,
    )
    .await;
    // The failure is reported here, because only this command parses a `--format` after the tool's name.
    done.or_else(|failure| {
        screen.fail(&failure);
        Ok(failure.exit)
    })
}

async fn make(
    cli: &Cli,
    (registry, offered): (&Registry, &Toolset),
    def: &ToolDef,
    how: &CallOptions,
    flags: Option<String>,
    screen: Screen,
) -> Result<Exit, Failure> {
    let arguments = arguments(how, flags)?;
    if let Some(folder) = &how.save {
        save::prepare(folder)?;
    }
    let mut supplied = Supplied::gather(&how.supply, [def], declaring(registry, offered))?;
    ask::for_secrets(&mut supplied, def, screen)?;
    supplied.check_length(def)?;
    let token = CancellationToken::new();
    let call = OneCall {
        cli,
        def,
        how,
        screen,
        token: token.clone(),
        bar: Bar::default(),
    };
    let interrupted = async {
        interrupt().await;
        token.cancel();
        // The first Ctrl-C cancels the call and waits for its end; the second exits without waiting.
        interrupt().await;
    };
    let work = pin!(call.run(registry, &mut supplied, arguments));
    match select(work, pin!(interrupted)).await {
        Either::Left((result, _)) => result,
        Either::Right(_) => Ok(Exit::Interrupted),
    }
}

/// Returns the arguments as JSON text.
fn arguments(how: &CallOptions, flags: Option<String>) -> Result<String, Failure> {
    let text = match (&how.json, flags) {
        (Some(_), Some(_)) => {
            return Err(
                Failure::usage("arguments are given both as `--json` and as flags")
                    .hint("write all of them in `--json`, or all of them as flags"),
            );
        }
        (None, flags) => return Ok(flags.unwrap_or_else(|| "{}".to_owned())),
        (Some(json), None) => json,
    };
    if text == "-" {
        let mut all = String::new();
        io::stdin().read_to_string(&mut all).map_err(|error| {
            Failure::usage(format!("the standard input cannot be read: {error}"))
        })?;
        return Ok(all);
    }
    text_or_file(text)
}

struct OneCall<'a> {
    cli: &'a Cli,
    def: &'a ToolDef,
    how: &'a CallOptions,
    screen: Screen,
    token: CancellationToken,
    bar: Bar,
}

impl OneCall<'_> {
    async fn run(
        &self,
        registry: &Registry,
        supplied: &mut Supplied,
        arguments: String,
    ) -> Result<Exit, Failure> {
        let gate = self.cli.gate_of()?;
        let printed = self.cli.mask_panics();
        // The same identity is used for every dispatch of the call: after an approval, and after variables are supplied.
        let mut identity: Option<CallId> = None;
        loop {
            let cx = supplied
                .context(&self.how.supply)
                .cancellation(self.token.clone());
            let mut cx = self.cli.prepare(cx).redact_in(printed).build();
            let call = match &identity {
                Some(call) => call.clone(),
                None => CallId::alone(cx.own_workspace())
                    .map_err(|error| Failure::of(Exit::Failed, error.to_string()))?,
            };
            cx = cx.for_call(call.clone());
            identity = Some(call);
            if self.screen.is_interactive() {
                cx = cx.with_asker(Arc::new(Terminal {
                    screen: self.screen,
                    bar: self.bar.clone(),
                }));
            }
            let repair = if self.how.no_repair {
                Repair::Off
            } else {
                Repair::Safe
            };
            let tools = self.cli.offer(registry, &gate).toolset(&cx).repair(repair);
            self.seen(&tools)?;
            if !cx.has_tools() {
                cx = cx.with_tools(&tools);
            }
            let call = ToolCall::new(ID, self.def.wire_name(), arguments.clone());
            let mut result = self.drive(tools.stream(call.clone(), &cx)).await?;
            while let [ticket, ..] = result.tickets() {
                if !self.approve(&tools, &gate, ticket, &cx).await? {
                    return self.waits(&result);
                }
                result = self.drive(tools.stream(call.clone(), &cx)).await?;
            }
            let missing = result.error().map(tool_core::ToolError::missing_variables);
            if let Some(missing) = missing
                && !missing.is_empty()
                && ask::for_variables(supplied, missing, self.screen)?
            {
                continue;
            }
            return show::show(self.cli, self.def, &result, self.how, self.screen);
        }
    }

    /// Refuses a hidden tool, with the reason.
    fn seen(&self, tools: &Toolset) -> Result<(), Failure> {
        let explanation = tools.explain(self.def.name());
        if explanation.is_visible() {
            return Ok(());
        }
        Err(Failure::of(
            Exit::Refused,
            supply::reason(self.def, &explanation),
        ))
    }

    /// Runs the call until it ends, and shows its progress.
    async fn drive(&self, events: impl Stream<Item = ToolEvent>) -> Result<CallResult, Failure> {
        let mut progress = Progress::new(self.def.wire_name(), self.screen, self.bar.clone());
        let mut events = pin!(events);
        while let Some(event) = events.next().await {
            match event {
                ToolEvent::Started => progress.start(),
                ToolEvent::Progress(step) => progress.step(&step)?,
                ToolEvent::Done(result) => {
                    progress.end();
                    return Ok(result);
                }
            }
        }
        Err(Failure::of(Exit::Failed, "the call ended without a result"))
    }

    /// Stores the decision of the options or of the user on a call. Returns whether a decision was stored.
    async fn approve(
        &self,
        tools: &Toolset,
        gate: &tool_core::Gate,
        ticket: &tool_core::Ticket,
        cx: &ToolContext,
    ) -> Result<bool, Failure> {
        let Some(reply) = ask::approval(ticket, self.how, self.screen)? else {
            return Ok(false);
        };
        ask::answer(gate, tools, ticket, reply, cx).await
    }

    fn waits(&self, result: &CallResult) -> Result<Exit, Failure> {
        if self.screen.is_json() {
            return show::show(self.cli, self.def, result, self.how, self.screen);
        }
        let text = result.error().map(tool_core::ToolError::model_text);
        let text = format!("`{}`: {}", self.def.wire_name(), text.unwrap_or_default());
        Err(Failure::of(Exit::Refused, text).hint(
            "run the command in a terminal, which asks for the approval, or add `--approve` or `--deny`",
        ))
    }
}

/// Returns the exit code for a kind of error.
fn exit_of(kind: ErrorKind) -> Exit {
    match kind {
        ErrorKind::UnknownTool | ErrorKind::InvalidArguments => Exit::Usage,
        ErrorKind::Denied | ErrorKind::Pending => Exit::Refused,
        ErrorKind::Cancelled => Exit::Interrupted,
        _ => Exit::Failed,
    }
}
