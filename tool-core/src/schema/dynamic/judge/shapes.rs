//! Rules for types, objects, arrays, enums, patterns and formats.

use super::{Judge, Place};
use crate::schema::dynamic::doc::Doc;
use crate::schema::dynamic::fault::Targets;
use crate::schema::dynamic::words;

const O: Targets = Targets::O;
const A: Targets = Targets::A;
const J: Targets = Targets::J;
const P: Targets = Targets::P;
const OA: Targets = O.and(A);
const OAP: Targets = OA.and(P);

impl Judge {
    pub(super) fn types(&mut self, node: &Doc) {
        match node.get("type") {
            None => {
                let speaks = ["$ref", "anyOf", "oneOf", "allOf", "enum", "const", "not"];
                if !speaks.iter().any(|key| node.has(key)) {
                    self.fault("untyped-value", OAP, "there is no `type`, write one");
                } else if !node.has("anyOf") && !node.has("$ref") {
                    self.fault("untyped-value", P, "there is no `type`, write one");
                }
            }
            Some(Doc::Array(_)) => self.fault(
                "type-array",
                P,
                "`type` may not be a list, write one type and `nullable`",
            ),
            Some(_) => {}
        }
        let known = [
            "string", "number", "integer", "boolean", "object", "array", "null",
        ];
        let mut types = node.types().peekable();
        if node.has("type") && (types.peek().is_none() || types.any(|name| !known.contains(&name)))
        {
            self.fault(
                "untyped-value",
                Targets::ALL,
                "`type` is not one of JSON Schema's",
            );
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
                self.fault(
                    "required-unknown",
                    Targets::ALL,
                    "`required` is not a list of keys",
                );
                return;
            }
        };
        for (name, _) in properties {
            if !required.contains(&name.as_str()) {
                self.fault(
                    "optional-not-nullable",
                    O,
                    format!("`{name}` is not in `required`, add it there and allow null"),
                );
            }
            if place == Place::Root && !words::key_of(name, true) {
                self.fault(
                    "property-key",
                    A.and(P),
                    format!(
                        "`{name}` is not a key that providers accept, use letters, digits and `_`"
                    ),
                );
            } else if !words::key_of(name, false) {
                self.fault(
                    "property-key",
                    P,
                    format!(
                        "`{name}` is not a key that providers accept, use letters, digits and `_`"
                    ),
                );
            }
        }
        for name in required {
            if !properties.iter().any(|(key, _)| key == name) {
                self.fault(
                    "required-unknown",
                    O.and(P),
                    format!("`{name}` is required but is not a property"),
                );
            }
        }
    }

    fn closed(&mut self, node: &Doc) {
        match node.get("additionalProperties") {
            Some(Doc::Boolean(false)) => {}
            None => self.fault(
                "open-object",
                OA,
                "the object is open, set `additionalProperties` to false",
            ),
            Some(Doc::Boolean(true)) if node.has("properties") => {
                self.fault(
                    "open-object",
                    OA,
                    "the object is open, set `additionalProperties` to false",
                );
            }
            Some(_) => self.fault(
                "map-type",
                OA,
                "a map is refused, take a list of entries with key and value",
            ),
        }
        match node.get("properties") {
            None => self.fault(
                "zero-args",
                O.and(P),
                "there are no `properties`, write an empty object",
            ),
            Some(properties) if properties.entries().is_empty() => {
                self.fault(
                    "zero-args",
                    P,
                    "`properties` may not be empty, leave the schema out",
                );
            }
            Some(_) => {}
        }
    }

    pub(super) fn array(&mut self, node: &Doc) {
        if node.says_type("array") && !node.has("items") {
            // A tuple has its own fault; OpenAI also reports the missing `items`.
            self.fault(
                "array-no-items",
                O.and(P),
                "there are no `items`, give the list an item type",
            );
        }
        if matches!(node.get("items"), Some(Doc::Array(_))) {
            self.fault(
                "tuple",
                OAP,
                "`items` may not be a list, take an object with named properties",
            );
        }
        let (fewest, most) = (node.get("minItems"), node.get("maxItems"));
        if fewest.is_some() && fewest == most {
            self.fault(
                "fixed-array",
                A,
                "a fixed length is refused, say it in the description",
            );
        } else {
            if fewest.is_some_and(|count| count.as_count().is_none_or(|count| count > 1)) {
                self.fault(
                    "min-items-over-1",
                    A,
                    "`minItems` may only be 0 or 1, say it in the description",
                );
            }
            if most.is_some() {
                self.fault(
                    "max-items",
                    A,
                    "`maxItems` is refused, say it in the description",
                );
            }
        }
    }

    pub(super) fn choices(&mut self, node: &Doc) {
        let Some(listed) = node.get("enum") else {
            if matches!(node.get("const"), Some(Doc::Array(_) | Doc::Object(_))) {
                self.fault(
                    "enum-complex",
                    OA,
                    "only text, numbers, booleans and null can be listed",
                );
            }
            return;
        };
        let values = listed.items();
        if values.is_empty() {
            self.fault("enum-empty", OAP.and(J), "the enum allows no value");
        }
        if matches!(node.get("type"), Some(Doc::Array(_))) {
            self.fault("enum-type-array", A, "write `anyOf` of the enum and null");
        }
        if values
            .iter()
            .any(|value| matches!(value, Doc::Array(_) | Doc::Object(_)))
        {
            self.fault(
                "enum-complex",
                OAP,
                "only text, numbers, booleans and null can be listed",
            );
        } else if words::mixed(values, node.says_type("null")) {
            self.fault("enum-mixed", O.and(P), "all values must be of one type");
        }
        if values.iter().any(|value| value.as_str().is_none()) {
            self.fault("enum-non-string", P, "only text can be listed");
        }
        if values.iter().any(|value| value.as_str() == Some("")) {
            self.fault("enum-empty-string", P, "empty text cannot be listed");
        }
    }

    pub(super) fn text(&mut self, node: &Doc) {
        if let Some(pattern) = node.get("pattern").and_then(Doc::as_str)
            && words::looks_around(pattern)
        {
            self.fault(
                "pattern-lookaround",
                OA,
                "look-around, back-references and word boundaries are refused, write the pattern without them",
            );
        }
        let Some(format) = node.get("format").and_then(Doc::as_str) else {
            return;
        };
        if node.says_type("integer") || node.says_type("number") {
            if !["int32", "int64", "float", "double"].contains(&format) {
                self.fault(
                    "format-on-number",
                    P,
                    format!("`{format}` is not a format of numbers, leave it out"),
                );
            }
        } else if format == "uri" {
            self.fault(
                "format-uri",
                O.and(P),
                "`uri` is refused, say in the description that it is a URL",
            );
        } else if !words::FORMATS.contains(&format) {
            self.fault(
                "format-unknown",
                OAP,
                format!(
                    "`{format}` is not a format that providers know, say it in the description"
                ),
            );
        } else if format != "date-time" {
            self.fault(
                "format-gemini",
                P,
                format!("`{format}` is refused, say it in the description"),
            );
        }
    }
}
