//! An operation of an `OpenAPI` document: its parameters, its body, its server and its secret.
//!
//! The document is read as plain JSON. The crates that were considered (openapiv3 2.2 for version 3.0, oas3 0.22 for version 3.1) each read one of
//! the two versions and report a fault without its JSON pointer, which the author of a document needs; openapiv3 does not resolve references.

use std::collections::BTreeMap;

use http::HeaderName;
use http::header::AUTHORIZATION;
use serde_json::{Map, Value};
use tool_core::stored::ToolFault;
use url::Url;

use super::headers::is_never_sent;
use super::request::Method;
use reader::{Found, Reader, is_true, text_of};

pub(super) mod reader;
mod schema;

pub(super) use schema::{Types, judge_input};

/// The name of the argument that holds the body.
pub(super) const BODY: &str = "body";

/// The supported methods, by their key in a path item.
const METHODS: [(&str, Method); 6] = [
    ("get", Method::Get),
    ("head", Method::Head),
    ("post", Method::Post),
    ("put", Method::Put),
    ("patch", Method::Patch),
    ("delete", Method::Delete),
];

/// Keys of a path item for methods that are not supported.
const OTHER_METHODS: [&str; 2] = ["options", "trace"];

/// Headers that `OpenAPI` describes elsewhere, so that a parameter for them has no effect.
const ELSEWHERE: [&str; 3] = ["accept", "content-type", "authorization"];

/// An operation that can be called.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) method: Method,
    /// The URL of the server. The path of the URL may end with `/`.
    pub(super) server: Url,
    /// The pointer of the server's URL, for faults.
    pub(super) server_pointer: String,
    pub(super) path: Vec<Part>,
    pub(super) parameters: BTreeMap<String, Parameter>,
    pub(super) body: Option<Body>,
    /// Names of optional parameters that cannot be sent, and [`BODY`] for such a body, with the reasons.
    pub(super) unsupported: BTreeMap<String, String>,
    pub(super) auth: Option<Auth>,
}

/// A part of the path's template.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Parameter(String),
}

/// The part of the request that contains a parameter.
#[derive(Debug)]
pub(super) enum Place {
    Path,
    /// A query parameter. If `explode` is set, each item of a list is sent as a separate parameter.
    Query {
        explode: bool,
    },
    Header(HeaderName),
}

#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) place: Place,
    pub(super) required: bool,
    pub(super) types: Types,
}

/// The JSON body of a request.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) required: bool,
    pub(super) types: Types,
    pub(super) media_type: String,
}

/// The secret of an operation.
#[derive(Debug)]
pub(super) struct Auth {
    /// The key of the secret: the host of the server and the name of the scheme.
    pub(super) key: String,
    pub(super) header: HeaderName,
    pub(super) is_bearer: bool,
    pub(super) optional: bool,
    pub(super) description: Option<String>,
}

/// Reads an operation of a document. `prefix` is the pointer of the document in the request that saves it.
pub(super) fn read(text: &str, prefix: &str, id: &str) -> Result<Operation, Vec<ToolFault>> {
    let root = reader::document(text, prefix).map_err(|fault| vec![fault])?;
    let reader = Reader::new(&root, prefix);
    let found = find(&reader, id).map_err(|fault| vec![fault])?;
    let mut faults = Vec::new();
    let mut note = |result: Result<(), ToolFault>| faults.extend(result.err());

    let server = server(&reader, &found);
    let (mut parameters, mut unsupported) = (BTreeMap::new(), BTreeMap::new());
    for fault in read_parameters(&reader, &found, &mut parameters, &mut unsupported) {
        note(Err(fault));
    }
    let body = match body(&reader, &found) {
        Ok(Some(_)) if parameters.contains_key(BODY) => {
            let at = format!("{}/requestBody", found.pointer);
            let text = format!(
                "the operation has a parameter `{BODY}`, which is the name of the argument with the body: rename the parameter"
            );
            note(Err(reader.fault(&at, text)));
            None
        }
        Ok(Some(Ok(body))) => Some(body),
        Ok(Some(Err(why))) => {
            unsupported.insert(BODY.to_owned(), why);
            None
        }
        Ok(None) => None,
        Err(fault) => {
            note(Err(fault));
            None
        }
    };
    let path = template(&reader, &found, &parameters);
    let (path, (server, server_pointer)) = match (path, server) {
        (Ok(path), Ok(server)) => (path, server),
        (path, server) => {
            faults.extend(path.err());
            faults.extend(server.err());
            return Err(faults);
        }
    };
    match auth(&reader, &found, &server) {
        Ok(auth) if faults.is_empty() => Ok(Operation {
            method: found.method,
            server,
            server_pointer: format!("{prefix}{server_pointer}"),
            path,
            parameters,
            body,
            unsupported,
            auth,
        }),
        other => {
            faults.extend(other.err());
            Err(faults)
        }
    }
}

/// The operation with an id, and its path item.
struct Located<'d> {
    method: Method,
    path: &'d str,
    item: &'d Map<String, Value>,
    operation: &'d Map<String, Value>,
    /// The pointer of the path item.
    item_pointer: String,
    /// The pointer of the operation.
    pointer: String,
}

fn find<'d>(reader: &Reader<'d>, id: &str) -> Result<Located<'d>, ToolFault> {
    let Some(paths) = reader.root.get("paths").and_then(Value::as_object) else {
        return Err(reader.fault("", "the document has no `paths`, add the operation"));
    };
    let (mut found, mut others) = (None, Vec::new());
    for (path, item) in paths {
        let item_pointer = format!("/paths/{}", reader::escaped(path));
        let Some(item) = item.as_object() else {
            return Err(reader.fault(&item_pointer, "the path item must be an object"));
        };
        for (key, operation) in item {
            let method = METHODS.iter().find(|(word, _)| word == key);
            let Some(operation) = operation.as_object() else {
                continue;
            };
            let named = operation.get("operationId").and_then(Value::as_str);
            let pointer = format!("{item_pointer}/{key}");
            if named != Some(id) {
                if method.is_some() {
                    others.extend(named);
                }
                continue;
            }
            let Some((_, method)) = method else {
                if OTHER_METHODS.contains(&&**key) {
                    let text = format!("operations with the method `{key}` are not supported");
                    return Err(reader.fault(&pointer, text));
                }
                continue;
            };
            let place = Located {
                method: *method,
                path,
                item,
                operation,
                item_pointer: item_pointer.clone(),
                pointer: pointer.clone(),
            };
            if found.replace(place).is_some() {
                let text = format!(
                    "a second operation has the `operationId` `{id}`, give each operation its own"
                );
                return Err(reader.fault(&format!("{pointer}/operationId"), text));
            }
        }
    }
    found.ok_or_else(|| {
        others.truncate(20);
        let others = match others.as_slice() {
            [] => "the document has none".to_owned(),
            others => format!("the document has `{}`", others.join("`, `")),
        };
        let text = format!("no operation has the `operationId` `{id}`, {others}");
        reader.fault("/paths", text)
    })
}

/// The maximum length of the URL of a server in bytes.
const LONGEST_URL: usize = 4096;

/// Replaces the variables of a template with their defaults, in one pass: variables in a default are not expanded.
fn with_variables(template: &str, variables: Option<&Value>) -> String {
    let mut url = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{')
        && let Some((name, behind)) = after.split_once('}')
        && url.len() <= LONGEST_URL
    {
        url.push_str(before);
        let value = variables.and_then(|all| all.get(name)?.get("default")?.as_str());
        if let Some(value) = value {
            url.push_str(value);
        } else {
            url.extend(["{", name, "}"]);
        }
        rest = behind;
    }
    url.push_str(rest);
    url
}

/// Returns the first server of the operation, else of its path, else of the document.
fn server(reader: &Reader<'_>, found: &Located<'_>) -> Result<(Url, String), ToolFault> {
    let places = [
        (found.operation.get("servers"), &*found.pointer),
        (found.item.get("servers"), &found.item_pointer),
        (reader.root.get("servers"), ""),
    ];
    let first = places
        .into_iter()
        .find_map(|(servers, at)| Some((servers?.get(0)?, format!("{at}/servers/0"))));
    let Some((server, pointer)) = first else {
        let text =
            "the document has no server, add `\"servers\": [{\"url\": \"https://host/path\"}]`";
        return Err(reader.fault("", text));
    };
    let pointer = format!("{pointer}/url");
    let Some(template) = server.get("url").and_then(Value::as_str) else {
        return Err(reader.fault(&pointer, "the server has no URL"));
    };
    let url = with_variables(template, server.get("variables"));
    if url.len() > LONGEST_URL {
        let text = format!("the URL of the server is longer than {LONGEST_URL} bytes");
        return Err(reader.fault(&pointer, text));
    }
    let fault = |why: &str| {
        let text = format!("`{url}` is not the URL of a server, {why}: write `https://host/path`");
        reader.fault(&pointer, text)
    };
    if url.contains(['{', '}']) {
        return Err(fault("a variable has no `default`"));
    }
    let parsed = Url::parse(&url).map_err(|error| fault(&error.to_string()))?;
    if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none() {
        return Err(fault("only `https` and `http` are possible"));
    }
    if parsed.query().is_some() || parsed.fragment().is_some() {
        return Err(fault("it has a query or a fragment"));
    }
    Ok((parsed, pointer))
}

fn read_parameters<'d>(
    reader: &Reader<'d>,
    found: &Located<'d>,
    parameters: &mut BTreeMap<String, Parameter>,
    unsupported: &mut BTreeMap<String, String>,
) -> Vec<ToolFault> {
    let mut faults = Vec::new();
    let mut all: Vec<(&Map<String, Value>, String)> = Vec::new();
    for (owner, at) in [
        (found.item, &found.item_pointer),
        (found.operation, &found.pointer),
    ] {
        let list = owner.get("parameters").and_then(Value::as_array);
        for (index, parameter) in list.into_iter().flatten().enumerate() {
            let pointer = format!("{at}/parameters/{index}");
            let Found { value, pointer } = match reader.resolve(parameter, &pointer) {
                Ok(found) => found,
                Err(fault) => {
                    faults.push(fault);
                    continue;
                }
            };
            let Some(own) = value.as_object() else {
                faults.push(reader.fault(&pointer, "the parameter must be an object"));
                continue;
            };
            // A parameter of the operation replaces the parameter of the path with the same name and place.
            let same = |old: &Map<String, Value>| {
                old.get("name") == own.get("name") && old.get("in") == own.get("in")
            };
            all.retain(|(old, _)| !same(old));
            all.push((own, pointer));
        }
    }
    for (own, pointer) in all {
        let Some(name) = text_of(own, "name") else {
            faults.push(reader.fault(&pointer, "the parameter has no `name`"));
            continue;
        };
        let required = is_true(own, "required");
        match parameter(reader, own, name, required, &pointer) {
            Ok(parameter) => {
                if parameters.insert(name.to_owned(), parameter).is_some() {
                    let text = format!(
                        "two parameters are named `{name}`, which would be one argument: rename one of them"
                    );
                    faults.push(reader.fault(&format!("{pointer}/name"), text));
                }
            }
            Err(fault) if required => faults.push(fault),
            Err(fault) => {
                unsupported.insert(name.to_owned(), fault.text);
            }
        }
    }
    faults
}

fn parameter<'d>(
    reader: &Reader<'d>,
    own: &'d Map<String, Value>,
    name: &str,
    required: bool,
    pointer: &str,
) -> Result<Parameter, ToolFault> {
    let fault = |key: &str, text: String| reader.fault(&format!("{pointer}/{key}"), text);
    let place = text_of(own, "in").unwrap_or_default();
    let style = text_of(own, "style");
    let explode = own.get("explode").and_then(Value::as_bool);
    let (place, expected) = match place {
        "path" if required => (Place::Path, "simple"),
        "path" => {
            let text = format!("the path parameter `{name}` must have `\"required\": true`");
            return Err(reader.fault(pointer, text));
        }
        "query" => {
            let explode = explode.unwrap_or(true);
            (Place::Query { explode }, "form")
        }
        "header" => {
            let header = HeaderName::from_bytes(name.as_bytes());
            let header = header
                .map_err(|_| fault("name", format!("`{name}` is not the name of a header")))?;
            if is_never_sent(&header) || ELSEWHERE.contains(&header.as_str()) {
                let text =
                    format!("the header `{name}` is set by the program, remove the parameter");
                return Err(fault("name", text));
            }
            (Place::Header(header), "simple")
        }
        other => {
            let text = format!(
                "`{name}` is a parameter in `{other}`, only `path`, `query` and `header` are supported"
            );
            return Err(fault("in", text));
        }
    };
    if style.is_some_and(|style| style != expected) {
        let text = format!("only the style `{expected}` is supported here, which is the default");
        return Err(fault("style", text));
    }
    let Some(schema) = own.get("schema") else {
        let text = format!(
            "the parameter `{name}` has no `schema`, only parameters with a `schema` are supported"
        );
        return Err(reader.fault(pointer, text));
    };
    let types = Types::read(reader, schema, &format!("{pointer}/schema"))?;
    if types.admits("object") {
        let text = format!(
            "the parameter `{name}` may be an object, only texts, numbers, booleans and lists of them are supported: state its `type`"
        );
        return Err(fault("schema", text));
    }
    Ok(Parameter {
        place,
        required,
        types,
    })
}

/// Reads the body. If an optional body is not JSON, returns the reason why it is left out.
fn body<'d>(
    reader: &Reader<'d>,
    found: &Located<'d>,
) -> Result<Option<Result<Body, String>>, ToolFault> {
    let Some(body) = found.operation.get("requestBody") else {
        return Ok(None);
    };
    let Found { value, pointer } =
        reader.resolve(body, &format!("{}/requestBody", found.pointer))?;
    let Some(own) = value.as_object() else {
        return Err(reader.fault(&pointer, "the request body must be an object"));
    };
    if matches!(found.method, Method::Get | Method::Head) {
        let text = "a request with this method has no body, remove `requestBody`";
        return Err(reader.fault(&pointer, text));
    }
    let required = is_true(own, "required");
    let content = own.get("content").and_then(Value::as_object);
    let is_json = |kind: &&String| {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind == "application/json" || kind.ends_with("+json")
    };
    let kind = content.and_then(|content| content.keys().find(is_json));
    let Some((content, kind)) = content.zip(kind) else {
        let text = "the body is not JSON, only `application/json` and types that end with `+json` are supported";
        if required {
            return Err(reader.fault(&format!("{pointer}/content"), text));
        }
        return Ok(Some(Err(text.to_owned())));
    };
    let at = format!("{pointer}/content/{}/schema", reader::escaped(kind));
    let types = match content.get(kind).and_then(|media| media.get("schema")) {
        Some(schema) => Types::read(reader, schema, &at)?,
        None => Types::any(),
    };
    Ok(Some(Ok(Body {
        required,
        types,
        media_type: kind.clone(),
    })))
}

/// Splits a path into its texts and parameters.
fn template(
    reader: &Reader<'_>,
    found: &Located<'_>,
    parameters: &BTreeMap<String, Parameter>,
) -> Result<Vec<Part>, ToolFault> {
    let fault = |text: String| reader.fault(&found.item_pointer, text);
    let path = found.path;
    if !path.starts_with('/') || path.contains(['?', '#', '\\']) {
        return Err(fault(format!(
            "`{path}` is not a path: begin it with `/`, and leave out `?`, `#` and `\\`"
        )));
    }
    let (mut parts, mut rest) = (Vec::new(), path);
    while !rest.is_empty() {
        let begin = rest.find('{').unwrap_or(rest.len());
        if begin > 0 {
            parts.push(Part::Text(rest[..begin].to_owned()));
        }
        let Some(after) = rest.get(begin + 1..) else {
            break;
        };
        let Some((name, left)) = after.split_once('}') else {
            return Err(fault(format!("`{path}` has a `{{` without a `}}`")));
        };
        let is_own = |own: &Parameter| matches!(own.place, Place::Path);
        if !parameters.get(name).is_some_and(is_own) {
            let text =
                format!("the path has `{{{name}}}`, but no parameter in `path` has this name");
            return Err(fault(text));
        }
        parts.push(Part::Parameter(name.to_owned()));
        rest = left;
    }
    let unused = parameters.iter().find(|(name, parameter)| {
        matches!(parameter.place, Place::Path) && !parts.contains(&Part::Parameter((*name).clone()))
    });
    match unused {
        Some((name, _)) => Err(fault(format!(
            "the path has no `{{{name}}}`, but a parameter in `path` has this name"
        ))),
        None => Ok(parts),
    }
}

/// Returns the host of a server as it is written in the keys of secrets: with its port, unless the port is the scheme's default.
pub(super) fn host_of(server: &Url) -> String {
    let host = server.host_str().unwrap_or_default();
    match server.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// Returns the secret of the first supported alternative of the security requirements. If no alternative is supported, returns `None` if the
/// requirements allow requests without a secret or are missing, and otherwise fails.
fn auth(reader: &Reader<'_>, found: &Located<'_>, server: &Url) -> Result<Option<Auth>, ToolFault> {
    let (requirements, at) = match found.operation.get("security") {
        Some(own) => (Some(own), format!("{}/security", found.pointer)),
        None => (reader.root.get("security"), "/security".to_owned()),
    };
    let alternatives = requirements.and_then(Value::as_array);
    let alternatives = alternatives.map(Vec::as_slice).unwrap_or_default();
    let is_open = |one: &Value| one.as_object().is_some_and(Map::is_empty);
    let optional = alternatives.iter().any(is_open);
    let mut first_fault = None;
    for (index, alternative) in alternatives.iter().enumerate() {
        let pointer = format!("{at}/{index}");
        if is_open(alternative) {
            continue;
        }
        match scheme(reader, alternative, &pointer, server) {
            Ok(auth) => return Ok(Some(Auth { optional, ..auth })),
            Err(fault) => {
                first_fault.get_or_insert(fault);
            }
        }
    }
    match first_fault {
        Some(fault) if !optional => Err(fault),
        _ => Ok(None),
    }
}

fn scheme(
    reader: &Reader<'_>,
    alternative: &Value,
    pointer: &str,
    server: &Url,
) -> Result<Auth, ToolFault> {
    let names: Vec<&String> = alternative
        .as_object()
        .map(|own| own.keys().collect())
        .unwrap_or_default();
    let [name] = names.as_slice() else {
        let text = "only one security scheme can be used in a request, leave the others out";
        return Err(reader.fault(pointer, text));
    };
    let at = format!("/components/securitySchemes/{}", reader::escaped(name));
    let Some(value) = reader.root.pointer(&at) else {
        let text = format!("the document has no security scheme `{name}`");
        return Err(reader.fault(pointer, text));
    };
    let Found { value, pointer: at } = reader.resolve(value, &at)?;
    let own = value.as_object().cloned().unwrap_or_default();
    let word = |key: &str| text_of(&own, key).unwrap_or_default();
    let (header, is_bearer) = match (word("type"), word("in")) {
        ("http", _) if word("scheme").eq_ignore_ascii_case("bearer") => (AUTHORIZATION, true),
        ("apiKey", "header") => {
            let header = HeaderName::from_bytes(word("name").as_bytes()).ok();
            let header = header.filter(|header| !is_never_sent(header));
            let header = header.ok_or_else(|| {
                let text = format!("`{}` is not a header that can be sent", word("name"));
                reader.fault(&format!("{at}/name"), text)
            })?;
            (header, false)
        }
        _ => {
            let text = format!(
                "the security scheme `{name}` is not supported: only the type `http` with the scheme `bearer`, and the type `apiKey` in `header`"
            );
            return Err(reader.fault(&at, text));
        }
    };
    Ok(Auth {
        key: format!("{}/{name}", host_of(server)),
        header,
        is_bearer,
        optional: false,
        description: text_of(&own, "description").map(str::to_owned),
    })
}
