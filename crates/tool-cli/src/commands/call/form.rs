//! Questions of a running tool in the terminal.

use std::io;

use console::Term;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::value::RawValue;
use tool_core::hidden::escape;
use tool_core::{Answer, Asker, Question, ToolError};

use super::progress::Bar;
use crate::json::Json;
use crate::screen::{BOLD, DIM, Screen, paint};

/// Asks the user at the terminal, one field of the form after the other.
pub(in crate::commands) struct Terminal {
    pub(in crate::commands) screen: Screen,
    /// The progress display, which is suspended during a question.
    pub(in crate::commands) bar: Bar,
}

impl Asker for Terminal {
    fn ask(&self, question: Question) -> BoxFuture<'_, Result<Answer<Box<RawValue>>, ToolError>> {
        let (screen, bar) = (self.screen, self.bar.clone());
        let asking = tokio::task::spawn_blocking(move || bar.aside(|| ask(screen, &question)));
        async move {
            let form = asking.await??;
            Ok(match form {
                Some(form) => Answer::Given(RawValue::from_string(form.to_string())?),
                None => Answer::Declined,
            })
        }
        .boxed()
    }
}

/// Asks for each field. Returns `None` if the user did not complete the form.
fn ask(screen: Screen, question: &Question) -> io::Result<Option<Json>> {
    let schema = Json::read(&question.schema)?;
    // The question may contain texts of a model or of a server.
    screen.note(paint(BOLD, escape(&question.message)));
    let mut form = Vec::new();
    let Some(Json::Record(fields)) = schema.get("properties") else {
        return Ok(Some(Json::Record(form)));
    };
    screen.note(paint(
        DIM,
        "(an empty line skips an optional field, and otherwise declines)",
    ));
    let required: Vec<&str> = match schema.get("required") {
        Some(Json::List(keys)) => keys.iter().filter_map(Json::as_text).collect(),
        _ => Vec::new(),
    };
    for (key, field) in fields {
        let term = Term::stderr();
        if let Some(said) = field.get("description").and_then(Json::as_text) {
            screen.note(paint(DIM, escape(said)));
        }
        loop {
            term.write_str(&format!("{}{}: ", escape(key), escape(&choices(field))))?;
            let line = term.read_line()?;
            let line = line.trim();
            if line.is_empty() {
                if required.contains(&&**key) {
                    return Ok(None);
                }
                break;
            }
            match value(field, line) {
                Ok(value) => {
                    form.push((key.clone(), value));
                    break;
                }
                Err(why) => screen.note(why),
            }
        }
    }
    Ok(Some(Json::Record(form)))
}

/// Returns the allowed values, for display after the field's name.
fn choices(field: &Json) -> String {
    match (field.get("enum"), kind(field)) {
        (Some(Json::List(values)), _) => {
            let values: Vec<&str> = values.iter().filter_map(Json::as_text).collect();
            format!(" ({})", values.join(", "))
        }
        (_, "boolean") => " (y/n)".to_owned(),
        _ => String::new(),
    }
}

fn kind(field: &Json) -> &str {
    match field.get("type") {
        Some(Json::Text(kind)) => kind,
        // An optional field has a list of types: `["string", "null"]`.
        Some(Json::List(kinds)) => {
            let kinds = kinds.iter().filter_map(Json::as_text);
            let mut real = kinds.filter(|kind| *kind != "null");
            real.next().unwrap_or_default()
        }
        _ => "",
    }
}

/// Parses a line for a field. The error describes a valid line.
fn value(field: &Json, line: &str) -> Result<Json, String> {
    if let Some(Json::List(values)) = field.get("enum") {
        let known = values
            .iter()
            .find(|value| value.as_text() == Some(line) || value.to_string() == line);
        return known
            .cloned()
            .ok_or_else(|| format!("choose one of{}", choices(field)));
    }
    match kind(field) {
        "boolean" => match line {
            "y" | "yes" | "true" => Ok(Json::Flag(true)),
            "n" | "no" | "false" => Ok(Json::Flag(false)),
            _ => Err("answer `y` or `n`".to_owned()),
        },
        "integer" | "number" => match Json::read(line) {
            Ok(number @ Json::Number(_)) => Ok(number),
            _ => Err("write a number".to_owned()),
        },
        _ => Ok(Json::Text(line.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::value;
    use crate::json::Json;

    fn read(field: &str, line: &str) -> Option<String> {
        let field = Json::read(field).ok()?;
        value(&field, line).ok().map(|value| value.to_string())
    }

    // M15: an answer in the terminal is converted to the type of its field.
    #[test]
    fn input_line_is_converted_to_the_type_of_the_field() {
        assert_eq!(read(r#"{"type":"string"}"#, "7").as_deref(), Some(r#""7""#));
        assert_eq!(read(r#"{"type":"integer"}"#, "7").as_deref(), Some("7"));
        assert_eq!(
            read(r#"{"type":["number","null"]}"#, "0.5").as_deref(),
            Some("0.5")
        );
        assert_eq!(read(r#"{"type":"integer"}"#, "many"), None);
        assert_eq!(
            read(r#"{"type":"boolean"}"#, "yes").as_deref(),
            Some("true")
        );
        assert_eq!(read(r#"{"type":"boolean"}"#, "perhaps"), None);
        let choice = r#"{"type":"string","enum":["a","b"]}"#;
        assert_eq!(read(choice, "b").as_deref(), Some(r#""b""#));
        assert_eq!(read(choice, "c"), None);
    }
}
