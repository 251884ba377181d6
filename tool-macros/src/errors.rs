//! Collection of all errors of one macro call, so that the user sees all of them at once.

use std::cell::{Cell, RefCell};
use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The errors so far. Dropping them without [`Errors::finish`] or [`Errors::into_list`] panics, so that no error is lost.
pub(crate) struct Errors {
    list: RefCell<Option<Vec<syn::Error>>>,
    /// Whether rustc has reported a syntax error in the macro's input.
    reported: Cell<bool>,
}

impl Errors {
    pub(crate) fn new() -> Self {
        Self {
            list: RefCell::new(Some(Vec::new())),
            reported: Cell::new(false),
        }
    }

    /// Records that rustc has reported a syntax error, because rustc parses an item before it calls the macro.
    pub(crate) fn reported_by_rustc(&self) {
        self.reported.set(true);
    }

    /// Adds an error that underlines all of `tokens`.
    pub(crate) fn at(&self, tokens: impl ToTokens, text: impl Display) {
        self.push(syn::Error::new_spanned(tokens.into_token_stream(), text));
    }

    /// Adds an error at one span.
    pub(crate) fn at_span(&self, span: Span, text: impl Display) {
        self.push(syn::Error::new(span, text));
    }

    pub(crate) fn push(&self, error: syn::Error) {
        if let Some(list) = self.list.borrow_mut().as_mut() {
            list.push(error);
        }
    }

    /// Returns the value, or adds the error.
    pub(crate) fn keep<T>(&self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count() == 0 && !self.reported.get()
    }

    pub(crate) fn count(&self) -> usize {
        self.list.borrow().as_ref().map_or(0, Vec::len)
    }

    /// Returns all errors, which the caller reports.
    pub(crate) fn into_list(self) -> Vec<syn::Error> {
        self.list.borrow_mut().take().unwrap_or_default()
    }

    /// Returns all errors as code that reports them; `Ok` if there are none. The code is empty if rustc has reported them.
    pub(crate) fn finish(self) -> Result<(), TokenStream> {
        let list = self.list.borrow_mut().take().unwrap_or_default();
        if list.is_empty() && !self.reported.get() {
            return Ok(());
        }
        Err(list
            .into_iter()
            .map(syn::Error::into_compile_error)
            .collect())
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        let told = self.list.borrow().is_none();
        assert!(
            told || std::thread::panicking(),
            "errors were collected but never reported"
        );
    }
}
