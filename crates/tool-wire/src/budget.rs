//! Provider limits on the tools of one request.

use tool_core::__private0::{may_be_non_strict, request_faults};
use tool_core::Dialect;
use tool_core::schema::rules::survey;

use super::listed::Listed;
use super::{OfferError, Provider};

/// Whether a provider accepts these tools in one request.
pub(super) enum Fit {
    /// The provider accepts the tools as they are.
    Whole,
    /// The provider accepts the tools if the named tools are also sent without `strict`. The host allows this for each of them.
    Without(Vec<String>),
    /// The provider does not accept the tools.
    Not(OfferError),
}

/// Checks the tools of a request against the provider's limits. Removed tools are still in the request, so they count.
pub(super) fn within(provider: Provider, listed: &[Listed]) -> Fit {
    let claude = provider.dialect() == Dialect::Anthropic;
    let is_counted = |tool: &&Listed| !claude || (tool.strict && !tool.deferred);
    let mut counted: Vec<&Listed> = listed.iter().filter(is_counted).collect();
    let faults = |counted: &[&Listed]| {
        request_faults(counted.iter().map(|tool| &tool.def), provider.dialect())
    };
    let mut found = faults(&counted);
    let mut loosened = Vec::new();
    while claude && !found.is_empty() {
        let candidates = counted.iter().enumerate();
        let weigh = |tool: &Listed| {
            let survey = survey(tool.def.input());
            survey.optionals + survey.unions
        };
        // Chooses the last of equal candidates, so that an appended tool of equal weight does not change the definitions before it.
        let next = candidates
            .filter(|(_, tool)| may_be_non_strict(&tool.def))
            .max_by_key(|(_, tool)| weigh(tool))
            .map(|(at, _)| at);
        let Some(next) = next else {
            break;
        };
        loosened.push(counted.remove(next).name().to_owned());
        found = faults(&counted);
    }
    if !found.is_empty() {
        return Fit::Not(OfferError::Budget {
            provider,
            faults: found,
        });
    }
    if loosened.is_empty() {
        Fit::Whole
    } else {
        Fit::Without(loosened)
    }
}
