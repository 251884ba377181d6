//! The smallest tool: a function, its documentation, and a call.
//!
//! `cargo run --example weather`

use tool_core::prelude::*;

/// A unit of temperature.
#[derive(Debug, Clone, Copy, PartialEq, StrictSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// The unit is degrees Celsius.
    Celsius,
    /// The unit is degrees Fahrenheit.
    Fahrenheit,
}

/// Returns today's temperature in a city. Use it for questions about the weather.
#[tool]
pub fn weather(
    /// The city, in English.
    city: String,
    /// The unit to answer in.
    #[arg(default = "celsius")]
    unit: Unit,
) -> Result<String, ToolError> {
    let celsius = match city.as_str() {
        "Bergen" => 9,
        "Lisbon" => 21,
        _ => {
            return Err(ToolError::new(format!(
                "no station in `{city}`, ask for Bergen or Lisbon"
            )));
        }
    };
    Ok(match unit {
        Unit::Celsius => format!("{celsius} °C in {city}"),
        Unit::Fahrenheit => format!("{} °F in {city}", celsius * 9 / 5 + 32),
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = Registry::linked()?.open();
    let cx = ToolContext::anonymous();
    for arguments in [
        r#"{"city":"Bergen"}"#,
        r#"{"city":"Lisbon","unit":"fahrenheit"}"#,
        r#"{"city":"Atlantis"}"#,
        r#"{"town":"Bergen"}"#,
    ] {
        let result = tools
            .call(ToolCall::new("call_1", "weather", arguments), &cx)
            .await;
        println!("{arguments}\n  {}", result.model_text());
    }
    Ok(())
}
