//! Rules for types, objects, arrays, enums, patterns and formats.

use tool_rules::Rule;

use super::{Judge, Place};
use crate::schema::dynamic::doc::Doc;
use crate::schema::dynamic::fault::Targets;
use crate::schema::dynamic::words;

const O: Targets = Targets::OPENAI;
const A: Targets = Targets::ANTHROPIC;
const P: Targets = Targets::GEMINI_PARAMETERS;
const OA: Targets = O.and(A);

impl Judge {
    pub(super) fn types(&mut self, node: &Doc) {
        match node.get("type") {
            None => {
                let speaks = ["$ref", "anyOf", "oneOf", "allOf", "enum", "const", "not"];
                if !speaks.iter().any(|key| node.has(key)) {
                    self.fault(&Rule::JSON_NO_TYPE, &[]);
                } else if !node.has("anyOf") && !node.has("$ref") {
                    self.fault_for(P, &Rule::JSON_NO_TYPE, &[]);
                }
            }
            Some(Doc::Array(_)) => self.fault(&Rule::JSON_TYPE_LIST, &[]),
            Some(_) => {}
        }
        let known = [
            "string", "number", "integer", "boolean", "object", "array", "null",
        ];
        if node.has("type") && node.types().next().is_none() {
            self.fault(&Rule::JSON_TYPE_EMPTY, &[]);
        } else if let Some(other) = node.types().find(|name| !known.contains(name)) {
            self.fault(&Rule::JSON_TYPE_UNKNOWN, &[&other]);
        }
    }

    pub(super) fn object(&mut self, node: &Doc, place: Place) {
        if node.says_type("object") {
            self.closed(node);
        }
        let properties = node.get("properties").map(Doc::entries).unwrap_or_default();
        let required: Vec<&str> = match node.get("required") {
            None => Vec::new(),
            Some(Doc::Array(names)) => names.iter().filter_map(Doc::as_str).collect(),
            Some(_) => {
                self.fault(&Rule::JSON_REQUIRED_NOT_LIST, &[]);
                return;
            }
        };
        for (name, _) in properties {
            if !required.contains(&name.as_str()) {
                self.fault(&Rule::JSON_OPTIONAL, &[&name]);
            }
            if place == Place::Root && !words::key_of(name, true) {
                self.fault(&Rule::JSON_KEY, &[&name]);
            } else if !words::key_of(name, false) {
                self.fault_for(P, &Rule::JSON_KEY, &[&name]);
            }
        }
        for name in required {
            if !properties.iter().any(|(key, _)| key == name) {
                self.fault(&Rule::JSON_REQUIRED_UNKNOWN, &[&name]);
            }
        }
    }

    fn closed(&mut self, node: &Doc) {
        match node.get("additionalProperties") {
            Some(Doc::Boolean(false)) => {}
            None => self.fault(&Rule::JSON_OPEN_OBJECT, &[]),
            Some(Doc::Boolean(true)) if node.has("properties") => {
                self.fault(&Rule::JSON_OPEN_OBJECT, &[]);
            }
            Some(_)
                if node
                    .get("properties")
                    .is_some_and(|own| !own.entries().is_empty()) =>
            {
                self.fault(&Rule::JSON_MAP_AND_OBJECT, &[]);
            }
            Some(_) => self.fault(&Rule::JSON_MAP, &[]),
        }
        match node.get("properties") {
            None => self.fault(&Rule::JSON_NO_PROPERTIES, &[]),
            Some(properties) if properties.entries().is_empty() => {
                self.fault(&Rule::JSON_PROPERTIES_EMPTY, &[]);
            }
            Some(_) => {}
        }
    }

    pub(super) fn array(&mut self, node: &Doc) {
        if node.says_type("array") && !node.has("items") {
            // A tuple has its own fault; OpenAI also reports the missing `items`.
            self.fault(&Rule::JSON_NO_ITEMS, &[]);
        }
        if matches!(node.get("items"), Some(Doc::Array(_))) {
            self.fault(&Rule::JSON_ITEMS_LIST, &[]);
        }
        let (fewest, most) = (node.get("minItems"), node.get("maxItems"));
        if fewest.is_some() && fewest == most {
            self.fault(&Rule::JSON_FIXED_ARRAY, &[]);
        } else {
            if fewest.is_some_and(|count| count.as_count().is_none_or(|count| count > 1)) {
                self.fault(&Rule::JSON_MIN_ITEMS, &[]);
            }
            if most.is_some() {
                self.fault(&Rule::JSON_MAX_ITEMS, &[]);
            }
        }
    }

    pub(super) fn choices(&mut self, node: &Doc) {
        let Some(listed) = node.get("enum") else {
            if matches!(node.get("const"), Some(Doc::Array(_) | Doc::Object(_))) {
                self.fault_for(OA, &Rule::JSON_ENUM_COMPLEX, &[]);
            }
            return;
        };
        let values = listed.items();
        if values.is_empty() {
            self.fault(&Rule::JSON_ENUM_EMPTY, &[]);
        }
        if matches!(node.get("type"), Some(Doc::Array(_))) {
            self.fault(&Rule::JSON_ENUM_TYPE_LIST, &[]);
        }
        if values
            .iter()
            .any(|value| matches!(value, Doc::Array(_) | Doc::Object(_)))
        {
            self.fault(&Rule::JSON_ENUM_COMPLEX, &[]);
        } else if words::mixed(values, node.says_type("null")) {
            self.fault(&Rule::JSON_ENUM_MIXED, &[]);
        }
        if values.iter().any(|value| value.as_str().is_none()) {
            self.fault(&Rule::JSON_ENUM_NOT_TEXT, &[]);
        }
        if values.iter().any(|value| value.as_str() == Some("")) {
            self.fault(&Rule::JSON_ENUM_EMPTY_TEXT, &[]);
        }
    }

    pub(super) fn text(&mut self, node: &Doc) {
        if let Some(pattern) = node.get("pattern").and_then(Doc::as_str)
            && words::looks_around(pattern)
        {
            self.fault(&Rule::JSON_PATTERN_LOOKAROUND, &[]);
        }
        let Some(format) = node.get("format").and_then(Doc::as_str) else {
            return;
        };
        if node.says_type("integer") || node.says_type("number") {
            if !["int32", "int64", "float", "double"].contains(&format) {
                self.fault(&Rule::JSON_FORMAT_ON_NUMBER, &[&format]);
            }
        } else if format == "uri" {
            self.fault(&Rule::JSON_FORMAT_URI, &[]);
        } else if !words::FORMATS.contains(&format) {
            self.fault(&Rule::JSON_FORMAT_UNKNOWN, &[&format]);
        } else if format != "date-time" {
            self.fault(&Rule::JSON_FORMAT_GEMINI, &[&format]);
        }
    }
}
