//! Response bodies: their encodings and sizes, and the kind of content detected in them (SPEC D.1, D.8).

use std::io::Write as _;

use backissue::engine::poll::fetch::{AnswerBody, FetchFailure, Fetched, ServerAnswer};
use backissue::io::http::Limits;
use backissue::io::http::body::BodyLimits;
use backissue::io::http_server::{HttpServer, ServedAnswer};
use backissue_core::feed::Kind;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use super::{SMALL, document, fetch, request, roomy};
use crate::support::broken_server::{BrokenServer, Then};
use crate::support::documents::{garbage, page, rss};
use crate::support::site::answer;

async fn fetched(limits: Limits, answer: ServedAnswer) -> Fetched {
    let publisher = HttpServer::start(move |_| answer.clone()).await.unwrap();
    fetch(limits, request(&format!("{}/f", publisher.base_url()))).await
}

async fn read(headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> ServerAnswer {
    fetched(roomy(), answer(200, headers, body)).await.result.unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bare_deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn brotli(bytes: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    brotli::CompressorWriter::new(&mut encoded, 4096, 5, 20).write_all(bytes).unwrap();
    encoded
}

#[tokio::test]
async fn every_accepted_encoding_is_read() {
    let text = rss("T", "e", 40).into_bytes();
    for (encoding, body) in [
        ("gzip", gzip(&text)),
        ("x-gzip", gzip(&text)),
        ("deflate", zlib(&text)),
        ("deflate", bare_deflate(&text)),
        ("br", brotli(&text)),
        ("identity", text.clone()),
    ] {
        let sent = body.len() as u64;
        let fetched = fetched(roomy(), answer(200, &[("content-encoding", encoding)], body)).await;
        assert_eq!(fetched.wire_bytes, sent, "{encoding}: bytes over the wire");
        assert_eq!(document(&fetched.result.unwrap()).entries.len(), 40, "{encoding}");
    }
}

#[tokio::test]
async fn unannounced_gzip_body_is_read() {
    assert_eq!(document(&read(&[], gzip(rss("T", "e", 2).as_bytes())).await).entries.len(), 2);
}

#[tokio::test]
async fn unknown_encoding_does_not_hide_a_document() {
    for encoding in ["aws-chunked", "UTF-8", "none", "binary", "7bit", "identity, utf-8", "zstd"] {
        let headers = [("content-encoding", encoding)];
        assert_eq!(
            document(&read(&headers, rss("T", "e", 2)).await).entries.len(),
            2,
            "{encoding}"
        );
        let page = read(&headers, page("Home", &[])).await.body;
        assert!(matches!(page, AnswerBody::Page { .. }), "{encoding}: {page:?}");
    }
    let zipped = gzip(rss("T", "e", 2).as_bytes());
    let answer = read(&[("content-encoding", "aws-chunked, gzip")], zipped).await;
    assert_eq!(document(&answer).entries.len(), 2);
}

#[tokio::test]
async fn unrequested_encoding_of_an_unreadable_body_is_named() {
    for (encoding, media_type) in [
        ("zstd", "text/xml"),
        ("compress", "text/html"),
        ("dcb", ""),
        ("none", "application/rss+xml"),
    ] {
        let headers = [("content-encoding", encoding), ("content-type", media_type)];
        let sent = answer(200, &headers, garbage());
        let why = fetched(roomy(), sent).await.result.unwrap_err();
        assert!(matches!(&why, FetchFailure::Encoding(why) if why.contains(encoding)), "{why:?}");
    }
    let twice = answer(200, &[("content-encoding", "gzip, br")], "x");
    let refused = fetched(roomy(), twice).await.result;
    assert!(matches!(refused, Err(FetchFailure::Encoding(_))), "{refused:?}");
}

#[tokio::test]
async fn body_decides_the_kind_over_its_content_type() {
    for media_type in ["text/html", "application/octet-stream", "image/png", ""] {
        let answer = read(&[("content-type", media_type)], rss("T", "e", 2)).await;
        assert_eq!(document(&answer).kind, Kind::Rss, "{media_type}");
    }
}

#[tokio::test]
async fn page_is_reported_with_its_feeds() {
    let feeds = [("News", "/news.xml"), ("Comments", "comments.xml")];
    let body = read(&[("content-type", "text/html")], page("Home & away", &feeds)).await.body;
    let AnswerBody::Page { title, candidates, .. } = body else { panic!("{body:?}") };
    assert_eq!(title.as_deref(), Some("Home & away"));
    let paths: Vec<&str> =
        candidates.iter().map(|one| one.url.splitn(4, '/').nth(3).unwrap()).collect();
    assert_eq!(paths, ["news.xml", "comments.xml"]);
    assert_eq!(candidates[0].title.as_deref(), Some("News"));
}

#[tokio::test]
async fn random_bytes_are_no_feed() {
    for (media_type, body) in [
        ("application/rss+xml", garbage()),
        ("application/octet-stream", vec![0; 5000]),
        ("text/xml", b"<rss version=".to_vec()),
        ("application/json", b"{\"a\": [".to_vec()),
        ("text/plain", b"hello".to_vec()),
    ] {
        let answer = read(&[("content-type", media_type)], body).await;
        let read = document(&answer);
        assert_eq!(read.kind, Kind::None, "{media_type}");
        assert!(!read.flaws.is_empty(), "{media_type}: it says why");
    }
}

#[tokio::test]
async fn white_space_counts_as_empty() {
    for body in ["", " \r\n\t "] {
        assert_eq!(read(&[], body).await.body, AnswerBody::Empty);
    }
}

#[tokio::test]
async fn a_body_at_the_limit_is_read_and_one_byte_more_is_not() {
    let mut body = rss("T", "e", 2).into_bytes();
    body.resize(SMALL.body.wire_max, b' ');
    fetched(SMALL, answer(200, &[], body.clone())).await.result.unwrap();
    body.push(b' ');
    let refused = fetched(SMALL, answer(200, &[], body)).await;
    assert!(matches!(refused.result, Err(FetchFailure::TooLarge(_))), "{refused:?}");
    assert_eq!(refused.wire_bytes, 0, "the announcement is enough");
}

#[tokio::test]
async fn unannounced_oversized_body_is_abandoned() {
    let endless =
        [b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b' '; 4 * SMALL.body.wire_max]].concat();
    let server = BrokenServer::start(endless, Then::Close).await;
    let refused = fetch(SMALL, request(&server.at("/"))).await;
    assert_eq!(refused.result, Err(FetchFailure::TooLarge("more than 64 KiB".into())));
    assert!(refused.wire_bytes > SMALL.body.wire_max as u64);
}

#[tokio::test]
async fn compression_bomb_stops_at_the_body_size() {
    for (encoding, bomb) in [
        ("gzip", gzip(&vec![b' '; 2 << 20])),
        ("deflate", zlib(&vec![b' '; 2 << 20])),
        ("br", brotli(&vec![b' '; 2 << 20])),
    ] {
        let sent = answer(200, &[("content-encoding", encoding)], bomb);
        let refused = fetched(SMALL, sent).await.result;
        assert!(matches!(refused, Err(FetchFailure::TooLarge(_))), "{encoding}: {refused:?}");
    }
}

#[tokio::test]
async fn compression_bomb_stops_at_the_ratio() {
    let body = BodyLimits { ratio_max: 200, ..BodyLimits::default() };
    let bomb = answer(200, &[("content-encoding", "gzip")], gzip(&vec![b' '; 4 << 20]));
    let refused = fetched(Limits { body, ..roomy() }, bomb).await.result;
    let why = "the response is too large: it decompresses to more than 200 times its size";
    assert_eq!(refused.unwrap_err().to_string(), why);
}

#[tokio::test]
async fn truncated_body_is_reported() {
    let whole = rss("T", "e", 3);
    let short = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{whole}", whole.len() + 10);
    let chunked = format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{whole}\r\n",
        whole.len()
    );
    let within = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n{whole}");
    let zipped = gzip(whole.as_bytes());
    let half = [
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".to_vec(),
        zipped[..zipped.len() / 2].to_vec(),
    ]
    .concat();
    for bytes in [short.into_bytes(), chunked.into_bytes(), within.into_bytes(), half] {
        let server = BrokenServer::start(bytes.clone(), Then::Close).await;
        let cut = fetch(SMALL, request(&server.at("/"))).await.result;
        assert_eq!(cut, Err(FetchFailure::CutOff), "{}", bytes[..90].escape_ascii());
    }
}

#[tokio::test]
async fn missing_end_tags_are_a_flaw_only_at_full_length() {
    let text = rss("T", "e", 3);
    let text = text.trim_end().strip_suffix("</channel></rss>").unwrap().to_owned();
    for (head, is_whole) in
        [(format!("Content-Length: {}\r\n", text.len()), true), (String::new(), false)]
    {
        let bytes = format!("HTTP/1.1 200 OK\r\n{head}\r\n{text}").into_bytes();
        let server = BrokenServer::start(bytes, Then::Close).await;
        let answer = fetch(roomy(), request(&server.at("/"))).await.result.unwrap();
        let AnswerBody::Document(document) = answer.body else { panic!("a document") };
        assert_eq!((document.entries.len(), document.is_truncated()), (3, !is_whole));
    }
}
