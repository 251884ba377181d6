//! E1: types of one letter, and constants with the names that the expansion binds.

#![allow(non_upper_case_globals, dead_code, reason = "names that collide")]

use futures::FutureExt as _;
use tool_core::prelude::*;

const map: u8 = 0;
const from: u8 = 0;
const to: u8 = 0;
const f: u8 = 0;
const other: u8 = 0;
const args: u8 = 0;
const cx: u8 = 0;
const of_work: u8 = 0;
const output: u8 = 0;
const text: u8 = 0;
const tool: u8 = 0;
const self_: u8 = 0;
const call: u8 = 0;
const input: u8 = 0;

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct A {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct B {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct C {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct D {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct E {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct F {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct G {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct H {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct I {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct J {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct K {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct L {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct M {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct N {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct O {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct P {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct Q {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct R {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct S {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct T {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct U {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct V {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct W {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct X {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct Y {
    /// A text.
    text: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct Z {
    /// A text.
    text: String,
}

/// Takes some.
#[tool]
fn take_a(
    /// One.
    a_: A,
    /// One.
    b_: B,
    /// One.
    c_: C,
    /// One.
    d_: D,
    /// One.
    e_: E,
    /// One.
    f_: F,
    /// One.
    g_: G,
) -> Vec<A> {
    drop((b_, c_, d_, e_, f_, g_,));
    vec![a_]
}

/// Takes some.
#[tool]
fn take_h(
    /// One.
    h_: H,
    /// One.
    i_: I,
    /// One.
    j_: J,
    /// One.
    k_: K,
    /// One.
    l_: L,
    /// One.
    m_: M,
    /// One.
    n_: N,
) -> Vec<H> {
    drop((i_, j_, k_, l_, m_, n_,));
    vec![h_]
}

/// Takes some.
#[tool]
fn take_o(
    /// One.
    o_: O,
    /// One.
    p_: P,
    /// One.
    q_: Q,
    /// One.
    r_: R,
    /// One.
    s_: S,
    /// One.
    t_: T,
    /// One.
    u_: U,
) -> Vec<O> {
    drop((p_, q_, r_, s_, t_, u_,));
    vec![o_]
}

/// Takes some.
#[tool]
fn take_v(
    /// One.
    v_: V,
    /// One.
    w_: W,
    /// One.
    x_: X,
    /// One.
    y_: Y,
    /// One.
    z_: Z,
) -> Vec<V> {
    drop((w_, x_, y_, z_,));
    vec![v_]
}

/// Takes one as all of its arguments.
#[tool]
async fn whole_a(#[args] all: A, caller: &ToolContext) -> Result<A, ToolError> {
    let _ = caller.user();
    Ok(all)
}

/// Takes one as all of its arguments.
#[tool]
async fn whole_d(#[args] all: D, caller: &ToolContext) -> Result<D, ToolError> {
    let _ = caller.user();
    Ok(all)
}

/// Takes one as all of its arguments.
#[tool]
async fn whole_s(#[args] all: S, caller: &ToolContext) -> Result<S, ToolError> {
    let _ = caller.user();
    Ok(all)
}

/// Takes one as all of its arguments.
#[tool]
async fn whole_t(#[args] all: T, caller: &ToolContext) -> Result<T, ToolError> {
    let _ = caller.user();
    Ok(all)
}

fn main() {
    let one = ToolCall::new("1", "whole_d", r#"{"text":"x"}"#);
    let tools = toolset![take_a, take_h, take_o, take_v, whole_a, whole_d, whole_s, whole_t];
    let result = tools.call(one, &ToolContext::anonymous()).now_or_never().unwrap();
    assert_eq!(result.model_text(), r#"{"text":"x"}"#);
}
