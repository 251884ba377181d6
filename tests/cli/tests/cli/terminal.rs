//! Tests of the `call` command in a pseudo-terminal.

use rexpect::process::WaitStatus;
use rexpect::session::{PtySession, spawn_command};

use crate::support::{DESK, command};

/// The timeout for each expected text in milliseconds, long enough for a slow machine.
const PATIENCE: u64 = 60_000;

fn open(words: &[&str]) -> PtySession {
    spawn_command(command(DESK, words), Some(PATIENCE)).expect("a pseudo-terminal opens")
}

#[track_caller]
fn ends(session: PtySession, code: i32) {
    let mut session = session;
    session.exp_eof().expect("the program closes its output");
    match session.process().wait().expect("the program exits") {
        WaitStatus::Exited(_, status) => assert_eq!(status, code),
        other => panic!("{other:?}"),
    }
}

#[test]
fn terminal_output_is_coloured_unless_no_color_is_set() {
    let mut session = open(&["list"]);
    session
        .exp_string("\u{1b}[1mNAME")
        .expect("the heading is bold");
    ends(session, 0);
    let mut quiet = command(DESK, &["list"]);
    quiet.env("NO_COLOR", "1");
    let mut session = spawn_command(quiet, Some(PATIENCE)).expect("a pseudo-terminal opens");
    let all = session.exp_eof().expect("the program prints the list");
    assert!(!all.contains('\u{1b}'), "{all}");
}

// S2-12: a person approves in the terminal before the body runs.
#[test]
fn a_person_approves_in_the_terminal() {
    let mut session = open(&["call", "send_letter", "--to", "ann", "--text", "hi"]);
    session
        .exp_string("send_letter")
        .expect("the prompt names the tool");
    session
        .exp_string(r#""to": "ann""#)
        .expect("the prompt prints the arguments");
    session
        .exp_string("[y]es, [n]o, [e]dit")
        .expect("the program asks the question");
    session.send_line("perhaps").unwrap();
    session
        .exp_string("answer `y`, `n` or `e`")
        .expect("the program explains the valid answers");
    session.send_line("y").unwrap();
    session
        .exp_string("sent to ann: hi")
        .expect("the program prints the result");
    ends(session, 0);
}

// S2-12: a person denies in the terminal, and the body does not run.
#[test]
fn a_person_denies_in_the_terminal_and_the_body_does_not_run() {
    let mut session = open(&["call", "send_letter", "--to", "ann", "--text", "hi"]);
    session
        .exp_string("[y]es, [n]o, [e]dit")
        .expect("the program asks the question");
    session.send_line("n").unwrap();
    let rest = session.exp_eof().expect("the program closes its output");
    assert!(rest.contains("a person has denied the call"), "{rest}");
    assert!(!rest.contains("sent to"), "{rest}");
    assert!(matches!(
        session.process().wait(),
        Ok(WaitStatus::Exited(_, 3))
    ));
}

#[test]
fn person_edits_the_arguments_before_the_call_runs() {
    let mut session = open(&["call", "send_letter", "--to", "ann", "--text", "hi"]);
    session
        .exp_string("[y]es, [n]o, [e]dit")
        .expect("the program asks the question");
    session.send_line("e").unwrap();
    session
        .exp_string("on one line")
        .expect("the program asks for new arguments");
    session.send_line("{nonsense").unwrap();
    session
        .exp_string("this is not JSON")
        .expect("the program reports the error");
    session
        .exp_string("[y]es, [n]o, [e]dit")
        .expect("the program repeats the question");
    session.send_line("e").unwrap();
    session
        .exp_string("on one line")
        .expect("the program asks for new arguments");
    session.send_line(r#"{"to":"bob","text":"hello"}"#).unwrap();
    session
        .exp_string("sent to bob: hello")
        .expect("the program prints the result");
    ends(session, 0);
}

// M8: a secret is asked for in the terminal without an echo.
#[test]
fn secret_prompt_does_not_echo() {
    let mut session = open(&["call", "fetch_post"]);
    session
        .exp_string("box_key (not shown): ")
        .expect("the program asks the question");
    session.send_line("key-4711-xyz").unwrap();
    let before = session
        .exp_string("STREET: ")
        .expect("the program asks for the variable");
    assert!(!before.contains("key-4711-xyz"), "{before}");
    session.send_line("Elm").unwrap();
    let rest = session.exp_eof().expect("the program closes its output");
    assert!(
        rest.contains("in Elm with 12 letters of key [secret:box_key]"),
        "{rest}"
    );
    assert!(!rest.contains("key-4711-xyz"), "{rest}");
}

// S2-21, M7: progress is drawn as a bar.
#[test]
fn progress_is_drawn_as_a_bar() {
    let mut session = open(&["call", "count_pages", "--pages", "20"]);
    session
        .exp_regex(r"count_pages \[=*> *\] \d+/20 heading chapter \d+")
        .expect("the program draws a bar");
    let rest = session.exp_eof().expect("the program closes its output");
    assert!(
        rest.lines().any(|line| line.trim_end().ends_with("20")),
        "{rest:?}"
    );
}

// S0-13: Ctrl-C cancels the call, and the printed result is `cancelled`.
#[test]
fn ctrl_c_cancels_the_call() {
    let mut session = open(&["call", "wait_long"]);
    session
        .exp_string("wait_long")
        .expect("the program draws a spinner");
    session.send_control('c').unwrap();
    session
        .exp_string("cancelled")
        .expect("the program prints the result");
    ends(session, 130);
}

#[test]
fn unknown_tool_suggests_a_similar_name() {
    let mut session = open(&["call", "flie_note"]);
    session
        .exp_string("error:")
        .expect("the program prints an error");
    session
        .exp_string("did you mean `file_note`?")
        .expect("the error suggests a similar name");
    ends(session, 2);
}

// M15: `cx.ask` asks the user in the terminal.
#[test]
fn a_running_tool_asks_in_the_terminal() {
    let mut session = open(&["call", "book_table"]);
    session
        .exp_string("Where shall it be?")
        .expect("the program asks the question");
    session
        .exp_string("city: ")
        .expect("the program asks for the field");
    session.send_line("Oslo").unwrap();
    session
        .exp_string("guests: ")
        .expect("the program asks for the field");
    session.send_line("many").unwrap();
    session
        .exp_string("write a number")
        .expect("the program reports the error");
    session
        .exp_string("guests: ")
        .expect("the program asks for the field again");
    session.send_line("4").unwrap();
    session
        .exp_string("dog (y/n): ")
        .expect("the program asks for the optional field");
    session.send_line("").unwrap();
    session
        .exp_string("Oslo, 4, dog: None")
        .expect("the program prints the result");
    ends(session, 0);

    let mut session = open(&["call", "book_table"]);
    session
        .exp_string("city: ")
        .expect("the program asks for the field");
    session.send_line("").unwrap();
    session
        .exp_string("no table")
        .expect("the program prints the result");
    ends(session, 0);
}
