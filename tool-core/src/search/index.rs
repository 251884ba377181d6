//! BM25 index over the names, descriptions and parameters of tools.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use serde_json::Value;

use super::words;
use crate::schema::dialect::Dialect;
use crate::schema::{Field, Kind, Schema};
use crate::tool::ToolDef;

/// Saturation of repeated words (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
const K1: f32 = 1.2;
/// Penalty for long texts, from the same paper.
const B: f32 = 0.75;

/// Weight of a word in a tool's name, in its title, category and tags, and in its other texts.
const NAME: f32 = 3.0;
const ABOUT: f32 = 2.0;
const TEXT: f32 = 1.0;
/// Factor for a word that only starts with the query word.
const BEGINNING: f32 = 0.4;
/// Query words below this length match only exactly: too many words start with them.
const SHORTEST_BEGINNING: usize = 3;

/// The tools that contain a word, and the amount that the word adds to the score of each.
type Shares = Box<[(u32, f32)]>;

/// Maps each word to its precomputed score contribution per tool, so that a search only adds numbers.
#[derive(Debug)]
pub(super) struct Index {
    names: Vec<Box<str>>,
    at: HashMap<Box<str>, u32>,
    /// Sorted by word, for binary search.
    words: Vec<(Box<str>, Shares)>,
}

impl Index {
    /// Indexes `tools`; their order breaks ties between equal scores.
    pub(super) fn new<'a>(tools: impl Iterator<Item = &'a ToolDef>) -> Self {
        let mut names: Vec<Box<str>> = Vec::new();
        let mut counts: BTreeMap<String, Vec<(u32, f32)>> = BTreeMap::new();
        let mut lengths = Vec::new();
        for tool in tools {
            let Ok(at) = u32::try_from(names.len()) else {
                break;
            };
            names.push(tool.wire_name().into());
            let mut length = 0.0;
            each_text(tool, &mut |text, weight| {
                words::each(text, |word| {
                    length += weight;
                    let places = match counts.get_mut(word) {
                        Some(places) => places,
                        None => counts.entry(word.to_owned()).or_default(),
                    };
                    match places.last_mut() {
                        Some((last, count)) if *last == at => *count += weight,
                        _ => places.push((at, weight)),
                    }
                });
            });
            lengths.push(length);
        }
        let all = count(names.len());
        let average = (lengths.iter().sum::<f32>() / all.max(1.0)).max(1.0);
        let share = |found: f32, (at, many): (u32, f32)| {
            let rare = (1.0 + (all - found + 0.5) / (found + 0.5)).ln();
            let length = lengths.get(at as usize).copied().unwrap_or(average);
            let norm = K1 * (1.0 - B + B * length / average);
            (at, rare * many * (K1 + 1.0) / (many + norm))
        };
        let words = counts
            .into_iter()
            .map(|(word, places)| {
                let found = count(places.len());
                let shares = places.into_iter().map(|place| share(found, place));
                (word.into_boxed_str(), shares.collect())
            })
            .collect();
        let at = (0..).zip(&names).map(|(at, name)| (name.clone(), at));
        Self {
            at: at.collect(),
            names,
            words,
        }
    }

    pub(super) fn knows(&self, name: &str) -> bool {
        self.at.contains_key(name)
    }

    /// Returns the matching names, best first; ties keep the order of the index.
    ///
    /// The results are heap-ordered lazily, because callers usually take only a few.
    pub(super) fn find(&self, query: &str) -> impl Iterator<Item = (&str, f32)> {
        let mut scores = vec![0.0_f32; self.names.len()];
        let mut best = Best::default();
        words::each(query, |word| self.score(word, &mut scores, &mut best));
        // A query that equals a tool's name ranks that tool first.
        if let Some(at) = self.at.get(query.trim()) {
            scores[*at as usize] = f32::MAX;
        }
        let fits = (0..).zip(scores).filter(|(_, score)| *score > 0.0);
        let mut found: BinaryHeap<Fit> = fits
            .map(|(at, score)| Fit { score, at })
            .collect::<Vec<_>>()
            .into();
        std::iter::from_fn(move || {
            let Fit { score, at } = found.pop()?;
            Some((&**self.names.get(at as usize)?, score))
        })
    }

    fn score(&self, word: &str, scores: &mut [f32], best: &mut Best) {
        let from = self.words.partition_point(|(known, _)| **known < *word);
        let near = &self.words[from..];
        let (exact, longer) = match near.split_first() {
            Some(((known, exact), longer)) if **known == *word => (&**exact, longer),
            _ => (&[][..], near),
        };
        let mut longer = longer
            .iter()
            .take_while(|(known, _)| word.len() >= SHORTEST_BEGINNING && known.starts_with(word))
            .peekable();
        if longer.peek().is_none() {
            for (at, share) in exact {
                scores[*at as usize] += share;
            }
            return;
        }
        best.see(scores.len(), exact, 1.0);
        for (_, shares) in longer {
            best.see(scores.len(), shares, BEGINNING);
        }
        best.add_to(scores);
    }
}

/// For one query word, the best score contribution per tool among all indexed words that start with it.
#[derive(Default)]
struct Best {
    /// One entry per tool; zero for a tool that is not in `seen`.
    shares: Vec<f32>,
    seen: Vec<u32>,
}

impl Best {
    fn see(&mut self, tools: usize, shares: &[(u32, f32)], weight: f32) {
        self.shares.resize(tools, 0.0);
        for (at, share) in shares {
            let best = &mut self.shares[*at as usize];
            if *best == 0.0 {
                self.seen.push(*at);
            }
            *best = best.max(share * weight);
        }
    }

    /// Adds the contributions to the scores and resets itself for the next word.
    fn add_to(&mut self, scores: &mut [f32]) {
        for at in self.seen.drain(..) {
            let at = at as usize;
            scores[at] += std::mem::take(&mut self.shares[at]);
        }
    }
}

/// A matching tool. The greatest value is the best match; among equal scores, it is the tool with the lowest index.
struct Fit {
    score: f32,
    at: u32,
}

impl Ord for Fit {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then_with(|| other.at.cmp(&self.at))
    }
}

impl PartialOrd for Fit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Fit {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Fit {}

#[expect(
    clippy::cast_precision_loss,
    reason = "there are fewer than 2^24 tools, and a score may be rounded"
)]
fn count(many: usize) -> f32 {
    many as f32
}

/// Calls `visit` with every searchable text of a tool and the weight of its words.
fn each_text(tool: &ToolDef, visit: &mut dyn FnMut(&str, f32)) {
    visit(tool.wire_name(), NAME);
    if let Some(title) = tool.title() {
        visit(&title, ABOUT);
    }
    visit(tool.category(), ABOUT);
    tool.tags().for_each(|tag| visit(tag, ABOUT));
    visit(tool.description(), TEXT);
    if matches!(tool.input().kind, Kind::Map(_)) {
        // A non-strict tool without a schema tree: read its JSON Schema instead.
        let own = serde_json::from_str(tool.schema(Dialect::JsonSchema));
        each_in_json(&own.unwrap_or_default(), visit);
    } else {
        each_in_schema(tool.input(), visit);
    }
}

/// Does the same as [`each_in_schema`] for a JSON Schema.
fn each_in_json(schema: &Value, visit: &mut dyn FnMut(&str, f32)) {
    match schema {
        Value::Object(entries) => {
            for (key, value) in entries {
                match (key.as_str(), value) {
                    ("description", Value::String(text)) => visit(text, TEXT),
                    ("properties", Value::Object(named)) => {
                        for (name, value) in named {
                            visit(name, TEXT);
                            each_in_json(value, visit);
                        }
                    }
                    ("enum", Value::Array(values)) => {
                        let texts = values.iter().filter_map(Value::as_str);
                        texts.for_each(|text| visit(text, TEXT));
                    }
                    ("const" | "default" | "examples", _) => {}
                    (_, value) => each_in_json(value, visit),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| each_in_json(item, visit)),
        _ => {}
    }
}

fn each_in_schema(schema: &Schema, visit: &mut dyn FnMut(&str, f32)) {
    match schema.kind {
        Kind::Object(fields) => {
            for Field {
                name,
                description,
                schema,
                ..
            } in fields.iter().filter(|field| field.input)
            {
                visit(name, TEXT);
                visit(&description.unescape(), TEXT);
                each_in_schema(schema, visit);
            }
        }
        Kind::Union(union) => {
            for variant in union.variants {
                visit(variant.name, TEXT);
                visit(&variant.description.unescape(), TEXT);
                if let Some(schema) = variant.schema {
                    each_in_schema(schema, visit);
                }
            }
        }
        Kind::Enum(values) => values.iter().for_each(|value| visit(value.value, TEXT)),
        Kind::Array { items: inner, .. }
        | Kind::Optional(inner)
        | Kind::Map(inner)
        | Kind::Constrained(inner, _) => each_in_schema(inner, visit),
        _ => {}
    }
}
