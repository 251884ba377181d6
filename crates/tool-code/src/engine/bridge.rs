//! Tools as async JavaScript functions.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use rquickjs::object::Property;
use rquickjs::{Ctx, Exception, Function, Object, Persistent, Promise, Result, Value};

use super::Outbox;
use crate::limits::Limits;
use crate::protocol::{Outcome, ToHost};

const PRELUDE: &str = include_str!("prelude.js");

/// Calls that wait for their results.
pub(super) struct Calls {
    outbox: Outbox,
    most: usize,
    message: usize,
    next: Cell<u64>,
    waiting: RefCell<BTreeMap<u64, Waiting>>,
}

/// The promise of one call, and the error that rejects it if the call fails.
struct Waiting {
    resolve: Persistent<Function<'static>>,
    reject: Persistent<Function<'static>>,
    error: Persistent<Value<'static>>,
}

impl Calls {
    pub(super) fn new(outbox: &Outbox, limits: &Limits) -> Rc<Self> {
        Rc::new(Self {
            outbox: outbox.clone(),
            most: limits.calls,
            message: limits.message,
            next: Cell::new(0),
            waiting: RefCell::default(),
        })
    }

    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.borrow().is_empty()
    }

    /// Installs the global `tools`.
    pub(super) fn install<'js>(self: &Rc<Self>, ctx: &Ctx<'js>, names: &[String]) -> Result<()> {
        let make: Function<'js> = ctx.eval_with_options(PRELUDE, {
            let mut options = rquickjs::context::EvalOptions::default();
            options.filename = Some("prelude".to_owned());
            options
        })?;
        let calls = Rc::clone(self);
        let call = move |ctx: Ctx<'js>, name: String, given: Vec<Value<'js>>, error: Value<'js>| {
            calls.call(&ctx, &name, &given, error)
        };
        let known = names.to_vec();
        let unknown = move |ctx: Ctx<'js>, name: String| -> Result<Value<'js>> {
            Err(Exception::throw_reference(&ctx, &no_tool(&known, &name)))
        };
        let call = Function::new(ctx.clone(), call)?;
        let unknown = Function::new(ctx.clone(), unknown)?;
        let tools: Object<'js> = make.call((call, unknown, names.to_vec()))?;
        super::vm::define(&ctx.globals(), "tools", tools)
    }

    fn call<'js>(
        &self,
        ctx: &Ctx<'js>,
        name: &str,
        given: &[Value<'js>],
        error: Value<'js>,
    ) -> Result<Promise<'js>> {
        let (promise, resolve, reject) = ctx.promise()?;
        match self.arguments(ctx, name, given) {
            Ok(arguments) => {
                let id = self.next.get();
                self.next.set(id + 1);
                let waiting = Waiting {
                    resolve: Persistent::save(ctx, resolve),
                    reject: Persistent::save(ctx, reject),
                    error: Persistent::save(ctx, error),
                };
                self.waiting.borrow_mut().insert(id, waiting);
                let name = name.to_owned();
                self.outbox.send(&ToHost::Call {
                    id,
                    name,
                    arguments,
                });
            }
            Err((kind, text)) => {
                let error = told(ctx, error, kind, &text)?;
                reject.call::<_, ()>((error,))?;
            }
        }
        Ok(promise)
    }

    /// Returns the JSON text of a call's arguments. If the arguments are invalid or the run's limit of calls is reached, returns the kind and the
    /// text of the error.
    fn arguments<'js>(
        &self,
        ctx: &Ctx<'js>,
        name: &str,
        given: &[Value<'js>],
    ) -> std::result::Result<String, (&'static str, String)> {
        let invalid = |text: String| ("invalid_arguments", text);
        if self.next.get() >= self.most as u64 {
            let text = format!("the run has made {} calls, which is its limit", self.most);
            return Err(("rate_limited", text));
        }
        let one = || invalid(format!("`{name}` takes one object of arguments"));
        let text = match given {
            [] => "{}".to_owned(),
            [value] if value.is_undefined() => "{}".to_owned(),
            [value] if value.is_object() && !value.is_function() => {
                if let Ok(text) = ctx.json_stringify(value.clone()) {
                    text.and_then(|text| text.to_string().ok())
                        .ok_or_else(one)?
                } else {
                    let thrown = ctx.catch();
                    let why = super::global::text_of(ctx, &thrown);
                    return Err(invalid(format!(
                        "the arguments of `{name}` have no JSON form: {why}"
                    )));
                }
            }
            _ => return Err(one()),
        };
        if text.len() > self.message {
            return Err(invalid(format!(
                "the arguments of `{name}` have {} bytes, and {} are allowed",
                text.len(),
                self.message
            )));
        }
        Ok(text)
    }

    /// Settles the promise of a call.
    pub(super) fn answer(&self, ctx: &Ctx<'_>, id: u64, outcome: Outcome) -> Result<()> {
        let Some(waiting) = self.waiting.borrow_mut().remove(&id) else {
            return Ok(());
        };
        let (resolve, reject, error) = (
            waiting.resolve.restore(ctx)?,
            waiting.reject.restore(ctx)?,
            waiting.error.restore(ctx)?,
        );
        match outcome {
            Outcome::Output(json) => match ctx.json_parse(json) {
                Ok(value) => resolve.call((value,)),
                Err(rquickjs::Error::Exception) => reject.call((ctx.catch(),)),
                Err(other) => {
                    let error = told(ctx, error, "failed", &other.to_string())?;
                    reject.call((error,))
                }
            },
            Outcome::Failed { kind, message } => {
                let error = told(ctx, error, &kind, &message)?;
                reject.call((error,))
            }
        }
    }
}

/// Sets the kind and message of a call's error.
fn told<'js>(ctx: &Ctx<'js>, error: Value<'js>, kind: &str, text: &str) -> Result<Value<'js>> {
    if let Some(object) = error.as_object() {
        let own = |value: &str| Property::from(value.to_owned()).writable().configurable();
        object.prop("message", own(text))?;
        object.prop("kind", own(kind))?;
        return Ok(error);
    }
    Ok(Exception::from_message(ctx.clone(), text)?
        .into_object()
        .into_value())
}

/// Returns the error text for an unknown tool. It suggests a name that differs only in case, `-` and `_`, or lists all names.
fn no_tool(known: &[String], name: &str) -> String {
    let name: String = name.chars().take(64).collect();
    let folded = |name: &str| name.to_ascii_lowercase().replace(['-', '_'], "");
    let like = known.iter().find(|other| folded(other) == folded(&name));
    match (like, known) {
        (Some(like), _) => format!("there is no tool `{name}`, did you mean `{like}`?"),
        (None, []) => format!("there is no tool `{name}`, because this run has no tools"),
        (None, _) => format!(
            "there is no tool `{name}`, the available tools are {}",
            known.join(", ")
        ),
    }
}
