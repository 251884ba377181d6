//! The type of values in which secrets are masked.
//!
//! Every output of a call is held in a [`Clean`]: the fields of `CallResult`, and through them the data that threads and the ledger store. Only
//! [`Redactor::clean`] creates a `Clean` from other values, so that no text can leave a call unmasked.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::Redactor;
use crate::args::{Issue, RepairNote};
use crate::need::VariableNeed;

/// Masks the secrets that a redactor knows in every text of a value.
pub(crate) trait Mask: Sized {
    /// Returns the value with its secrets masked. Implementations name every field, so that a new one cannot be forgotten.
    fn masked(self, redactor: &Redactor) -> Self;
}

/// A value in which a redactor has masked secrets.
#[derive(Clone, Debug)]
pub(crate) struct Clean<T>(T);

impl<T> Clean<T> {
    pub(crate) const fn get(&self) -> &T {
        &self.0
    }

    pub(crate) fn into_inner(self) -> T {
        self.0
    }

    /// Rearranges the value. The closure must not add text in which secrets are not masked.
    pub(crate) fn map<U>(self, rearrange: impl FnOnce(T) -> U) -> Clean<U> {
        Clean(rearrange(self.0))
    }
}

impl Redactor {
    /// Masks every secret in a value.
    pub(crate) fn clean<T: Mask>(&self, value: T) -> Clean<T> {
        Clean(if self.is_empty() {
            value
        } else {
            value.masked(self)
        })
    }

    /// Masks a text in place.
    pub(crate) fn replace(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.redact(text) {
            *text = masked;
        }
    }

    /// Masks a text in place.
    pub(crate) fn replace_cow(&self, text: &mut Cow<'static, str>) {
        if let Cow::Owned(masked) = self.redact(text) {
            *text = Cow::Owned(masked);
        }
    }
}

impl<T: Mask, E: Mask> Mask for Result<T, E> {
    fn masked(self, redactor: &Redactor) -> Self {
        match self {
            Ok(value) => Ok(value.masked(redactor)),
            Err(error) => Err(error.masked(redactor)),
        }
    }
}

impl<T: Mask> Mask for Vec<T> {
    fn masked(self, redactor: &Redactor) -> Self {
        self.into_iter()
            .map(|value| value.masked(redactor))
            .collect()
    }
}

impl<T: Mask> Mask for Option<T> {
    fn masked(self, redactor: &Redactor) -> Self {
        self.map(|value| value.masked(redactor))
    }
}

impl Mask for String {
    fn masked(mut self, redactor: &Redactor) -> Self {
        redactor.replace(&mut self);
        self
    }
}

impl Mask for Box<RawValue> {
    fn masked(self, redactor: &Redactor) -> Self {
        redactor.payload(self)
    }
}

impl Mask for RepairNote {
    fn masked(self, redactor: &Redactor) -> Self {
        let Self { pointer, what } = self;
        Self {
            pointer: pointer.masked(redactor),
            what,
        }
    }
}

impl Mask for Issue {
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

impl Mask for VariableNeed {
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
