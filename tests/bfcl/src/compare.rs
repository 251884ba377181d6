//! Comparison of the dispatcher with the `jsonschema` crate, for gold calls (the recorded correct calls) and their variants.

use std::collections::BTreeMap;

use bfcl_gen::plan::{self, Definition, Tool};
use bfcl_gen::sample::{self, Line};
use bfcl_gen::shape::{Need, Property, Shape};
use serde_json::Value;
use tool_core::ErrorKind;
use tool_core::prelude::*;

use crate::oracle::{Answer, Oracle, Verdict};
use crate::spoil::{Kind, Spoiler};

/// The result of the comparison.
#[derive(Debug, Default)]
pub struct Findings {
    /// The number of calls in the sample.
    pub lines: usize,
    /// The number of calls of functions that are tools.
    pub typed_lines: usize,
    /// The distinct definitions of the sample.
    pub definitions: Vec<Definition>,
    /// The number of gold calls that the dispatcher and `jsonschema` accept.
    pub gold_accepted: usize,
    /// Gold calls that the dispatcher and `jsonschema` refuse. A test checks that each has a key that the closed schema lacks.
    pub gold_refused: Vec<String>,
    /// The numbers of spoiled calls by kind. The key is the position of the kind in [`Kind::ALL`].
    pub kinds: BTreeMap<usize, Tally>,
    /// Every difference from the expected result.
    pub misses: Vec<Miss>,
}

/// The numbers of calls of one kind.
#[derive(Debug, Default)]
pub struct Tally {
    /// All spoiled calls of the kind, including the excluded calls.
    pub sent: usize,
    /// Calls that `jsonschema` refused.
    pub refused: usize,
    /// Calls that `jsonschema` accepted.
    pub accepted: usize,
    /// Calls that were not compared, because `jsonschema` accepts an integer in them that `i64` cannot represent.
    pub excluded: usize,
    /// Calls with a difference from the expected result.
    pub misses: usize,
}

/// A difference from the expected result.
#[derive(Debug)]
pub struct Miss {
    /// The id of the line in the sample.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// The kind of the spoiled call. `None` for a gold call.
    pub kind: Option<Kind>,
    /// A description of the difference.
    pub what: String,
    /// The text of the arguments.
    pub text: String,
}

/// Compares the verdicts on the gold calls of all functions that are tools, and on their variants.
pub async fn compare() -> Result<Findings, Box<dyn std::error::Error>> {
    let lines = sample::read(bfcl_gen::SAMPLE)?;
    let toolset = Registry::linked()?.open().repair(Repair::Off);
    let mut findings = Findings {
        lines: lines.len(),
        ..Findings::default()
    };
    let definitions = plan::plan(&lines);
    let mut spoiler = Spoiler::default();
    for definition in &definitions {
        let Ok(tool) = &definition.tool else {
            continue;
        };
        let judge = Comparison::new(definition, tool, &toolset)?;
        for &line in &definition.lines {
            findings.typed_lines += 1;
            judge
                .line(line, &lines[line], &mut spoiler, &mut findings)
                .await;
        }
    }
    findings.definitions = definitions;
    Ok(findings)
}

/// The dispatcher and the `jsonschema` validators of one function.
struct Comparison<'a> {
    tool: &'a Tool,
    toolset: &'a Toolset,
    cx: ToolContext,
    oracle: Oracle,
    /// The validator for the schema that the tool publishes.
    published: Oracle,
}

/// The outcome of a call in the dispatcher.
enum Outcome {
    Refused,
    /// Accepted, with the arguments that reached the body.
    Arrived(Value),
    /// Any other outcome, which is a bug.
    Otherwise(String),
}

impl<'a> Comparison<'a> {
    fn new(definition: &Definition, tool: &'a Tool, toolset: &'a Toolset) -> Result<Self, String> {
        let schema = toolset
            .get(&tool.name)
            .ok_or_else(|| format!("tool `{}` is not linked", tool.name))?
            .schema(Dialect::JsonSchema);
        let published = serde_json::from_str(schema).map_err(|error| error.to_string())?;
        Ok(Self {
            tool,
            toolset,
            cx: ToolContext::anonymous(),
            oracle: Oracle::new(&definition.function.parameters)?,
            published: Oracle::as_it_is(published)?,
        })
    }

    async fn line(&self, at: usize, line: &Line, spoiler: &mut Spoiler, findings: &mut Findings) {
        let gold = &line.gold_call.args;
        let text = gold.to_string();
        let mut miss = |kind: Option<Kind>, text: &str, what: String| {
            findings.misses.push(Miss {
                id: line.id.clone(),
                tool: self.tool.name.clone(),
                kind,
                what,
                text: text.to_owned(),
            });
        };
        let outcome = self.send(&line.id, &text).await;
        let verdict = match self.oracle.judge(&text) {
            Answer::Says(verdict) => verdict,
            Answer::BeyondWords => Verdict::Refused,
        };
        match (self.differs(&text, &outcome, verdict), verdict) {
            (None, Verdict::Accepted) => findings.gold_accepted += 1,
            (None, Verdict::Refused) => findings.gold_refused.push(format!("{} {text}", line.id)),
            (Some(what), _) => miss(None, &text, what),
        }
        for variant in spoiler.variants(at, gold, &self.tool.parameters) {
            let tally = findings.kinds.entry(variant.kind as usize).or_default();
            tally.sent += 1;
            let Answer::Says(verdict) = self.oracle.judge(&variant.text) else {
                tally.excluded += 1;
                continue;
            };
            match verdict {
                Verdict::Accepted => tally.accepted += 1,
                Verdict::Refused => tally.refused += 1,
            }
            let outcome = self.send(&line.id, &variant.text).await;
            if let Some(what) = self.differs(&variant.text, &outcome, verdict) {
                tally.misses += 1;
                miss(Some(variant.kind), &variant.text, what);
            }
        }
    }

    async fn send(&self, id: &str, text: &str) -> Outcome {
        let call = ToolCall::new(id, self.tool.name.as_str(), text);
        let result = self.toolset.call(call, &self.cx).await;
        match (result.error(), result.output()) {
            (Some(error), _) if error.kind() == ErrorKind::InvalidArguments => Outcome::Refused,
            (None, Some(output)) if !result.is_error() => {
                match serde_json::from_str(output.get()) {
                    Ok(value) => Outcome::Arrived(value),
                    Err(error) => Outcome::Otherwise(error.to_string()),
                }
            }
            _ => Outcome::Otherwise(format!("{result:?}")),
        }
    }

    /// Compares the verdict of `jsonschema` with its verdict on the published schema and with the dispatcher's outcome. Returns the first difference.
    fn differs(&self, text: &str, outcome: &Outcome, verdict: Verdict) -> Option<String> {
        if self.published.judge(text) != Answer::Says(verdict) {
            return Some(format!(
                "the verdict of the published schema is not {verdict:?}"
            ));
        }
        match (outcome, verdict) {
            (Outcome::Refused, Verdict::Refused) => None,
            (Outcome::Arrived(value), Verdict::Accepted) => self.otherwise(text, value),
            (Outcome::Refused, _) => Some("refused, and `jsonschema` accepts it".into()),
            (Outcome::Arrived(_), _) => Some("accepted, and `jsonschema` refuses it".into()),
            (Outcome::Otherwise(what), _) => Some(what.clone()),
        }
    }

    /// Returns the arguments that reached the body if they differ from the sent arguments. Defaults are filled in and optional nulls are removed
    /// first.
    fn otherwise(&self, text: &str, arrived: &Value) -> Option<String> {
        let text = if text.is_empty() { "{}" } else { text };
        let mut sent: Value = match serde_json::from_str(text) {
            Ok(sent) => sent,
            Err(error) => return Some(error.to_string()),
        };
        self.oracle.without_nulls(&mut sent);
        fill(&mut sent, &self.tool.parameters);
        let mut arrived = arrived.clone();
        self.oracle.without_nulls(&mut arrived);
        (!same(&sent, &arrived)).then(|| format!("arrived as {arrived}"))
    }
}

/// Adds the default of each absent key.
fn fill(value: &mut Value, properties: &[Property]) {
    let Value::Object(entries) = value else {
        return;
    };
    for property in properties {
        if let Need::Default(default) = &property.need
            && !entries.contains_key(&property.key)
            && let Ok(default) = serde_json::from_str(&default.to_string())
        {
            entries.insert(property.key.clone(), default);
        }
        if let Some(value) = entries.get_mut(&property.key) {
            fill_shape(value, &property.shape);
        }
    }
}

fn fill_shape(value: &mut Value, shape: &Shape) {
    match (value, shape) {
        (value @ Value::Object(_), Shape::Record(properties)) => fill(value, properties),
        (Value::Array(items), Shape::List(shape)) => {
            for item in items {
                fill_shape(item, shape);
            }
        }
        _ => {}
    }
}

/// Returns whether two values are equal, with numbers compared by value (`1` and `1.0`).
pub fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, one)| other.get(key).is_some_and(|other| same(one, other)))
        }
        _ => one == other,
    }
}

/// Returns the number of definitions and of lines that each rule refuses.
pub fn by_rule(definitions: &[Definition]) -> BTreeMap<&'static str, (usize, usize)> {
    let mut rules: BTreeMap<&'static str, (usize, usize)> = BTreeMap::new();
    for definition in definitions {
        let mut told: Vec<&'static str> = definition
            .tool
            .as_ref()
            .err()
            .into_iter()
            .flatten()
            .map(|fault| fault.rule)
            .collect();
        told.sort_unstable();
        told.dedup();
        for rule in told {
            let (definitions, lines) = rules.entry(rule).or_default();
            *definitions += 1;
            *lines += definition.lines.len();
        }
    }
    rules
}
