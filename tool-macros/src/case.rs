//! serde's eight naming conventions, applied exactly as serde does.

/// A naming convention of `rename_all = "…"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

/// The conventions by their names in serde.
pub(crate) const CASES: &[(&str, Case)] = &[
    ("lowercase", Case::Lower),
    ("UPPERCASE", Case::Upper),
    ("PascalCase", Case::Pascal),
    ("camelCase", Case::Camel),
    ("snake_case", Case::Snake),
    ("SCREAMING_SNAKE_CASE", Case::ScreamingSnake),
    ("kebab-case", Case::Kebab),
    ("SCREAMING-KEBAB-CASE", Case::ScreamingKebab),
];

impl Case {
    /// Converts the name of a variant, which is written `LikeThis`.
    pub(crate) fn of_variant(self, name: &str) -> String {
        match self {
            Self::Pascal => name.to_owned(),
            Self::Lower => name.to_ascii_lowercase(),
            Self::Upper => name.to_ascii_uppercase(),
            Self::Camel => lower_first(name),
            Self::Snake => {
                let mut out = String::new();
                for (at, c) in name.char_indices() {
                    if at > 0 && c.is_uppercase() {
                        out.push('_');
                    }
                    out.push(c.to_ascii_lowercase());
                }
                out
            }
            Self::ScreamingSnake => Self::Snake.of_variant(name).to_ascii_uppercase(),
            Self::Kebab => Self::Snake.of_variant(name).replace('_', "-"),
            Self::ScreamingKebab => Self::ScreamingSnake.of_variant(name).replace('_', "-"),
        }
    }

    /// Converts the name of a field, which is written `like_this`.
    pub(crate) fn of_field(self, name: &str) -> String {
        match self {
            Self::Lower | Self::Snake => name.to_owned(),
            Self::Upper | Self::ScreamingSnake => name.to_ascii_uppercase(),
            Self::Pascal => name.split('_').map(upper_first).collect(),
            Self::Camel => lower_first(&Self::Pascal.of_field(name)),
            Self::Kebab => name.replace('_', "-"),
            Self::ScreamingKebab => name.to_ascii_uppercase().replace('_', "-"),
        }
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        format!("{}{}", first.to_ascii_lowercase(), chars.as_str())
    })
}

fn upper_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        format!("{}{}", first.to_ascii_uppercase(), chars.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::{CASES, Case};

    #[test]
    fn naming_conventions_match_the_tests_of_serde() {
        // These names are from the tests in `serde_derive/src/internals/case.rs`.
        let variants = [
            [
                "verytasty",
                "VERYTASTY",
                "VeryTasty",
                "veryTasty",
                "very_tasty",
                "VERY_TASTY",
                "very-tasty",
                "VERY-TASTY",
            ],
            ["z42", "Z42", "Z42", "z42", "z42", "Z42", "z42", "Z42"],
        ];
        let fields = [
            [
                "very_tasty",
                "VERY_TASTY",
                "VeryTasty",
                "veryTasty",
                "very_tasty",
                "VERY_TASTY",
                "very-tasty",
                "VERY-TASTY",
            ],
            ["z42", "Z42", "Z42", "z42", "z42", "Z42", "z42", "Z42"],
        ];
        let all = |name: &str, apply: fn(Case, &str) -> String| -> Vec<String> {
            CASES.iter().map(|(_, case)| apply(*case, name)).collect()
        };
        assert_eq!(all("VeryTasty", Case::of_variant), variants[0]);
        assert_eq!(all("Z42", Case::of_variant), variants[1]);
        assert_eq!(all("very_tasty", Case::of_field), fields[0]);
        assert_eq!(all("z42", Case::of_field), fields[1]);
    }
}
