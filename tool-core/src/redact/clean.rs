//! Wrapper type for values in which a redactor has redacted the secrets.
//!
//! Every output of a call is stored in a [`Clean`]: the fields of `CallResult`, and through them the data that threads and the ledger store. Only
//! [`Redactor::clean`] creates a `Clean` from other values, so that the compiler reports an output that was not redacted.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::Redactor;
use crate::args::{Issue, RepairNote};
use crate::need::VariableNeed;

/// A value with texts in which a redactor can redact secrets.
pub(crate) trait Redact: Sized {
    /// Returns the value with redacted secrets. Implementations for structs destructure all fields, so that a new field does not compile until it is handled.
    fn masked(self, redactor: &Redactor) -> Self;
}

/// A value in which a redactor has redacted the secrets.
#[derive(Clone, Debug)]
pub(crate) struct Clean<T>(T);

impl<T> Clean<T> {
    pub(crate) const fn get(&self) -> &T {
        &self.0
    }

    pub(crate) fn into_inner(self) -> T {
        self.0
    }

    /// Rearranges the value. The closure must not add text that is not redacted.
    pub(crate) fn map<U>(self, rearrange: impl FnOnce(T) -> U) -> Clean<U> {
        Clean(rearrange(self.0))
    }
}

impl Redactor {
    /// Redacts every secret in a value.
    pub(crate) fn clean<T: Redact>(&self, value: T) -> Clean<T> {
        Clean(if self.is_empty() {
            value
        } else {
            value.masked(self)
        })
    }

    /// Redacts a text in place.
    pub(crate) fn replace(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.redact(text) {
            *text = masked;
        }
    }

    /// Redacts a text in place.
    pub(crate) fn replace_cow(&self, text: &mut Cow<'static, str>) {
        if let Cow::Owned(masked) = self.redact(text) {
            *text = Cow::Owned(masked);
        }
    }
}

impl<T: Redact, E: Redact> Redact for Result<T, E> {
    fn masked(self, redactor: &Redactor) -> Self {
        match self {
            Ok(value) => Ok(value.masked(redactor)),
            Err(error) => Err(error.masked(redactor)),
        }
    }
}

impl<T: Redact> Redact for Vec<T> {
    fn masked(self, redactor: &Redactor) -> Self {
        self.into_iter()
            .map(|value| value.masked(redactor))
            .collect()
    }
}

impl<T: Redact> Redact for Option<T> {
    fn masked(self, redactor: &Redactor) -> Self {
        self.map(|value| value.masked(redactor))
    }
}

impl Redact for String {
    fn masked(mut self, redactor: &Redactor) -> Self {
        redactor.replace(&mut self);
        self
    }
}

impl Redact for Box<RawValue> {
    fn masked(self, redactor: &Redactor) -> Self {
        redactor.payload(self)
    }
}

impl Redact for RepairNote {
    fn masked(self, redactor: &Redactor) -> Self {
        let Self { pointer, what } = self;
        Self {
            pointer: pointer.masked(redactor),
            what,
        }
    }
}

impl Redact for Issue {
    fn masked(self, redactor: &Redactor) -> Self {
        let Self {
            pointer,
            expected,
            found,
        } = self;
        Self {
            pointer: pointer.masked(redactor),
            expected: expected.masked(redactor),
            found: found.masked(redactor),
        }
    }
}

impl Redact for VariableNeed {
    fn masked(mut self, redactor: &Redactor) -> Self {
        let Self {
            name,
            kind: _,
            description,
            required: _,
            scoped: _,
        } = &mut self;
        redactor.replace_cow(name);
        if let Some(description) = description {
            redactor.replace_cow(description);
        }
        self
    }
}
