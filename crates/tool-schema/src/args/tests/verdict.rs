//! Tests of admitted and refused arguments with `Repair::Off`.

use super::build::*;
use super::takes;
use crate::schema::{Field, Format, Kind, Tagging};

fn check(schema: Node, good: &[&str], bad: &[&str]) {
    for text in good {
        assert!(takes(schema, text), "refused {text}");
    }
    for text in bad {
        assert!(!takes(schema, text), "admitted {text}");
    }
}

// S0-07, S4-61: integers are checked by value and by the width of their type.
#[test]
fn integers_are_checked_by_value_and_width() {
    check(
        integer("u8", 0, 255),
        &[
            "0",
            "255",
            "255.0",
            "2.55e2",
            "25500e-2",
            "-0",
            "-0.0",
            "0e99999999999999999999",
            " 7\n",
            "1.000",
        ],
        &[
            "256",
            "-1",
            "0.5",
            "255.000001",
            "1e3",
            "1e99999999999999999999",
            "1e-1",
            "01",
            "+1",
            "1.",
            ".5",
            "1e",
            "0x1",
            "\"1\"",
            "true",
            "null",
            "NaN",
            "1 2",
        ],
    );
    check(
        integer("u128", 0, u128::MAX),
        &[
            "340282366920938463463374607431768211455",
            "3.40282366920938463463374607431768211455e38",
        ],
        &["340282366920938463463374607431768211456", "1e39"],
    );
    check(
        integer("i128", i128::MIN, i128::MAX.unsigned_abs()),
        &[
            "-170141183460469231731687303715884105728",
            "170141183460469231731687303715884105727",
        ],
        &[
            "-170141183460469231731687303715884105729",
            "170141183460469231731687303715884105728",
        ],
    );
    check(
        integer("u64", 0, u64::MAX.into()),
        &["18446744073709551615", "18446744073709551615.0"],
        &["18446744073709551616", "99999999999999999999"],
    );
    check(
        numbers(&[1, -2, 0]),
        &["1", "1.0", "-2", "-20e-1", "-0"],
        &["2", "1.5", "\"1\"", "1e40"],
    );
}

// S4-61: bounds are compared digit by digit, without rounding.
#[test]
fn bounds_are_compared_without_rounding() {
    let tenth = bounded(number(), |b| b.multiple_of = number_bound("0.1"));
    check(
        tenth,
        &[
            "0.3",
            "0.30",
            "3e-1",
            "-7.7",
            "0",
            "1e5",
            "1234567890123456789.1",
        ],
        &["0.35", "1e-2", "0.30000000000000001"],
    );
    let three = bounded(i64s(), |b| b.multiple_of = number_bound("3"));
    check(
        three,
        &["9", "-9", "9.0", "9007199254740993", "3e3"],
        &["10", "9007199254740992", "1e3"],
    );
    let huge = bounded(number(), |b| {
        b.multiple_of = number_bound("0.00000000000000000000000000000000000007");
    });
    check(huge, &["0.7", "7e200", "0.07"], &["1e200", "0.1"]);
    let open = bounded(number(), |b| {
        b.min = number_bound("0.1");
        b.exclusive_min = true;
        b.max = number_bound("0.7");
    });
    check(
        open,
        &["0.7", "0.70", "0.10000000000000000000001", "7e-1"],
        &["0.1", "1e-1", "0.70000000000000000001", "-0.5"],
    );
    let inside = bounded(bounded(i64s(), |b| b.min = number_bound("1")), |b| {
        b.max = number_bound("50");
    });
    check(inside, &["1", "50", "5e1"], &["0", "51", "50.5"]);
    let floor = bounded(number(), |b| b.min = number_bound("-1.5e1"));
    check(
        floor,
        &["-15", "-15.0", "-14.999999999999999999999"],
        &["-15.000000000000000000001", "-1.5e2"],
    );
}

// S4-61: a number that overflows its float type is refused.
#[test]
fn number_beyond_its_float_type_is_refused() {
    check(
        number(),
        &["1", "-0", "1e308", "1.5", "5e-324", "1e-400"],
        &["1e309", "-1e309", "1e999999999999", "\"1\""],
    );
    check(
        node(Kind::Number { single: true }),
        &["3.4e38", "1e-50", "340282350000000000000000000000000000000"],
        &[
            "1e39",
            "-3.5e38",
            "1000000000000000000000000000000000000000",
        ],
    );
}

// S0-07: strings, formats and characters are checked.
#[test]
fn strings_and_formats_are_checked() {
    check(
        text(),
        &[
            r#""""#,
            r#""a\n\u00e4\ud83d\ude00\"""#,
            r#""0123456789abcdef""#,
            "\"\u{7f}ü€😀\"",
            r#""\/""#,
        ],
        &[
            r#""a"#,
            r#""\ud83d""#,
            r#""\ude00x""#,
            r#""\ud83d\u0041""#,
            r#""\x""#,
            r#""\u12g4""#,
            "\"a\nb\"",
            "\"01234567\t\"",
            "5",
            r#""\"#,
            r#""\u12"#,
        ],
    );
    let short = bounded(text(), |b| {
        b.min_length = Some(2);
        b.max_length = Some(3);
    });
    check(
        short,
        &["\"äö\"", "\"😀😀😀\"", r#""\ud83d\ude00a""#],
        &["\"a\"", "\"abcd\"", r#""\ud83d\ude00""#, "\"\""],
    );
    check(
        node(Kind::Char),
        &["\"a\"", "\"😀\"", r#""\n""#],
        &["\"\"", "\"ab\"", "1"],
    );
    check(
        node(Kind::Format(Format::Date)),
        &["\"2024-02-29\"", r#""2024\u002d02-29""#],
        &["\"2023-02-29\"", "\"\""],
    );
    check(
        bounded(text(), |b| b.format = Some(Format::Ipv4)),
        &["\"1.2.3.4\""],
        &["\"1.2.3\""],
    );
    check(
        choice(&["rust", "c\"#"]),
        &["\"rust\"", r#""r\u0075st""#, "\"c\\\"#\""],
        &["\"Rust\"", "\"\"", "\"rust \"", "1"],
    );
}

// S4-61: a record with unknown, missing or repeated keys is refused.
#[test]
fn unknown_missing_and_repeated_keys_are_refused() {
    let schema = object(vec![
        field("a", u32s()),
        field("b", optional(text())),
        defaulted("c", boolean(), "true"),
        Field::output_only(field("d", text())),
    ]);
    check(
        schema,
        &[
            r#"{"a":1}"#,
            r#"{"b":null,"a":1,"c":null}"#,
            r#" { "c" : false , "\u0061" : 1 } "#,
        ],
        &[
            "{}",
            "",
            "[1]",
            r#"{"a":null}"#,
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":1}"#,
            r#"{"a":1,"e":1}"#,
            r#"{"a":1,"d":"x"}"#,
            r#"{"a":1,}"#,
            r#"{"a":1"#,
            r#"{"a":1}}"#,
            r#"{"a" 1}"#,
            r"{a:1}",
            "null",
            r#"{"a":1} x"#,
            r#"{,"a":1}"#,
        ],
    );
    check(
        object(vec![]),
        &["", " \n", "{}", "{ }"],
        &["null", r#"{"a":1}"#, "[]"],
    );
}

// S4-61: a record can have more than 64 fields, the number of bits of one word.
#[test]
fn records_of_more_than_64_fields_are_checked() {
    let names: Vec<&'static str> = (0..200).map(|i| &*String::leak(format!("f{i}"))).collect();
    let schema = object(names.iter().map(|name| field(name, u32s())).collect());
    let write = |names: &[&str]| {
        let members: Vec<String> = names.iter().map(|name| format!("\"{name}\":1")).collect();
        format!("{{{}}}", members.join(","))
    };
    assert!(takes(schema, &write(&names)));
    let mut turned = names.clone();
    turned.reverse();
    assert!(takes(schema, &write(&turned)));
    turned.push("f150");
    assert!(!takes(schema, &write(&turned)));
    assert!(!takes(schema, &write(names.get(1..).unwrap())));
    assert!(!takes(schema, &write(names.get(..199).unwrap())));
}

// S4-61: keys that need escapes are unescaped, not compared as bytes.
#[test]
fn keys_that_need_escapes_are_unescaped() {
    let schema = object(vec![
        field("a\\", u32s()),
        field("b\\n", u32s()),
        field("c\"", u32s()),
        field("d\n", u32s()),
    ]);
    check(
        schema,
        &[r#"{"a\\":1,"b\\n":1,"c\"":1,"d\n":1}"#],
        &[
            r#"{"a\":1,"b\n":1,"c":1,"d":1}"#,
            r#"{"a\\":1,"b\n":1,"c\"":1,"d\n":1}"#,
        ],
    );
}

// S4-61: lists, sets and tuples are checked as a whole and item by item.
#[test]
fn lists_sets_and_tuples_are_checked() {
    check(
        array(u32s()),
        &["[]", "[ ]", "[1, 2 ]"],
        &[
            "[1,]", "[,1]", "[1 2]", "[1", "{}", "1", "[null]", "[\"1\"]",
        ],
    );
    check(
        set(number()),
        &["[1,2]", "[]"],
        &["[1,1]", "[1,1.0]", "[100,1e2]", "[0,-0]"],
    );
    let any = set(node(Kind::Any));
    check(
        any,
        &[r#"[{"a":1},{"a":2}]"#, r#"["1",1]"#],
        &[
            r#"[{"a":1,"b":[1]},{"b":[1.0],"a":1}]"#,
            r#"["a","\u0061"]"#,
            "[null,null]",
        ],
    );
    let many: Vec<String> = (0..60).map(|i| i.to_string()).collect();
    assert!(takes(any, &format!("[{}]", many.join(","))));
    assert!(!takes(any, &format!("[{},3e1]", many.join(","))));
    check(
        node(Kind::Array {
            items: u32s(),
            unique: false,
            exactly: Some(2),
        }),
        &["[1,2]"],
        &["[1]", "[1,2,3]"],
    );
    check(
        node(Kind::Tuple(list(vec![u32s(), text()]))),
        &["[1,\"a\"]"],
        &["[1]", "[\"a\",1]", "[1,\"a\",1]", "{}"],
    );
    let few = bounded(array(u32s()), |b| {
        b.min_items = Some(1);
        b.max_items = Some(2);
        b.unique = true;
    });
    check(few, &["[1]", "[1,2]"], &["[]", "[1,2,3]", "[1,1]"]);
}

// S4-61: the values of maps are checked, and an untyped schema accepts every value.
#[test]
fn maps_and_untyped_values_are_checked() {
    check(
        node(Kind::Map(u32s())),
        &["{}", r#"{"x":1,"y":2}"#],
        &[r#"{"x":"1"}"#, r#"{"x":1,"x":1}"#, "[]"],
    );
    check(
        node(Kind::Any),
        &["null", "[1,{\"a\":true}]", "\"x\""],
        &[r#"[{"a":1,"a":2}]"#, "[1e999]", "nul", "tru", "[fals]"],
    );
    check(node(Kind::Null), &["null"], &["0", "nul"]);
    check(node(Kind::Never), &[], &["null", "{}"]);
}

fn shapes() -> Vec<(&'static str, Option<Node>)> {
    vec![
        ("unit", None),
        (
            "point",
            Some(object(vec![
                field("x", i64s()),
                field("y", optional(i64s())),
            ])),
        ),
    ]
}

// S4-61: unions are checked in serde's four enum representations.
#[test]
fn unions_are_checked_in_each_representation() {
    check(
        union(Tagging::External, shapes()),
        &[
            "\"unit\"",
            r#"{"point":{"x":1}}"#,
            r#"{"p\u006fint":{"x":1}}"#,
        ],
        &[
            "\"point\"",
            r#"{"unit":null}"#,
            r#"{"unit":{}}"#,
            "{}",
            r#"{"point":{"x":1},"unit":null}"#,
            r#"{"point":{"x":1},"point":{"x":1}}"#,
            r#"{"point":[1]}"#,
            "null",
            r#"{"other":1}"#,
        ],
    );
    check(
        union(Tagging::Internal { tag: "t" }, shapes()),
        &[
            r#"{"t":"unit"}"#,
            r#"{"t":"point","x":1}"#,
            r#"{"y":null,"x":1,"t":"po\u0069nt"}"#,
        ],
        &[
            r#"{"t":"unit","x":1}"#,
            r#"{"t":"point"}"#,
            r#"{"x":1}"#,
            r#"{"t":"other"}"#,
            r#"{"t":"point","x":1,"t":"point"}"#,
            r#"{"t":0}"#,
            "\"unit\"",
            r#"["unit"]"#,
            "{}",
        ],
    );
    check(
        union(
            Tagging::Adjacent {
                tag: "t",
                content: "c",
            },
            shapes(),
        ),
        &[
            r#"{"t":"unit"}"#,
            r#"{"t":"point","c":{"x":1}}"#,
            r#"{"c":{"x":1},"t":"point"}"#,
        ],
        &[
            r#"{"t":"unit","c":null}"#,
            r#"{"t":"point"}"#,
            r#"{"c":{"x":1}}"#,
            r#"{"t":"point","c":{"x":1},"d":1}"#,
            r#"{"t":"point","c":{"x":1},"c":{"x":1}}"#,
        ],
    );
    let untagged = union(
        Tagging::Untagged,
        vec![
            ("a", Some(u32s())),
            ("b", Some(text())),
            ("c", Some(object(vec![field("x", u32s())]))),
            ("d", Some(object(vec![field("z", array(u32s()))]))),
            ("e", None),
        ],
    );
    check(
        untagged,
        &["1", "1.0", "\"x\"", r#"{"x":1}"#, r#"{"z":[1]}"#, "null"],
        &[
            "-1",
            "true",
            r#"{"x":"1"}"#,
            r#"{"x":1,"z":[]}"#,
            "{}",
            "[1]",
        ],
    );
    check(
        bounded(
            union(
                Tagging::Untagged,
                vec![("a", Some(u32s())), ("b", Some(text()))],
            ),
            |b| b.max = number_bound("5"),
        ),
        &["5", "\"abc\""],
        &["6"],
    );
}

// S4-61: recursive types are checked at every depth.
#[test]
fn recursive_types_are_checked_at_every_depth() {
    let tree = named(
        "Tree",
        object(vec![
            field("v", u32s()),
            field("kids", array(node(Kind::Ref("Tree")))),
        ]),
    );
    check(
        tree,
        &[r#"{"v":1,"kids":[{"v":2,"kids":[]},{"v":3,"kids":[{"v":4,"kids":[]}]}]}"#],
        &[r#"{"v":1,"kids":[{"v":2}]}"#, r#"{"v":1,"kids":[1]}"#],
    );
    let nested = |depth: usize| {
        format!(
            "{}{{\"v\":1,\"kids\":[]}}{}",
            "{\"v\":1,\"kids\":[".repeat(depth),
            "]}".repeat(depth)
        )
    };
    assert!(takes(tree, &nested(62)));
    assert!(!takes(tree, &nested(64)));
    let expr = named(
        "Expr",
        union(
            Tagging::Internal { tag: "op" },
            vec![
                ("lit", Some(object(vec![field("n", i64s())]))),
                (
                    "add",
                    Some(object(vec![
                        field("l", node(Kind::Ref("Expr"))),
                        field("r", node(Kind::Ref("Expr"))),
                    ])),
                ),
            ],
        ),
    );
    check(
        expr,
        &[
            r#"{"op":"add","l":{"op":"lit","n":1},"r":{"op":"add","l":{"op":"lit","n":1},"r":{"op":"lit","n":2}}}"#,
        ],
        &[r#"{"op":"add","l":{"op":"lit","n":1},"r":{"op":"lit"}}"#],
    );
    // A reference without a target and a reference to itself are refused.
    check(node(Kind::Ref("Gone")), &[], &["1"]);
    let circle = named(
        "Circle",
        union(
            Tagging::Untagged,
            vec![("a", Some(node(Kind::Ref("Circle"))))],
        ),
    );
    check(circle, &[], &["1"]);
    let circle = named("Circle", optional(node(Kind::Ref("Circle"))));
    check(circle, &["null"], &["1"]);
}

// S4-61: the nesting limit equals the limit of serde_json, and nested unions that differ only at their end take bounded time.
#[test]
fn nesting_is_limited_and_nested_unions_take_bounded_time() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for depth in [126, 127, 128, 129, 100_000] {
        let text = nested(depth);
        let serde = serde_json::from_str::<serde_json::Value>(&text).is_ok();
        assert_eq!(takes(node(Kind::Any), &text), serde, "{depth}");
        assert!(!takes(object(vec![]), &text));
    }
    let side = |last: &'static str| {
        Some(object(vec![
            field("l", optional(node(Kind::Ref("E")))),
            field(last, u32s()),
        ]))
    };
    let union = named(
        "E",
        union(Tagging::Untagged, vec![("a", side("x")), ("b", side("y"))]),
    );
    let text = format!("{}null{}", "{\"l\":".repeat(100), ",\"y\":1}".repeat(100));
    #[expect(
        clippy::disallowed_methods,
        reason = "this crate has no simulated clock"
    )]
    let start = std::time::Instant::now();
    let _ = takes(union, &text);
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}
