//! The HTTP client against real sockets.

mod asking;
mod bodies;
mod failing;
mod redirects;

use std::time::Duration;

use backissue::app::fetching::{Answer, AnswerBody, FetchId, Fetched, Request};
use backissue::app::settings::Settings;
use backissue::app::subscription::Validators;
use backissue::feed::FeedDocument;
use backissue::io::body::BodyLimits;
use backissue::io::http::{Http, Limits};

/// Limits a test can wait for.
const SMALL: Limits = Limits {
    connect: Duration::from_secs(5),
    idle: Duration::from_millis(250),
    total: Duration::from_millis(400),
    redirects_max: 8,
    body: BodyLimits { wire_max: 64 * 1024, body_max: 256 * 1024, ratio_max: 200 },
};

/// Limits that no test should meet.
fn roomy() -> Limits {
    Limits::default()
}

fn request(url: &str) -> Request {
    Request::typed(FetchId(1), url.into())
}

fn conditional(url: &str, etag: Option<&[u8]>, last_modified: Option<&[u8]>) -> Request {
    let bytes = |value: Option<&[u8]>| value.map(<[u8]>::to_vec);
    let validators =
        Validators { url: url.into(), etag: bytes(etag), last_modified: bytes(last_modified) };
    Request { validators: Some(validators), ..request(url) }
}

/// One fetch; it has to end by itself.
async fn fetch(limits: Limits, request: Request) -> Fetched {
    let http = Http::new(&Settings::default().network, limits).unwrap();
    tokio::time::timeout(Duration::from_secs(20), http.fetch(request)).await.expect("it ends")
}

async fn answered(limits: Limits, request: Request) -> Answer {
    fetch(limits, request).await.result.unwrap()
}

fn document(answer: &Answer) -> &FeedDocument {
    match &answer.body {
        AnswerBody::Document(document) => document,
        other => panic!("no document: {other:?}"),
    }
}
