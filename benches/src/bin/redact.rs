//! The cost of redaction: `redact` prints MB/s per text; `redact <row> <rounds>` runs one row, for callgrind to count.

use std::hint::black_box;
use std::time::Instant;

use tool_core::SecretString;
use tool_core::redact::Redactor;

const BYTES: usize = 1 << 20;

fn main() {
    let secrets: Vec<(String, SecretString)> = (0..20)
        .map(|n| (format!("key_{n}"), SecretString::from(format!("sk-{n:02}-9f8e7d6c5b4a{n:02}/+xyz"))))
        .collect();
    let one = Redactor::new(secrets[..1].to_vec()).expect("long enough");
    let twenty = Redactor::new(secrets).expect("long enough");
    let fill = |line: &str| line.repeat(BYTES / line.len());
    let plain = fill("A line of prose as a tool returns it, with a number such as 4711 in it, and nothing to hide.\n");
    let json = serde_json::to_string(&vec!["A line of text\nand \"another\" one, 100% sure."; BYTES / 48]).expect("JSON");
    let hits = fill(&format!("{}{}", "text without anything to hide; ".repeat(30), "sk-00-9f8e7d6c5b4a00/+xyz\n"));
    let mut words = std::env::args().skip(1).map(|word| word.parse::<usize>().expect("a number"));
    let only = words.next().map(|row| (row, words.next().unwrap_or(1)));
    let mut number = 0;
    let mut row = |count: usize, text: &str, bytes: usize, run: &dyn Fn() -> usize| {
        number += 1;
        match only {
            None => timed(count, text, bytes, run),
            Some((row, rounds)) if row == number => {
                println!("{count} secrets, {text}: {bytes} bytes, {rounds} rounds");
                (0..rounds).for_each(|_| {
                    black_box(run());
                });
            }
            Some(_) => {}
        }
    };
    println!("| secrets | text | MB/s |\n|---|---|---|");
    for (count, redactor) in [(1, &one), (20, &twenty)] {
        row(count, "prose without secrets", plain.len(), &|| redactor.redact(&plain).len());
        row(count, "JSON with escapes, without secrets", json.len(), &|| redactor.redact_json(&json).len());
        row(count, "a secret every kilobyte", hits.len(), &|| redactor.redact(&hits).len());
        row(count, "prose in pieces of 64 bytes", plain.len(), &|| {
            let mut stream = redactor.stream();
            let pieces = plain.as_bytes().chunks(64);
            pieces.map(|piece| stream.push_bytes(piece).len()).sum::<usize>() + stream.finish().len()
        });
    }
}

fn timed(count: usize, text: &str, bytes: usize, run: &dyn Fn() -> usize) {
    black_box(run());
    let since = Instant::now();
    for _ in 0..40 {
        black_box(run());
    }
    let rate = bytes as f64 * 40.0 / since.elapsed().as_secs_f64() / 1e6;
    println!("| {count} | {text} | {rate:.0} |");
}
