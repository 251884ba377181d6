//! Packs of tools that language models call.
//!
//! Each pack is a module behind a feature of its name. A pack that is built is linked: [`Registry::linked`](tool_core::Registry::linked)
//! finds its tools when the program names this crate once (`use tool_std as _;`).
//!
//! | feature | tools |
//! |---|---|
//! | `demo` | `log_hello_world`, `slow_count` |

#![forbid(unsafe_code)]

#[cfg(feature = "workspace")]
pub mod workspace;

#[cfg(feature = "demo")]
pub mod demo;
