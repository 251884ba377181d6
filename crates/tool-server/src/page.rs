//! Pages of lists: limits and opaque cursors.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tool_core::store::{CallKey, Timestamp, Workspace};
use utoipa::{IntoParams, ToSchema};

use crate::problem::{Kind, Problem};

/// The number of items on a page without `limit`, and the maximum of `limit`.
pub(crate) const MOST: u32 = 100;

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Page<T> {
    /// The items of the page.
    pub(crate) items: Vec<T>,
    /// The `cursor` of the next page; null on the last page.
    pub(crate) next: Option<String>,
}

/// The parameters of a list that has no filters.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Paged {
    /// The maximum number of items on the page.
    #[param(minimum = 1, maximum = 100, default = 100)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    cursor: Option<String>,
}

impl Paged {
    pub(crate) fn paging<P: Serialize + DeserializeOwned>(&self) -> Result<Paging<P>, Problem> {
        Paging::new(self.limit, self.cursor.as_deref())
    }
}

/// The `limit` and the `cursor` of a request.
#[derive(Clone, Debug)]
pub(crate) struct Paging<P> {
    limit: u32,
    /// The sort key of the last item of the previous page.
    pub(crate) after: Option<P>,
}

impl<P: Serialize + DeserializeOwned> Paging<P> {
    pub(crate) fn new(limit: Option<u32>, cursor: Option<&str>) -> Result<Self, Problem> {
        let limit = limit.unwrap_or(MOST);
        if !(1..=MOST).contains(&limit) {
            return Err(Problem::new(
                Kind::BadRequest,
                format!("`limit` is {limit}, write a number from 1 to {MOST}"),
            ));
        }
        let after = cursor.map(read).transpose()?;
        Ok(Self { limit, after })
    }

    /// Returns the number of rows to read: one more than `limit`, which shows whether a next page exists.
    pub(crate) fn rows(&self) -> u32 {
        self.limit + 1
    }

    /// Creates a page from rows. If more than `limit` rows were read, it omits the extra row and sets `next`.
    pub(crate) fn page<R, T>(
        &self,
        mut rows: Vec<R>,
        place: impl Fn(&R) -> P,
        item: impl Fn(R) -> T,
    ) -> Page<T> {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| more).map(|last| write(&place(last)));
        Page {
            items: rows.into_iter().map(item).collect(),
            next,
        }
    }
}

impl Paging<String> {
    /// Returns whether a row follows the previous page, for a list whose rows are all read and sorted by this name.
    pub(crate) fn is_later(&self, name: &str) -> bool {
        self.after.as_deref().is_none_or(|after| name > after)
    }
}

fn write(place: &impl Serialize) -> String {
    // Sort keys consist of numbers and texts, which always serialize.
    BASE64.encode(serde_json::to_vec(place).unwrap_or_default())
}

fn read<P: DeserializeOwned>(cursor: &str) -> Result<P, Problem> {
    let bytes = BASE64.decode(cursor).ok();
    let place = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    place.ok_or_else(|| {
        Problem::new(
            Kind::BadRequest,
            "`cursor` is not the `next` of a page of this list, leave it out to read the first page",
        )
    })
}

/// The sort key of a row: its time and its id.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AtId(i64, String);

impl AtId {
    pub(crate) fn new(at: Timestamp, id: impl Into<String>) -> Self {
        Self(at.as_millis(), id.into())
    }

    /// Returns the time and the id.
    pub(crate) fn place(&self) -> (Timestamp, String) {
        (Timestamp::from_millis(self.0), self.1.clone())
    }

    /// Returns the time and the id as the key of a call.
    pub(crate) fn place_of_call(&self, workspace: &Workspace) -> (Timestamp, CallKey) {
        let (at, key) = self.place();
        (at, CallKey::new(workspace, key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_of_a_page_is_read_back() {
        let paging = Paging::<AtId>::new(Some(2), None).unwrap();
        let page = paging.page(vec![1, 2, 3], |row| AtId(*row, "é".to_owned()), |row| row);
        assert_eq!(page.items, [1, 2]);
        let next = Paging::<AtId>::new(None, page.next.as_deref()).unwrap();
        let AtId(at, id) = next.after.unwrap();
        assert_eq!((at, id.as_str()), (2, "é"));
        let last = paging.page(vec![1, 2], |row| AtId(*row, String::new()), |row| row);
        assert_eq!(last.next, None);
    }

    #[test]
    fn limits_and_cursors_that_cannot_be_used_are_refused() {
        assert!(Paging::<AtId>::new(Some(0), None).is_err());
        assert!(Paging::<AtId>::new(Some(101), None).is_err());
        assert!(Paging::<AtId>::new(None, Some("%%")).is_err());
        assert!(Paging::<AtId>::new(None, Some("e30")).is_err());
    }
}
