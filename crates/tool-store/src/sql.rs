//! What the stores on SQL databases share.

pub(crate) mod columns;
pub(crate) mod enablement;
pub(crate) mod records;
