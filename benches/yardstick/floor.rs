//! The floor: the same fetches and parses without a feed reader, done with reqwest, flate2 and feed-rs in a separate process.

use std::io::Read as _;
use std::process::{Command, ExitCode};

use flate2::read::GzDecoder;
use futures_util::{StreamExt as _, stream};
use reqwest::header::{ACCEPT_ENCODING, IF_NONE_MATCH};
use reqwest::{Client, StatusCode};

use super::Extent;
use super::publisher::{self, etag};
use super::usage::{Used, run as run_to_end};

/// Maximum number of concurrent requests: the program's default.
const PARALLEL: usize = 32;

/// Measures a separate process that fetches and parses every feed once. `known` is the edition whose `ETag` is sent with each
/// request; `None` sends no `ETag`.
pub(crate) fn measure(
    extent: Extent,
    publisher: &publisher::Child,
    entries: u32,
    known: Option<u32>,
) -> Used {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg("floor").arg(publisher.base(entries)).arg(extent.feeds.to_string());
    command.args(known.map(|known| known.to_string()));
    run_to_end(&mut command)
}

/// Fetches and parses every feed once. This is the main function of the separate process.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let (base, feeds) = (arguments[0].clone(), arguments[1].parse::<u32>().unwrap());
    let known: Option<u32> = arguments.get(2).map(|known| known.parse().unwrap());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.unwrap();
    rustls::crypto::ring::default_provider().install_default().unwrap();
    let tls = rustls::ClientConfig::builder()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let client = Client::builder().no_proxy().tls_backend_preconfigured(tls).build().unwrap();
    let entries: usize = runtime.block_on(async {
        let fetches = stream::iter(1..=feeds).map(|feed| {
            let (client, address) = (client.clone(), format!("{base}/{feed}"));
            async move { tokio::spawn(fetch(client, address, feed, known)).await.unwrap() }
        });
        fetches.buffer_unordered(PARALLEL).fold(0, async |sum, entries| sum + entries).await
    });
    assert!(known.is_some() || entries > 0, "nothing was read");
    ExitCode::SUCCESS
}

async fn fetch(client: Client, address: String, feed: u32, known: Option<u32>) -> usize {
    let mut request = client.get(address).header(ACCEPT_ENCODING, "gzip");
    if let Some(known) = known {
        request = request.header(IF_NONE_MATCH, etag(feed, known));
    }
    let response = request.send().await.unwrap();
    if response.status() == StatusCode::NOT_MODIFIED {
        return 0;
    }
    let compressed = response.error_for_status().unwrap().bytes().await.unwrap();
    let mut document = Vec::new();
    GzDecoder::new(compressed.as_ref()).read_to_end(&mut document).unwrap();
    feed_rs::parser::parse(document.as_slice()).unwrap().entries.len()
}
