//! Settings of a [`Code`](crate::Code), which all of its runs share.

use tool_isolate::Isolation;

use crate::handle::Runs;
use crate::limits::Limits;

pub(crate) struct Setup {
    pub(crate) isolation: Isolation,
    pub(crate) limits: Limits,
    pub(crate) modules: Vec<(String, String)>,
    pub(crate) waiting: bool,
    pub(crate) inline: usize,
    pub(crate) runs: Runs,
}
