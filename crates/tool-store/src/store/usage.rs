//! The tokens and the cost of model requests, in one form for all providers.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Tokens that model requests used, in one form for all providers, and their cost.
///
/// The other counters of tokens are parts of `input_tokens` or of `output_tokens`. A part is `None` if the provider did not report it, which is not
/// the same as 0. If two usages are added and only one of them reports a part, the sum contains the reported part. So a part of a sum is a lower
/// bound.
///
/// A response that reports no usage at all has no `Usage`: it is *unmeasured* ([`RunProgress::unmeasured`](super::RunProgress::unmeasured)).
///
/// ```
/// use tool_store::Usage;
///
/// let mut usage = Usage { input_tokens: 100, cache_read_tokens: Some(80), output_tokens: 20, ..Usage::default() };
/// usage += Usage { input_tokens: 50, output_tokens: 10, ..Usage::default() };
/// assert_eq!((usage.total_tokens(), usage.cache_read_tokens, usage.reasoning_tokens), (180, Some(80), None));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the whole input, including tokens that were read from a cache or written to it.
    #[serde(default)]
    pub input_tokens: u64,
    /// Tokens of the input that were read from a cache.
    #[serde(
        default,
        alias = "cached_tokens",
        skip_serializing_if = "Option::is_none"
    )]
    pub cache_read_tokens: Option<u64>,
    /// Tokens of the input that were written to a cache for 5 minutes, or for a time that the provider did not report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_5m_tokens: Option<u64>,
    /// Tokens of the input that were written to a cache for 1 hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_1h_tokens: Option<u64>,
    /// Tokens of the whole output, including reasoning.
    #[serde(default)]
    pub output_tokens: u64,
    /// Tokens of the output that are reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// The cost, in millionths of the currency of the host's prices. Providers do not report it: the client of the provider computes it from the
    /// price that the host sets for the model. `None` if the host has set no price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}

impl Usage {
    /// Returns the sum of input and output tokens.
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Returns whether the usage contains tokens. Each request has an input, so a report of 0 tokens is not a measurement.
    pub fn is_measured(&self) -> bool {
        self.total_tokens() > 0
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, more: Self) {
        let sum = u64::saturating_add;
        let part = |part: Option<u64>, more: Option<u64>| match (part, more) {
            (Some(part), Some(more)) => Some(sum(part, more)),
            (part, more) => part.or(more),
        };
        *self = Self {
            input_tokens: sum(self.input_tokens, more.input_tokens),
            cache_read_tokens: part(self.cache_read_tokens, more.cache_read_tokens),
            cache_write_5m_tokens: part(self.cache_write_5m_tokens, more.cache_write_5m_tokens),
            cache_write_1h_tokens: part(self.cache_write_1h_tokens, more.cache_write_1h_tokens),
            output_tokens: sum(self.output_tokens, more.output_tokens),
            reasoning_tokens: part(self.reasoning_tokens, more.reasoning_tokens),
            cost_micros: part(self.cost_micros, more.cost_micros),
        };
    }
}
