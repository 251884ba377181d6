//! The sites of a call: the places where it can be spoiled.

use bfcl_gen::json::Json;
use bfcl_gen::shape::{Need, Property, Shape};

/// One step of a path into a value.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Step to the value of a record's key.
    Key(String),
    /// Step to an item of a list.
    Item(usize),
}

/// A place in the arguments, or a place where an optional key could be added.
#[derive(Clone, Debug)]
pub(super) struct Site<'a> {
    pub(super) path: Vec<Step>,
    pub(super) shape: &'a Shape,
    /// Whether the property is required, is optional or has a default. `None` for items of lists.
    pub(super) need: Option<&'a Need>,
    /// Whether the call has a value here.
    pub(super) present: bool,
}

/// Returns all sites below the root, in the order of the definition.
pub(super) fn sites<'a>(arguments: &Json, properties: &'a [Property]) -> Vec<Site<'a>> {
    let mut found = Vec::new();
    record(arguments, properties, &mut Vec::new(), &mut found);
    found
}

fn record<'a>(
    value: &Json,
    properties: &'a [Property],
    path: &mut Vec<Step>,
    found: &mut Vec<Site<'a>>,
) {
    for property in properties {
        path.push(Step::Key(property.key.clone()));
        let inner = value.get(&property.key);
        found.push(Site {
            path: path.clone(),
            shape: &property.shape,
            need: Some(&property.need),
            present: inner.is_some(),
        });
        if let Some(inner) = inner {
            below(inner, &property.shape, path, found);
        }
        path.pop();
    }
}

fn below<'a>(value: &Json, shape: &'a Shape, path: &mut Vec<Step>, found: &mut Vec<Site<'a>>) {
    match (value, shape) {
        (Json::List(items), Shape::List(inner)) => {
            for (at, item) in items.iter().enumerate() {
                path.push(Step::Item(at));
                found.push(Site {
                    path: path.clone(),
                    shape: inner,
                    need: None,
                    present: true,
                });
                below(item, inner, path, found);
                path.pop();
            }
        }
        (Json::Record(_), Shape::Record(properties)) => record(value, properties, path, found),
        _ => {}
    }
}

/// Returns the value at a path.
pub(super) fn at<'j>(root: &'j mut Json, path: &[Step]) -> Option<&'j mut Json> {
    path.iter()
        .try_fold(root, |value, step| match (value, step) {
            (Json::Record(entries), Step::Key(key)) => entries
                .iter_mut()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value),
            (Json::List(items), Step::Item(at)) => items.get_mut(*at),
            _ => None,
        })
}

/// Returns the record that contains a site, and the site's key in this record. Returns `None` for items of lists.
pub(super) fn around<'j, 'p>(
    root: &'j mut Json,
    path: &'p [Step],
) -> Option<(&'j mut Vec<(String, Json)>, &'p str)> {
    let (last, parent) = path.split_last()?;
    match (at(root, parent)?, last) {
        (Json::Record(entries), Step::Key(key)) => Some((entries, key)),
        _ => None,
    }
}
