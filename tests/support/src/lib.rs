//! Support for tests that require a kernel feature, a privilege or an installed client that a machine may lack.
//!
//! Such a test is a *case*: a sync or async function that returns [`Ran`], and returns [`Missing`] with `?` if the machine lacks a requirement. A
//! test target with `harness = false` runs its cases with [`suite!`]. A case that returns [`Missing`] is reported as ignored, with the reason. If
//! `CI` is set, the case fails, unless `.ci/ignored` lists it for this kind of machine.

mod clients;
#[cfg(all(feature = "postgres", unix))]
pub mod postgres;
mod suite;

pub use clients::{Node, python};
pub use suite::{Case, Missing, Ran, Suite};
