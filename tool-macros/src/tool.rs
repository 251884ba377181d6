//! `#[tool]`: `parse → model → check → expand`. Before them, `split` handles parameters
//! with `#[cfg]`; after an error, `fallback` replaces `expand`.

use proc_macro2::{Ident, TokenStream};

use crate::allow::{PATTERN_ANCHORS, Rule};
use crate::errors::Errors;

mod check;
mod checks;
mod definition;
#[cfg(test)]
mod documented;
mod expand;
mod fallback;
mod generator;
mod input;
mod known;
mod model;
mod need;
mod options;
mod output;
mod params;
mod parse;
mod run;
mod split;
mod texts;

pub(crate) const TOOL_NAME_CLIENT: &Rule = &Rule {
    id: "tool-name-client",
    warn: "ToolNameClient",
};
pub(crate) const TOOL_DESCRIPTION_LONG: &Rule = &Rule {
    id: "tool-description-long",
    warn: "ToolDescriptionLong",
};
pub(crate) const LIMIT_OPTIONAL: &Rule = &Rule {
    id: "limit-optional",
    warn: "LimitOptional",
};
pub(crate) const LIMIT_UNION: &Rule = &Rule {
    id: "limit-union",
    warn: "LimitUnion",
};
pub(crate) const INT_RANGE: &Rule = &Rule {
    id: "int-range",
    warn: "IntRange",
};

/// The rules that a tool can allow.
pub(crate) const TOOL_RULES: &[&Rule] = &[
    TOOL_NAME_CLIENT,
    TOOL_DESCRIPTION_LONG,
    LIMIT_OPTIONAL,
    LIMIT_UNION,
    INT_RANGE,
    PATTERN_ANCHORS,
];

/// The rules that a parameter can allow.
pub(crate) const ARG_RULES: &[&Rule] = &[INT_RANGE, PATTERN_ANCHORS];

/// Expands `#[tool(attr)] item`.
pub(crate) fn expand(attr: TokenStream, item: TokenStream) -> TokenStream {
    let errors = Errors::new();
    let Some(written) = parse::parse(item.clone(), &errors) else {
        return fallback::of_tokens(&attr, item, errors);
    };
    if let Some(both) = split::on_cfg(&attr, &written) {
        // Errors are reported when the remaining half is expanded.
        drop(errors.finish());
        return both;
    }
    let options = options::Options::parse(attr, &errors);
    let tool = model::Tool::decide(&written, &options, &errors);
    match errors.finish() {
        Ok(()) => expand::tool(&tool),
        Err(errors) => fallback::of_tool(&tool, &errors),
    }
}

/// The error for an unknown option.
pub(crate) fn unknown(word: &Ident, known: &[&str]) -> syn::Error {
    let written = word.to_string();
    let nearest = nearest(&written, known);
    syn::Error::new(word.span(), texts::unknown(&written, nearest, known))
}

/// Returns the known word that was probably meant.
fn nearest<'a>(written: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|known| (distance(written, known), *known))
        .min()
        .filter(|(distance, known)| distance * 2 <= known.len().max(written.len()))
        .map(|(_, known)| known)
}

/// The number of insertions, deletions and replacements (Levenshtein distance).
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (diagonal + usize::from(x != y))
                .min(above + 1)
                .min(row[j] + 1);
            diagonal = above;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn counts_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("titel", "title"), 2);
        assert_eq!(distance("tag", "tags"), 1);
        assert_eq!(distance("name", "name"), 0);
    }
}
