//! Agents that call each other: prompts, handoffs and sub-agents.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod budgets;
mod events;
mod files;
mod followed_events;
mod guardrails;
mod handoffs;
mod loading;
mod notifications;
mod promises;
mod promises_files;
mod promises_limits;
mod promises_restarts;
mod promises_sessions;
mod prompts;
mod restarts;
mod resumable;
mod stored_events;
mod subagents;
mod support;
mod terminations;
mod time;
mod ui;
mod variables;
