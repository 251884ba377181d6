//! The `upload_attachment` tool.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tool_core::prelude::*;
use tool_core::{AttachmentBody, Attachments};

use super::uploads::{AttachmentWriter, MOST_BYTES};

/// A file that was stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
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

/// Stores a file of the user's message, or bytes that you supply, in the files of the conversation, and returns its key. At most 10 MiB. An existing file is never
/// replaced.
#[tool(
    category = "attachments",
    example("The first file of the message", { "attachment_index": 0 }),
    example("A small file of your own", { "data": "aGVsbG8=", "file": "hello.txt", "mime": "text/plain" }),
)]
pub async fn upload_attachment(
    writer: &AttachmentWriter,
    attachments: &Attachments,
    /// The position of the file in the user's message, counted from 0. Leave it out if you supply `data`.
    attachment_index: Option<u32>,
    /// The bytes of a file in base64. Leave it out for a file of the message.
    data: Option<String>,
    /// The type of a text file in `data`, such as `text/csv`. The type of other files is found in their bytes.
    #[arg(length = 1..=200)]
    mime: Option<String>,
    /// The name of the file. The default is the name of the attachment, or `file`.
    #[arg(length = 1..=255)]
    file: Option<String>,
) -> Result<Uploaded, ToolError> {
    let (bytes, stated, own_name) = match (attachment_index, data) {
        (Some(index), None) => {
            let attachment = attachments.at(usize::try_from(index).unwrap_or(usize::MAX))?;
            let AttachmentBody::Data(bytes) = &attachment.body else {
                return Err(ToolError::new(format!(
                    "attachment {index} is a link and not a file: use its URL"
                )));
            };
            fits(bytes.len())?;
            let name = attachment.filename.clone();
            (bytes.to_vec(), Some(attachment.mime.clone()), name)
        }
        (None, Some(data)) => (decoded(&data)?, mime, None),
        _ => {
            return Err(ToolError::new(
                "set either `attachment_index`, for a file of the user's message, or `data`, for bytes in base64",
            ));
        }
    };
    let name = file.or(own_name).unwrap_or_else(|| "file".to_owned());
    let mime = content_type(&bytes, stated.as_deref());
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let stored = writer.uploads.put(&writer.thread, &name, &mime, bytes);
    let (file, key) = stored.await?;
    Ok(Uploaded {
        url: writer.uploads.url_of(&key),
        key: key.to_string(),
        size,
        mime,
        file,
    })
}

fn fits(size: usize) -> Result<(), ToolError> {
    if size <= MOST_BYTES {
        return Ok(());
    }
    Err(ToolError::new(format!(
        "the file has {size} bytes, and a file has at most {MOST_BYTES} bytes: upload a smaller file"
    )))
}

fn decoded(data: &str) -> Result<Vec<u8>, ToolError> {
    // The length is checked first, so that a long text is not decoded.
    let padding = data.bytes().rev().take_while(|byte| *byte == b'=').count();
    fits((data.len() / 4 * 3).saturating_sub(padding.min(2)))?;
    let bytes = STANDARD.decode(data);
    bytes.map_err(|error| {
        ToolError::new(format!(
            "`data` is not base64 ({error}): encode the bytes with the standard alphabet and padding, without line breaks"
        ))
    })
}

/// Returns the content type of a file. Most types are detected from the first bytes, but text has no magic number: the type of a text is the stated
/// type if that is JSON or a type of text other than `text/html`, otherwise `text/plain`. Other bytes are `application/octet-stream`.
fn content_type(bytes: &[u8], stated: Option<&str>) -> String {
    if let Some(kind) = infer::get(bytes) {
        return kind.mime_type().to_owned();
    }
    if str::from_utf8(bytes).is_err() || bytes.contains(&0) {
        return "application/octet-stream".to_owned();
    }
    let stated = stated.map(str::trim).filter(|mime| {
        let mime = mime.to_ascii_lowercase();
        let is_text = mime.starts_with("text/") || mime == "application/json";
        // A browser could show a file as a page even if its first bytes are not recognized as HTML.
        is_text
            && !mime.starts_with("text/html")
            && mime.bytes().all(|byte| (0x20..0x7f).contains(&byte))
    });
    stated.unwrap_or("text/plain").to_owned()
}
