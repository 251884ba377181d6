//! Types of `schema::dialect` until they land there; nothing else may live here.
#![allow(missing_docs, unreachable_pub, reason = "stand-ins")]

pub mod args {
    //! Stand-in for the guard.
    use std::borrow::Cow;

    use crate::Issue;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    pub enum Repair {
        Off,
        #[default]
        Safe,
    }
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RepairNote {
        pub pointer: String,
        pub what: String,
    }
    pub(crate) struct Admitted<'a> {
        pub(crate) text: Cow<'a, str>,
        pub(crate) repairs: Vec<RepairNote>,
    }
    pub(crate) fn admit<'a>(_: &crate::schema::Schema, text: &'a str, _: Repair) -> Result<Admitted<'a>, Vec<Issue>> {
        Ok(Admitted { text: Cow::Borrowed(text), repairs: Vec::new() })
    }
}
