//! HTML character references: `&lt;`, `&#60;`, `&#x3C;`.

use super::escape::Escape;

/// Maximum number of digits that are read. Encoders pad with a few zeros at most.
const DIGITS: usize = 8;
/// Maximum number of nested encodings that are decoded: `&amp;amp;lt;` is encoded three times.
const DEPTH: usize = 3;

/// Reads the references that may begin at `at`, the position of a `&`.
pub(super) fn read(text: &[u8], at: usize, each: &mut impl FnMut(Escape)) {
    let mut from = at + 1;
    for _ in 0..DEPTH {
        let (character, next) = match reference(text, from) {
            Reference::Character(character, next) => (character, next),
            Reference::Cut => return each(Escape::Cut),
            Reference::No => return,
        };
        // More digits or a semicolon may follow.
        if next == text.len() && text.last() != Some(&b';') {
            each(Escape::Cut);
        }
        each(Escape::character(character, next));
        if character != '&' {
            return;
        }
        from = next;
    }
}

enum Reference {
    Character(char, usize),
    Cut,
    No,
}

/// Reads the reference after a `&`.
fn reference(text: &[u8], from: usize) -> Reference {
    match text.get(from..).unwrap_or_default() {
        [] | [b'#'] | [b'#', b'x' | b'X'] => Reference::Cut,
        [b'#', b'x' | b'X', ..] => number(text, from + 2, 16),
        [b'#', ..] => number(text, from + 1, 10),
        rest => named(rest, from),
    }
}

/// Reads a number, with or without the semicolon.
fn number(text: &[u8], from: usize, radix: u32) -> Reference {
    let (mut value, mut at) = (0, from);
    while let Some(digit) = text
        .get(at)
        .and_then(|byte| char::from(*byte).to_digit(radix))
    {
        if at - from == DIGITS {
            return Reference::No;
        }
        value = value * radix + digit;
        at += 1;
    }
    if at == from {
        return Reference::No;
    }
    let next = at + usize::from(text.get(at) == Some(&b';'));
    char::from_u32(value).map_or(Reference::No, |character| {
        Reference::Character(character, next)
    })
}

/// Reads a name and its semicolon. A name without a semicolon is not decoded, because encoders write the semicolon.
fn named(rest: &[u8], from: usize) -> Reference {
    let length = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    let name = &rest[..length];
    match rest.get(length) {
        Some(b';') => NAMES
            .binary_search_by(|(known, _)| known.as_bytes().cmp(name))
            .map_or(Reference::No, |at| {
                Reference::Character(NAMES[at].1, from + length + 1)
            }),
        None => {
            let at = NAMES.partition_point(|(known, _)| known.as_bytes() < name);
            let cut = NAMES
                .get(at)
                .is_some_and(|(known, _)| known.as_bytes().starts_with(name));
            if cut { Reference::Cut } else { Reference::No }
        }
        Some(_) => Reference::No,
    }
}

/// The names of HTML 4, which encoders write, and the names of HTML 5 for ASCII; sorted.
#[rustfmt::skip]
const NAMES: [(&str, char); 293] = [
    ("AElig", '\u{c6}'), ("AMP", '&'), ("Aacute", '\u{c1}'), ("Acirc", '\u{c2}'),
    ("Agrave", '\u{c0}'), ("Alpha", '\u{391}'), ("Aring", '\u{c5}'), ("Atilde", '\u{c3}'),
    ("Auml", '\u{c4}'), ("Beta", '\u{392}'), ("Ccedil", '\u{c7}'), ("Chi", '\u{3a7}'),
    ("Dagger", '\u{2021}'), ("Delta", '\u{394}'), ("DiacriticalGrave", '`'), ("ETH", '\u{d0}'),
    ("Eacute", '\u{c9}'), ("Ecirc", '\u{ca}'), ("Egrave", '\u{c8}'), ("Epsilon", '\u{395}'),
    ("Eta", '\u{397}'), ("Euml", '\u{cb}'), ("GT", '>'), ("Gamma", '\u{393}'), ("Hat", '^'),
    ("Iacute", '\u{cd}'), ("Icirc", '\u{ce}'), ("Igrave", '\u{cc}'), ("Iota", '\u{399}'),
    ("Iuml", '\u{cf}'), ("Kappa", '\u{39a}'), ("LT", '<'), ("Lambda", '\u{39b}'),
    ("Mu", '\u{39c}'), ("NewLine", '\n'), ("Ntilde", '\u{d1}'), ("Nu", '\u{39d}'),
    ("OElig", '\u{152}'), ("Oacute", '\u{d3}'), ("Ocirc", '\u{d4}'), ("Ograve", '\u{d2}'),
    ("Omega", '\u{3a9}'), ("Omicron", '\u{39f}'), ("Oslash", '\u{d8}'), ("Otilde", '\u{d5}'),
    ("Ouml", '\u{d6}'), ("Phi", '\u{3a6}'), ("Pi", '\u{3a0}'), ("Prime", '\u{2033}'),
    ("Psi", '\u{3a8}'), ("QUOT", '"'), ("Rho", '\u{3a1}'), ("Scaron", '\u{160}'),
    ("Sigma", '\u{3a3}'), ("THORN", '\u{de}'), ("Tab", '\t'), ("Tau", '\u{3a4}'),
    ("Theta", '\u{398}'), ("Uacute", '\u{da}'), ("Ucirc", '\u{db}'), ("Ugrave", '\u{d9}'),
    ("UnderBar", '_'), ("Upsilon", '\u{3a5}'), ("Uuml", '\u{dc}'), ("VerticalLine", '|'),
    ("Xi", '\u{39e}'), ("Yacute", '\u{dd}'), ("Yuml", '\u{178}'), ("Zeta", '\u{396}'),
    ("aacute", '\u{e1}'), ("acirc", '\u{e2}'), ("acute", '\u{b4}'), ("aelig", '\u{e6}'),
    ("agrave", '\u{e0}'), ("alefsym", '\u{2135}'), ("alpha", '\u{3b1}'), ("amp", '&'),
    ("and", '\u{2227}'), ("ang", '\u{2220}'), ("apos", '\''), ("aring", '\u{e5}'), ("ast", '*'),
    ("asymp", '\u{2248}'), ("atilde", '\u{e3}'), ("auml", '\u{e4}'), ("bdquo", '\u{201e}'),
    ("beta", '\u{3b2}'), ("brvbar", '\u{a6}'), ("bsol", '\\'), ("bull", '\u{2022}'),
    ("cap", '\u{2229}'), ("ccedil", '\u{e7}'), ("cedil", '\u{b8}'), ("cent", '\u{a2}'),
    ("chi", '\u{3c7}'), ("circ", '\u{2c6}'), ("clubs", '\u{2663}'), ("colon", ':'), ("comma", ','),
    ("commat", '@'), ("cong", '\u{2245}'), ("copy", '\u{a9}'), ("crarr", '\u{21b5}'),
    ("cup", '\u{222a}'), ("curren", '\u{a4}'), ("dArr", '\u{21d3}'), ("dagger", '\u{2020}'),
    ("darr", '\u{2193}'), ("deg", '\u{b0}'), ("delta", '\u{3b4}'), ("diams", '\u{2666}'),
    ("divide", '\u{f7}'), ("dollar", '$'), ("eacute", '\u{e9}'), ("ecirc", '\u{ea}'),
    ("egrave", '\u{e8}'), ("empty", '\u{2205}'), ("emsp", '\u{2003}'), ("ensp", '\u{2002}'),
    ("epsilon", '\u{3b5}'), ("equals", '='), ("equiv", '\u{2261}'), ("eta", '\u{3b7}'),
    ("eth", '\u{f0}'), ("euml", '\u{eb}'), ("euro", '\u{20ac}'), ("excl", '!'),
    ("exist", '\u{2203}'), ("fnof", '\u{192}'), ("forall", '\u{2200}'), ("frac12", '\u{bd}'),
    ("frac14", '\u{bc}'), ("frac34", '\u{be}'), ("frasl", '\u{2044}'), ("gamma", '\u{3b3}'),
    ("ge", '\u{2265}'), ("grave", '`'), ("gt", '>'), ("hArr", '\u{21d4}'), ("harr", '\u{2194}'),
    ("hearts", '\u{2665}'), ("hellip", '\u{2026}'), ("iacute", '\u{ed}'), ("icirc", '\u{ee}'),
    ("iexcl", '\u{a1}'), ("igrave", '\u{ec}'), ("image", '\u{2111}'), ("infin", '\u{221e}'),
    ("int", '\u{222b}'), ("iota", '\u{3b9}'), ("iquest", '\u{bf}'), ("isin", '\u{2208}'),
    ("iuml", '\u{ef}'), ("kappa", '\u{3ba}'), ("lArr", '\u{21d0}'), ("lambda", '\u{3bb}'),
    ("lang", '\u{2329}'), ("laquo", '\u{ab}'), ("larr", '\u{2190}'), ("lbrace", '{'),
    ("lbrack", '['), ("lceil", '\u{2308}'), ("lcub", '{'), ("ldquo", '\u{201c}'),
    ("le", '\u{2264}'), ("lfloor", '\u{230a}'), ("lowast", '\u{2217}'), ("lowbar", '_'),
    ("loz", '\u{25ca}'), ("lpar", '('), ("lrm", '\u{200e}'), ("lsaquo", '\u{2039}'), ("lsqb", '['),
    ("lsquo", '\u{2018}'), ("lt", '<'), ("macr", '\u{af}'), ("mdash", '\u{2014}'),
    ("micro", '\u{b5}'), ("midast", '*'), ("middot", '\u{b7}'), ("minus", '\u{2212}'),
    ("mu", '\u{3bc}'), ("nabla", '\u{2207}'), ("nbsp", '\u{a0}'), ("ndash", '\u{2013}'),
    ("ne", '\u{2260}'), ("ni", '\u{220b}'), ("not", '\u{ac}'), ("notin", '\u{2209}'),
    ("nsub", '\u{2284}'), ("ntilde", '\u{f1}'), ("nu", '\u{3bd}'), ("num", '#'),
    ("oacute", '\u{f3}'), ("ocirc", '\u{f4}'), ("oelig", '\u{153}'), ("ograve", '\u{f2}'),
    ("oline", '\u{203e}'), ("omega", '\u{3c9}'), ("omicron", '\u{3bf}'), ("oplus", '\u{2295}'),
    ("or", '\u{2228}'), ("ordf", '\u{aa}'), ("ordm", '\u{ba}'), ("oslash", '\u{f8}'),
    ("otilde", '\u{f5}'), ("otimes", '\u{2297}'), ("ouml", '\u{f6}'), ("para", '\u{b6}'),
    ("part", '\u{2202}'), ("percnt", '%'), ("period", '.'), ("permil", '\u{2030}'),
    ("perp", '\u{22a5}'), ("phi", '\u{3c6}'), ("pi", '\u{3c0}'), ("piv", '\u{3d6}'), ("plus", '+'),
    ("plusmn", '\u{b1}'), ("pound", '\u{a3}'), ("prime", '\u{2032}'), ("prod", '\u{220f}'),
    ("prop", '\u{221d}'), ("psi", '\u{3c8}'), ("quest", '?'), ("quot", '"'), ("rArr", '\u{21d2}'),
    ("radic", '\u{221a}'), ("rang", '\u{232a}'), ("raquo", '\u{bb}'), ("rarr", '\u{2192}'),
    ("rbrace", '}'), ("rbrack", ']'), ("rceil", '\u{2309}'), ("rcub", '}'), ("rdquo", '\u{201d}'),
    ("real", '\u{211c}'), ("reg", '\u{ae}'), ("rfloor", '\u{230b}'), ("rho", '\u{3c1}'),
    ("rlm", '\u{200f}'), ("rpar", ')'), ("rsaquo", '\u{203a}'), ("rsqb", ']'),
    ("rsquo", '\u{2019}'), ("sbquo", '\u{201a}'), ("scaron", '\u{161}'), ("sdot", '\u{22c5}'),
    ("sect", '\u{a7}'), ("semi", ';'), ("shy", '\u{ad}'), ("sigma", '\u{3c3}'),
    ("sigmaf", '\u{3c2}'), ("sim", '\u{223c}'), ("sol", '/'), ("spades", '\u{2660}'),
    ("sub", '\u{2282}'), ("sube", '\u{2286}'), ("sum", '\u{2211}'), ("sup", '\u{2283}'),
    ("sup1", '\u{b9}'), ("sup2", '\u{b2}'), ("sup3", '\u{b3}'), ("supe", '\u{2287}'),
    ("szlig", '\u{df}'), ("tau", '\u{3c4}'), ("there4", '\u{2234}'), ("theta", '\u{3b8}'),
    ("thetasym", '\u{3d1}'), ("thinsp", '\u{2009}'), ("thorn", '\u{fe}'), ("tilde", '\u{2dc}'),
    ("times", '\u{d7}'), ("trade", '\u{2122}'), ("uArr", '\u{21d1}'), ("uacute", '\u{fa}'),
    ("uarr", '\u{2191}'), ("ucirc", '\u{fb}'), ("ugrave", '\u{f9}'), ("uml", '\u{a8}'),
    ("upsih", '\u{3d2}'), ("upsilon", '\u{3c5}'), ("uuml", '\u{fc}'), ("verbar", '|'),
    ("vert", '|'), ("weierp", '\u{2118}'), ("xi", '\u{3be}'), ("yacute", '\u{fd}'),
    ("yen", '\u{a5}'), ("yuml", '\u{ff}'), ("zeta", '\u{3b6}'), ("zwj", '\u{200d}'),
    ("zwnj", '\u{200c}'),
];
