//! Single calls: what a tool receives, how it runs, and what its result is.

mod blocking;
mod bounded;
mod context;
mod dispatch;
mod limits;
mod results;
mod services;
mod variables;
