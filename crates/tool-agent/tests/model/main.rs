//! Models over HTTP against a stand-in provider: what is sent, and what happens when the provider misbehaves.

mod cassettes;
mod chain;
mod config;
mod requests;
mod retries;
mod shown;
mod standin;
mod streams;
mod support;
