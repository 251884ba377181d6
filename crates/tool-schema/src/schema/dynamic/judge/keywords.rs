//! Keywords that a provider's strict mode rejects.

use tool_rules::Rule;

use super::Judge;
use crate::schema::dynamic::doc::Doc;
use crate::schema::dynamic::fault::Targets;

const O: Targets = Targets::OPENAI;
const A: Targets = Targets::ANTHROPIC;
const J: Targets = Targets::GEMINI;
const P: Targets = Targets::GEMINI_PARAMETERS;
const OA: Targets = O.and(A);

/// Keywords, each with its rule and the targets that reject the keyword at any position. Gemini `parameters` is not included, because it has its own
/// list.
const KEYWORDS: &[(&str, &Rule, Targets)] = &[
    ("oneOf", &Rule::JSON_ONE_OF, OA),
    ("not", &Rule::JSON_NOT, OA),
    ("if", &Rule::JSON_CONDITION, OA),
    ("then", &Rule::JSON_CONDITION, OA),
    ("else", &Rule::JSON_CONDITION, OA),
    ("dependentRequired", &Rule::JSON_CONDITION, OA),
    ("dependentSchemas", &Rule::JSON_CONDITION, OA),
    ("dependencies", &Rule::JSON_CONDITION, OA),
    ("patternProperties", &Rule::JSON_PATTERN_PROPERTIES, OA),
    ("propertyNames", &Rule::JSON_PROPERTY_NAMES, OA),
    ("minProperties", &Rule::JSON_PROPERTY_COUNT, OA),
    ("maxProperties", &Rule::JSON_PROPERTY_COUNT, OA),
    (
        "unevaluatedProperties",
        &Rule::JSON_UNEVALUATED_PROPERTIES,
        OA,
    ),
    ("unevaluatedItems", &Rule::JSON_UNEVALUATED_ITEMS, OA),
    ("prefixItems", &Rule::JSON_PREFIX_ITEMS, OA),
    ("additionalItems", &Rule::JSON_ADDITIONAL_ITEMS, O),
    ("uniqueItems", &Rule::JSON_UNIQUE_ITEMS, OA),
    ("contains", &Rule::JSON_CONTAINS, OA),
    ("minContains", &Rule::JSON_CONTAINS, OA),
    ("maxContains", &Rule::JSON_CONTAINS, OA),
    ("minimum", &Rule::JSON_NUMERIC_BOUNDS, A),
    ("maximum", &Rule::JSON_NUMERIC_BOUNDS, A),
    ("exclusiveMinimum", &Rule::JSON_NUMERIC_BOUNDS, A),
    ("exclusiveMaximum", &Rule::JSON_NUMERIC_BOUNDS, A),
    ("multipleOf", &Rule::JSON_NUMERIC_BOUNDS, A),
    ("default", &Rule::JSON_DEFAULT, O),
    ("examples", &Rule::JSON_EXAMPLES, O),
    ("const", &Rule::JSON_CONST, Targets::NONE),
    ("$ref", &Rule::JSON_REF, Targets::NONE),
    ("$defs", &Rule::JSON_DEFINITIONS, Targets::NONE),
    ("definitions", &Rule::JSON_DEFINITIONS, Targets::NONE),
    ("additionalProperties", &Rule::JSON_KEYWORD, Targets::NONE),
    ("$anchor", &Rule::JSON_KEYWORD, O),
    ("$dynamicRef", &Rule::JSON_KEYWORD, OA),
    ("$dynamicAnchor", &Rule::JSON_KEYWORD, O),
    ("contentEncoding", &Rule::JSON_KEYWORD, O),
    ("contentMediaType", &Rule::JSON_KEYWORD, O),
    ("contentSchema", &Rule::JSON_KEYWORD, O),
];

/// Every field of Gemini's `Schema` message. A request with any other name fails.
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
            let (rule, mut targets) = known.map_or((&Rule::JSON_KEYWORD, Targets::NONE), |found| {
                (found.1, found.2)
            });
            if !PARAMETERS.contains(&key.as_str()) {
                targets = targets.and(P);
            }
            if key == "allOf" {
                // Anthropic rejects `allOf` only if one of its branches is a reference.
                let around = value.items().iter().any(|branch| branch.has("$ref"));
                let refused = O.and(P).and(if around { A } else { Targets::NONE });
                self.fault_for(refused, &Rule::JSON_ALL_OF, &[]);
                continue;
            }
            if key == "$id" && value.as_str().is_none_or(|id| id.contains(' ')) {
                targets = targets.and(O);
            }
            if !targets.is_empty() {
                self.fault_for(targets, rule, &[key]);
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
                &Rule::JSON_REF_TAGGED
            } else {
                &Rule::JSON_REF_NOT_ALONE
            };
            let targets = if others.iter().all(harmless) {
                O
            } else {
                O.and(J)
            };
            self.fault_for(targets, rule, &[first]);
        }
        if node.has("anyOf") && !beside("anyOf").is_empty() {
            self.fault(&Rule::JSON_ANY_OF_NOT_ALONE, &[]);
        }
    }
}
