//! A linter for provider schemas, written only from the rule catalogue. It shares no code with the crate that it checks.
//!
//! The linter lists the keywords that each provider accepts, and the crate lists the keywords that each provider
//! refuses. The linter therefore reports a keyword that is in neither list.

use serde_json::{Map, Value};

/// Returns the keywords that a provider accepts. [`OWNERS`] has the types to which a keyword applies.
#[allow(
    clippy::too_many_lines,
    reason = "the function has a list for each of the five dialects"
)]
const fn keywords(dialect: &str) -> &'static [&'static str] {
    match dialect.as_bytes() {
        b"openai" => &[
            "type",
            "description",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "anyOf",
            "enum",
            "const",
            "$ref",
            "$defs",
            "format",
            "pattern",
            "minLength",
            "maxLength",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minItems",
            "maxItems",
        ],
        b"anthropic" => &[
            "type",
            "description",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "anyOf",
            "enum",
            "const",
            "$ref",
            "$defs",
            "format",
            "pattern",
            "minLength",
            "maxLength",
            "minItems",
            "default",
        ],
        b"gemini" => &[
            "type",
            "description",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "prefixItems",
            "anyOf",
            "enum",
            "$ref",
            "$defs",
            "format",
            "minimum",
            "maximum",
            "minItems",
            "maxItems",
            "propertyOrdering",
        ],
        b"mcp" => &[
            "type",
            "description",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "prefixItems",
            "anyOf",
            "enum",
            "format",
            "pattern",
            "minLength",
            "maxLength",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minItems",
            "maxItems",
        ],
        _ => &[
            "type",
            "description",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "prefixItems",
            "anyOf",
            "enum",
            "const",
            "not",
            "$ref",
            "$defs",
            "format",
            "pattern",
            "minLength",
            "maxLength",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minItems",
            "maxItems",
            "uniqueItems",
            "default",
        ],
    }
}

/// Returns the string formats that a provider accepts.
const fn formats(dialect: &str) -> &'static [&'static str] {
    match dialect.as_bytes() {
        b"gemini" => &["date-time", "date", "time"],
        b"anthropic" => &[
            "date-time",
            "time",
            "date",
            "duration",
            "email",
            "hostname",
            "uri",
            "ipv4",
            "ipv6",
            "uuid",
        ],
        _ => &[
            "date-time",
            "time",
            "date",
            "duration",
            "email",
            "hostname",
            "ipv4",
            "ipv6",
            "uuid",
        ],
    }
}

/// Returns the parts of a tool's schema that the dialect's provider would refuse. The list is empty if the provider accepts the schema.
pub fn lint(dialect: &str, schema: &Value) -> Vec<String> {
    let mut linter = Linter {
        dialect,
        root: schema,
        found: Vec::new(),
        unions: 0,
        optionals: 0,
        listed: 0,
        characters: 0,
    };
    linter.root();
    linter.node(schema, "", 0);
    linter.budgets();
    linter.found
}

struct Linter<'a> {
    dialect: &'a str,
    root: &'a Value,
    found: Vec<String>,
    unions: usize,
    optionals: usize,
    listed: usize,
    characters: usize,
}

impl Linter<'_> {
    fn say(&mut self, path: &str, text: &str) {
        self.found.push(format!("{} {path}: {text}", self.dialect));
    }

    fn strict(&self) -> bool {
        matches!(self.dialect, "openai" | "anthropic")
    }

    fn root(&mut self) {
        if self.root["type"] != "object" {
            self.say("", "the root is not an object");
        }
        for keyword in ["anyOf", "oneOf", "allOf", "enum", "not", "$ref"] {
            if self.root.get(keyword).is_some() {
                self.say(
                    "",
                    "the root is a choice, an enum, a negation or a reference",
                );
            }
        }
    }

    fn node(&mut self, node: &Value, path: &str, depth: usize) {
        let Value::Object(map) = node else {
            // Dialects that accept `items: false` after `prefixItems` are handled in `children`.
            self.say(path, "a boolean schema");
            return;
        };
        for key in map.keys() {
            let at_root = key != "$defs" || path.is_empty();
            if !keywords(self.dialect).contains(&&**key) || !at_root {
                self.say(path, &format!("keyword `{key}`"));
            }
        }
        if let Some(Value::String(to)) = map.get("$ref") {
            self.reference(map, to, path);
            return;
        }
        if let Some(branches) = map.get("anyOf") {
            self.union(map, branches, path, depth);
            return;
        }
        self.typed(map, path, depth);
    }

    fn reference(&mut self, map: &Map<String, Value>, to: &str, path: &str) {
        if map.len() > 1 {
            self.say(path, "other keywords beside `$ref`");
        }
        let name = to.strip_prefix("#/$defs/");
        if name.is_none_or(|name| self.root["$defs"].get(name).is_none()) {
            self.say(path, "`$ref` points to a missing definition");
        }
    }

    fn union(&mut self, map: &Map<String, Value>, branches: &Value, path: &str, depth: usize) {
        self.unions += 1;
        let may_stand = |key: &str| {
            matches!(key, "anyOf" | "description") || key == "default" && !self.strict()
        };
        if !map.keys().all(|key| may_stand(key)) {
            // Only plain JSON Schema has a choice of formats inside a string schema (`ip`).
            if self.dialect != "json_schema" || map.get("type") != Some(&"string".into()) {
                self.say(path, "other keywords beside `anyOf`");
            }
            return;
        }
        let branches = branches.as_array().map(Vec::as_slice).unwrap_or_default();
        if branches.is_empty() {
            self.say(path, "an empty `anyOf`");
        }
        for (index, branch) in branches.iter().enumerate() {
            self.node(branch, &format!("{path}/anyOf/{index}"), depth);
        }
    }

    fn typed(&mut self, map: &Map<String, Value>, path: &str, depth: usize) {
        let name = match map.get("type") {
            Some(Value::String(name)) => name.as_str(),
            Some(Value::Array(names))
                if names.len() == 2 && names[1] == "null" && self.strict() =>
            {
                self.unions += 1;
                if map.contains_key("enum") {
                    self.say(path, "an `enum` beside a list of types");
                }
                names[0].as_str().unwrap_or_default()
            }
            Some(_) => return self.say(path, "a list of types"),
            None => return self.say(path, "no type"),
        };
        match name {
            "object" => self.object(map, path, depth),
            "array" => self.array(map, path, depth),
            "string" => self.text(map, path),
            "integer" | "number" => {
                if map.contains_key("format") {
                    self.say(path, "a format on a number");
                }
            }
            "boolean" | "null" => {}
            _ => self.say(path, "an unknown type"),
        }
        if let Some(values) = map.get("enum") {
            self.values(values, name, path);
        }
        for (keyword, types) in OWNERS {
            if map.contains_key(*keyword) && !types.contains(&name) {
                self.say(path, &format!("`{keyword}` on {name}"));
            }
        }
    }

    fn object(&mut self, map: &Map<String, Value>, path: &str, depth: usize) {
        let depth = depth + 1;
        if depth > 10 && self.dialect == "openai" {
            self.say(path, "more than ten objects deep");
        }
        let Some(Value::Object(properties)) = map.get("properties") else {
            match map.get("additionalProperties") {
                Some(values @ Value::Object(_)) if !self.strict() => {
                    return self.node(values, &format!("{path}/additionalProperties"), depth);
                }
                _ => return self.say(path, "an object without properties"),
            }
        };
        if map.get("additionalProperties") != Some(&Value::Bool(false)) {
            self.say(path, "an open object");
        }
        let required: Vec<&str> = map
            .get("required")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        if required.iter().any(|name| !properties.contains_key(*name)) {
            self.say(path, "a required key is not a property");
        }
        let absent = properties
            .keys()
            .filter(|name| !required.contains(&&***name))
            .count();
        self.optionals += absent;
        if self.dialect == "openai" && absent > 0 {
            self.say(path, "a property is not required");
        }
        if self.dialect == "gemini" && !properties.is_empty() {
            let ordered = map
                .get("propertyOrdering")
                .and_then(Value::as_array)
                .map(Vec::as_slice)
                .unwrap_or_default();
            if ordered.len() != properties.len()
                || ordered.iter().any(|name| {
                    name.as_str()
                        .is_none_or(|name| !properties.contains_key(name))
                })
            {
                self.say(path, "`propertyOrdering` does not list the properties");
            }
        }
        for (name, property) in properties {
            self.characters += name.chars().count();
            let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            if !first
                || name.len() > 64
                || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            {
                self.say(path, &format!("the key `{name}`"));
            }
            self.node(property, &format!("{path}/properties/{name}"), depth);
        }
        if let Some(Value::Object(definitions)) = map.get("$defs") {
            for (name, definition) in definitions {
                self.characters += name.chars().count();
                self.node(definition, &format!("{path}/$defs/{name}"), 0);
            }
        }
    }

    fn array(&mut self, map: &Map<String, Value>, path: &str, depth: usize) {
        match (map.get("items"), map.get("prefixItems")) {
            (Some(Value::Bool(false)), Some(Value::Array(items))) if !self.strict() => {
                for (index, item) in items.iter().enumerate() {
                    self.node(item, &format!("{path}/prefixItems/{index}"), depth);
                }
            }
            (Some(items), None) => self.node(items, &format!("{path}/items"), depth),
            _ => self.say(path, "a list without items"),
        }
        let fewest = map.get("minItems").and_then(Value::as_u64);
        if self.dialect == "anthropic" && fewest.is_some_and(|count| count > 1) {
            self.say(path, "`minItems` over 1");
        }
    }

    fn text(&mut self, map: &Map<String, Value>, path: &str) {
        if let Some(format) = map.get("format").and_then(Value::as_str)
            && !formats(self.dialect).contains(&format)
        {
            self.say(path, &format!("the format `{format}`"));
        }
        if let Some(pattern) = map.get("pattern").and_then(Value::as_str) {
            let bare = pattern.replace(r"\\", "");
            if ["(?=", "(?!", "(?<", r"\b", r"\B", r"\k"]
                .iter()
                .any(|taboo| bare.contains(taboo))
            {
                self.say(path, "a pattern with an assertion or a back reference");
            }
        }
    }

    fn values(&mut self, values: &Value, name: &str, path: &str) {
        let values = values.as_array().map(Vec::as_slice).unwrap_or_default();
        let fits = |value: &Value| match name {
            "string" => value.as_str().is_some_and(|text| !text.is_empty()),
            "integer" => value.is_i64() || value.is_u64(),
            _ => false,
        };
        if values.is_empty() || !values.iter().all(fits) {
            self.say(path, "an enum value that is not allowed, or no values");
        }
        let lower: Vec<String> = values
            .iter()
            .map(|value| value.to_string().to_lowercase())
            .collect();
        if (1..lower.len()).any(|at| lower[..at].contains(&lower[at])) {
            self.say(path, "two values differ in case only");
        }
        let characters: usize = values
            .iter()
            .filter_map(Value::as_str)
            .map(|text| text.chars().count())
            .sum();
        self.listed += values.len();
        self.characters += characters;
        if self.dialect == "openai" && values.len() > 250 && characters > 15_000 {
            self.say(
                path,
                "an enum of more than 250 values with more than 15000 characters",
            );
        }
    }

    fn budgets(&mut self) {
        if self.dialect == "openai" && (self.listed > 1000 || self.characters > 120_000) {
            self.say("", "too large");
        }
        if self.dialect == "anthropic" && (self.optionals > 24 || self.unions > 15) {
            self.say("", "too many optional or union properties");
        }
        if matches!(self.dialect, "anthropic" | "gemini" | "mcp")
            && self.root.get("$defs").is_some()
        {
            self.say(
                "",
                "definitions, which this crate writes for recursion only",
            );
        }
    }
}

/// The keywords that apply only to certain types, with these types.
const OWNERS: &[(&str, &[&str])] = &[
    ("properties", &["object"]),
    ("required", &["object"]),
    ("additionalProperties", &["object"]),
    ("propertyOrdering", &["object"]),
    ("items", &["array"]),
    ("prefixItems", &["array"]),
    ("minItems", &["array"]),
    ("maxItems", &["array"]),
    ("uniqueItems", &["array"]),
    ("minLength", &["string"]),
    ("maxLength", &["string"]),
    ("pattern", &["string"]),
    ("minimum", &["integer", "number"]),
    ("maximum", &["integer", "number"]),
    ("exclusiveMinimum", &["integer", "number"]),
    ("exclusiveMaximum", &["integer", "number"]),
    ("multipleOf", &["integer", "number"]),
    ("enum", &["string", "integer"]),
];
