//! Gathers every error of one macro call, so that the user reads all of them at once.

use std::cell::RefCell;
use std::fmt::Display;

use proc_macro2::Span;
use quote::ToTokens;

/// The errors found so far. Dropping it without [`Errors::finish`] panics, so that no error can be forgotten.
pub(crate) struct Errors(RefCell<Option<Vec<syn::Error>>>);

impl Errors {
    pub(crate) fn new() -> Self {
        Self(RefCell::new(Some(Vec::new())))
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
        if let Some(list) = self.0.borrow_mut().as_mut() {
            list.push(error);
        }
    }

    /// Keeps the value, or the error.
    pub(crate) fn keep<T>(&self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count() == 0
    }

    pub(crate) fn count(&self) -> usize {
        self.0.borrow().as_ref().map_or(0, Vec::len)
    }

    /// All errors as one, or none.
    pub(crate) fn finish(self) -> syn::Result<()> {
        let list = self.0.borrow_mut().take().unwrap_or_default();
        let mut list = list.into_iter();
        match list.next() {
            None => Ok(()),
            Some(mut first) => {
                list.for_each(|error| first.combine(error));
                Err(first)
            }
        }
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        let told = self.0.borrow().is_none();
        assert!(
            told || std::thread::panicking(),
            "errors were gathered and never told"
        );
    }
}
