//! Valid parameters with secrets and host values, and a valid stream.

use tool_core::prelude::*;

mod own {
    use tool_core::prelude::*;

    /// A type of this module, which has the name of the host's type for secrets.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
    pub struct SecretString {
        /// The field `text` of `SecretString`.
        pub text: String,
    }
}

/// Makes a secret, for this test.
#[tool]
pub fn make_secret(
    /// A text that becomes a secret.
    secret: own::SecretString,
) -> Result<own::SecretString, ToolError> {
    Ok(secret)
}

/// Greets a person by name.
#[tool]
pub fn greet(
    #[secret("key", optional)] key: Option<SecretString>,
    #[variable("REGION", optional)] region: Option<String>,
    #[variable("TOKEN", secret)] token: SecretString,
    #[context] notes: Option<tool_core::Reads<u32>>,
    other: &Option<tool_core::Writes<u32>>,
) -> bool {
    drop(token);
    key.is_none() && region.is_none() && notes.is_none() && other.is_none()
}

/// Counts all of the items.
#[tool]
pub fn count() -> ToolStream<usize, usize> {
    tool_stream! {
        let double = |n: usize| n * 2;
        yield double(1);
        3
    }
}

fn main() {}
