//! Counting of tokens: the estimate, and its correction by the usage that the provider reported.

use tool_core::Toolset;
use tool_core::store::Message;
use tool_core::turn::{message_tokens, tools_tokens};

/// Counts the tokens of messages and tools before they are sent.
///
/// [`EstimatedTokens`] is the default. A host that has the tokenizer of its model implements this trait with it. [`Windowed`](super::Windowed)
/// corrects every counter by the usage that the provider reports, so a counter need not be exact.
///
/// ```
/// use tool_agent::window::{EstimatedTokens, TokenCounter};
/// use tool_core::Toolset;
/// use tool_core::store::Message;
///
/// /// Counts twice the estimate.
/// struct Careful;
///
/// impl TokenCounter for Careful {
///     fn message(&self, message: &Message) -> u64 {
///         2 * EstimatedTokens.message(message)
///     }
///
///     fn tools(&self, tools: &Toolset) -> u64 {
///         2 * EstimatedTokens.tools(tools)
///     }
/// }
/// ```
#[doc(alias("tokenizer", "count_tokens", "tiktoken"))]
pub trait TokenCounter: Send + Sync {
    /// Returns the tokens of a message in a request. The count must depend on the message alone.
    fn message(&self, message: &Message) -> u64;

    /// Returns the tokens of the definitions of the tools in a request.
    fn tools(&self, tools: &Toolset) -> u64;
}

/// Estimates tokens by the length of the texts, for every model.
///
/// - Four ASCII bytes count as one token. This is about 10 % too high for English prose, and up to a third too low for JSON, numbers and source code.
/// - Every other character counts as one token. This is too high for most languages in other scripts, by up to a factor of two.
/// - Each message counts 8 tokens more than its text, and each call 8 tokens more than its name and arguments.
/// - Each image and each file counts as 1,600 tokens, which is a large image or one page of a document. A file of a text type that is stored as
///   base64 counts by its length.
/// - Definitions of tools count by the length of their JSON Schema.
#[derive(Clone, Copy, Debug, Default)]
pub struct EstimatedTokens;

impl TokenCounter for EstimatedTokens {
    fn message(&self, message: &Message) -> u64 {
        message_tokens(message)
    }

    fn tools(&self, tools: &Toolset) -> u64 {
        tools_tokens(tools)
    }
}

/// The tokens that a provider reported for a request, and the estimate for the same request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measure {
    reported: u64,
    estimated: u64,
}

impl Measure {
    /// The measure before the first request: it leaves estimates unchanged.
    pub(super) const NONE: Self = Self {
        reported: 1,
        estimated: 1,
    };

    /// Creates a measure. If the report is less than half of the estimate, half of the estimate is used, because the report probably belongs to a
    /// different request.
    pub(super) fn new(reported: u64, estimated: u64) -> Self {
        let estimated = estimated.max(1);
        Self {
            reported: reported.max(estimated.div_ceil(2)),
            estimated,
        }
    }

    /// Corrects an estimate by the ratio of the reported and the estimated tokens.
    fn apply(self, estimate: u64) -> u64 {
        let product = u128::from(estimate) * u128::from(self.reported);
        u64::try_from(product.div_ceil(u128::from(self.estimated))).unwrap_or(u64::MAX)
    }
}

/// The count of a request: the tokens that the provider reported for its beginning, and an estimate for the rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count {
    measure: Measure,
    /// The number of units at the beginning of the thread that the measured part covers.
    measured: usize,
    /// The estimate of the measured part.
    prefix: u64,
    /// The estimate of the rest.
    rest: u64,
}

impl Count {
    /// Creates the count of a request without messages.
    pub(super) fn new(fixed: u64) -> Self {
        Self {
            measure: Measure::NONE,
            measured: 0,
            prefix: fixed,
            rest: 0,
        }
    }

    /// Creates a count whose first units were measured.
    pub(super) fn measured(fixed: u64, measure: Measure, units: usize) -> Self {
        Self {
            measure,
            measured: units,
            prefix: fixed,
            rest: 0,
        }
    }

    pub(super) fn add(&mut self, unit: usize, tokens: u64) {
        if unit < self.measured {
            self.prefix += tokens;
        } else {
            self.rest += tokens;
        }
    }

    pub(super) fn remove(&mut self, unit: usize, tokens: u64) {
        let part = if unit < self.measured {
            &mut self.prefix
        } else {
            &mut self.rest
        };
        *part = part.saturating_sub(tokens);
    }

    /// Adds tokens at the beginning of the request.
    pub(super) fn add_fixed(&mut self, tokens: u64) {
        self.prefix += tokens;
    }

    /// Removes tokens from the beginning of the request.
    pub(super) fn remove_fixed(&mut self, tokens: u64) {
        self.prefix = self.prefix.saturating_sub(tokens);
    }

    /// Records that the provider reported `tokens` for a request with the units that were added so far.
    pub(super) fn report(&mut self, tokens: u64, units: usize) {
        *self = Self {
            measure: Measure::new(tokens, self.estimate()),
            measured: units,
            prefix: self.estimate(),
            rest: 0,
        };
    }

    /// Returns the estimate without a correction.
    pub(super) fn estimate(&self) -> u64 {
        self.prefix + self.rest
    }

    /// Returns the corrected count.
    pub(super) fn total(&self) -> u64 {
        self.measure.apply(self.prefix).saturating_add(self.rest)
    }
}
