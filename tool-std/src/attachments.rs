//! Files of a conversation in an object store: a folder, or the object store of a cloud.
//!
//! | tool | |
//! |---|---|
//! | [`upload_attachment`](fn@upload_attachment) | stores a file of the user's message, or bytes that the model passes as Base64 (`data`), and returns the key of the stored file |
//!
//! ```
//! use std::sync::Arc;
//!
//! use tool_core::prelude::*;
//! use tool_std::attachments::object_store::memory::InMemory;
//! use tool_std::attachments::{Uploads, upload_attachment};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let uploads = Uploads::new(Arc::new(InMemory::new()));
//! let cx = ToolContext::builder().workspace("acme").conversation("main").with(uploads.clone()).build();
//! let call = ToolCall::new("1", "upload_attachment", r#"{"data": "aGVsbG8=", "file": "hello.txt"}"#);
//! let result = toolset![upload_attachment].call(call, &cx).await;
//! let expected = r#"{"key":"w-acme/c-main/attachments/hello.txt","url":null,"size":5,"mime":"text/plain","file":"hello.txt"}"#;
//! assert_eq!(result.model_text(), expected);
//! # Ok(())
//! # }
//! ```
//!
//! The key of a file is its path in the object store. It contains the workspace and the conversation, and [`Uploads::read`] refuses the keys of other
//! conversations. A file is never replaced: if its name is taken, a number is added to the name.
//!
//! The media type is detected from the first bytes of the file. A declared type is used only for text, which has no magic number; a
//! declared `text/html` is ignored.
//!
//! # Object stores
//!
//! [`Uploads::folder`] stores the files in a folder of the host, and [`Uploads::new`] in any store of the crate [`object_store`]. The feature `attachments-s3` adds
//! S3. The host sets the credentials of S3 when it creates the store; they are not secrets of a call. Do not use a folder that tools can write to: the store
//! follows symbolic links.
//!
//! A file has at most 10 MiB ([`MOST_BYTES`]).

mod name;
mod tool;
mod uploads;

pub use object_store;
pub use tool::{Uploaded, upload_attachment};
pub use uploads::{AttachmentWriter, MOST_BYTES, Uploads};
