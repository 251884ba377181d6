//! Progress of streaming tools: in a terminal, a bar for steps with a known total, and otherwise a spinner; elsewhere, a line for each step.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use serde_json::value::RawValue;

use super::files;
use crate::json::Json;
use crate::outcome::Failure;
use crate::screen::{DIM, Screen, paint};

/// Keys under which a step can have the completed amount.
const DONE: [&str; 6] = [
    "done",
    "current",
    "completed",
    "progress",
    "position",
    "step",
];
/// Keys under which a step can have the total amount.
const TOTAL: [&str; 5] = ["total", "of", "count", "length", "steps"];

/// The progress display, shared with code that writes to the terminal at the same time.
#[derive(Clone, Default)]
pub(in crate::commands) struct Bar(Arc<Mutex<Option<ProgressBar>>>);

impl Bar {
    fn get(&self) -> Option<ProgressBar> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn set(&self, bar: Option<ProgressBar>) -> Option<ProgressBar> {
        std::mem::replace(
            &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner),
            bar,
        )
    }

    /// Hides the progress while `write` runs.
    pub(super) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match self.get() {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

pub(super) struct Progress {
    name: String,
    screen: Screen,
    bar: Bar,
}

#[derive(Serialize)]
struct Told<'a> {
    event: &'static str,
    tool: &'a str,
    value: &'a RawValue,
}

impl Progress {
    pub(super) fn new(name: &str, screen: Screen, bar: Bar) -> Self {
        Self {
            name: name.to_owned(),
            screen,
            bar,
        }
    }

    pub(super) fn start(&mut self) {
        if !self.screen.draws() {
            return;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(self.name.clone());
        bar.enable_steady_tick(Duration::from_millis(100));
        self.bar.set(Some(bar));
    }

    pub(super) fn step(&mut self, step: &RawValue) -> Result<(), Failure> {
        if self.screen.is_json() {
            return Screen::json(&Told {
                event: "progress",
                tool: &self.name,
                value: step,
            });
        }
        let mut json = Json::read(step.get()).unwrap_or(Json::Null);
        let described = files::describe(&mut json);
        let Some(bar) = self.bar.get() else {
            // A step without a file is printed unchanged.
            let text = match &json {
                _ if !described.any => step.get().to_owned(),
                Json::Text(line) => line.clone(),
                json => json.to_string(),
            };
            self.screen
                .note(format_args!("{} {text}", paint(DIM, &self.name)));
            return Ok(());
        };
        if let Some((done, total)) = how_far(&json) {
            if bar.length().is_none()
                && let Ok(style) =
                    ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} {wide_msg}")
            {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_length(total);
            bar.set_position(done);
        }
        bar.set_message(words(&json));
        Ok(())
    }

    pub(super) fn end(&mut self) {
        if let Some(bar) = self.bar.set(None) {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

fn number(json: &Json, keys: &[&str]) -> Option<u64> {
    keys.iter().find_map(|key| match json.get(key) {
        Some(Json::Number(text)) => text.parse().ok(),
        _ => None,
    })
}

fn how_far(json: &Json) -> Option<(u64, u64)> {
    let (done, total) = (number(json, &DONE)?, number(json, &TOTAL)?);
    (total > 0).then_some((done, total))
}

/// Formats a step as a short text.
fn words(json: &Json) -> String {
    match json {
        Json::Text(text) => text.clone(),
        Json::Record(entries) => {
            let told = entries
                .iter()
                .filter(|(key, _)| !DONE.contains(&&**key) && !TOTAL.contains(&&**key));
            let told = told.map(|(key, value)| match value {
                Json::Text(text) => format!("{key} {text}"),
                value => format!("{key} {value}"),
            });
            told.collect::<Vec<_>>().join(", ")
        }
        json => json.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{how_far, words};
    use crate::json::Json;

    fn json(text: &str) -> Json {
        Json::read(text).unwrap_or(Json::Null)
    }

    // S2-21, M7: progress is shown as a fraction only if a step has both figures.
    #[test]
    fn progress_fraction_needs_both_figures() {
        assert_eq!(how_far(&json(r#"{"done":2,"total":9}"#)), Some((2, 9)));
        assert_eq!(how_far(&json(r#"{"done":2}"#)), None);
        assert_eq!(how_far(&json(r#"{"done":2,"total":0}"#)), None);
        assert_eq!(words(&json(r#"{"done":2,"total":9,"page":"a"}"#)), "page a");
        assert_eq!(words(&json(r#"{"pages":3}"#)), "pages 3");
        assert_eq!(words(&json(r#""reading""#)), "reading");
    }
}
