//! Tools for language models.

use tool_core::prelude::*;

/// The tone of a greeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// A warm tone, as among friends.
    Warm,
    /// A formal tone, as in a letter.
    Formal,
}

/// Greets a person by name. Use it when a person is met for the first time.
#[tool(
    category = "greeting",
    read_only,
    example("Among friends", { "name": "Ada" }),
    example("In a letter", { "name": "Ada Lovelace", "tone": "formal" }),
)]
pub async fn greet(
    /// The name of the person.
    #[arg(length = 1..=80)]
    name: String,
    /// The tone of the greeting. Use `formal` for people who are not known well.
    #[arg(default = "warm")]
    tone: Tone,
) -> Result<String, ToolError> {
    if name.trim().is_empty() {
        return Err(ToolError::new(
            "`name` is blank, write the name of a person",
        ));
    }
    Ok(match tone {
        Tone::Warm => format!("Hi {name}!"),
        Tone::Formal => format!("Dear {name},"),
    })
}
