use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// The field `the_smallest_number_of_stars_that_a_repository_in_the_answer_may_have_had` of `Query`.
    pub the_smallest_number_of_stars_that_a_repository_in_the_answer_may_have_had: u8,
}

fn main() {}
