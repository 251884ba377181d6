//! The tools of the pack `whatsapp` of `tool-std`.

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use tool_core::StrictSchema;

use crate::ToolContract;

/// The arguments of `send_whatsapp_template`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct SendWhatsappTemplate {
    /// The id of the template: `HX` and 32 hexadecimal digits.
    #[cfg_attr(feature = "schema", schema(pattern = "^HX[0-9a-fA-F]{32}$"))]
    pub content_sid: String,
    /// The values of the variables, in order: the first one is `{{1}}`.
    #[cfg_attr(feature = "schema", schema(max_items = 100))]
    pub variables: Vec<String>,
}

impl ToolContract for SendWhatsappTemplate {
    const NAME: &'static str = "send_whatsapp_template";
    type Input = Self;
    type Output = SentTemplate;
}

/// A template that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "camelCase")]
pub struct SentTemplate {
    /// Always true: the person has got an answer, so the text of the model is not sent as well.
    pub reply_handled: bool,
    /// The text of the message. If Twilio does not return it, the template and its variables.
    pub reply_text: String,
    /// The id of the message at Twilio, `SM…` or `MM…`.
    pub message_sid: String,
}
