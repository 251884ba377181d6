//! The schema trees that `#[derive(StrictSchema)]` generates for structs, newtypes, enums, and generic and recursive types.
#![allow(dead_code, reason = "only the schemas of the types are used")]

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::marker::PhantomData;

use crate::support::assert_tree;
use tool_core::StrictSchema;

/// Narrows a search.
///
/// # Examples
///
/// Not for a model.
#[derive(StrictSchema)]
struct Filter {
    /// Language of the
    /// repository: "rust", say.
    lang: Lang,
    /// The minimum number of stars.
    #[schema(range = 1..=50)]
    stars: Option<u32>,
    /// The number of hits.
    #[schema(default = 10, range = 1..100, multiple_of = 5)]
    limit: u32,
    /// The kind of the hit.
    r#type: String,
}

/// A language.
#[derive(StrictSchema)]
#[serde(rename_all = "kebab-case")]
enum Lang {
    /// The language Rust.
    Rust,
    TypeScript,
}

// S0-05, S0-06, S0-07, S1-28: the schema of a struct is a closed record with its docs, defaults and optional fields.
#[test]
fn a_struct_is_a_closed_record_with_its_docs() {
    assert_tree::<Filter>(
        r#"
        Filter { "Narrows a search."
          lang: "Language of the repository: \"rust\", say." Lang enum[rust "The language Rust.", type-script] "A language."
          stars: "The minimum number of stars." (>=1, <=50) optional u32
          limit = 10: "The number of hits." (>=1, <100, multiple of 5) u32
          type: "The kind of the hit." string
        }"#,
    );
}

#[derive(StrictSchema)]
struct Bounds {
    /// A.
    #[schema(length = 1..=20, pattern = "^[a-z]+$")]
    text: String,
    /// B.
    #[schema(length = 8)]
    code: String,
    /// C.
    #[schema(format = "email")]
    email: String,
    /// D.
    #[schema(min_items = 1, max_items = 3, unique)]
    list: Vec<u16>,
    /// E.
    #[schema(range = 0.5..)]
    ratio: f64,
    /// F.
    #[schema(range = ..=-1)]
    negative: i32,
    /// G.
    #[schema(default = { "label": "a\"b", "level": 2 })]
    entry: Entry,
    /// H.
    #[schema(default = [1, 2])]
    numbers: BTreeSet<u16>,
}

#[derive(StrictSchema)]
struct Entry {
    /// The label of the node.
    label: String,
    /// The level of the node.
    level: Level,
}

/// A level from one to five.
#[derive(StrictSchema)]
#[schema(range = 1..=5)]
struct Level(u8);

#[derive(StrictSchema)]
struct Name(#[schema(length = 1..)] String);

#[derive(StrictSchema)]
#[serde(transparent)]
struct Wrapped<T> {
    inner: Vec<u16>,
    #[serde(skip)]
    mark: PhantomData<T>,
}

// S0-05, S0-06: the bounds and the default of a field are in its schema.
#[test]
fn bounds_and_defaults_are_part_of_the_field() {
    assert_tree::<Bounds>(
        r#"
        Bounds {
          text: "A." (chars >=1, chars <=20, /^[a-z]+$/) string
          code: "B." (chars >=8, chars <=8) string
          email: "C." (Email) string
          list: "D." (items >=1, items <=3, unique) list of u16
          ratio: "E." (>=0.5) f64
          negative: "F." (<=-1) i32
          entry = {"label":"a\"b","level":2}: "G." Entry {
            label: "The label of the node." string
            level: "The level of the node." Level (>=1, <=5) "A level from one to five." u8
          }
          numbers = [1,2]: "H." set of u16
        }"#,
    );
}

// S0-07: a newtype has the schema of its field.
#[test]
fn newtypes_have_the_schema_of_their_field() {
    assert_tree::<Level>(r#"Level (>=1, <=5) "A level from one to five." u8"#);
    assert_tree::<Name>("Name (chars >=1) string");
    assert_tree::<Wrapped<Filter>>("Wrapped list of u16");
}

/// The urgency of a note.
#[derive(StrictSchema)]
#[schema(integer)]
#[repr(i8)]
enum Urgency {
    Low = -1,
    /// Normal urgency.
    Normal,
    High = 9,
}

#[derive(StrictSchema)]
#[serde(
    tag = "kind",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
enum Command {
    /// Looks a text up.
    LookUp {
        /// The text to search for.
        search_term: String,
    },
    Save(Entry),
    Quit,
}

#[derive(StrictSchema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Number(#[schema(range = 1..=3)] u16),
    Entry {
        /// X.
        #[serde(rename = "y")]
        x: Level,
    },
    Nothing,
}

#[derive(StrictSchema)]
#[schema(allow(external-tag))]
enum External {
    Number(u16),
    Nothing,
    Empty {},
}

#[derive(StrictSchema)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Text(String),
    Entry(Entry),
}

// S0-07: the schema of an enum is a list of values or a union.
#[test]
fn enums_are_values_or_unions() {
    assert_tree::<Urgency>(
        r#"Urgency integers[Low = -1, Normal = 0 "Normal urgency.", High = 9] "The urgency of a note.""#,
    );
    assert_tree::<Command>(
        r#"
        Command one of, by `kind` {
          look_up "Looks a text up.": {
            searchTerm: "The text to search for." string
          }
          save: Entry {
            label: "The label of the node." string
            level: "The level of the node." Level (>=1, <=5) "A level from one to five." u8
          }
          quit
        }"#,
    );
    assert_tree::<Adjacent>(
        r#"
        Adjacent one of, by `t` beside `c` {
          Number: (>=1, <=3) u16
          Entry: {
            y: "X." Level (>=1, <=5) "A level from one to five." u8
          }
          Nothing
        }"#,
    );
    assert_tree::<External>(
        "
        External one of, by key {
          Number: u16
          Nothing
          Empty: {
          }
        }",
    );
    assert_tree::<Untagged>(
        r#"
        Untagged one of, by shape {
          Number: i64
          Text: string
          Entry: Entry {
            label: "The label of the node." string
            level: "The level of the node." Level (>=1, <=5) "A level from one to five." u8
          }
        }"#,
    );
}

#[derive(StrictSchema)]
struct Page<T> {
    /// The items of the page.
    #[schema(max_items = 20)]
    items: Vec<T>,
    /// The next page.
    #[serde(default)]
    next: Option<String>,
}

#[derive(StrictSchema)]
#[serde(tag = "kind")]
enum Outcome<T, E> {
    Done {
        /// The value of the outcome.
        value: T,
    },
    Failed(Problem<E>),
}

#[derive(StrictSchema)]
struct Problem<E> {
    /// The reason of the failure.
    why: E,
}

#[derive(StrictSchema)]
struct Borrowed<'a, T: Iterator, const N: usize>
where
    T::Item: Clone,
{
    /// The text of the record.
    text: Cow<'a, str>,
    /// The item of the iterator.
    item: T::Item,
    /// A list of fixed length.
    three: [u16; N],
}

// S0-07: a generic type uses the schemas of its type arguments.
#[test]
fn generic_types_take_their_parameters_schemas() {
    assert_tree::<Page<Level>>(
        r#"
        Page {
          items: "The items of the page." (items <=20) list of Level (>=1, <=5) "A level from one to five." u8
          next: "The next page." optional string
        }"#,
    );
    assert_tree::<Outcome<Page<String>, Lang>>(
        r#"
        Outcome one of, by `kind` {
          Done: {
            value: "The value of the outcome." Page {
              items: "The items of the page." (items <=20) list of string
              next: "The next page." optional string
            }
          }
          Failed: Problem {
            why: "The reason of the failure." Lang enum[rust "The language Rust.", type-script] "A language."
          }
        }"#,
    );
    assert_tree::<Borrowed<'static, std::vec::IntoIter<bool>, 3>>(
        r#"
        Borrowed {
          text: "The text of the record." string
          item: "The item of the iterator." boolean
          three: "A list of fixed length." list of 3 u16
        }"#,
    );
}

#[derive(StrictSchema)]
struct Node {
    /// The label of the node.
    label: String,
    /// The next node.
    next: Option<Box<Node>>,
    /// The children of the node.
    kids: Vec<Self>,
    /// An optional related node.
    #[schema(recursive)]
    also: Option<Box<Self>>,
}

#[derive(StrictSchema)]
struct Folder {
    /// The entries of the folder.
    entries: Vec<Item>,
}

#[derive(StrictSchema)]
#[serde(tag = "kind")]
enum Item {
    File {
        /// The size of the file.
        size: u64,
    },
    Folder {
        /// The nested folder.
        #[schema(recursive)]
        folder: Option<Box<crate::trees::Folder>>,
    },
}

#[derive(StrictSchema)]
struct Forest(Vec<Forest>);

// S0-07: the schema of a recursive type has a reference.
#[test]
fn a_type_inside_itself_is_a_reference() {
    assert_tree::<Node>(
        r#"
        Node {
          label: "The label of the node." string
          next: "The next node." optional again Node
          kids: "The children of the node." list of again Node
          also: "An optional related node." optional again Node
        }"#,
    );
    assert_tree::<Folder>(
        r#"
        Folder {
          entries: "The entries of the folder." list of Item one of, by `kind` {
            File: {
              size: "The size of the file." u64
            }
            Folder: {
              folder: "The nested folder." optional again Folder
            }
          }
        }"#,
    );
    assert_tree::<Forest>("Forest list of again Forest");
}

struct Foreign;

mod foreign {
    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(
        from: D,
    ) -> Result<super::Foreign, D::Error> {
        serde::Deserialize::deserialize(from).map(|_: String| super::Foreign)
    }
}

#[derive(StrictSchema)]
struct Uses {
    /// A.
    #[schema(as = String, length = 3)]
    #[serde(with = "foreign")]
    code: Foreign,
    /// B.
    #[schema(as = Option<Vec<u16>>)]
    list: Foreign,
}

/// A point in time.
#[derive(StrictSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(as = String, pattern = "^[0-9]+$")]
struct Moment {
    ticks: u64,
    unread: Foreign,
}

impl TryFrom<String> for Moment {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Ok(Self {
            ticks: text.parse()?,
            unread: Foreign,
        })
    }
}

// S0-07: `as` gives a field the schema of a different type.
#[test]
fn as_attribute_gives_the_schema_of_a_different_type() {
    assert_tree::<Uses>(
        r#"
        Uses {
          code: "A." (chars >=3, chars <=3) string
          list: "B." optional list of u16
        }"#,
    );
    assert_tree::<Moment>(r#"Moment (/^[0-9]+$/) "A point in time." string"#);
}

#[derive(StrictSchema)]
struct Span {
    /// The start of the span.
    from: u16,
    /// The end of the span.
    #[schema(default = 3)]
    to: u16,
}

#[derive(StrictSchema)]
struct Flat {
    /// The field before the span.
    before: bool,
    #[serde(flatten)]
    span: Span,
    /// The field after the span.
    after: bool,
    #[serde(flatten)]
    entry: Entry,
}

// S0-07: a flattened struct is replaced by its fields.
#[test]
fn fields_of_a_flattened_struct_replace_it() {
    assert_tree::<Flat>(
        r#"
        Flat {
          before: "The field before the span." boolean
          from: "The start of the span." u16
          to = 3: "The end of the span." u16
          after: "The field after the span." boolean
          label: "The label of the node." string
          level: "The level of the node." Level (>=1, <=5) "A level from one to five." u8
        }"#,
    );
}

macro_rules! record {
    ($name:ident { $(#[doc = $doc:expr] $field:ident: $ty:ty = $default:literal,)* }) => {
        #[derive(StrictSchema)]
        struct $name {
            $(#[doc = $doc] #[schema(default = $default)] $field: $ty,)*
        }
    };
}

record! {
    Made {
        /// A.
        a: Option<i16> = -5,
        /// C.
        c: String = "x",
    }
}

// S0-06: the docs and defaults of a struct that a `macro_rules!` macro generates are in its schema.
#[test]
fn macro_generated_struct_keeps_docs_and_defaults() {
    assert_tree::<Made>(
        r#"
        Made {
          a = -5: "A." optional i16
          c = "x": "C." string
        }"#,
    );
}
