//! The tool of the pack `attachments` of `tool-std`.

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use tool_core::StrictSchema;

use crate::ToolContract;

/// The arguments of `upload_attachment`: either `attachment_index` or `data`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct UploadAttachment {
    /// The position of the file in the user's message, counted from 0. Leave it out if you supply `data`.
    pub attachment_index: Option<u32>,
    /// The bytes of a file in base64. Leave it out for a file of the message.
    pub data: Option<String>,
    /// The type of a text file in `data`, such as `text/csv`. The type of other files is found in their bytes.
    #[cfg_attr(feature = "schema", schema(length = 1..=200))]
    pub mime: Option<String>,
    /// The name of the file. The default is the name of the attachment, or `file`.
    #[cfg_attr(feature = "schema", schema(length = 1..=255))]
    pub file: Option<String>,
}

impl ToolContract for UploadAttachment {
    const NAME: &'static str = "upload_attachment";
    type Input = Self;
    type Output = Uploaded;
}

/// A file that was stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Uploaded {
    /// The key of the file, which is valid in this conversation only.
    pub key: String,
    /// The URL of the file, if the host serves the files.
    pub url: Option<String>,
    /// The size of the file in bytes.
    pub size: u64,
    /// The content type of the file.
    pub mime: String,
    /// The safe name of the file.
    pub file: String,
}
