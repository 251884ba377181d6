//! Command-line arguments of `chat`.

use std::path::PathBuf;

use clap::Args;

use super::Supply;

/// Chats with a model that can call the tools.
///
/// Without `--model`, the first environment variable that is set decides: `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GEMINI_API_KEY`. `--demo` shows the
/// same chat without a model and without a network. Each line of standard input is a message. Ctrl-C stops an answer, a second Ctrl-C during the
/// same answer ends the chat, and Ctrl-D at the prompt ends the chat.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 success; 1 the model failed or its answer is not complete; 2 wrong use; 3 a call needs an approval that \
cannot be given here; 130 interrupted. In a terminal, failures of messages do not change the exit code."
)]
pub(crate) struct Chat {
    /// The message. By default, each line of standard input is a message.
    pub(crate) message: Option<String>,
    /// The model: `anthropic:NAME`, `openai:NAME`, `openai-chat:NAME` or `gemini:NAME`, or the name alone with `--base-url`.
    #[arg(long, value_name = "MODEL", help_heading = "Model")]
    pub(crate) model: Option<String>,
    /// The address of a server that speaks Chat Completions, such as `http://localhost:11434/v1`, or of a proxy of the provider. The key of a server is
    /// read from the environment variable `TOOL_MODEL_KEY`, if it needs one.
    #[arg(long, value_name = "URL", help_heading = "Model")]
    pub(crate) base_url: Option<String>,
    /// Uses a scripted model in place of a real one. Its call of a tool is real.
    #[arg(long, conflicts_with_all = ["model", "base_url", "record", "replay"], help_heading = "Model")]
    pub(crate) demo: bool,
    /// Instructions for the model: a text, or `@FILE`.
    #[arg(long, value_name = "TEXT", help_heading = "Model")]
    pub(crate) instructions: Option<String>,
    /// Writes the requests and the responses of the provider to this file, without the key. An existing file is replaced.
    #[arg(
        long,
        value_name = "PATH",
        conflicts_with = "replay",
        help_heading = "Model"
    )]
    pub(crate) record: Option<PathBuf>,
    /// Takes the responses from a file that `--record` has written, and sends nothing. Needs the same
    /// `--model` and `--base-url`, and no key.
    #[arg(long, value_name = "PATH", help_heading = "Model")]
    pub(crate) replay: Option<PathBuf>,
    /// Keeps the conversations in a SQLite file, such as `sqlite:chat.db`. A file that does not exist is created.
    #[arg(long, value_name = "URL", help_heading = "History")]
    pub(crate) store: Option<String>,
    /// Continues the last conversation of the store, or the one with this id. If a call waits for an approval, the program asks for it again.
    #[arg(
        long = "continue",
        value_name = "ID",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        requires = "store",
        help_heading = "History"
    )]
    pub(crate) continued: Option<String>,
    /// Lists the conversations of the store, and ends.
    #[arg(
        long,
        requires = "store",
        conflicts_with_all = ["message", "continued", "model", "base_url", "demo", "instructions", "record", "replay", "approve"],
        help_heading = "History"
    )]
    pub(crate) list: bool,
    /// Approves every call that needs an approval, without asking.
    #[arg(long)]
    pub(crate) approve: bool,
    #[command(flatten)]
    pub(crate) supply: Supply,
}
