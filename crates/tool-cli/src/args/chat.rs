//! Command-line arguments of `chat`.

use std::path::PathBuf;

use clap::Args;

use super::Supply;

/// Chats with a model that can call the tools.
///
/// Without `--model`, the variable that is set decides: `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GEMINI_API_KEY`. `--demo` shows the same chat without a
/// model and without a network. Each line of the terminal is a message; Ctrl-C stops the answer, and a second one ends the chat.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 success; 1 the model failed or its answer is not complete; 2 wrong use; 3 a call waits for an approval that nobody can give; \
130 interrupted."
)]
pub(crate) struct Chat {
    /// The message. By default, the messages are the lines of the standard input.
    pub(crate) message: Option<String>,
    /// The model: `anthropic:NAME`, `openai:NAME`, `openai-chat:NAME` or `gemini:NAME`, or the name alone with `--base-url`.
    #[arg(long, value_name = "MODEL", help_heading = "Model")]
    pub(crate) model: Option<String>,
    /// The address of a server that speaks Chat Completions, such as `http://localhost:11434/v1`, or of a proxy of the provider. The key of a server is
    /// read from the environment variable `TOOL_MODEL_KEY`, if it needs one.
    #[arg(long, value_name = "URL", help_heading = "Model")]
    pub(crate) base_url: Option<String>,
    /// Shows a chat that is written in advance, with a real call of a tool.
    #[arg(long, conflicts_with_all = ["model", "base_url", "record", "replay"], help_heading = "Model")]
    pub(crate) demo: bool,
    /// Instructions for the model: a text, or `@FILE`.
    #[arg(long, value_name = "TEXT", help_heading = "Model")]
    pub(crate) instructions: Option<String>,
    /// Writes the requests and the responses of the provider to this file, without the key.
    #[arg(
        long,
        value_name = "PATH",
        conflicts_with = "replay",
        help_heading = "Model"
    )]
    pub(crate) record: Option<PathBuf>,
    /// Takes the responses from a file that `--record` has written, and sends nothing.
    #[arg(long, value_name = "PATH", help_heading = "Model")]
    pub(crate) replay: Option<PathBuf>,
    /// Approves every call that needs an approval, without asking.
    #[arg(long)]
    pub(crate) approve: bool,
    #[command(flatten)]
    pub(crate) supply: Supply,
}
