//! Deserialization of a dynamic tool's arguments into the type of its handler.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::DecodeError;

/// Deserializes the arguments of a tool that was created at run time.
pub(super) fn read<A: DeserializeOwned>(arguments: &Value) -> Result<A, DecodeError> {
    // A `Value` within `A` keeps every digit this way, so this is tried first, although serde's buffers (for example for untagged enums) may lose digits. The
    // error of `read_text` contains the position in the text at which serde failed.
    A::deserialize(arguments).or_else(|_| read_text(arguments))
}

/// Deserializes the text of the arguments with this crate's own reader, which is slower and does not lose digits.
fn read_text<A: DeserializeOwned>(arguments: &Value) -> Result<A, DecodeError> {
    Ok(crate::args::decode(&arguments.to_string())?)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(untagged)]
    enum Amount {
        Exact(i64),
        About { from: f64, to: f64 },
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Order {
        amount: Amount,
        #[serde(flatten)]
        more: More,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct More {
        weight: u8,
    }

    // S1-30: numbers reach types that serde buffers; run once more with `--features serde_json/arbitrary_precision`
    #[test]
    fn numbers_reach_types_that_serde_buffers() {
        let orders = [
            (json!({"amount": 3, "weight": 1}), Amount::Exact(3)),
            (
                json!({"amount": {"from": 0.5, "to": 2}, "weight": 1}),
                Amount::About { from: 0.5, to: 2.0 },
            ),
        ];
        for (arguments, amount) in orders {
            let expected = Order {
                amount,
                more: More { weight: 1 },
            };
            let by_text = read_text::<Order>(&arguments).ok();
            assert_eq!(by_text.as_ref(), Some(&expected));
            assert_eq!(read::<Order>(&arguments).ok(), Some(expected));
        }
    }
}
