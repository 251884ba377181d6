//! Types with names of one letter, and constants with common names. The names that the expansion binds begin with `__`: a constant with such a
//! name would collide, because macros have no hygiene for items.

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

/// The record `A` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct A {
    /// The field `text` of `A`.
    text: String,
}

/// The record `B` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct B {
    /// The field `text` of `B`.
    text: String,
}

/// The record `C` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct C {
    /// The field `text` of `C`.
    text: String,
}

/// The record `D` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct D {
    /// The field `text` of `D`.
    text: String,
}

/// The record `E` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct E {
    /// The field `text` of `E`.
    text: String,
}

/// The record `F` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct F {
    /// The field `text` of `F`.
    text: String,
}

/// The record `G` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct G {
    /// The field `text` of `G`.
    text: String,
}

/// The record `H` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct H {
    /// The field `text` of `H`.
    text: String,
}

/// The record `I` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct I {
    /// The field `text` of `I`.
    text: String,
}

/// The record `J` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct J {
    /// The field `text` of `J`.
    text: String,
}

/// The record `K` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct K {
    /// The field `text` of `K`.
    text: String,
}

/// The record `L` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct L {
    /// The field `text` of `L`.
    text: String,
}

/// The record `M` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct M {
    /// The field `text` of `M`.
    text: String,
}

/// The record `N` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct N {
    /// The field `text` of `N`.
    text: String,
}

/// The record `O` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct O {
    /// The field `text` of `O`.
    text: String,
}

/// The record `P` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct P {
    /// The field `text` of `P`.
    text: String,
}

/// The record `Q` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct Q {
    /// The field `text` of `Q`.
    text: String,
}

/// The record `R` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct R {
    /// The field `text` of `R`.
    text: String,
}

/// The record `S` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct S {
    /// The field `text` of `S`.
    text: String,
}

/// The record `T` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct T {
    /// The field `text` of `T`.
    text: String,
}

/// The record `U` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct U {
    /// The field `text` of `U`.
    text: String,
}

/// The record `V` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct V {
    /// The field `text` of `V`.
    text: String,
}

/// The record `W` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct W {
    /// The field `text` of `W`.
    text: String,
}

/// The record `X` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct X {
    /// The field `text` of `X`.
    text: String,
}

/// The record `Y` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct Y {
    /// The field `text` of `Y`.
    text: String,
}

/// The record `Z` of this test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
struct Z {
    /// The field `text` of `Z`.
    text: String,
}

/// The tool `take_a` of this test.
#[tool]
fn take_a(
    /// The argument `a_` of the tool.
    a_: A,
    /// The argument `b_` of the tool.
    b_: B,
    /// The argument `c_` of the tool.
    c_: C,
    /// The argument `d_` of the tool.
    d_: D,
    /// The argument `e_` of the tool.
    e_: E,
    /// The argument `f_` of the tool.
    f_: F,
    /// The argument `g_` of the tool.
    g_: G,
) -> Vec<A> {
    drop((b_, c_, d_, e_, f_, g_,));
    vec![a_]
}

/// The tool `take_h` of this test.
#[tool]
fn take_h(
    /// The argument `h_` of the tool.
    h_: H,
    /// The argument `i_` of the tool.
    i_: I,
    /// The argument `j_` of the tool.
    j_: J,
    /// The argument `k_` of the tool.
    k_: K,
    /// The argument `l_` of the tool.
    l_: L,
    /// The argument `m_` of the tool.
    m_: M,
    /// The argument `n_` of the tool.
    n_: N,
) -> Vec<H> {
    drop((i_, j_, k_, l_, m_, n_,));
    vec![h_]
}

/// The tool `take_o` of this test.
#[tool]
fn take_o(
    /// The argument `o_` of the tool.
    o_: O,
    /// The argument `p_` of the tool.
    p_: P,
    /// The argument `q_` of the tool.
    q_: Q,
    /// The argument `r_` of the tool.
    r_: R,
    /// The argument `s_` of the tool.
    s_: S,
    /// The argument `t_` of the tool.
    t_: T,
    /// The argument `u_` of the tool.
    u_: U,
) -> Vec<O> {
    drop((p_, q_, r_, s_, t_, u_,));
    vec![o_]
}

/// The tool `take_v` of this test.
#[tool]
fn take_v(
    /// The argument `v_` of the tool.
    v_: V,
    /// The argument `w_` of the tool.
    w_: W,
    /// The argument `x_` of the tool.
    x_: X,
    /// The argument `y_` of the tool.
    y_: Y,
    /// The argument `z_` of the tool.
    z_: Z,
) -> Vec<V> {
    drop((w_, x_, y_, z_,));
    vec![v_]
}

/// Takes a record as all of its arguments.
#[tool]
async fn whole_a(#[args] all: A, caller: &ToolContext) -> Result<A, ToolError> {
    let _ = caller.user();
    Ok(all)
}

/// Takes a record as all of its arguments.
#[tool]
async fn whole_d(#[args] all: D, caller: &ToolContext) -> Result<D, ToolError> {
    let _ = caller.user();
    Ok(all)
}

/// Takes a record as all of its arguments.
#[tool]
async fn whole_s(#[args] all: S, caller: &ToolContext) -> Result<S, ToolError> {
    let _ = caller.user();
    Ok(all)
}

/// Takes a record as all of its arguments.
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
