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

// A rare term weighs more than a frequent term, and a short text ranks above a long text with the same terms.
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
    assert!(ranked.iter().all(|(_, score)| *score > 0.0 && *score < 1.0));
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

// A row with one of two terms of the query, of which the other is in no row, has less than half of the score of a row with all terms.
#[test]
fn score_is_the_covered_share_of_the_query() {
    let row = |key, text| Candidate {
        key,
        terms: index_text(text),
    };
    let best = |query: &str| {
        let rows = [
            row(1, "green tea"),
            row(2, "black coffee"),
            row(3, "the user"),
        ];
        let ranked = rank(&query_terms(query), &rows, 0);
        ranked.first().map_or(0.0, |(_, score)| *score)
    };
    let (whole, half) = (best("green tea"), best("green unknown"));
    assert!(whole > 0.4 && whole < 1.0, "{whole}");
    assert!(half > 0.0 && half < whole / 2.0, "{half} of {whole}");
}

// S2-29: a weak result of one search does not displace the results of the other search, even if its rank is high.
#[test]
fn weak_results_of_one_search_do_not_displace_the_other_search() {
    let meanings: Vec<(u32, f64)> = (0_u32..20)
        .map(|key| (key, 0.8 - f64::from(key) * 0.02))
        .collect();
    let weak: Vec<(u32, f64)> = (15..35).map(|key| (key, 0.05)).collect();
    let keys = |fused: Vec<(u32, f64)>| fused.into_iter().map(|(key, _)| key).collect::<Vec<_>>();
    let fused = keys(fuse_scores(&weak, &meanings, 20));
    assert_eq!(fused.get(..5), Some(&[0, 1, 2, 3, 4][..]));
    assert_eq!(fused.len(), 35);
    // By rank, the keys in both lists come first.
    let by_rank = fuse(&[keys(weak), keys(meanings.clone())]);
    assert!(by_rank.iter().take(5).all(|(key, _)| *key >= 15));
    // A good result of the search by words comes first, although the search by meaning did not return it.
    let good = [(99, 0.95), (0, 0.1)];
    let fused = keys(fuse_scores(&good, &meanings, 20));
    assert_eq!(fused.get(..3), Some(&[0, 99, 1][..]));
}

// A key that only one search returned gets the lowest score of the other search, or 0 if the search by words returned all its keys.
#[test]
fn missing_scores_are_the_lowest_of_the_list() {
    let (words, meanings) = ([(1, 0.5), (2, 0.25)], [(3, 0.75), (1, 0.5)]);
    let of = |limit| {
        let fused = fuse_scores(&words, &meanings, limit);
        let scores = fused.into_iter().map(|(key, score)| (key, score * 1.4));
        scores.collect::<BTreeMap<_, _>>()
    };
    for (limit, key, expected) in [
        (2, 1, 0.5 + 0.4 * 0.5),
        (2, 2, 0.5 + 0.4 * 0.25),
        (2, 3, 0.75 + 0.4 * 0.25),
        (3, 3, 0.75),
    ] {
        assert!((of(limit)[&key] - expected).abs() < 1e-9, "{limit} {key}");
    }
    assert_eq!(fuse_scores::<u32>(&[], &[], 20), []);
    assert_eq!(fuse_scores(&[(1, 0.5)], &[], 20).len(), 1);
    assert_eq!(fuse_scores(&[], &[(1, 0.5)], 20).len(), 1);
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
