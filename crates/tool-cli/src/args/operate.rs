//! Command-line arguments of the commands for operators.

use clap::{Args, Subcommand, ValueEnum};

/// The exit codes of every command for operators.
const EXIT_CODES: &str = "Exit codes: 0 success; 1 the change conflicts with the state of the row, or the admin API cannot be reached or reports a failure; \
2 wrong use, the row does not exist, or the store cannot be opened; 3 the access token does not permit the request.";

/// The store or the admin API on which a command works.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Target {
    /// The store of the host: a SQLite file, such as `sqlite:state.db`, or a PostgreSQL database, such as `postgres://user@host/database`.
    #[arg(
        long,
        value_name = "URL",
        global = true,
        conflicts_with = "admin",
        help_heading = "Target"
    )]
    pub(crate) store: Option<String>,
    /// The address of the host's admin API, such as `http://127.0.0.1:8081`.
    #[arg(long, value_name = "URL", global = true, help_heading = "Target")]
    pub(crate) admin: Option<String>,
    /// The source of the access token of the admin API: `env:VARIABLE` or `file:PATH`. By default, the environment variable
    /// `TOOL_ADMIN_TOKEN`.
    #[arg(
        long,
        value_name = "SOURCE",
        global = true,
        conflicts_with = "store",
        help_heading = "Target"
    )]
    pub(crate) token: Option<String>,
    /// The workspace (tenant). By default, the workspace of the token, or with `--store` the workspace of a host with a single workspace.
    #[arg(long, value_name = "NAME", global = true, help_heading = "Target")]
    pub(crate) workspace: Option<String>,
    /// With `--store`, the name of the operator in audit rows and answers. By default, the environment variable `USER`.
    #[arg(
        long,
        value_name = "NAME",
        global = true,
        conflicts_with = "admin",
        help_heading = "Target"
    )]
    pub(crate) user: Option<String>,
}

/// The part of a list that a command prints.
#[derive(Clone, Debug, Args)]
pub(crate) struct Page {
    /// The maximum number of rows, from 1 to 100. By default 100.
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) limit: Option<u32>,
    /// Continues a list: the cursor that the command printed after the previous page.
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
}

/// Lists the calls and plans that wait for a person, and answers them.
///
/// Without a subcommand, lists the pending requests for an approval, newest first.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Inbox {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) filter: InboxFilter,
    #[command(subcommand)]
    pub(crate) action: Option<InboxAction>,
}

/// The filters of the requests for an approval.
#[derive(Debug, Args)]
pub(crate) struct InboxFilter {
    /// Lists requests with this status, such as `approved`, or `all`. By default `pending`.
    #[arg(long)]
    pub(crate) status: Option<String>,
    /// Lists only requests for this tool.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Lists only requests by this user.
    #[arg(long, value_name = "NAME")]
    pub(crate) principal: Option<String>,
    /// Lists only requests that are assigned to this person.
    #[arg(long, value_name = "NAME")]
    pub(crate) assignee: Option<String>,
    /// Lists only requests of this conversation.
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<String>,
    #[command(flatten)]
    pub(crate) page: Page,
}

/// An action on a request for an approval.
#[derive(Debug, Subcommand)]
pub(crate) enum InboxAction {
    /// Prints a request with its arguments.
    Show {
        /// The id of the request.
        id: String,
    },
    /// Approves a pending request.
    Approve {
        /// The id of the request.
        id: String,
        /// Approves the call with these arguments instead: JSON, `@FILE`, or `-` for standard input.
        #[arg(long, value_name = "JSON")]
        arguments: Option<String>,
        /// The reason, which is stored with the answer.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Denies a pending request. The model reads the reason.
    Deny {
        /// The id of the request.
        id: String,
        /// The reason, which is stored with the answer.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Assigns a pending request to a person; without a name, removes the assignee.
    Assign {
        /// The id of the request.
        id: String,
        /// The name of the person.
        person: Option<String>,
    },
    /// Revokes a request that is pending, or that is approved and not used yet.
    Revoke {
        /// The id of the request.
        id: String,
    },
}

/// Lists the audit rows of calls and of changes by operators, newest first.
///
/// With `--export`, prints all rows that the filters select as JSON lines.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct AuditLog {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Lists only calls of this tool.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Lists only calls for this user, and changes by this operator.
    #[arg(long, value_name = "NAME")]
    pub(crate) principal: Option<String>,
    /// Lists only calls of this conversation.
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<String>,
    /// Lists only calls to which the model gave this id.
    #[arg(long, value_name = "ID")]
    pub(crate) call: Option<String>,
    /// Lists only calls with this outcome: `ok`, or the kind of an error.
    #[arg(long, value_name = "KIND")]
    pub(crate) outcome: Option<String>,
    /// Lists only calls that have failed.
    #[arg(long)]
    pub(crate) failed: bool,
    /// Lists only calls with this decision of the policy.
    #[arg(long, value_name = "ID")]
    pub(crate) decision: Option<String>,
    /// Lists only calls that arrived at this time or later, such as `2026-01-31T12:00:00Z`.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Lists only calls that arrived before this time.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Prints all selected rows as JSON lines.
    #[arg(long, conflicts_with_all = ["limit", "cursor"])]
    pub(crate) export: bool,
    #[command(flatten)]
    pub(crate) page: Page,
}

/// Lists the calls that change something, and settles calls with an unknown outcome.
///
/// Without a subcommand, lists the effects whose outcome is unknown (`ambiguous`), newest first.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Effects {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) filter: EffectsFilter,
    #[command(subcommand)]
    pub(crate) action: Option<EffectsAction>,
}

/// The filters of effects.
#[derive(Debug, Args)]
pub(crate) struct EffectsFilter {
    /// Lists effects in this state, such as `running`, or `all`. By default `ambiguous`.
    #[arg(long)]
    pub(crate) state: Option<String>,
    /// Lists only calls of this tool.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Lists only calls for this user.
    #[arg(long, value_name = "NAME")]
    pub(crate) principal: Option<String>,
    /// Lists only calls of this conversation.
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<String>,
    #[command(flatten)]
    pub(crate) page: Page,
}

/// An action on an effect.
#[derive(Debug, Subcommand)]
pub(crate) enum EffectsAction {
    /// Prints an effect.
    Show {
        /// The key of the effect.
        key: String,
    },
    /// Settles an effect whose outcome is unknown.
    #[command(group = clap::ArgGroup::new("finding").args(["succeeded", "failed", "rerun"]).required(true))]
    Resolve {
        /// The key of the effect.
        key: String,
        /// The effect happened, and the call returns this output: JSON, `@FILE`, or `-` for standard input.
        #[arg(long, value_name = "JSON")]
        succeeded: Option<String>,
        /// The effect did not happen, and the call returns this error to the model.
        #[arg(long, value_name = "ERROR")]
        failed: Option<String>,
        /// The effect did not happen, and the call may run again.
        #[arg(long)]
        rerun: bool,
    },
}

/// Lists the runs of conversations, and cancels them.
///
/// Without a subcommand, lists the runs that have not ended, newest first.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Runs {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) filter: RunsFilter,
    #[command(subcommand)]
    pub(crate) action: Option<RunsAction>,
}

/// The filters of runs.
#[derive(Debug, Args)]
pub(crate) struct RunsFilter {
    /// Lists runs in this state, such as `ended`, or `all`. By default `running`.
    #[arg(long)]
    pub(crate) state: Option<String>,
    /// Lists only runs of this conversation.
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<String>,
    #[command(flatten)]
    pub(crate) page: Page,
}

/// An action on a run.
#[derive(Debug, Subcommand)]
pub(crate) enum RunsAction {
    /// Prints a run.
    Show {
        /// The conversation of the run.
        conversation: String,
        /// The number of the run in the conversation.
        number: u64,
    },
    /// Cancels an active run. The process of the run stops it before its next step.
    Cancel {
        /// The conversation of the run.
        conversation: String,
        /// The number of the run in the conversation.
        number: u64,
    },
}

/// Prints the plan of a conversation.
///
/// A model makes plans with the tools of the pack `plan` of `tool-std`. They are read from the store of the host.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(subcommand)]
    pub(crate) action: PlanAction,
}

/// An action on plans.
#[derive(Debug, Subcommand)]
pub(crate) enum PlanAction {
    /// Prints a run of a plan: its nodes in stages, with their statuses.
    Show {
        /// The conversation of the plan.
        conversation: String,
        /// The number of the run in the conversation. By default the last one.
        number: Option<u64>,
        /// Prints a flowchart in the language of Mermaid.
        #[arg(long)]
        mermaid: bool,
    },
}

/// Maintains the memories of a store.
///
/// The memories themselves are listed, corrected and deleted over the admin API.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Memories {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(subcommand)]
    pub(crate) action: MemoriesAction,
}

/// An action on the memories of a store.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoriesAction {
    /// Creates the indexes of pgvector that searches by meaning use, and removes indexes that no model needs.
    ///
    /// An index is created for each model with more than 20,000 embeddings in one scope. Run the command once a day, with a PostgreSQL user who owns
    /// the tables. The host continues to work meanwhile.
    Index,
}

/// Lists the secrets of a workspace without their values, and writes them.
///
/// With `--store`, the keys of the vault are read from the environment variable `TOOL_SEAL_KEYS`, as by the host.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Secrets {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) page: Page,
    #[command(subcommand)]
    pub(crate) action: Option<SecretsAction>,
}

/// An action on secrets.
#[derive(Debug, Subcommand)]
pub(crate) enum SecretsAction {
    /// Writes the value of a secret, in place of its previous value.
    Set {
        /// The name that tools declare.
        name: String,
        /// The source of the value: `env:VARIABLE` or `file:PATH`. By default, the value is read from the terminal without showing it, or from
        /// standard input.
        #[arg(long, value_name = "SOURCE")]
        from: Option<String>,
    },
    /// Removes a secret.
    Remove {
        /// The name that tools declare.
        name: String,
    },
    /// Lists the tools that lack a secret.
    Missing,
    /// Lists the keys with which the values are sealed, with the number of values.
    Keys,
    /// Seals all values with the current key. Repeat the command until no value is sealed with an earlier key.
    Rotate,
    /// Retires a key. The command fails while a value is still sealed with the key.
    Retire {
        /// The id of the key.
        key: String,
    },
}

/// Lists the switches that stop or disable tools, and sets them.
///
/// Without a subcommand, lists the switches that are on.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct SwitchTools {
    #[command(flatten)]
    pub(crate) target: Target,
    #[command(flatten)]
    pub(crate) filter: SwitchFilter,
    /// Lists or sets the switches for every workspace.
    #[arg(long, global = true, conflicts_with = "workspace")]
    pub(crate) every_workspace: bool,
    #[command(subcommand)]
    pub(crate) action: Option<SwitchAction>,
}

/// The filters of switches.
#[derive(Debug, Args)]
pub(crate) struct SwitchFilter {
    /// Lists only switches of this tool.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Also lists switches that are off.
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) page: Page,
}

/// An action on a switch.
#[derive(Debug, Subcommand)]
pub(crate) enum SwitchAction {
    /// Turns a switch on.
    On {
        /// The kind of the switch.
        kind: SwitchKind,
        /// The name of the tool.
        tool: String,
        /// The reason, which is stored with the switch.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Turns a switch off.
    Off {
        /// The kind of the switch.
        kind: SwitchKind,
        /// The name of the tool.
        tool: String,
        /// The reason, which is stored with the switch.
        #[arg(long)]
        reason: Option<String>,
    },
}

/// The kind of a switch.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SwitchKind {
    /// Running calls of the tool are cancelled, and new calls are refused.
    Kill,
    /// New calls of the tool are refused. Running calls continue.
    Disable,
}

impl SwitchKind {
    #[cfg(feature = "operate")]
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Disable => "disable",
        }
    }
}

#[cfg(feature = "cargo")]
impl super::Command {
    /// Returns the target of a command for operators, or `None` for every other command.
    pub(crate) fn target(&self) -> Option<&Target> {
        match self {
            Self::Inbox(words) => Some(&words.target),
            Self::Audit(words) => Some(&words.target),
            Self::Effects(words) => Some(&words.target),
            Self::Runs(words) => Some(&words.target),
            Self::Plan(words) => Some(&words.target),
            Self::Memories(words) => Some(&words.target),
            Self::Secrets(words) => Some(&words.target),
            Self::Switch(words) => Some(&words.target),
            _ => None,
        }
    }
}
