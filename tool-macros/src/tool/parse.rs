//! Parser of `#[tool]`: the fn and the options, as written.

#[cfg(test)]
mod documented;
pub(crate) mod function;
pub(crate) mod need;
pub(crate) mod options;
pub(crate) mod split;
