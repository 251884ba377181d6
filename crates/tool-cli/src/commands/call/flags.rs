//! Command-line flags for a tool's arguments, derived from its schema.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;

use clap::builder::{PossibleValue, PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, FromArgMatches as _};
use tool_core::ToolDef;
use tool_core::schema::{Constraints, Field, Kind, Schema};

use super::sketch::sketch;
use crate::args::OptionsAfterName;
use crate::json::Json;
use crate::outcome::Failure;

/// Maximum number of keys in the path of a flag; deeper values are written as JSON.
const DEEPEST: usize = 4;

/// Prefix of the clap ids of a tool's flags, so that they are different from the ids of options.
const OWN: &str = "argument ";

/// Prefix of the clap ids of flags for empty lists.
const EMPTY: &str = "empty ";

/// The flag of one argument.
struct Flag {
    /// Keys from the root of the arguments.
    path: Vec<String>,
    long: String,
    shape: Shape,
    help: String,
    /// The JSON form, for an argument that is written as JSON.
    form: Option<String>,
    /// Whether the argument is a record whose entries have their own flags.
    is_record: bool,
}

/// The type of a flag's value.
#[derive(Clone)]
enum Shape {
    Text,
    Whole,
    Number,
    Switch,
    Choice(Vec<PossibleValue>),
    WholeChoice(Vec<PossibleValue>),
    /// A list; the flag may be repeated.
    List(Box<Shape>),
    Json,
}

/// The parsed command line after a tool's name.
pub(super) struct ParsedFlags {
    pub(super) later: OptionsAfterName,
    /// The arguments as JSON text; `None` if no flag was given.
    pub(super) arguments: Option<String>,
}

/// Parses the command line after a tool's name.
///
/// # Errors
///
/// Returns the errors of clap; a request for help is one of them. The inner result is an error if two flags set the same value.
pub(super) fn read(
    def: &ToolDef,
    program: &str,
    words: impl IntoIterator<Item = OsString>,
    color: clap::ColorChoice,
) -> Result<Result<ParsedFlags, Failure>, clap::Error> {
    let flags = flags_of(def.input());
    let mut command = command(def, program, &flags).color(color);
    let matches = command.try_get_matches_from_mut(words)?;
    let later = OptionsAfterName::from_arg_matches(&matches)?;
    Ok(arguments(&flags, &matches).map(|arguments| ParsedFlags { later, arguments }))
}

/// Returns the parser of the command line after a tool's name, for shell completions.
pub(in crate::commands) fn completed(def: &ToolDef) -> Command {
    command(def, "", &flags_of(def.input())).no_binary_name(false)
}

/// Returns the flag of an argument by its JSON pointer.
pub(super) fn flag_at(def: &ToolDef, pointer: &str) -> Option<String> {
    let path: Vec<String> = pointer
        .split('/')
        .skip(1)
        .map(|step| step.replace("~1", "/").replace("~0", "~"))
        .collect();
    let flags = flags_of(def.input());
    // The longest matching path is used, because items of lists and deep records have no flags.
    let best = flags
        .iter()
        .filter(|flag| path.starts_with(&flag.path))
        .max_by_key(|flag| flag.path.len())?;
    Some(format!("--{}", best.long))
}

/// Returns whether an argument of a tool has a flag of this name.
pub(super) fn has(def: &ToolDef, long: &str) -> bool {
    flags_of(def.input()).iter().any(|flag| flag.long == long)
}

fn command(def: &ToolDef, program: &str, flags: &[Flag]) -> Command {
    let mut command = Command::new(def.wire_name().to_owned())
        .about(def.description().to_owned())
        .no_binary_name(true)
        .max_term_width(100)
        .bin_name(format!("{program} call {}", def.wire_name()))
        .next_help_heading("Arguments of the tool");
    let empty: Vec<(&Flag, String)> = flags
        .iter()
        .filter_map(|flag| Some((flag, flag.empty(flags)?)))
        .collect();
    let mut longs: BTreeSet<&str> = flags.iter().map(|flag| &*flag.long).collect();
    longs.extend(empty.iter().map(|(_, long)| &**long));
    for flag in flags {
        command = command.arg(flag.arg(&longs, flags));
    }
    for (flag, long) in &empty {
        let arg = Arg::new(flag.id(EMPTY)).long(long.clone()).hide(true);
        command = command.arg(
            arg.action(ArgAction::SetTrue)
                .conflicts_with(flag.id(OWN))
                .help(format!("An empty list for `--{}`", flag.long)),
        );
    }
    if longs.contains("help") {
        command = command.disable_help_flag(true);
    }
    // The options of `call` follow. If an argument has the same name as an option, the option has the hidden name `--call.NAME` here.
    let options = OptionsAfterName::augment_args(Command::new(""));
    for option in options.get_arguments() {
        let mut option = option.clone();
        if option.get_help_heading().is_none() {
            option = option.help_heading("Options of `call`");
        }
        if let Some(long) = option.get_long()
            && longs.contains(long)
        {
            let other = format!("call.{long}");
            option = option.long(other).hide(true);
        }
        command = command.arg(option);
    }
    command
}

impl Flag {
    /// Returns the clap id of the flag.
    fn id(&self, kind: &str) -> String {
        format!("{kind}{}", self.path.join("."))
    }

    /// Returns the flag for an empty list; `None` if the argument is not a list, or if a different argument has that name.
    fn empty(&self, flags: &[Self]) -> Option<String> {
        let long = format!("no-{}", self.long);
        let taken = flags
            .iter()
            .any(|flag| flag.long == long || flag.path.join(".") == long);
        (matches!(self.shape, Shape::List(_)) && !taken).then_some(long)
    }

    fn arg(&self, longs: &BTreeSet<&str>, flags: &[Self]) -> Arg {
        let mut help = self.help.clone();
        if let Some(empty) = self.empty(flags) {
            let _ = write!(help, " [one flag per item; `--{empty}` for an empty list]");
        }
        let mut arg = Arg::new(self.id(OWN))
            .long(self.long.clone())
            .help(help.clone())
            .allow_hyphen_values(true);
        if let Some(form) = &self.form {
            arg = arg.long_help(format!("{help}\n\n{form}"));
        }
        let exact = self.path.join(".");
        if exact != self.long && !longs.contains(&*exact) {
            arg = arg.alias(exact);
        }
        let (shape, action) = match &self.shape {
            Shape::List(item) => (&**item, ArgAction::Append),
            shape => (shape, ArgAction::Set),
        };
        let (name, parser): (&str, ValueParser) = match shape {
            Shape::Text => ("TEXT", ValueParser::string()),
            Shape::Whole => ("WHOLE NUMBER", ValueParser::new(whole)),
            Shape::Number => ("NUMBER", ValueParser::new(number)),
            Shape::Switch => ("BOOL", PossibleValuesParser::new(["true", "false"]).into()),
            Shape::Choice(values) | Shape::WholeChoice(values) => {
                ("VALUE", PossibleValuesParser::new(values.clone()).into())
            }
            Shape::Json | Shape::List(_) => ("JSON", ValueParser::new(json)),
        };
        arg = arg
            .action(action)
            .value_name(name.to_owned())
            .value_parser(parser);
        if matches!(self.shape, Shape::Switch) {
            arg = arg
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true");
        }
        arg
    }
}

fn whole(text: &str) -> Result<String, String> {
    text.parse::<i128>()
        .map(|_| text.trim_start_matches('+').to_owned())
        .map_err(|_| "write a whole number, such as 42".to_owned())
}

fn number(text: &str) -> Result<String, String> {
    serde_json::from_str::<serde_json::Number>(text)
        .map(|_| text.to_owned())
        .map_err(|_| "write a number, such as 0.5".to_owned())
}

fn json(text: &str) -> Result<String, String> {
    Json::read(text)
        .map(|_| text.to_owned())
        .map_err(|error| format!("write JSON here: {error}"))
}

fn flags_of(input: &Schema) -> Vec<Flag> {
    let mut flags = Vec::new();
    gather(input, &[], &mut flags);
    // Two keys may differ only in `-` and `_`.
    let mut taken = BTreeSet::new();
    for flag in &mut flags {
        if !taken.insert(flag.long.clone()) {
            flag.long = flag.path.join(".");
        }
    }
    flags
}

fn gather(schema: &Schema, above: &[String], flags: &mut Vec<Flag>) {
    let (schema, _) = bare(schema);
    let Kind::Object(fields) = schema.kind else {
        return;
    };
    for field in fields.iter().filter(|field| field.input) {
        let mut path = above.to_vec();
        path.push(field.name.to_owned());
        let (inner, bounds) = bare(field.schema);
        let is_record = matches!(inner.kind, Kind::Object(_)) && path.len() < DEEPEST;
        let shape = shape(inner);
        let form = match (&shape, inner.kind) {
            (Shape::Json, _) if !is_record => Some(sketch(inner)),
            // For a list of JSON values, the form describes one item.
            (Shape::List(item), Kind::Array { items, .. }) if matches!(**item, Shape::Json) => {
                Some(sketch(items))
            }
            _ => None,
        };
        flags.push(Flag {
            long: path.join(".").replace('_', "-"),
            shape,
            help: help(field, bounds),
            form,
            is_record,
            path: path.clone(),
        });
        if is_record {
            gather(inner, &path, flags);
        }
    }
}

/// Returns the innermost schema, and the constraints on it.
fn bare(mut schema: &Schema) -> (&Schema, Option<&'static Constraints>) {
    let mut bounds = None;
    loop {
        match schema.kind {
            Kind::Optional(inner) => schema = inner,
            Kind::Constrained(inner, constraints) => {
                schema = inner;
                bounds = bounds.or(Some(constraints));
            }
            _ => return (schema, bounds),
        }
    }
}

fn shape(schema: &Schema) -> Shape {
    match bare(schema).0.kind {
        Kind::String | Kind::Format(_) | Kind::Char | Kind::Duration => Shape::Text,
        Kind::Integer(_) => Shape::Whole,
        Kind::Number { .. } => Shape::Number,
        Kind::Boolean => Shape::Switch,
        Kind::Enum(values) => Shape::Choice(
            values
                .iter()
                .map(|value| choice(value.value.to_owned(), value.description.unescape()))
                .collect(),
        ),
        Kind::IntegerEnum(values) => Shape::WholeChoice(
            values
                .iter()
                .map(|value| {
                    let name = Some(value.description.unescape()).filter(|text| !text.is_empty());
                    choice(
                        value.value.to_string(),
                        name.unwrap_or_else(|| value.name.to_owned()),
                    )
                })
                .collect(),
        ),
        Kind::Array { items, .. } => match shape(items) {
            // An inner list is written as JSON.
            Shape::List(_) => Shape::List(Box::new(Shape::Json)),
            item => Shape::List(Box::new(item)),
        },
        _ => Shape::Json,
    }
}

/// Returns a value of an enum, with its documentation.
fn choice(value: String, description: String) -> PossibleValue {
    let choice = PossibleValue::new(value);
    if description.is_empty() {
        return choice;
    }
    choice.help(description)
}

fn help(field: &Field, bounds: Option<&Constraints>) -> String {
    let mut text = field.description.unescape();
    let mut facts = Vec::new();
    if field.is_required() {
        facts.push("required".to_owned());
    }
    if let Some(default) = &field.default {
        facts.push(format!("default: {}", default.text));
    }
    if let Some(bounds) = bounds {
        let of = |number: &Option<tool_core::schema::Number>| {
            number
                .as_ref()
                .map_or("", |number| number.text())
                .to_owned()
        };
        if bounds.min.is_some() || bounds.max.is_some() {
            facts.push(match (of(&bounds.min), of(&bounds.max)) {
                (min, max) if max.is_empty() => format!("from {min}"),
                (min, max) if min.is_empty() => format!("to {max}"),
                (min, max) => format!("{min} to {max}"),
            });
        }
    }
    if !facts.is_empty() {
        let _ = write!(text, " [{}]", facts.join(", "));
    }
    text
}

/// Returns the JSON text of the given flags.
fn arguments(flags: &[Flag], matches: &ArgMatches) -> Result<Option<String>, Failure> {
    let mut root = Json::Record(Vec::new());
    let mut any = false;
    let mut whole: Vec<&Flag> = Vec::new();
    for flag in flags {
        let is_empty = flag.empty(flags).is_some() && matches.get_flag(&flag.id(EMPTY));
        let values = matches.get_many::<String>(&flag.id(OWN));
        if values.is_none() && !is_empty {
            continue;
        }
        if let Some(above) = whole
            .iter()
            .find(|above| flag.path.starts_with(&above.path))
        {
            let text = format!(
                "`--{}` and `--{}` set the same value",
                above.long, flag.long
            );
            return Err(Failure::usage(text)
                .hint("write the record as JSON, or a flag for each of its entries"));
        }
        if flag.is_record {
            whole.push(flag);
        }
        any = true;
        let values = values.into_iter().flatten();
        let mut values: Vec<Json> = values.map(|value| flag.value(value)).collect();
        let value = match flag.shape {
            Shape::List(_) => Json::List(values),
            _ => values.pop().unwrap_or(Json::Null),
        };
        put(&mut root, &flag.path, value);
    }
    Ok(any.then(|| root.to_string()))
}

impl Flag {
    fn value(&self, text: &str) -> Json {
        let shape = match &self.shape {
            Shape::List(item) => item,
            shape => shape,
        };
        match shape {
            Shape::Text | Shape::Choice(_) => Json::Text(text.to_owned()),
            _ => Json::Raw(text.to_owned()),
        }
    }
}

fn put(record: &mut Json, path: &[String], value: Json) {
    let (Json::Record(entries), Some((key, below))) = (record, path.split_first()) else {
        return;
    };
    if below.is_empty() {
        entries.push((key.clone(), value));
        return;
    }
    let at = entries.iter().position(|(known, _)| known == key);
    let at = at.unwrap_or_else(|| {
        entries.push((key.clone(), Json::Record(Vec::new())));
        entries.len() - 1
    });
    put(&mut entries[at].1, below, value);
}
