//! Checks of requests against an OpenAPI document.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::Seen;

/// An OpenAPI document. Its paths are compared with whole request paths, so the URLs of its servers must have no path.
pub(crate) struct Document(Value);

/// The operation that describes a request.
pub(crate) struct Matched<'a> {
    pub(crate) document: &'a Document,
    /// The method and the path, such as `get /search/issues`.
    pub(crate) name: String,
    operation: &'a Value,
}

impl Document {
    pub(crate) fn read(file: &std::path::Path) -> Self {
        let bytes = std::fs::read(file).unwrap();
        Self(serde_json::from_slice(&bytes).unwrap())
    }

    /// Follows a reference inside of the document.
    fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(reference) => {
                let pointer = reference.strip_prefix('#').unwrap();
                self.0.pointer(pointer).unwrap()
            }
            None => value,
        }
    }

    /// Finds the operation of a request and checks path, query and body. Panics if the document does not describe the request.
    pub(crate) fn check(&self, seen: &Seen) -> Matched<'_> {
        let method = seen.method().to_ascii_lowercase();
        let (path, query) = seen.path().split_once('?').unwrap_or((seen.path(), ""));
        let templates = self.0["paths"].as_object().unwrap();
        let mut found = templates.iter().filter_map(|(template, operations)| {
            let values = path_values(template, path)?;
            Some((template, operations.get(&method)?, values))
        });
        // A template with fewer parameters is more specific.
        let (template, operation, values) = found
            .by_ref()
            .min_by_key(|(_, _, values)| values.len())
            .unwrap_or_else(|| panic!("no operation `{method} {path}`"));
        let query: BTreeMap<String, String> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.replace('+', " ").replace("%3A", ":")))
            .collect();
        self.check_parameters(operation, &values, &query);
        self.check_body(operation, seen);
        Matched {
            document: self,
            name: format!("{method} {template}"),
            operation,
        }
    }

    fn check_parameters(
        &self,
        operation: &Value,
        path: &BTreeMap<String, String>,
        query: &BTreeMap<String, String>,
    ) {
        let mut known = Vec::new();
        for parameter in operation["parameters"].as_array().unwrap() {
            let parameter = self.resolve(parameter);
            let name = parameter["name"].as_str().unwrap();
            let value = match parameter["in"].as_str().unwrap() {
                "path" => path.get(name),
                "query" => {
                    known.push(name);
                    query.get(name)
                }
                _ => None,
            };
            let Some(value) = value else {
                assert!(parameter["required"] != true, "`{name}` is missing");
                continue;
            };
            let schema = self.resolve(&parameter["schema"]);
            let value = match schema["type"].as_str() {
                Some("integer") => Value::from(value.parse::<i64>().unwrap()),
                _ => Value::from(value.as_str()),
            };
            assert_valid(schema, &value, name);
        }
        for name in query.keys() {
            assert!(
                known.contains(&name.as_str()),
                "`{name}` is not a parameter"
            );
        }
    }

    fn check_body(&self, operation: &Value, seen: &Seen) {
        let Some(body) = operation.get("requestBody") else {
            assert!(seen.body.is_empty(), "{}", seen.body);
            return;
        };
        assert_eq!(seen.header("content-type"), Some("application/json"));
        let schema = self.resolve(&body["content"]["application/json"]["schema"]);
        let value: Value = serde_json::from_str(&seen.body).unwrap();
        assert_valid(schema, &value, "the body");
        // Documents rarely forbid unknown properties, so a misspelled one would be valid.
        for name in value.as_object().unwrap().keys() {
            assert!(
                schema["properties"].get(name).is_some(),
                "`{name}` is not a property"
            );
        }
    }
}

#[track_caller]
fn assert_valid(schema: &Value, value: &Value, what: &str) {
    let validator = jsonschema::validator_for(schema).unwrap();
    let error = validator
        .validate(value)
        .err()
        .map(|error| error.to_string());
    assert_eq!(error, None, "{what}");
}

impl Matched<'_> {
    /// Returns the status and the example of the first successful response.
    pub(crate) fn example(&self) -> (u16, &Value) {
        let responses = self.operation["responses"].as_object().unwrap();
        let (status, response) = responses
            .iter()
            .find(|(status, _)| status.starts_with('2'))
            .unwrap();
        let examples = &self.document.resolve(response)["content"]["application/json"]["examples"];
        let example = self.document.resolve(&examples["default"]);
        let value = example.get("value").unwrap();
        (
            status.parse().unwrap(),
            self.document
                .resolve(value)
                .get("value")
                .unwrap_or_else(|| self.document.resolve(value)),
        )
    }
}

/// Returns the values of the parameters if a path matches a template.
fn path_values(template: &str, path: &str) -> Option<BTreeMap<String, String>> {
    let (mut names, mut segments) = (template.split('/'), path.split('/'));
    let mut values = BTreeMap::new();
    loop {
        match (names.next(), segments.next()) {
            (None, None) => return Some(values),
            (Some(name), Some(segment)) if name.starts_with('{') && name.ends_with('}') => {
                values.insert(name[1..name.len() - 1].to_owned(), segment.to_owned());
            }
            (Some(name), Some(segment)) if name == segment => {}
            _ => return None,
        }
    }
}
