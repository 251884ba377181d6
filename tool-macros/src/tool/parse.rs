//! Parser of `#[tool]`: the fn and the options, as written.

#[cfg(test)]
mod documented;
pub(super) mod function;
pub(super) mod need;
pub(super) mod options;
pub(super) mod params;
pub(super) mod split;
pub(super) mod values;

use proc_macro2::TokenStream;

use crate::errors::Errors;
use crate::tool::parse::function::Function;
use crate::tool::parse::options::Options;
use crate::tool::parse::params::{Attributes, Read};

/// A tool as written.
pub(super) struct Written {
    pub(super) function: Function,
    pub(super) options: Options,
    /// The attributes of the named parameters, in their order.
    pub(super) params: Vec<Read<Attributes>>,
}

/// The result of the parser.
pub(super) enum Parsed {
    Tool(Box<Written>),
    /// A parameter has `#[cfg]` or `#[cfg_attr]`: the tool is generated once for each value of the condition, and rustc keeps one of the two.
    Both(TokenStream),
    /// The header cannot be parsed; its error is already recorded.
    Faulty,
}

/// Parses the fn and the options.
pub(super) fn parse(attr: TokenStream, item: TokenStream, errors: &Errors) -> Parsed {
    let Some(function) = function::parse(item, errors) else {
        return Parsed::Faulty;
    };
    if let Some(both) = split::on_cfg(&attr, &function) {
        return Parsed::Both(both);
    }
    let options = Options::parse(attr, errors);
    let params = function.named().map(params::parse).collect();
    Parsed::Tool(Box::new(Written {
        function,
        options,
        params,
    }))
}
