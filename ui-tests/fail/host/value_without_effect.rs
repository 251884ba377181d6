#[derive(Clone)]
pub struct Db;

tool_core::host_value!(Db);

fn main() {}
