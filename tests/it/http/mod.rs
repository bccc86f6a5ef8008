//! Tests of the HTTP client with real sockets.

mod addresses;
mod bodies;
mod credentials;
mod failing;
mod inward;
mod origins;
mod proxies;
mod redirect_documents;
mod redirects;
mod requests;
mod secure;

use std::sync::Arc;
use std::time::Duration;

use backissue::engine::poll::fetch::{
    AnswerBody, FetchId, FetchRequest, Fetched, ServerAnswer, Validators,
};
use backissue::engine::settings::{NetworkSettings, Settings};
use backissue::io::http::address_guard::AddressClass;
use backissue::io::http::body::BodyLimits;
use backissue::io::http::{ClientEnvironment, Http, Limits};
use backissue_core::feed::FeedDocument;
use hyper_util::client::proxy::matcher::Matcher;

/// Limits so low that a test can exceed them quickly.
const SMALL: Limits = Limits {
    connect: Duration::from_secs(5),
    idle: Duration::from_millis(250),
    total: Duration::from_millis(400),
    redirects_max: 8,
    redirect_documents_max: 2,
    redirect_wait_max: Duration::from_secs(5),
    body: BodyLimits { wire_max: 64 * 1024, body_max: 256 * 1024, ratio_max: 200 },
};

/// Returns the default limits, which no test should exceed.
fn roomy() -> Limits {
    Limits::default()
}

fn request(url: &str) -> FetchRequest {
    FetchRequest::typed(FetchId(1), url.into())
}

fn conditional(url: &str, etag: Option<&[u8]>, last_modified: Option<&[u8]>) -> FetchRequest {
    let bytes = |value: Option<&[u8]>| value.map(<[u8]>::to_vec);
    let validators =
        Validators { url: url.into(), etag: bytes(etag), last_modified: bytes(last_modified) };
    FetchRequest { validators: Some(validators), ..request(url) }
}

/// Returns the client environment of this machine, without its proxies and trusted certificates.
fn here() -> ClientEnvironment {
    ClientEnvironment {
        proxies: Arc::new(Matcher::builder().build()),
        proxy_variables: Vec::new(),
        no_proxy: String::new(),
        roots: Some(Arc::new(rustls::RootCertStore::empty())),
        ..ClientEnvironment::real()
    }
}

/// Returns an environment that classifies all addresses as public, so that documents from one local server may link to another.
fn in_public() -> ClientEnvironment {
    ClientEnvironment { classify: |_| AddressClass::Public, ..here() }
}

fn settings() -> NetworkSettings {
    Settings::default().network
}

/// Fetches with a new client. The fetch must end because of `limits`, because the test's own timeout is much longer.
async fn fetch(limits: Limits, request: FetchRequest) -> Fetched {
    fetch_in(&here(), &settings(), limits, request).await
}

async fn fetch_in(
    around: &ClientEnvironment,
    settings: &NetworkSettings,
    limits: Limits,
    request: FetchRequest,
) -> Fetched {
    let http = Http::within(settings, limits, around).unwrap();
    tokio::time::timeout(Duration::from_secs(20), http.fetch(request)).await.expect("it ends")
}

async fn answered(limits: Limits, request: FetchRequest) -> ServerAnswer {
    fetch(limits, request).await.result.unwrap()
}

fn document(answer: &ServerAnswer) -> &FeedDocument {
    match &answer.body {
        AnswerBody::Document(document) => document,
        other => panic!("no document: {other:?}"),
    }
}
