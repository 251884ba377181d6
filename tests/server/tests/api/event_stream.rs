//! A client of a stream of server-sent events.

use std::time::Duration;

use reqwest::Response;
use server_tests::Site;
use tokio::time::timeout;

/// An event with its fields.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) data: String,
}

pub(crate) struct EventStream {
    pub(crate) response: Response,
    text: String,
}

impl EventStream {
    pub(crate) fn new(response: Response) -> Self {
        let text = String::new();
        Self { response, text }
    }

    pub(crate) async fn open(site: &Site, path: &str, token: &str, last: Option<&str>) -> Self {
        let mut request = site
            .client
            .get(format!("http://{}{path}", site.address))
            .header("authorization", format!("Bearer {token}"));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self::new(response)
    }

    /// Waits for the next event.
    pub(crate) async fn next(&mut self) -> Block {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let mut lines = block.lines();
                    let value = lines.find_map(|line| line.strip_prefix(name));
                    value.map(|value| value.trim_start_matches(": ").to_owned())
                };
                let read = field("event").map(|name| Block {
                    name,
                    id: field("id").unwrap(),
                    data: field("data").unwrap(),
                });
                self.text = rest.into();
                match read {
                    Some(read) => return read,
                    None => continue,
                }
            }
            let more = timeout(Duration::from_secs(20), self.response.chunk()).await;
            let more = more.unwrap().unwrap().unwrap();
            self.text.push_str(std::str::from_utf8(&more).unwrap());
        }
    }
}
