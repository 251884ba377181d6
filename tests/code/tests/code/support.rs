//! Helpers for all tests of this crate.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tool_code::{Code, CodeBuilder, Limits, RunResult, Status};
use tool_core::prelude::*;
use tool_isolate::Isolation;

/// Returns a builder whose engine process is this crate's `code-host` binary.
pub(crate) fn builder() -> CodeBuilder {
    let isolation = Isolation::new().helper(env!("CARGO_BIN_EXE_code-host"));
    Code::builder().isolation(isolation).limits(limits())
}

/// Limits that a run does not exceed, even on a busy machine.
pub(crate) fn limits() -> Limits {
    Limits {
        time: Duration::from_mins(1),
        ..Limits::default()
    }
}

/// Limits that only endless code exceeds.
pub(crate) fn short() -> Limits {
    Limits {
        time: Duration::from_secs(2),
        ..Limits::default()
    }
}

pub(crate) async fn run_with(limits: Limits, tools: &Toolset, code: &str) -> RunResult {
    let setup = builder().limits(limits).build().unwrap();
    setup
        .start(code, tools, &ToolContext::anonymous())
        .finish()
        .await
        .unwrap()
}

pub(crate) async fn run(code: &str) -> RunResult {
    run_with(limits(), &toolset![], code).await
}

pub(crate) fn message(result: &RunResult) -> &str {
    result.error.as_ref().map_or("", |error| &error.message)
}

#[track_caller]
pub(crate) fn gave(result: &RunResult) -> Value {
    assert_eq!(result.status, Status::Success, "{:?}", result.error);
    serde_json::from_str(result.result.get()).unwrap()
}

/// A log of the actions of tools, in order.
#[derive(Clone, Default)]
pub(crate) struct Diary(Arc<Mutex<Vec<String>>>);

tool_core::host_value!(Diary, tool_core::Effect::NONE);

impl Diary {
    pub(crate) fn write(&self, line: impl Into<String>) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line.into());
    }

    pub(crate) fn read(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
