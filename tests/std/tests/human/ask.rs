//! Questions to the user.

use futures::future::BoxFuture;
use serde_json::Value;
use serde_json::value::to_raw_value;
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, Role};
use tool_core::turn::{ClientResult, Model, ModelMessage, ModelRequest, Outcome, Turn, Turns};
use tool_core::{Dialect, Gate};
use tool_std::human::{
    AnswerError, AnswerState, QuestionOption, UserAnswer, UserAnswers, UserQuestion, UserQuestions,
    ask_user,
};

fn option(label: &str) -> QuestionOption {
    QuestionOption {
        label: label.to_owned(),
        description: None,
    }
}

/// Returns two questions: a choice of one color, and a choice of sizes or a text.
fn questions() -> UserQuestions {
    let question = |id: &str, options: &[&str], is_open: bool| UserQuestion {
        id: id.to_owned(),
        question: format!("Which {id}?"),
        options: options.iter().map(|label| option(label)).collect(),
        multi_select: is_open,
        allow_free_text: is_open,
    };
    UserQuestions {
        questions: vec![
            question("color", &["red", "blue"], false),
            question("size", &["S", "M"], true),
        ],
    }
}

fn answer(id: &str, options: &[&str], text: Option<&str>) -> UserAnswer {
    UserAnswer {
        id: id.to_owned(),
        selected: options.iter().map(ToString::to_string).collect(),
        text: text.map(str::to_owned),
    }
}

fn answers(answers: impl IntoIterator<Item = UserAnswer>) -> UserAnswers {
    UserAnswers {
        status: AnswerState::Answered,
        answers: answers.into_iter().collect(),
    }
}

fn fitting() -> UserAnswers {
    answers([
        answer("color", &["red"], None),
        answer("size", &["S", "M"], Some("or L")),
    ])
}

fn supplied(answers: &UserAnswers) -> ClientResult {
    ClientResult::output("call_0", to_raw_value(answers).unwrap())
}

fn call(questions: &UserQuestions) -> ToolCall {
    ToolCall::new(
        "call_0",
        "ask_user",
        serde_json::to_string(questions).unwrap(),
    )
}

fn tools() -> Toolset {
    Registry::builder()
        .dynamic(ask_user())
        .build()
        .unwrap()
        .open()
}

fn cx(conversation: &str) -> ToolContext {
    ToolContext::builder()
        .workspace("acme")
        .conversation(conversation)
        .user("ann")
        .build()
}

/// A model that asks two questions, and then repeats the text of the result.
struct Asks;

impl Model for Asks {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let last = request.messages.last().unwrap();
        let message = match last.role {
            Role::Tool => {
                let result: Value = serde_json::from_str(&last.content).unwrap();
                ModelMessage::text(result["text"].as_str().unwrap())
            }
            _ => ModelMessage::calls([call(&questions())]),
        };
        Box::pin(async { Ok(message) })
    }
}

/// Records a call of `ask_user`, runs it until the client has to answer, supplies the answers, and returns the text that the model reads.
async fn asked(questions: &UserQuestions, given: Option<&UserAnswers>) -> (bool, String) {
    let (turns, tools, cx) = (Turns::new(MemoryStore::default()), tools(), cx("main"));
    let message = ModelMessage::calls([call(questions)]);
    let message = turns.record(message, &cx).await.unwrap();
    let results = match turns.run(&tools, &message, &cx).await.unwrap() {
        Turn::Complete(results) => results,
        Turn::Client(_) => {
            let given = supplied(given.unwrap());
            match turns.supply(&tools, [given], &cx).await.unwrap() {
                Turn::Complete(results) => results,
                turn => panic!("{turn:?}"),
            }
        }
        turn => panic!("{turn:?}"),
    };
    (results[0].is_error(), results[0].text.clone())
}

// S2-38: the turn suspends with the questions, and the answers resume it, even in another process and through a gate. Two conversations do not mix.
#[tokio::test]
async fn turn_suspends_until_the_user_answers() {
    let store = MemoryStore::default();
    let gate = Gate::builder().ledger(store.clone()).build();
    let tools = || tools().through(&gate);
    for conversation in ["main", "side"] {
        let cx = cx(conversation);
        let turns = Turns::new(store.clone());
        turns.say("Order a shirt.", &cx).await.unwrap();
        for _ in 0..2 {
            let outcome = turns.drive(&mut Asks, |_| tools(), &cx).await.unwrap();
            let Outcome::Client(calls) = outcome else {
                panic!("{outcome:?}")
            };
            let shown: UserQuestions = serde_json::from_str(&calls[0].arguments).unwrap();
            assert_eq!((calls.len(), shown), (1, questions()));
        }
    }
    // Another process has its own `Turns` on the same store.
    let (turns, cx) = (Turns::new(store.clone()), cx("main"));
    let turn = turns
        .supply(&tools(), [supplied(&fitting())], &cx)
        .await
        .unwrap();
    assert!(matches!(turn, Turn::Complete(_)), "{turn:?}");
    let outcome = turns.drive(&mut Asks, |_| tools(), &cx).await.unwrap();
    let Outcome::Answered(text) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(
        serde_json::from_str::<UserAnswers>(&text).unwrap(),
        fitting()
    );
    let side = turns
        .drive(&mut Asks, |_| tools(), &self::cx("side"))
        .await
        .unwrap();
    assert!(matches!(side, Outcome::Client(_)), "{side:?}");
}

// S2-38: answers that do not match the questions are refused, such as an unknown option. The model reads why.
#[tokio::test]
async fn answers_that_do_not_match_are_refused() {
    let size = || answer("size", &[], Some("L"));
    let red = || answer("color", &["red"], None);
    let unknown = AnswerError::UnknownOption {
        question: "color".to_owned(),
        option: "purple".to_owned(),
    };
    let id = |id: &str| id.to_owned();
    let cases = [
        (
            answers([answer("color", &["purple"], None), size()]),
            unknown,
        ),
        (
            answers([red(), size(), answer("taste", &[], Some("sweet"))]),
            AnswerError::UnknownQuestion(id("taste")),
        ),
        (
            answers([answer("color", &["red", "blue"], None), size()]),
            AnswerError::TooManyOptions(id("color")),
        ),
        (
            answers([answer("color", &["red", "red"], None), size()]),
            AnswerError::ChosenTwice {
                question: id("color"),
                option: id("red"),
            },
        ),
        (
            answers([red(), red(), size()]),
            AnswerError::Twice(id("color")),
        ),
        (
            answers([answer("color", &["red"], Some("dark")), size()]),
            AnswerError::TextNotAllowed(id("color")),
        ),
        (
            answers([answer("color", &[], None), size()]),
            AnswerError::Unanswered(id("color")),
        ),
        (
            answers([red(), answer("size", &[], Some(" \n"))]),
            AnswerError::Unanswered(id("size")),
        ),
        (answers([red()]), AnswerError::Unanswered(id("size"))),
        (
            UserAnswers {
                status: AnswerState::Deferred,
                ..answers([red(), size()])
            },
            AnswerError::Deferred,
        ),
    ];
    for (given, error) in cases {
        assert_eq!(questions().accept(&given), Err(error.clone()));
        let (is_error, text) = asked(&questions(), Some(&given)).await;
        assert_eq!((is_error, text), (true, error.to_string()));
    }
    let (is_error, _) = asked(&questions(), Some(&fitting())).await;
    assert!(!is_error);
}

// S2-38: a user who replies later defers the answers, and the turn continues.
#[tokio::test]
async fn answers_can_be_deferred() {
    let later = UserAnswers {
        status: AnswerState::Deferred,
        answers: Vec::new(),
    };
    let (is_error, text) = asked(&questions(), Some(&later)).await;
    assert_eq!(
        (is_error, &*text),
        (false, r#"{"status":"deferred","answers":[]}"#)
    );
}

// S2-38: questions that cannot be answered do not reach the client.
#[tokio::test]
async fn faulty_questions_do_not_reach_the_client() {
    let change = |change: fn(&mut UserQuestions)| {
        let mut all = questions();
        change(&mut all);
        all
    };
    let cases = [
        (
            change(|all| all.questions[1].id = "color".to_owned()),
            "the id `color` occurs twice",
        ),
        (
            change(|all| all.questions[0].options[1].label = "red".to_owned()),
            "the id `red` occurs twice",
        ),
        (
            change(|all| all.questions[0].options.clear()),
            "the question `color` has no options and allows no text",
        ),
        (
            change(|all| all.questions.clear()),
            "`/questions`: expected",
        ),
        (
            change(|all| all.questions = vec![all.questions[0].clone(); 6]),
            "`/questions`: expected",
        ),
        (
            change(|all| all.questions[0].options = vec![option("x"); 7]),
            "`/questions/0/options`: expected",
        ),
    ];
    for (faulty, words) in cases {
        let (is_error, text) = asked(&faulty, None).await;
        assert!(is_error && text.contains(words), "{text}");
    }
}

// Every provider gets the tool, and its output is described.
#[test]
fn definition_is_offered_to_every_provider() {
    let tools = tools();
    let tool = tools.get("ask_user").unwrap();
    for dialect in Dialect::ALL {
        assert!(
            tool.definition(dialect).contains("allow_free_text"),
            "{dialect:?}"
        );
    }
    assert!(tool.is_client() && tool.hints().read_only);
}
