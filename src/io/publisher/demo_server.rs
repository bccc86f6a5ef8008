//! Serves the demo's site on the loopback address.

use std::io;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::server::{Publisher, PublisherAnswer, PublisherRequest};
use crate::demo::{DemoRequest, DemoSite};

/// A running server for the demo site, which ends when this is dropped.
#[derive(Debug)]
pub struct DemoServer {
    pub publisher: Publisher,
    pub site: Arc<DemoSite>,
}

impl DemoServer {
    /// Starts the server. `clock` is called for every request and returns the time at which the site responds.
    pub async fn start(
        clock: impl Fn() -> DateTime<Utc> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let publisher = Publisher::bind().await?;
        let site = Arc::new(DemoSite::new(publisher.base_url(), clock()));
        let answering = Arc::clone(&site);
        let publisher = publisher.serve(move |request| answer(&answering, &request, clock()));
        Ok(Self { publisher, site })
    }
}

fn answer(site: &DemoSite, request: &PublisherRequest, now: DateTime<Utc>) -> PublisherAnswer {
    if !matches!(request.method.as_str(), "GET" | "HEAD") {
        let headers = vec![("allow".to_owned(), "GET, HEAD".to_owned())];
        return PublisherAnswer { status: 405, headers, body: Vec::new() };
    }
    let asked = DemoRequest {
        path: request.path(),
        query: request.query(),
        if_none_match: request.header("if-none-match"),
        if_modified_since: request.header("if-modified-since"),
        accept_encoding: request.header("accept-encoding"),
        a_im: request.header("a-im"),
    };
    let answer = site.answer(&asked, now);
    PublisherAnswer { status: answer.status, headers: answer.headers, body: answer.body }
}

#[cfg(test)]
mod tests {
    use crate::io::publisher::demo_server::*;
    use chrono::TimeZone as _;

    #[test]
    fn demo_site_gets_headers_and_query_of_get_and_head() {
        let started = Utc.with_ymd_and_hms(2026, 3, 2, 10, 0, 0).unwrap();
        let site = DemoSite::new("http://127.0.0.1:80", started);
        for (method, path_and_query, tag, status) in [
            ("GET", "/desk/feed.xml", "", 200),
            ("HEAD", "/desk/feed.xml", "", 200),
            ("GET", "/desk/feed.xml", "\"desk-0\"", 304),
            ("GET", "/finds/feed.json?page=3", "", 200),
            ("GET", "/finds/feed.json?page=4", "", 404),
            ("POST", "/desk/feed.xml", "", 405),
        ] {
            let request = PublisherRequest {
                method: method.to_owned(),
                path_and_query: path_and_query.to_owned(),
                headers: vec![("if-none-match".to_owned(), tag.to_owned())],
            };
            let answer = answer(&site, &request, started);
            assert_eq!(answer.status, status, "{method} {path_and_query} {tag}");
        }
    }
}
