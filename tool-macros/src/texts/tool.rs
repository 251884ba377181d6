//! The error texts of `#[tool]`: what is wrong, then what to write instead. The messages of rules are in the crate `tool-rules`.

use quote::ToTokens;
use syn::Type;
use tool_rules::Rule;

use crate::types::{is_plain, short, type_text};

pub(crate) const NOT_A_FN: &str = "`#[tool]` belongs on a fn";
pub(crate) const RECEIVER: &str = "a tool is called without a `self`, move the fn out of the `impl` and take its state from the host: `state: &State` where `State: FromContext`";
pub(crate) const ASSOCIATED: &str = "an associated fn cannot be a tool, move it out of the `impl` and name the type instead of `Self`";
pub(crate) const BORROWED_OUTPUT: &str = "a tool's output outlives the call, return an owned type: `String` instead of `&str`, `Vec<T>` instead of `&[T]`";
pub(crate) const YIELD: &str = "only a stream yields: return `ToolStream<Progress, Output>` and write the body as `tool_stream! { … }`";
pub(crate) const FILE_OUTPUT: &str = "an open file cannot be returned, read it and write `tool_core::File`, such as `File::text(text)` or `File::new(\"text/csv\", bytes)`";
pub(crate) const SECRET_OUTPUT: &str = "a secret cannot be returned, because the model and the client read what a tool returns: return what the tool did with it";
pub(crate) const APPROVAL: &str = "expected a fn or a closure of the arguments and the context, write `approval = asks` or `approval = |call, cx| …`";
pub(crate) const APPROVAL_LIST: &str = "`approval` takes no list: write `approval` if a person approves every call, or `approval = asks` if a fn decides which calls";
pub(crate) const APPROVAL_ALWAYS: &str =
    "write `approval` alone: a person then approves every call";
pub(crate) const APPROVAL_NEVER: &str = "remove `approval`: then the effect of the tool decides; if no call needs approval, write `approval = |_, _| false`";
pub(crate) const APPROVAL_PARAMS: &str =
    "the closure takes the arguments and the context, write `|call, cx| …`";
pub(crate) const CONST: &str = "a tool runs at run time, remove `const`";
pub(crate) const UNSAFE: &str =
    "a model calls a tool with any arguments, remove `unsafe` and check in the body";
pub(crate) const EXTERN: &str = "a tool is called by Rust only, remove `extern`";
pub(crate) const LIFETIME: &str = "a tool outlives its caller's borrows, remove the lifetime: host values are borrowed for the call as `&T`";
pub(crate) const GENERIC: &str = "a tool is one entry in a list, write the concrete type; for several types, write one tool for each that calls a generic fn";
pub(crate) const WHERE: &str = "a tool has no generics to bound, remove the `where` clause";
pub(crate) const NO_BODY: &str = "a tool needs a body, write it in braces";

pub(crate) const IMPL_PARAM: &str =
    "a model fills in values of one type, write the concrete type instead of `impl`";
pub(crate) const MUT_REFERENCE: &str =
    "host values are shared between calls, take `&T` and keep mutable state behind a lock in it";
pub(crate) const STR: &str =
    "a reference means a host value, but the model fills in a text: take `String`";
pub(crate) const SLICE: &str =
    "a reference means a host value, but the model fills in a list: take `Vec<T>`";
pub(crate) const DYN: &str =
    "a host value needs a type with `FromContext`, wrap it: `struct Name(Arc<dyn Trait>)`";
pub(crate) const DYN_VALUE: &str =
    "a value of unknown size cannot be passed, write a concrete type";
pub(crate) const TRAIT_OBJECT: &str = "a model cannot fill in a trait object, write a concrete type: an enum with a variant for each case";
pub(crate) const IMPL_HOST: &str =
    "a host value needs one type with `FromContext`, write the concrete type instead of `impl`";
pub(crate) const INNER_REFERENCE: &str = "a model cannot fill in a reference, take an owned value; a host value that may be missing is `#[context] name: Option<T>`";
pub(crate) const BORROWS: &str = "a model's arguments are owned, take a type without a lifetime: `String` instead of `&'a str` in its fields";
pub(crate) const INFER: &str = "the schema needs the type, write it out";
pub(crate) const REFERENCE_LIFETIME: &str =
    "host values are borrowed for the call, remove the lifetime";

pub(crate) const IMPL_OUTPUT: &str = "a tool's output needs a type with a name, write the concrete type; for a stream, write `impl Stream<Item = StreamItem<Progress, Output>>`";
pub(crate) const BORROWED_BY_STREAM: &str =
    "a stream outlives the borrow, take the host value by value: `#[context] name: T`";

/// Returns the error text for a stream that uses a host value which its fn only borrows.
pub(crate) fn borrowed_by_generator(name: &str, ty: &str) -> String {
    format!(
        "`tool_stream!` runs after its fn has returned, take the host value by value: `#[context] {name}: {ty}`"
    )
}

pub(crate) const TWO_SOURCES: &str =
    "a parameter comes from one place, keep one of these attributes";
pub(crate) const REFERENCE_TWICE: &str =
    "a reference comes from the host already, remove the attribute or take an owned value";
pub(crate) const ARG_ON_HOST: &str =
    "`#[arg(…)]` is for arguments of the model, this parameter comes from the host";
pub(crate) const ARG_ON_ARGS: &str =
    "put bounds and names on the fields of the struct, with `#[schema(…)]` and `#[serde(…)]`";
pub(crate) const NO_WORDS: &str = "this attribute takes no arguments";
pub(crate) const ARGS_ALONE: &str =
    "with `#[args]` the struct contains all arguments, move this one into the struct";
pub(crate) const ARGS_TWICE: &str =
    "one struct contains all arguments, merge the two `#[args]` structs";
pub(crate) const ARGS_RENAME_ALL: &str =
    "`rename_all` names parameters, put `#[serde(rename_all = \"…\")]` on the struct instead";
pub(crate) const SERDE_ON_PARAM: &str = "serde's attributes are for fields, write `#[arg(…)]`";
pub(crate) const SCHEMA_ON_PARAM: &str = "`#[schema(…)]` is for fields, write `#[arg(…)]`";

pub(crate) const KEY_EMPTY: &str = Rule::SECRET_KEY_EMPTY.message;
pub(crate) const SELECT_EMPTY: &str = Rule::SECRET_CHOICES_MISSING.message;
pub(crate) const CHOICE_EMPTY: &str = Rule::SECRET_CHOICE_EMPTY.message;
pub(crate) const NAME: &str = Rule::TOOL_NAME.message;
pub(crate) const ALIAS_NAME: &str = "an alias is an earlier name of the tool: use 1 to 64 letters, digits, `_` and `-`, and a letter first";
pub(crate) const ALIAS_OWN: &str =
    "this is the tool's present name, write an earlier name or remove `alias`";
pub(crate) const TEXT_EMPTY: &str = "the text is empty, write a text or remove it";
pub(crate) const TIMEOUT: &str = "expected a time, write `\"5s\"`, `\"250ms\"`, `\"2m\"`, `\"1h\"`, whole seconds, or a constant `Duration`";
pub(crate) const TIMEOUT_ZERO: &str = "a timeout must be above zero, remove `timeout` for none";
pub(crate) const VALUE: &str = "expected a value after `=`";
pub(crate) const LIMIT_ZERO: &str = "the limit must be above zero, write a number of bytes";
pub(crate) const EXAMPLE: &str = "expected `example(\"Label\", { … })`, `example({ … })` or `example({ … } => { … })` with JSON in the braces";
pub(crate) const EXAMPLE_OBJECT: &str =
    "an example contains the arguments by name, write `{ \"name\": … }`";
pub(crate) const READ_AND_DESTROY: &str = Rule::READ_ONLY_AND_DESTRUCTIVE.message;
pub(crate) const PROVIDERS_EMPTY: &str = "a tool for no provider is never listed, name one";

/// The error text for a missing doc comment on the fn.
pub(crate) const UNDESCRIBED_TOOL: &str = Rule::TOOL_DESCRIPTION_MISSING.message;

/// Returns the error text for a missing doc comment on a parameter.
pub(crate) fn undescribed_param(name: &str, ty: &Type) -> String {
    let host = match short(ty) {
        _ if is_plain(ty) => String::new(),
        Some(ty) => format!(", or `&{ty}` if the host supplies it"),
        None => ", or `&` before its type if the host supplies it".to_owned(),
    };
    Rule::FIELD_DESCRIPTION_MISSING
        .message_with(&[&name, &host])
        .to_string()
}

/// Returns the error text for a default on an optional parameter: `#[arg(default = 3)] n: Option<u32>`.
pub(crate) fn default_of_option(inner: Option<&Type>) -> String {
    let inner = inner.map_or_else(|| "T".to_owned(), type_text);
    Rule::DEFAULT_OF_OPTION.message_with(&[&inner]).to_string()
}

/// Returns the error text for a host value that is taken by value.
pub(crate) fn by_reference(instead: &str) -> String {
    let owned = if instead.starts_with('&') {
        ", or `#[context]` before the parameter to own it"
    } else {
        ""
    };
    format!("this value comes from the host, write `{instead}`{owned}")
}

/// Returns the error text for a secret without an attribute, or with the wrong one.
pub(crate) fn secret_from_the_host(name: &str, optional: bool) -> String {
    let ty = if optional {
        "Option<SecretString>"
    } else {
        "SecretString"
    };
    format!("a `SecretString` comes from the host, write `#[secret(\"{name}\")] {name}: {ty}`")
}

/// Returns the error text for a secret or variable that is taken by reference: `#[secret("key")] key: &SecretString`,
/// `#[variable("NAME")] name: &str`.
pub(crate) fn need_by_value(secret: bool, ty: &Type) -> String {
    let ty = match type_text(ty) {
        _ if secret => "SecretString".to_owned(),
        text if text == "str" => "String".to_owned(),
        other => other,
    };
    let what = if secret { "secret" } else { "variable" };
    format!("a {what} is taken by value, write `{ty}`")
}

/// Returns the error text for a secret or variable with a reference in its type: `#[variable("NAME")] name: Option<&str>`.
pub(crate) fn need_without_reference(secret: bool) -> &'static str {
    if secret {
        "a secret is taken by value, write `SecretString` without `&`"
    } else {
        "a variable is taken by value, write `String` instead of `&str`"
    }
}

/// Returns the error text for the option `optional` on a parameter whose type is not optional.
pub(crate) fn optional(what: &str, ty: &str) -> String {
    let rule = match what {
        "secret" => Rule::SECRET_OPTIONAL,
        _ => Rule::VARIABLE_OPTIONAL,
    };
    rule.message_with(&[&ty]).to_string()
}

/// Returns the error text for a secret or a variable without its key.
pub(crate) fn key_expected(
    word: &impl ToTokens,
    on_param: bool,
    written: Option<&impl ToTokens>,
) -> String {
    let word = word.to_token_stream().to_string();
    let key = written.map(|key| key.to_token_stream().to_string());
    let key = key.filter(|key| key.starts_with('"'));
    let key = key.unwrap_or_else(|| {
        let key = if word == "secret" { "key" } else { "NAME" };
        format!("\"{key}\"")
    });
    let usage = format!("{word}({key})");
    let usage = if on_param {
        format!("#[{usage}]")
    } else {
        usage
    };
    format!("expected the key as text, write `{usage}`")
}

/// Returns the error text for a stream whose output is a result: `ToolStream<P, Result<T, ToolError>>`.
pub(crate) fn result_as_output(value: &Type) -> String {
    format!(
        "`?` ends a stream with an error, so its output is the value alone: write `{}` instead of this `Result`",
        type_text(value)
    )
}

/// Returns the error text for an alias that is stated twice.
pub(crate) fn alias_twice(alias: &str) -> String {
    format!("the alias `{alias}` is stated twice, keep one")
}

/// Returns the error text for two parameters with the same key.
pub(crate) fn key_twice(key: &str) -> String {
    Rule::DUPLICATE_PARAM.message_with(&[&key]).to_string()
}

pub(crate) const SECRET_TWICE: &str = Rule::SECRET_TWICE.message;
pub(crate) const VARIABLE_KINDS: &str = Rule::VARIABLE_KINDS.message;

/// Returns the error text for a key that some provider rejects.
pub(crate) fn key(key: &str) -> String {
    Rule::PARAM_KEY.message_with(&[&key]).to_string()
}

/// Returns the error text for a struct with the fn's name that would shadow a primitive type.
pub(crate) fn hides_primitive(name: &str) -> String {
    format!(
        "the arguments' struct has the fn's name and would shadow the type `{name}`, give the struct a different name: `input = {}Input`",
        capital(name)
    )
}

/// Returns the error text for an unknown attribute on a parameter, with the nearest known one.
pub(crate) fn unknown_attribute(name: &str, nearest: Option<&str>, known: &[&str]) -> String {
    let known = crate::texts::list(known);
    match nearest {
        Some(nearest) => format!(
            "unknown attribute `{name}` on a tool's parameter, did you mean `#[{nearest}]`? expected one of {known}"
        ),
        None => {
            format!("unknown attribute `{name}` on a tool's parameter, expected one of {known}")
        }
    }
}

/// Returns the error text for an unknown option, with a hint or the nearest known one.
pub(crate) fn unknown(word: &str, nearest: Option<&str>, known: &[&str]) -> String {
    if let Some(instead) = instead(word, known) {
        return format!("unknown option `{word}`, {instead}");
    }
    let known = crate::texts::list(known);
    match nearest {
        Some(nearest) => {
            format!("unknown option `{word}`, did you mean `{nearest}`? expected one of {known}")
        }
        None => format!("unknown option `{word}`, expected one of {known}"),
    }
}

/// Returns a hint for an option that other crates have: the option or code to write instead.
fn instead(word: &str, known: &[&str]) -> Option<&'static str> {
    match word {
        "description" | "desc" | "doc" | "about" | "help" => {
            Some("write the description above it in `///`")
        }
        "min" | "max" | "minimum" | "maximum" | "gte" | "lte" if known.contains(&"range") => Some(
            "write the bounds of a number as `range = 1..=10`, and the bounds of a text as `length = 1..=10`",
        ),
        "min_length" | "max_length" if known.contains(&"length") => {
            Some("the bounds of a text are `length = 1..=10`")
        }
        "parameters" | "params" => {
            Some("the schema comes from the fn's parameters, write their attributes there")
        }
        _ => None,
    }
}

/// Returns the error text for a naming convention that serde does not have.
pub(crate) fn unknown_case<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    format!(
        "unknown naming convention `{name}`, expected one of {}",
        crate::texts::list(known)
    )
}

fn capital(name: &str) -> String {
    let mut chars = name.chars();
    chars
        .next()
        .map(|first| first.to_ascii_uppercase().to_string() + chars.as_str())
        .unwrap_or_default()
}
