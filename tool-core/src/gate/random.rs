//! Random ids, for example of approvals and of calls without an id.

use crate::digest::hex;
use crate::error::ToolError;

/// Returns 128 random bits as hex. Fails if the system has no random bytes.
pub(crate) fn random_id() -> Result<String, ToolError> {
    let mut bytes = [0; 16];
    crate::env::random(&mut bytes).map_err(|error| {
        ToolError::foreign(error).operator("the operating system returned no random bytes")
    })?;
    Ok(hex(&bytes))
}
