//! Host values that declare whether a tool reads or changes them.

use std::fmt;
use std::ops::Deref;

use super::{FromContext, ToolContext};
use crate::effect::Effect;
use crate::error::ToolError;

macro_rules! access {
    ($(#[$doc:meta])* $name:ident: $effect:expr) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name<T>(T);

        impl<T: Clone + Send + Sync + 'static> FromContext for $name<T> {
            const EFFECT: Effect = $effect;

            fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
                let value = cx.extension::<T>().map(Self);
                value.ok_or_else(|| ToolError::unavailable(format!("`{}`", std::any::type_name::<T>())))
            }
        }

        impl<T> Deref for $name<T> {
            type Target = T;

            fn deref(&self) -> &T {
                &self.0
            }
        }

        impl<T: fmt::Debug> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.0).finish()
            }
        }
    };
}

access! {
    /// A host value that a tool only reads: [`Effect::READ`].
    ///
    /// If some tools read a value and others change it, [`Reads`] and [`Writes`] declare the effect of each tool, without a type for each effect. A value that
    /// all tools use in the same way should be a host value itself, with [`host_value!`](crate::host_value).
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use tool_core::prelude::*;
    /// use tool_core::{Reads, Writes};
    ///
    /// type Notes = Arc<Mutex<Vec<String>>>;
    ///
    /// /// Counts the notes.
    /// #[tool]
    /// fn count_notes(notes: &Reads<Notes>) -> usize {
    ///     notes.lock().unwrap().len()
    /// }
    ///
    /// /// Adds a note.
    /// #[tool]
    /// fn add_note(
    ///     notes: &Writes<Notes>,
    ///     /// The text of the note.
    ///     note: String,
    /// ) {
    ///     notes.lock().unwrap().push(note);
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let tools = toolset![count_notes, add_note];
    /// assert!(tools.get("count_notes").unwrap().hints().read_only);
    /// assert!(!tools.get("add_note").unwrap().hints().read_only);
    ///
    /// let cx = ToolContext::builder().with(Notes::default()).build();
    /// tools.call(ToolCall::new("1", "add_note", r#"{"note":"milk"}"#), &cx).await;
    /// let count = tools.call(ToolCall::new("2", "count_notes", "{}"), &cx).await;
    /// assert_eq!(count.model_text(), "1");
    /// # }
    /// ```
    Reads: Effect::READ
}
access! {
    /// A host value that a tool reads and changes: [`Effect::READ`] and [`Effect::WRITE`]. See [`Reads`].
    Writes: Effect::READ.union(Effect::WRITE)
}
