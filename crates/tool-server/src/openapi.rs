//! The OpenAPI document: its metadata, and the parameters and responses that every operation has.

use serde_json::json;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, Paths};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ArrayBuilder, ComponentsBuilder, ContactBuilder, ContentBuilder, InfoBuilder, LicenseBuilder,
    ObjectBuilder, OpenApi, OpenApiBuilder, PathItem, Ref, RefOr, Required, Response,
    ResponseBuilder, Schema, ServerBuilder, Type,
};

use crate::access::Access;
use crate::problem::{InputError, Kind, MEDIA_TYPE, Problem};

/// The header that an operator of the host sends to choose the workspace of a request.
pub(crate) const WORKSPACE: &str = "tool-workspace";

/// The name of the security scheme.
const BEARER: &str = "bearer";

/// The resources, in the order of the document.
const TAGS: [(&str, &str); 22] = [
    ("approvals", "Requests for the approval of calls and plans"),
    (
        "audit",
        "One row for each call and for each change by an operator",
    ),
    ("catalogue", "The tools of the program"),
    (
        "documents",
        "Documents that the agents of a workspace search, and the states of their indexes",
    ),
    (
        "effects",
        "Calls with effects, and effects with an unknown outcome",
    ),
    ("events", "Changes of rows, as they are made"),
    (
        "functions",
        "The code that stored tools run, and its versions",
    ),
    (
        "instances",
        "The tools and the skills that are enabled for each instance of a workspace",
    ),
    (
        "maintenance",
        "Erasure of contents, and removal of old rows",
    ),
    ("memories", "Long-term memories of agents"),
    ("members", "The users of a workspace, and their roles"),
    ("plans", "Runs of plans, with their nodes and events"),
    (
        "policy",
        "The rules of the host that allow and deny calls and request approvals",
    ),
    (
        "rooms",
        "The events that wait for agents, and the messages between people and agents",
    ),
    ("runs", "Executions of the agent loop"),
    ("scheduled-tasks", "Scheduled tasks and their runs"),
    (
        "secrets",
        "The names of sealed secrets, and the keys that seal them",
    ),
    (
        "stored-tools",
        "Tools that are created at run time, and their bindings to agents",
    ),
    ("switches", "Kill switches and disables of tools"),
    ("threads", "The messages of conversations"),
    (
        "variables",
        "The values of variables, and requests for values that conversations wait for",
    ),
    ("workspaces", "Workspaces and their settings"),
];

/// Creates the document with its metadata and without operations.
pub(crate) fn frame() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Admin API of a tool host")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "Every operation acts in the caller's workspace. Operators of the host may name a different workspace in the header `Tool-Workspace`. \
             `x-required-role` is the role that an operation requires, and `x-host` is true if the operation requires an operator of the host.",
        ))
        .contact(Some(ContactBuilder::new().name(Some("The operators of the host")).build()))
        .license(Some(LicenseBuilder::new().name("MIT OR Apache-2.0").identifier(Some("MIT OR Apache-2.0")).build()))
        .build();
    let components = ComponentsBuilder::new()
        .schema_from::<Problem>()
        .schema_from::<InputError>()
        .security_scheme(
            BEARER,
            SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)),
        )
        .build();
    let tags = TAGS.map(|(name, about)| {
        TagBuilder::new()
            .name(name)
            .description(Some(about))
            .build()
    });
    OpenApiBuilder::new()
        .info(info)
        .servers(Some([ServerBuilder::new()
            .url("/")
            .description(Some("This server"))
            .build()]))
        .components(Some(components))
        .security(Some([SecurityRequirement::new(
            BEARER,
            Vec::<String>::new(),
        )]))
        .tags(Some(tags))
        .build()
}

/// Replaces the schema of each page's items with a reference, because utoipa repeats the schema of a generic type's parameter.
pub(crate) fn refer_to_items(document: &mut OpenApi) {
    let Some(components) = &mut document.components else {
        return;
    };
    for (name, schema) in &mut components.schemas {
        let Some(item) = name.strip_prefix("Page_") else {
            continue;
        };
        if let RefOr::T(Schema::Object(page)) = schema {
            let items = ArrayBuilder::new().items(Ref::from_schema_name(item));
            page.properties.insert("items".to_owned(), items.into());
        }
    }
}

/// Adds the required access, the header of the workspace, and the responses to refused requests to each operation.
pub(crate) fn complete(paths: &mut Paths, access: Access) {
    for (path, item) in &mut paths.paths {
        let has_id = path.contains('{');
        let is_read = item.get.is_some();
        for operation in operations(item) {
            let body = operation.request_body.is_some();
            let has = |name: &str| {
                let parameters = operation.parameters.iter().flatten();
                parameters.filter_map(parameter).any(|one| one.name == name)
            };
            let (guarded, changes) = (has("If-Match"), has("Idempotency-Key"));
            let mut kinds = vec![
                Kind::BadRequest,
                Kind::Unauthorized,
                Kind::Forbidden,
                Kind::Internal,
                Kind::Unavailable,
            ];
            if has_id || access.host {
                kinds.push(Kind::NotFound);
            }
            if body {
                kinds.extend([
                    Kind::Timeout,
                    Kind::TooLarge,
                    Kind::UnsupportedMediaType,
                    Kind::InvalidInput,
                ]);
            }
            if body || changes || !is_read {
                kinds.push(Kind::Conflict);
            }
            if guarded {
                kinds.extend([Kind::PreconditionFailed, Kind::PreconditionRequired]);
            }
            for kind in kinds {
                let (status, _, title) = kind.parts();
                let responses = &mut operation.responses.responses;
                let status = status.as_str().to_owned();
                responses
                    .entry(status)
                    .or_insert_with(|| RefOr::T(problem(kind, title)));
            }
            let parameters = operation.parameters.get_or_insert_default();
            parameters.push(RefOr::T(workspace()));
            let extensions = ExtensionsBuilder::new()
                .add("x-required-role", json!(access.role.as_str()))
                .add("x-host", json!(access.host))
                .build();
            operation
                .extensions
                .get_or_insert_default()
                .merge(extensions);
        }
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem {
        get,
        put,
        post,
        delete,
        patch,
        ..
    } = item;
    [get, put, post, delete, patch].into_iter().flatten()
}

fn parameter(parameter: &RefOr<Parameter>) -> Option<&Parameter> {
    match parameter {
        RefOr::T(parameter) => Some(parameter),
        RefOr::Ref(_) => None,
    }
}

fn problem(kind: Kind, title: &str) -> Response {
    let schema = Ref::from_schema_name("Problem");
    let response = ResponseBuilder::new().description(title).content(
        MEDIA_TYPE,
        ContentBuilder::new().schema(Some(schema)).build(),
    );
    let header = |name: &'static str, about: &str| {
        let schema = ObjectBuilder::new().schema_type(Type::String).build();
        let header = HeaderBuilder::new()
            .schema(Some(Schema::Object(schema)))
            .description(Some(about))
            .build();
        (name, header)
    };
    let response = match kind {
        Kind::Unauthorized => {
            let (name, header) = header(
                "WWW-Authenticate",
                "The scheme of the access token: `Bearer`",
            );
            response.header(name, header)
        }
        Kind::Unavailable => {
            let (name, header) = header("Retry-After", "Seconds after which to repeat the request");
            response.header(name, header)
        }
        _ => response,
    };
    response.build()
}

fn workspace() -> Parameter {
    ParameterBuilder::new()
        .name("Tool-Workspace")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "The workspace of the request; the caller's own by default. Only operators of the host may name a different one.",
        ))
        .schema(Some(Schema::Object(
            ObjectBuilder::new().schema_type(Type::String).build(),
        )))
        .build()
}

/// Returns the schema of a string that is one of these values.
pub(crate) fn one_of(words: impl IntoIterator<Item = &'static str>) -> Schema {
    Schema::Object(
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(words))
            .build(),
    )
}
