//! Tests of the pack `hubspot` with a local server that keeps contacts and tickets and checks requests as
//! <https://developers.hubspot.com/docs/api-reference/crm-contacts-v3/guide> and
//! <https://developers.hubspot.com/docs/api-reference/crm-search-v3/guide> describe them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::testing::{assert_kept, violations};
use tool_core::{ErrorKind, Hints, Rules, ToolContextBuilder};
use tool_std::hubspot::{
    HubSpot, create_hubspot_contact, create_hubspot_ticket, search_hubspot_contacts,
    search_hubspot_tickets, update_hubspot_contact, update_hubspot_ticket,
};
use tool_std::vendor::Api;

use crate::faults::{self, Trial};
use crate::stand_in::{self, api, audited};
use crate::support::{PRIVATE, Seen, Server, output};

const KEY: &str = "pat-eu1-01234567-89ab";

fn tools() -> Toolset {
    toolset![
        search_hubspot_contacts,
        create_hubspot_contact,
        update_hubspot_contact,
        search_hubspot_tickets,
        create_hubspot_ticket,
        update_hubspot_ticket,
    ]
}

fn context(api: Api) -> ToolContextBuilder {
    ToolContext::builder()
        .with(HubSpot::default().api(api))
        .secret("hubspot_api_key", KEY)
}

/// The properties of each record, by the type and the id of the record.
type Records = BTreeMap<(String, u64), BTreeMap<String, String>>;

/// An account with records. It knows a part of HubSpot's properties.
#[derive(Clone, Default)]
struct Account(Arc<Mutex<Records>>);

const KNOWN: [&str; 12] = [
    "email",
    "firstname",
    "lastname",
    "phone",
    "lifecyclestage",
    "n",
    "subject",
    "content",
    "hs_pipeline",
    "hs_pipeline_stage",
    "hs_ticket_priority",
    "hs_resolution",
];

fn refuse(status: u16, category: &str, message: &str) -> Vec<u8> {
    let correlation = "aeb5f871-7f07-4993-9211-075dc63e7cbf";
    let body = json!({"status": "error", "message": message, "correlationId": correlation, "category": category});
    stand_in::json(status, &body)
}

fn shown(id: u64, properties: &BTreeMap<String, String>, wanted: Option<&Value>) -> Value {
    let mut shown = json!({"hs_object_id": id.to_string()});
    for (name, value) in properties {
        shown[name] = value.as_str().into();
    }
    for name in wanted.and_then(Value::as_array).into_iter().flatten() {
        let name = name.as_str().unwrap();
        if shown.get(name).is_none() {
            shown[name] = Value::Null;
        }
    }
    json!({
        "id": id.to_string(), "properties": shown, "createdAt": "2026-03-01T09:30:00.000Z",
        "updatedAt": "2026-03-02T08:00:00.000Z", "archived": false
    })
}

impl Account {
    fn answer(&self, seen: &Seen) -> Vec<u8> {
        if seen.header("authorization") != Some(&*format!("Bearer {KEY}")) {
            return refuse(
                401,
                "INVALID_AUTHENTICATION",
                "Authentication credentials not found.",
            );
        }
        let path: Vec<_> = seen.path().trim_start_matches('/').split('/').collect();
        match (seen.method(), &path[..]) {
            ("POST", ["crm", "v3", "objects", object, "search"]) => {
                self.search(object, &stand_in::body(seen))
            }
            ("POST", ["crm", "v3", "objects", object]) => {
                self.create(object, &stand_in::body(seen))
            }
            ("PATCH", ["crm", "v3", "objects", object, id]) => {
                self.update(object, id, &stand_in::body(seen))
            }
            ("GET", ["crm", "v3", "objects", object, id]) => {
                self.update(object, id, &json!({"properties": {}}))
            }
            (
                "PUT",
                [
                    "crm",
                    "v4",
                    "objects",
                    "contacts",
                    _,
                    "associations",
                    "default",
                    "companies",
                    _,
                ],
            ) => stand_in::json(200, &json!({"status": "COMPLETE", "results": []})),
            _ => panic!("no operation for {}", seen.line),
        }
    }

    fn create(&self, object: &str, body: &Value) -> Vec<u8> {
        for name in body.as_object().unwrap().keys() {
            assert!(["properties", "associations"].contains(&&**name), "{name}");
        }
        let mut records = self.0.lock().unwrap();
        let email = &body["properties"]["email"];
        let same = records
            .iter()
            .find(|(_, known)| known.get("email").is_some_and(|known| known == email));
        if let Some(((_, id), _)) = same {
            return refuse(
                409,
                "CONFLICT",
                &format!("Contact already exists. Existing ID: {id}"),
            );
        }
        let id = 500 + records.len() as u64;
        records.insert((object.to_owned(), id), BTreeMap::new());
        drop(records);
        let bytes = self.update(object, &id.to_string(), body);
        // The status of a creation is 201.
        let text = String::from_utf8(bytes).unwrap();
        text.replace("HTTP/1.1 200", "HTTP/1.1 201").into_bytes()
    }

    fn update(&self, object: &str, id: &str, body: &Value) -> Vec<u8> {
        let id: u64 = id.parse().unwrap();
        let mut records = self.0.lock().unwrap();
        let Some(record) = records.get_mut(&(object.to_owned(), id)) else {
            return refuse(404, "OBJECT_NOT_FOUND", "Object not found.");
        };
        for (name, value) in body["properties"].as_object().unwrap() {
            if !KNOWN.contains(&&**name) {
                return refuse(
                    400,
                    "VALIDATION_ERROR",
                    &format!("Property \"{name}\" does not exist"),
                );
            }
            record.insert(name.clone(), value.as_str().unwrap().to_owned());
        }
        stand_in::json(200, &shown(id, record, None))
    }

    fn search(&self, object: &str, body: &Value) -> Vec<u8> {
        for name in body.as_object().unwrap().keys() {
            let known = [
                "filterGroups",
                "properties",
                "query",
                "limit",
                "after",
                "sorts",
            ];
            assert!(known.contains(&&**name), "{name}");
        }
        let groups = body["filterGroups"].as_array().cloned().unwrap_or_default();
        let fits = |record: &BTreeMap<String, String>| {
            groups.is_empty()
                || groups.iter().any(|group| {
                    group["filters"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .all(|filter| compare(filter, record))
                })
        };
        let records = self.0.lock().unwrap();
        let found: Vec<_> = records
            .iter()
            .filter(|((kind, _), record)| kind == object && fits(record))
            .map(|((_, id), record)| shown(*id, record, body.get("properties")))
            .collect();
        let limit = usize::try_from(body["limit"].as_u64().unwrap()).unwrap();
        assert!((1..=200).contains(&limit));
        let first: usize = body["after"]
            .as_str()
            .map_or(0, |after| after.parse().unwrap());
        let last = (first + limit).min(found.len());
        let mut answer = json!({"total": found.len(), "results": found[first..last]});
        if last < found.len() {
            answer["paging"] = json!({"next": {"after": last.to_string(), "link": "?after="}});
        }
        stand_in::json(200, &answer)
    }
}

/// Applies a filter as HubSpot does.
fn compare(filter: &Value, record: &BTreeMap<String, String>) -> bool {
    let own = record
        .get(filter["propertyName"].as_str().unwrap())
        .map(String::as_str);
    let value = filter.get("value").map(|value| value.as_str().unwrap());
    let both = || own.unwrap_or_default().cmp(value.unwrap());
    match filter["operator"].as_str().unwrap() {
        "EQ" => own == value,
        "NEQ" => own != value,
        "LT" => own.is_some() && both().is_lt(),
        "LTE" => own.is_some() && both().is_le(),
        "GT" => own.is_some() && both().is_gt(),
        "GTE" => own.is_some() && both().is_ge(),
        "CONTAINS_TOKEN" => own.is_some_and(|own| own.contains(value.unwrap().trim_matches('*'))),
        "HAS_PROPERTY" => own.is_some() && value.is_none(),
        "NOT_HAS_PROPERTY" => own.is_none() && value.is_none(),
        other => panic!("no operator {other}"),
    }
}

async fn account() -> Server {
    let account = Account::default();
    Server::start(PRIVATE, move |seen| account.answer(seen)).await
}

/// Adds the lists that a call must have, as empty lists.
fn complete(tool: &str, mut arguments: Value) -> Value {
    let lists: &[&str] = if tool.starts_with("search") {
        &["filters", "return_properties"]
    } else {
        &["properties"]
    };
    for list in lists {
        if arguments.get(list).is_none() {
            arguments[list] = json!([]);
        }
    }
    arguments
}

async fn call(server: &Server, tool: &str, arguments: Value) -> CallResult {
    let cx = context(api(server, "")).build();
    stand_in::call(&tools(), &cx, tool, &complete(tool, arguments)).await
}

fn value<'a>(record: &'a Value, name: &str) -> &'a Value {
    let all = record["properties"].as_array().unwrap();
    &all.iter()
        .find(|property| property["name"] == name)
        .unwrap()["value"]
}

// The contract of hubspotContact: the definitions are strict, and the hints of a tool depend on its action. S1-50: without `hubspot_api_key`, the
// tools are hidden.
#[test]
fn definitions_pass_the_test_kit() {
    let hints = |read_only, destructive, idempotent| Hints {
        read_only,
        destructive,
        idempotent,
        open_world: true,
    };
    let all = [
        (search_hubspot_contacts::DEF, hints(true, false, true)),
        (search_hubspot_tickets::DEF, hints(true, false, true)),
        (create_hubspot_contact::DEF, hints(false, false, false)),
        (create_hubspot_ticket::DEF, hints(false, false, false)),
        (update_hubspot_contact::DEF, hints(false, true, true)),
        (update_hubspot_ticket::DEF, hints(false, true, true)),
    ];
    for (def, expected) in &all {
        assert_kept(std::slice::from_ref(def), &violations);
        assert!(def.examples().len() >= 2);
        assert_eq!(def.hints(), *expected, "{}", def.name());
    }
    let mut builder = Registry::builder();
    builder = builder
        .tool::<search_hubspot_contacts>()
        .tool::<create_hubspot_ticket>();
    let registry = builder.build().unwrap();
    let count = |cx: ToolContext| registry.toolset(&cx, &Rules::default()).names().count();
    assert_eq!(count(ToolContext::anonymous()), 0);
    assert_eq!(
        count(ToolContext::builder().secret("hubspot_api_key", "").build()),
        0
    );
    assert_eq!(
        count(
            ToolContext::builder()
                .secret("hubspot_api_key", KEY)
                .build()
        ),
        2
    );
}

// The contract of hubspotContact: a contact with names, phone, email and custom properties is created, updated and found.
#[tokio::test]
async fn contact_is_created_updated_and_found() {
    let server = account().await;
    let arguments = json!({
        "email": "ann@example.com", "first_name": "Ann", "last_name": "Example", "phone": "+47 1", "company_id": "99",
        "properties": [{"name": "lifecyclestage", "value": "lead"}]
    });
    let created = output(&call(&server, "create_hubspot_contact", arguments).await);
    assert_eq!(created["id"], "500");
    assert_eq!(value(&created, "firstname"), "Ann");
    assert_eq!(created["created_at"], "2026-03-01T09:30:00.000Z");
    let body = stand_in::body(&server.seen()[0]);
    assert_eq!(
        body["associations"],
        json!([{"to": {"id": "99"}, "types": [{"associationCategory": "HUBSPOT_DEFINED", "associationTypeId": 279}]}])
    );
    let arguments = json!({"contact_id": "500", "phone": "+47 2", "company_id": "98", "properties": [{"name": "lifecyclestage", "value": "customer"}]});
    let updated = output(&call(&server, "update_hubspot_contact", arguments).await);
    assert_eq!(
        (value(&updated, "phone"), value(&updated, "email")),
        (&json!("+47 2"), &json!("ann@example.com"))
    );
    let seen = server.seen();
    assert_eq!(
        seen[1].line,
        "PUT /crm/v4/objects/contacts/500/associations/default/companies/98 HTTP/1.1"
    );
    assert_eq!(seen[2].line, "PATCH /crm/v3/objects/contacts/500 HTTP/1.1");
    // This call changes only the company.
    let only = json!({"contact_id": "500", "company_id": "98"});
    let updated = output(&call(&server, "update_hubspot_contact", only).await);
    assert_eq!(value(&updated, "lifecyclestage"), "customer");
    let filter = json!([{"property": "email", "operator": "eq", "value": "ann@example.com"}]);
    let arguments = json!({"filters": filter, "return_properties": ["email", "fax"]});
    let found = output(&call(&server, "search_hubspot_contacts", arguments).await);
    assert_eq!(
        (&found["total"], &found["next_after"]),
        (&json!(1), &json!(null))
    );
    assert_eq!(value(&found["records"][0], "fax"), &Value::Null);
    let body = stand_in::body(server.seen().last().unwrap());
    assert_eq!(
        body,
        json!({
            "filterGroups": [{"filters": [{"propertyName": "email", "operator": "EQ", "value": "ann@example.com"}]}],
            "properties": ["email", "fax"], "limit": 10
        })
    );
}

// The contract of hubspotContact: each of the nine operators filters the records.
#[tokio::test]
async fn each_operator_filters() {
    let server = account().await;
    for number in 1..=4 {
        let arguments = json!({"last_name": format!("N{number}"), "properties": [{"name": "n", "value": number.to_string()}]});
        output(&call(&server, "create_hubspot_contact", arguments).await);
    }
    output(
        &call(
            &server,
            "create_hubspot_contact",
            json!({"last_name": "without"}),
        )
        .await,
    );
    for (operator, value, total) in [
        ("eq", json!("2"), 1),
        ("neq", json!("2"), 4),
        ("lt", json!("2"), 1),
        ("lte", json!("2"), 2),
        ("gt", json!("2"), 2),
        ("gte", json!("2"), 3),
        ("contains_token", json!("*3*"), 1),
        ("has_property", json!(""), 4),
        ("not_has_property", json!(""), 1),
    ] {
        let filter = json!([{"property": "n", "operator": operator, "value": value}]);
        let found = output(
            &call(
                &server,
                "search_hubspot_contacts",
                json!({"filters": filter}),
            )
            .await,
        );
        assert_eq!(found["total"], total, "{operator}");
    }
    let both = json!([{"property": "n", "operator": "gt", "value": "1"}, {"property": "n", "operator": "lt", "value": "4"}]);
    let found = output(&call(&server, "search_hubspot_contacts", json!({"filters": both})).await);
    assert_eq!(found["total"], 2);
    // Depending on the operator, a value is required or forbidden.
    let before = server.seen().len();
    for (operator, value) in [
        ("eq", json!("")),
        ("has_property", json!("x")),
        ("between", json!("1")),
    ] {
        let filter = json!([{"property": "n", "operator": operator, "value": value}]);
        let result = call(
            &server,
            "search_hubspot_contacts",
            json!({"filters": filter}),
        )
        .await;
        assert_eq!(
            result.error().unwrap().kind(),
            ErrorKind::InvalidArguments,
            "{operator}"
        );
    }
    assert_eq!(server.seen().len(), before);
}

// The contract of hubspotContact: a page has at most `limit` records (10 by default, at most 100), and `next_after` of a page is `after` of the next
// page.
#[tokio::test]
async fn pages_are_followed_with_after() {
    let server = account().await;
    for number in 0..25 {
        output(
            &call(
                &server,
                "create_hubspot_contact",
                json!({"last_name": format!("N{number}")}),
            )
            .await,
        );
    }
    let (mut ids, mut after, mut pages) = (Vec::new(), Value::Null, 0);
    loop {
        let found =
            output(&call(&server, "search_hubspot_contacts", json!({"after": after})).await);
        assert_eq!(found["total"], 25);
        let records = found["records"].as_array().unwrap();
        ids.extend(records.iter().map(|record| record["id"].clone()));
        pages += 1;
        after = found["next_after"].clone();
        if after.is_null() {
            break;
        }
    }
    let expected: Vec<_> = (500..525).map(|id| json!(id.to_string())).collect();
    assert_eq!((pages, ids), (3, expected));
    let found = output(&call(&server, "search_hubspot_contacts", json!({"limit": 100})).await);
    assert_eq!(found["records"].as_array().unwrap().len(), 25);
    for limit in [0, 101] {
        let result = call(
            &server,
            "search_hubspot_contacts",
            json!({ "limit": limit }),
        )
        .await;
        assert_eq!(result.error().unwrap().kind(), ErrorKind::InvalidArguments);
    }
}

// Tickets are created, updated and found.
#[tokio::test]
async fn ticket_is_created_updated_and_found() {
    let server = account().await;
    let arguments = json!({"subject": "Broken lamp", "content": "It is dark.", "stage": "1", "priority": "high", "contact_id": "512"});
    let created = output(&call(&server, "create_hubspot_ticket", arguments).await);
    assert_eq!(value(&created, "hs_ticket_priority"), "HIGH");
    let body = stand_in::body(&server.seen()[0]);
    assert_eq!(body["associations"][0]["types"][0]["associationTypeId"], 16);
    assert_eq!(server.seen()[0].path(), "/crm/v3/objects/tickets");
    let arguments = json!({"ticket_id": "500", "stage": "2", "priority": "low"});
    let updated = output(&call(&server, "update_hubspot_ticket", arguments).await);
    assert_eq!(
        (
            value(&updated, "hs_pipeline_stage"),
            value(&updated, "subject")
        ),
        (&json!("2"), &json!("Broken lamp"))
    );
    let found = output(&call(&server, "search_hubspot_tickets", json!({"query": "lamp"})).await);
    assert_eq!(found["records"][0]["id"], "500");
    let contacts = output(&call(&server, "search_hubspot_contacts", json!({})).await);
    assert_eq!(contacts["total"], 0);
}

// An error of HubSpot has its category and what to do. Invalid arguments are refused without a request.
#[tokio::test]
async fn error_of_hubspot_has_its_category() {
    let server = account().await;
    let contact = json!({"email": "ann@example.com"});
    output(&call(&server, "create_hubspot_contact", contact.clone()).await);
    for (tool, arguments, says) in [
        (
            "create_hubspot_contact",
            contact,
            ["CONFLICT", "Existing ID: 500", "update the existing record"],
        ),
        (
            "update_hubspot_contact",
            json!({"contact_id": "7", "phone": "1"}),
            ["OBJECT_NOT_FOUND", "Object not found", "search for the id"],
        ),
        (
            "create_hubspot_contact",
            json!({"properties": [{"name": "Shoe size", "value": "41"}]}),
            [
                "VALIDATION_ERROR",
                "Property \"Shoe size\" does not exist",
                "internal names",
            ],
        ),
    ] {
        let text = call(&server, tool, arguments).await.model_text();
        assert!(says.iter().all(|says| text.contains(says)), "{text}");
    }
    let before = server.seen().len();
    for (tool, arguments) in [
        ("create_hubspot_contact", json!({})),
        ("update_hubspot_contact", json!({"contact_id": "500"})),
        ("update_hubspot_ticket", json!({"ticket_id": "500"})),
        (
            "update_hubspot_contact",
            json!({"contact_id": "../tickets/5", "phone": "1"}),
        ),
        (
            "create_hubspot_contact",
            json!({"phone": "1", "properties": [{"name": "phone", "value": "2"}]}),
        ),
    ] {
        let result = call(&server, tool, arguments.clone()).await;
        assert_eq!(
            result.error().unwrap().kind(),
            ErrorKind::InvalidArguments,
            "{arguments}"
        );
    }
    assert_eq!(server.seen().len(), before);
}

// The audit row has the names of properties, and contains neither their values nor the key.
#[tokio::test]
async fn audit_has_no_property_values() {
    let server = account().await;
    let cx = context(api(&server, "")).build();
    let arguments = json!({"email": "ann@example.com", "properties": [{"name": "lifecyclestage", "value": "private-value"}]});
    let text = format!(
        "{:?}",
        audited(tools(), &cx, "create_hubspot_contact", &arguments).await
    );
    assert!(
        !text.contains("ann@") && !text.contains("private-value") && !text.contains(KEY),
        "{text}"
    );
    assert!(text.contains("lifecyclestage"), "{text}");
}

fn trial(tool: &'static str, arguments: Value, success: &Value, reads: bool) -> Trial {
    Trial {
        tools: tools(),
        context: |api: Api, key: &str| {
            ToolContext::builder()
                .with(HubSpot::default().api(api))
                .secret("hubspot_api_key", format!("pat-{key}"))
        },
        tool,
        arguments: complete(tool, arguments),
        success: stand_in::json(200, success),
        reads,
        forbidden: (
            403,
            json!({"status": "error", "category": "MISSING_SCOPES", "message": "This app hasn't been granted all required scopes."}),
        ),
    }
}

// The contract of hubspotContact: a request that gets the status 429 is repeated up to three times, after the wait in `Retry-After`. Faults are
// reported at every step of a request.
#[tokio::test]
async fn faults_are_reported() {
    let found = json!({"total": 0, "results": []});
    faults::run(&trial("search_hubspot_contacts", json!({}), &found, true)).await;
    let record = json!({"id": "1", "properties": {}});
    let arguments = json!({"contact_id": "1", "phone": "2"});
    faults::run(&trial("update_hubspot_contact", arguments, &record, false)).await;
}
