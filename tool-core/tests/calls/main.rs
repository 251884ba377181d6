//! Single calls: the values that a tool receives, its run and its result.

mod blocking;
mod bounded;
mod context;
mod dispatch;
mod limits;
mod results;
mod services;
mod variables;
