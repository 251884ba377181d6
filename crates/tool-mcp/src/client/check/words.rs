//! Texts of validation errors, for models.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;
use tool_core::Issue;

/// Maximum depth of nested choices that an error explains.
const LEVELS: u8 = 4;
/// Maximum length of a value or key that is quoted, in characters.
const EXCERPT: usize = 60;
/// Maximum length of a longer quotation, such as a list of allowed values or a validation error, in characters.
const LISTED: usize = 300;

/// Adds the issues of one validation error.
pub(super) fn tell(error: &ValidationError<'_>, issues: &mut Vec<Issue>, level: u8) {
    let place = error.instance_path().to_string();
    let found = excerpt(error.instance());
    let mut push = |pointer: String, expected: String, found: String| {
        let issue = Issue {
            pointer,
            expected,
            found,
        };
        if !issues.contains(&issue) {
            issues.push(issue);
        }
    };
    let expected = match error.kind() {
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let missing = "nothing: the key is missing".to_owned();
            return push(
                below(&place, name),
                "a value, which is required".to_owned(),
                missing,
            );
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            for name in unexpected {
                let value = error.instance().get(name).map_or_else(String::new, excerpt);
                let shown = cut(name, EXCERPT);
                push(
                    below(&place, name),
                    format!("no key `{shown}`, which the schema does not allow"),
                    value,
                );
            }
            return;
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            if let Some(closest) = closest(context).filter(|_| level < LEVELS) {
                for error in closest {
                    tell(error, issues, level + 1);
                }
                return;
            }
            format!(
                "a value that matches one of the {} alternatives of the schema",
                context.len()
            )
        }
        Kind::OneOfMultipleValid { .. } => {
            "a value that matches exactly one of the alternatives of the schema".to_owned()
        }
        Kind::PropertyNames { error } => {
            format!(
                "an object whose keys are all valid: {}",
                cut(&error.to_string(), LISTED)
            )
        }
        Kind::Type { kind } => match kind {
            TypeKind::Single(kind) => of_type(&kind.to_string()),
            TypeKind::Multiple(kinds) => {
                let kinds: Vec<String> = kinds
                    .iter()
                    .map(|kind| of_type(&kind.to_string()))
                    .collect();
                kinds.join(" or ")
            }
        },
        Kind::Enum { options } => format!("one of {}", cut(&options.to_string(), LISTED)),
        Kind::Constant { expected_value } => cut(&expected_value.to_string(), LISTED),
        Kind::Minimum { limit } => format!("a number of at least {limit}"),
        Kind::Maximum { limit } => format!("a number of at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("a number above {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("a number below {limit}"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("text of at least {limit} characters"),
        Kind::MaxLength { limit } => format!("text of at most {limit} characters"),
        Kind::MinItems { limit } => format!("a list of at least {limit} items"),
        Kind::MaxItems { limit } => format!("a list of at most {limit} items"),
        Kind::AdditionalItems { limit } => format!("a list of at most {limit} items"),
        Kind::UnevaluatedItems { .. } => {
            "a list without items that the schema does not describe".to_owned()
        }
        Kind::MinProperties { limit } => format!("an object of at least {limit} keys"),
        Kind::MaxProperties { limit } => format!("an object of at most {limit} keys"),
        Kind::Pattern { pattern } => format!("text that matches `{}`", cut(pattern, 120)),
        Kind::UniqueItems => "a list of unique items".to_owned(),
        Kind::Contains => "a list with an item that matches the schema in `contains`".to_owned(),
        Kind::FalseSchema => "no value, because the schema is `false`".to_owned(),
        Kind::Not { schema } => format!(
            "a value that does not match {}",
            cut(&schema.to_string(), LISTED)
        ),
        _ => format!(
            "a value that meets this condition of the schema: {}",
            cut(&error.to_string(), LISTED)
        ),
    };
    push(place, expected, found);
}

/// Returns the errors of the variant with the fewest errors. Prefers variants that the value does not already fail by its type, or by a constant or
/// an enum. Returns `None` if no variant has errors, or if there are several variants and the value fails all of them in this way.
fn closest<'a>(
    shapes: &'a [Vec<ValidationError<'static>>],
) -> Option<&'a [ValidationError<'static>]> {
    let strange = |errors: &&'a Vec<ValidationError<'static>>| {
        let least = errors
            .iter()
            .map(|error| error.instance_path().as_str().len())
            .min();
        let other = errors.iter().any(|error| {
            let here = Some(error.instance_path().as_str().len()) == least;
            here && matches!(
                error.kind(),
                Kind::Type { .. } | Kind::Constant { .. } | Kind::Enum { .. }
            )
        });
        (other, errors.len())
    };
    let best = shapes
        .iter()
        .filter(|errors| !errors.is_empty())
        .min_by_key(strange)?;
    // If the value fails every variant in this way, no variant is closer than the others.
    let all_strange = shapes.len() > 1 && shapes.iter().all(|errors| strange(&errors).0);
    (!all_strange).then_some(best)
}

fn of_type(name: &str) -> String {
    match name {
        "string" => "text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "`true` or `false`",
        "array" => "a list",
        "object" => "an object",
        "null" => "null",
        other => other,
    }
    .to_owned()
}

fn below(place: &str, key: &str) -> String {
    let key = cut(key, 80).replace('~', "~0").replace('/', "~1");
    format!("{place}/{key}")
}

fn excerpt(value: &Value) -> String {
    cut(&value.to_string(), EXCERPT)
}

/// Cuts a text to at most `most` characters, followed by `…` if it was longer.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
