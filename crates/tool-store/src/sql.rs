//! Shared code of the SQL stores.

pub(crate) mod administration;
pub(crate) mod batches;
pub(crate) mod budget;
pub(crate) mod child;
pub(crate) mod columns;
pub(crate) mod contents;
pub(crate) mod directory;
pub(crate) mod enablement;
pub(crate) mod fence;
pub(crate) mod knowledge;
pub(crate) mod limit;
pub(crate) mod long_term;
pub(crate) mod note;
pub(crate) mod plan;
pub(crate) mod record_change;
pub(crate) mod records;
pub(crate) mod room;
pub(crate) mod schedule;
pub(crate) mod sealed;
pub(crate) mod spill;
pub(crate) mod statement;
pub(crate) mod stored_tool;
pub(crate) mod thread_event;
pub(crate) mod work;

/// The future that a read or a write returns.
pub(crate) trait Step<T, F>: Future<Output = Result<T, F>> + Send {}

impl<T, F, S: Future<Output = Result<T, F>> + Send> Step<T, F> for S {}
