use super::*;

fn finds(query: &str, text: &str) -> bool {
    let text = index_text(text);
    let terms: Vec<&str> = text.split(' ').collect();
    let query = query_terms(query);
    !query.is_empty() && query.iter().all(|term| terms.contains(&term.as_str()))
}

// Parts of a sentence without spaces are found, and pairs across punctuation are not.
#[test]
fn words_of_unspaced_scripts_are_found() {
    let text = "我在上海, 咖啡很好。東京タワー กาแฟที่กรุงเทพ 서울에서 커피";
    for query in [
        "咖啡",
        "上海",
        "東京",
        "タワー",
        "กาแฟ",
        "กรุงเทพ",
        "ที่",
        "서울",
        "커피",
        "海",
        "啡",
    ] {
        assert!(finds(query, text), "{query}");
    }
    for query in ["海咖", "上咖", "啡咖", "京都"] {
        assert!(!finds(query, text), "{query}");
    }
}

// Case, accents and compatibility forms do not matter; letters of other scripts keep their marks.
#[test]
fn terms_are_folded() {
    assert!(finds("CAFE", "Café"));
    assert!(finds("cafe\u{301}", "CAFÉ"));
    assert!(finds("ｔｅａ", "Tea"));
    assert!(finds("straße", "Straße"));
    assert!(finds("हिन्दी", "मैं हिन्दी"));
    assert!(!finds("か", "が"));
    assert_eq!(
        index_text("snake_case, c++ and x:y"),
        "snake case c and x y"
    );
}

// Syntax of a query language, and texts without letters, have no effect.
#[test]
fn syntax_of_query_languages_is_text() {
    for query in ["", "*", "-", "\"", "NEAR(", "()", "🙂", "'; --"] {
        let terms = query_terms(query);
        assert!(
            terms
                .iter()
                .all(|term| term.chars().all(char::is_alphanumeric)),
            "{query}"
        );
    }
    assert_eq!(
        query_terms("a AND b* col:x NEAR("),
        ["a", "and", "b", "col", "x", "near"]
    );
}

// A query and a word have a maximum length.
#[test]
fn queries_and_terms_are_bounded() {
    let words: Vec<String> = (0..100).map(|word| format!("w{word}")).collect();
    assert_eq!(query_terms(&words.join(" ")).len(), MOST_QUERY_TERMS);
    let long = "x".repeat(3_000);
    assert_eq!(query_terms(&long), ["x".repeat(MOST_TERM)]);
    assert!(finds(&long, &long));
}

// A rare term weighs more than a frequent one, and a short text more than a long one with the same terms.
#[test]
fn rare_terms_rank_first() {
    let mut rows: Vec<Candidate<u32>> = (0..50)
        .map(|key| Candidate {
            key,
            terms: index_text("the user likes tea"),
        })
        .collect();
    rows.push(Candidate {
        key: 50,
        terms: index_text("the user likes marmalade and many other things for breakfast"),
    });
    rows.push(Candidate {
        key: 51,
        terms: index_text("likes marmalade"),
    });
    let ranked = rank(&query_terms("likes marmalade"), &rows, 1_000);
    let keys: Vec<u32> = ranked.iter().map(|(key, _)| *key).collect();
    assert_eq!(keys.get(..3), Some(&[51, 50, 0][..]));
    assert!(
        ranked
            .iter()
            .all(|(_, score)| score.is_finite() && *score > 0.0)
    );
    assert_eq!(rank(&query_terms("nothing"), &rows, 52), []);
    assert_eq!(rank::<u32>(&[], &[], 0), []);
}

// The score of a fused key is the sum of 1 / (60 + rank), with ranks from 1.
#[test]
fn rankings_are_fused_by_rank() {
    let fused = fuse(&[vec![1, 2], vec![2]]);
    assert_eq!(fused[0], (2, 1.0 / 62.0 + 1.0 / 61.0));
    assert_eq!(fused[1], (1, 1.0 / 61.0));
    assert_eq!(fuse::<u32>(&[]), []);
}

// Only differences without meaning are ignored.
#[test]
fn hash_ignores_case_space_and_final_stop() {
    let hash = content_hash("Ada likes tea");
    for same in ["ada LIKES tea", "\tAda likes\n tea . ", "Ada likes ｔｅａ."] {
        assert_eq!(content_hash(same), hash, "{same}");
    }
    for different in [
        "Ada likes teas",
        "Ada likes tea!",
        "Ada dislikes tea",
        "Adalikes tea",
    ] {
        assert_ne!(content_hash(different), hash, "{different}");
    }
}
