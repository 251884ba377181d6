//! The globals `console` and `report`.

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::function::{Opt, Rest};
use rquickjs::{Coerced, Ctx, Exception, Function, Object, Result, Value};
use serde_json::value::RawValue;

use super::Outbox;
use crate::limits::{LINE, Limits};
use crate::outcome::Level;
use crate::protocol::ToHost;

/// The remaining output limits of a run.
pub(super) struct Budget {
    /// Remaining bytes of log lines.
    logs: Cell<usize>,
    /// The number of lines that were dropped.
    pub(super) dropped: Cell<u64>,
    /// Remaining bytes of reports and the result.
    pub(super) values: Cell<usize>,
    reports: Cell<usize>,
}

impl Budget {
    pub(super) fn new(limits: &Limits) -> Rc<Self> {
        Rc::new(Self {
            logs: Cell::new(limits.logs),
            dropped: Cell::new(0),
            values: Cell::new(limits.result),
            reports: Cell::new(limits.reports),
        })
    }
}

/// Installs `console` and `report`.
pub(super) fn install<'js>(ctx: &Ctx<'js>, outbox: &Outbox, budget: &Rc<Budget>) -> Result<()> {
    let console = Object::new(ctx.clone())?;
    let levels = [
        ("debug", Level::Debug),
        ("log", Level::Info),
        ("info", Level::Info),
        ("warn", Level::Warn),
        ("error", Level::Error),
    ];
    for (name, level) in levels {
        let (outbox, budget) = (outbox.clone(), Rc::clone(budget));
        let write = move |ctx: Ctx<'js>, values: Rest<Value<'js>>| {
            if budget.logs.get() <= LINE {
                budget.dropped.set(budget.dropped.get() + 1);
                return;
            }
            let text = line(&ctx, &values.0, budget.logs.get() - LINE);
            budget
                .logs
                .set(budget.logs.get().saturating_sub(text.len() + LINE));
            outbox.log(level, text);
        };
        console.set(name, Function::new(ctx.clone(), write)?.with_name(name)?)?;
    }
    super::vm::define(&ctx.globals(), "console", console)?;

    let (outbox, budget) = (outbox.clone(), Rc::clone(budget));
    let report = move |ctx: Ctx<'js>, value: Opt<Value<'js>>| -> Result<()> {
        let value = value.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        if budget.reports.get() == 0 {
            let text = "the run has reached its limit of reports, report a list instead";
            return Err(Exception::throw_range(&ctx, text));
        }
        let value = json(&ctx, value)?.unwrap_or_else(crate::outcome::nothing);
        let Some(left) = budget.values.get().checked_sub(value.get().len()) else {
            let text = "the reports of the run exceed their size limit, report less";
            return Err(Exception::throw_range(&ctx, text));
        };
        budget.values.set(left);
        budget.reports.set(budget.reports.get() - 1);
        outbox.send(&ToHost::Report { value });
        Ok(())
    };
    let report = Function::new(ctx.clone(), report)?.with_name("report")?;
    super::vm::define(&ctx.globals(), "report", report)
}

/// Converts a value to JSON, or returns `None` if it has no JSON form, like `undefined` and functions.
pub(super) fn json<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Option<Box<RawValue>>> {
    let Some(text) = ctx.json_stringify(value)? else {
        return Ok(None);
    };
    let text = paired(text.to_string()?);
    match RawValue::from_string(text) {
        Ok(value) => Ok(Some(value)),
        Err(error) => Err(Exception::throw_internal(ctx, &error.to_string())),
    }
}

/// Replaces unpaired surrogates in JSON, which other parsers reject. `JSON.stringify` writes `\ud8…` to `\udf…` escapes only for
/// unpaired surrogates.
fn paired(mut text: String) -> String {
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        at += found;
        let half = text.get(at..at + 6).is_some_and(|escape| {
            let escape = escape.as_bytes();
            escape.starts_with(b"\\ud") && escape[3] >= b'8'
        });
        if half {
            text.replace_range(at..at + 6, "\u{fffd}");
            at += '\u{fffd}'.len_utf8();
        } else {
            at += 2;
        }
    }
    text
}

/// Formats a log line. A line of more than `most` bytes is cut, and ends in `…`.
fn line<'js>(ctx: &Ctx<'js>, values: &[Value<'js>], most: usize) -> String {
    let mut text = String::new();
    for (i, value) in values.iter().enumerate() {
        if i > 0 {
            text.push(' ');
        }
        text.push_str(&text_of(ctx, value));
        if text.len() > most {
            let end = (0..=most).rev().find(|end| text.is_char_boundary(*end));
            text.truncate(end.unwrap_or(0));
            text.push('…');
            break;
        }
    }
    text
}

/// Formats a value as text. Ignores errors that code throws during the conversion.
pub(super) fn text_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> String {
    let told = if let Some(text) = value.as_string() {
        text.to_string().ok()
    } else if let Some(error) = value.as_object().filter(|object| object.is_error()) {
        let part = |key: &str| error.get::<_, Coerced<String>>(key).map(|text| text.0);
        part("name")
            .and_then(|name| Ok(format!("{name}: {}", part("message")?)))
            .ok()
    } else if value.is_function() {
        Some("[function]".to_owned())
    } else if value.is_symbol() {
        Some("[symbol]".to_owned())
    } else if value.is_object() {
        ctx.json_stringify(value.clone())
            .and_then(|text| text.map(|text| text.to_string()).transpose())
            .ok()
            .map(|text| text.unwrap_or_else(|| "[object]".to_owned()))
    } else {
        value.get::<Coerced<String>>().ok().map(|text| text.0)
    };
    told.unwrap_or_else(|| {
        drop(ctx.catch());
        "[value without text]".to_owned()
    })
}
