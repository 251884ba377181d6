//! What the stores on SQL databases share.

pub(crate) mod enablement;
