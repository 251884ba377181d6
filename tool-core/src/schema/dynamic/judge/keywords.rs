//! Keywords that a provider's strict mode rejects.

use super::Judge;
use crate::schema::dynamic::doc::Doc;
use crate::schema::dynamic::fault::Targets;

const O: Targets = Targets::O;
const A: Targets = Targets::A;
const J: Targets = Targets::J;
const P: Targets = Targets::P;
const OA: Targets = O.and(A);

/// Keyword, rule, the targets that reject it at any position (except Gemini `parameters`, which has its own list), and what to do
/// instead.
const KEYWORDS: &[(&str, &str, Targets, &str)] = &[
    (
        "oneOf",
        "one-of",
        OA,
        "write `anyOf` of shapes that exclude each other",
    ),
    ("not", "conditional", OA, "say what is allowed instead"),
    ("if", "conditional", OA, "model the cases as an enum"),
    ("then", "conditional", OA, "model the cases as an enum"),
    ("else", "conditional", OA, "model the cases as an enum"),
    (
        "dependentRequired",
        "conditional",
        OA,
        "model the cases as an enum",
    ),
    (
        "dependentSchemas",
        "conditional",
        OA,
        "model the cases as an enum",
    ),
    (
        "dependencies",
        "conditional",
        OA,
        "model the cases as an enum",
    ),
    (
        "patternProperties",
        "pattern-properties",
        OA,
        "take a list of entries with key and value",
    ),
    (
        "propertyNames",
        "property-names",
        OA,
        "take a list of entries with key and value",
    ),
    (
        "minProperties",
        "property-count",
        OA,
        "say it in the description",
    ),
    (
        "maxProperties",
        "property-count",
        OA,
        "say it in the description",
    ),
    (
        "unevaluatedProperties",
        "unevaluated",
        OA,
        "close each object with `additionalProperties`",
    ),
    (
        "unevaluatedItems",
        "unevaluated",
        OA,
        "take a list of one type",
    ),
    (
        "prefixItems",
        "tuple",
        OA,
        "take an object with named properties",
    ),
    ("additionalItems", "tuple", O, "take a list of one type"),
    (
        "uniqueItems",
        "unique-items",
        OA,
        "say it in the description",
    ),
    ("contains", "contains", OA, "say it in the description"),
    ("minContains", "contains", OA, "say it in the description"),
    ("maxContains", "contains", OA, "say it in the description"),
    ("minimum", "numeric-bounds", A, "say it in the description"),
    ("maximum", "numeric-bounds", A, "say it in the description"),
    (
        "exclusiveMinimum",
        "numeric-bounds",
        A,
        "say it in the description",
    ),
    (
        "exclusiveMaximum",
        "numeric-bounds",
        A,
        "say it in the description",
    ),
    (
        "multipleOf",
        "numeric-bounds",
        A,
        "say it in the description",
    ),
    ("default", "default-keyword", O, "say it in the description"),
    (
        "examples",
        "examples-keyword",
        O,
        "say it in the description",
    ),
    ("const", "const", Targets::NONE, "write a one-value `enum`"),
    (
        "$ref",
        "ref-inline",
        Targets::NONE,
        "write the definition in its place",
    ),
    (
        "$defs",
        "ref-inline",
        Targets::NONE,
        "write the definitions in their places",
    ),
    (
        "definitions",
        "ref-inline",
        Targets::NONE,
        "write the definitions in their places",
    ),
    (
        "additionalProperties",
        "meta-keyword",
        Targets::NONE,
        "leave it out",
    ),
    ("$anchor", "meta-keyword", O, "leave it out"),
    ("$dynamicRef", "meta-keyword", OA, "leave it out"),
    ("$dynamicAnchor", "meta-keyword", O, "leave it out"),
    ("contentEncoding", "meta-keyword", O, "leave it out"),
    ("contentMediaType", "meta-keyword", O, "leave it out"),
    ("contentSchema", "meta-keyword", O, "leave it out"),
];

/// Every field of Gemini's `Schema` message. Any other name fails the request.
const PARAMETERS: &[&str] = &[
    "anyOf",
    "default",
    "description",
    "enum",
    "example",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "nullable",
    "pattern",
    "properties",
    "propertyOrdering",
    "required",
    "title",
    "type",
];

impl Judge {
    pub(super) fn keywords(&mut self, node: &Doc) {
        for (key, value) in node.entries() {
            let known = KEYWORDS.iter().find(|(name, ..)| name == key);
            let (rule, mut targets, advice) = known
                .map_or(("meta-keyword", Targets::NONE, "leave it out"), |found| {
                    (found.1, found.2, found.3)
                });
            if !PARAMETERS.contains(&key.as_str()) {
                targets = targets.and(P);
            }
            if key == "allOf" {
                // Anthropic accepts `allOf`, but not with a reference in it.
                let around = value.items().iter().any(|branch| branch.has("$ref"));
                let refused = O.and(P).and(if around { A } else { Targets::NONE });
                self.fault(
                    "all-of",
                    refused,
                    "`allOf` is refused, write one merged schema",
                );
                continue;
            }
            if key == "$id" && value.as_str().is_none_or(|id| id.contains(' ')) {
                targets = targets.and(O);
            }
            if !targets.is_empty() {
                self.fault(rule, targets, format!("`{key}` is refused, {advice}"));
            }
        }
        self.siblings(node);
    }

    /// Checks the keywords next to a reference or a choice.
    fn siblings(&mut self, node: &Doc) {
        let beside = |except: &str| {
            node.entries()
                .iter()
                .map(|(key, _)| key.as_str())
                .filter(|key| *key != except)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        if node.has("$ref") {
            let others = beside("$ref");
            let Some(first) = others.first() else { return };
            let harmless =
                |key: &String| key.starts_with('$') || key == "description" || key == "default";
            let rule = if node.has("properties") {
                "tagged-newtype-ref"
            } else {
                "ref-siblings"
            };
            let targets = if others.iter().all(harmless) {
                O
            } else {
                O.and(J)
            };
            self.fault(
                rule,
                targets,
                format!("`{first}` may not be next to `$ref`, wrap the reference in a one-branch `anyOf`"),
            );
        }
        if node.has("anyOf") && !beside("anyOf").is_empty() {
            self.fault(
                "anyof-siblings",
                P,
                "`anyOf` must be the only keyword, move the others into the branches",
            );
        }
    }
}
