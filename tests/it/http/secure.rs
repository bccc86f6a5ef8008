//! TLS connections: they are trusted or refused with a reason, and never replaced by insecure connections (SPEC D.2, D.3).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use backissue::engine::poll::fetch::{FetchFailure, FetchRequest};
use backissue::engine::settings::NetworkSettings;
use backissue::io::http::{ClientEnvironment, Http, Limits};
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use super::{document, fetch_in, here, in_public, request, roomy, settings};
use crate::support::broken_server::{BrokenServer, Then};
use crate::support::documents::rss;

const AUTHORITY: &[u8] = include_bytes!("../fixtures/tls/authority.pem");
const GOOD: &[u8] = include_bytes!("../fixtures/tls/good.pem");
const EXPIRED: &[u8] = include_bytes!("../fixtures/tls/expired.pem");
const EARLY: &[u8] = include_bytes!("../fixtures/tls/early.pem");
const OTHER_NAME: &[u8] = include_bytes!("../fixtures/tls/other_name.pem");
const KEY: &[u8] = include_bytes!("../fixtures/tls/server.key");

/// A TLS server that sends the same answer to every request; it stops when dropped.
struct SecureServer {
    port: u16,
    serving: JoinHandle<()>,
}

impl SecureServer {
    async fn start(certificate: &[u8], answer: String) -> Self {
        rustls::crypto::ring::default_provider().install_default().ok();
        let chain = vec![CertificateDer::from_pem_slice(certificate).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
        let config = rustls::ServerConfig::builder().with_no_client_auth();
        // `KEY` need not belong to the certificate: clients refuse a bad certificate before they check the key.
        let key = rustls::crypto::ring::sign::any_supported_type(&key).unwrap();
        let shown = SingleCertAndKey::from(CertifiedKey::new(chain, key));
        let acceptor = TlsAcceptor::from(Arc::new(config.with_cert_resolver(Arc::new(shown))));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let mut asked = [0; 4096];
                if stream.read(&mut asked).await.is_ok() {
                    stream.write_all(answer.as_bytes()).await.ok();
                    stream.shutdown().await.ok();
                }
            }
        });
        Self { port, serving }
    }

    fn at(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }
}

impl Drop for SecureServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn feed() -> String {
    let body = rss("T", "e", 2);
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Returns the environment `around` with the tests' certificate authority as the only trusted one.
fn trusting(around: ClientEnvironment) -> ClientEnvironment {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(AUTHORITY).unwrap()).unwrap();
    ClientEnvironment { roots: Some(Arc::new(roots)), ..around }
}

#[tokio::test]
async fn a_trusted_server_is_read() {
    let server = SecureServer::start(GOOD, feed()).await;
    let around = trusting(here());
    let answer = fetch_in(&around, &settings(), roomy(), request(&server.at("/f"))).await;
    assert_eq!(document(&answer.result.unwrap()).entries.len(), 2);
}

/// SPEC D.2: each kind of certificate error has a message of its own, and the connection is always refused.
#[tokio::test]
async fn certificate_errors_are_distinguished() {
    for (certificate, sentence) in [
        (EXPIRED, "no secure connection: the server's certificate has expired"),
        (
            EARLY,
            "no secure connection: the server's certificate is not valid yet; is the clock of this computer right?",
        ),
        (OTHER_NAME, "no secure connection: the server's certificate is for another name"),
        // A self-signed certificate that may also sign other certificates; server owners often create such certificates.
        (
            AUTHORITY,
            "no secure connection: the server's certificate is self-signed; to trust it, name its PEM file in [network] extra_roots",
        ),
    ] {
        let server = SecureServer::start(certificate, feed()).await;
        let around = trusting(here());
        let fetched = fetch_in(&around, &settings(), roomy(), request(&server.at("/f"))).await;
        assert_eq!(fetched.result.unwrap_err().to_string(), sentence);
    }
    let server = SecureServer::start(GOOD, feed()).await;
    let around = ClientEnvironment { roots: None, ..here() };
    let fetched = fetch_in(&around, &settings(), roomy(), request(&server.at("/f"))).await;
    assert_eq!(
        fetched.result.unwrap_err().to_string(),
        "no secure connection: the server's certificate comes from an issuer that this computer does not trust; to trust it, name its PEM file in [network] extra_roots"
    );
}

fn trusting_files(files: &[&str]) -> NetworkSettings {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/tls");
    let extra_roots = files.iter().map(|file| folder.join(file)).collect();
    NetworkSettings { extra_roots, ..settings() }
}

/// A certificate in the configuration is trusted for the names in it, no matter who signed it.
#[tokio::test]
async fn configured_certificates_are_trusted() {
    let around = ClientEnvironment { roots: None, ..here() };
    for (certificate, named, trusted) in [
        (GOOD, &["authority.pem"][..], true),
        (GOOD, &["good.pem"], true),
        (GOOD, &["other_name.pem"], false),
        (OTHER_NAME, &["other_name.pem", "good.pem"], false),
    ] {
        let server = SecureServer::start(certificate, feed()).await;
        let asked = request(&server.at("/f"));
        let fetched = fetch_in(&around, &trusting_files(named), roomy(), asked).await;
        assert_eq!(fetched.result.is_ok(), trusted, "{named:?}: {:?}", fetched.result);
    }
}

#[test]
fn file_without_a_certificate_is_named() {
    for (file, why) in [("server.key", "no certificate"), ("nothing.pem", "there is no such file")]
    {
        let told = Http::new(&trusting_files(&[file]), Limits::default()).unwrap_err();
        assert!(told.contains(file) && told.contains(why), "{told}");
    }
}

/// SPEC D.3: a redirect from https to http is followed only if the user allows it for the feed.
#[tokio::test]
async fn https_to_http_redirect_needs_permission() {
    let plain = BrokenServer::start(feed(), Then::Close);
    let plain = plain.await;
    let to = plain.at("/f");
    let moved = format!("HTTP/1.1 301 X\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
    let document = format!("<redirect><newLocation>{to}</newLocation></redirect>");
    let by_document =
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{document}", document.len());
    for answer in [moved, by_document] {
        let server = SecureServer::start(GOOD, answer).await;
        let around = trusting(in_public());
        let asked = request(&server.at("/f"));
        let fetched = fetch_in(&around, &settings(), roomy(), asked.clone()).await;
        assert_eq!(fetched.result, Err(FetchFailure::Insecure { to: to.clone() }));
        assert_eq!(fetched.hops, []);
        let allowed = FetchRequest { allow_insecure: true, ..asked };
        let fetched = fetch_in(&around, &settings(), roomy(), allowed).await;
        assert_eq!(fetched.result.unwrap().url, to);
    }
}

/// G.28: redirects from http to https and back to http end as a loop.
#[tokio::test]
async fn a_loop_between_http_and_https_ends() {
    let bound = backissue::io::http_server::HttpServer::bind().await.unwrap();
    let plain = format!("{}/f", bound.base_url());
    let back = format!("HTTP/1.1 301 X\r\nLocation: {plain}\r\nContent-Length: 0\r\n\r\n");
    let server = SecureServer::start(GOOD, back).await;
    let there = server.at("/f");
    let publisher =
        bound.serve(move |_| crate::support::site::answer(301, &[("location", &there)], ""));
    let around = trusting(in_public());
    for (allow_insecure, expected) in [
        (false, FetchFailure::Insecure { to: plain.clone() }),
        (true, FetchFailure::Redirect(format!("it leads back to {plain}"))),
    ] {
        let asked = FetchRequest { allow_insecure, ..request(&plain) };
        let fetched = fetch_in(&around, &settings(), roomy(), asked).await;
        assert_eq!(fetched.result, Err(expected));
    }
    assert_eq!(publisher.requests().len(), 2);
}

/// Serves requests by HTTP/2, or by HTTP/1.1 if the client does not offer HTTP/2. `answer` returns the error of a stream, by its
/// place among those of all connections; `None` means a feed. Returns the port, and what each request was answered with.
async fn two_protocols(
    answer: impl Fn(usize) -> Option<h2::Reason> + Copy + Send + 'static,
) -> (u16, UnboundedReceiver<&'static str>) {
    rustls::crypto::ring::default_provider().install_default().ok();
    let chain = vec![CertificateDer::from_pem_slice(GOOD).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
    let config = rustls::ServerConfig::builder().with_no_client_auth();
    let mut config = config.with_single_cert(chain, key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, answered) = unbounded_channel();
    let streams = Arc::new(AtomicUsize::new(0));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (sender, streams) = (sender.clone(), Arc::clone(&streams));
            let mut stream = acceptor.accept(stream).await.unwrap();
            tokio::spawn(async move {
                if stream.get_ref().1.alpn_protocol() != Some(b"h2".as_slice()) {
                    assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
                    stream.write_all(feed().as_bytes()).await.unwrap();
                    sender.send("feed by HTTP/1.1").unwrap();
                    return;
                }
                if answer(streams.load(Ordering::Relaxed)) == Some(h2::Reason::NO_ERROR) {
                    // SETTINGS, and a GOAWAY that says that no stream was processed.
                    streams.fetch_add(1, Ordering::Relaxed);
                    sender.send("error").unwrap();
                    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
                    let away = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
                    stream.write_all(&[&settings[..], &away].concat()).await.unwrap();
                    while stream.read(&mut [0; 4096]).await.is_ok_and(|length| length > 0) {}
                    return;
                }
                let mut connection = h2::server::handshake(stream).await.unwrap();
                while let Some(Ok((_, mut respond))) = connection.accept().await {
                    let Some(reason) = answer(streams.fetch_add(1, Ordering::Relaxed)) else {
                        let head = hyper::http::Response::new(());
                        let mut body = respond.send_response(head, false).unwrap();
                        body.send_data(rss("T", "e", 2).into(), true).unwrap();
                        sender.send("feed").unwrap();
                        continue;
                    };
                    sender.send("error").unwrap();
                    respond.send_reset(reason);
                }
            });
        }
    });
    (port, answered)
}

/// SPEC D.2: a GET that the server did not process is sent once more, over HTTP/1.1 if the server requires that.
#[tokio::test]
async fn refused_stream_is_requested_once_more() {
    let refused = Err("the server takes no requests at the moment");
    let broken = Err("the server ended the HTTP/2 exchange with an error (INTERNAL_ERROR)");
    for (reason, errors, answers, result) in [
        (h2::Reason::REFUSED_STREAM, 1, vec!["error", "feed"], Ok(())),
        (h2::Reason::NO_ERROR, 1, vec!["error", "feed"], Ok(())),
        (h2::Reason::HTTP_1_1_REQUIRED, 9, vec!["error", "feed by HTTP/1.1"], Ok(())),
        (h2::Reason::REFUSED_STREAM, 9, vec!["error", "error"], refused),
        (h2::Reason::INTERNAL_ERROR, 9, vec!["error"], broken),
    ] {
        let (port, mut answered) =
            two_protocols(move |place| (place < errors).then_some(reason)).await;
        let asked = request(&format!("https://localhost:{port}/f"));
        let fetched = fetch_in(&trusting(here()), &settings(), roomy(), asked).await;
        let found = fetched.result.map(drop).map_err(|failure| failure.to_string());
        assert_eq!(found.as_ref().map(|&()| ()).map_err(String::as_str), result, "{reason:?}");
        let mut answers_seen = Vec::new();
        while let Ok(one) = answered.try_recv() {
            answers_seen.push(one);
        }
        assert_eq!(answers_seen, answers, "{reason:?}");
    }
}

/// SPEC D.2: a server with old ciphers differs from one with an old version of TLS.
#[tokio::test]
async fn old_ciphers_and_old_versions_are_told_apart() {
    for (alert, sentence) in [
        (40, "no secure connection: the server offers only ciphers that are too old to be safe"),
        (
            70,
            "no secure connection: the server supports only TLS versions that are too old to be safe",
        ),
    ] {
        let alert = vec![21, 3, 3, 0, 2, 2, alert];
        let server = BrokenServer::start(alert, Then::Wait).await;
        let asked = request(&format!("https://localhost:{}/f", server.port()));
        let fetched = fetch_in(&trusting(here()), &settings(), roomy(), asked).await;
        assert_eq!(fetched.result.unwrap_err().to_string(), sentence);
    }
}

/// The client offers HTTP/2 as its first choice in the TLS handshake, and HTTP/1.1 as the second.
#[tokio::test]
async fn http_2_is_offered() {
    rustls::crypto::ring::default_provider().install_default().ok();
    let chain = vec![CertificateDer::from_pem_slice(GOOD).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
    let config = rustls::ServerConfig::builder().with_no_client_auth();
    let mut config = config.with_single_cert(chain, key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let stream = acceptor.accept(stream).await.unwrap();
        stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec)
    });
    let asked = request(&format!("https://localhost:{port}/"));
    fetch_in(&trusting(here()), &settings(), super::SMALL, asked).await.result.unwrap_err();
    assert_eq!(serving.await.unwrap().as_deref(), Some(b"h2".as_slice()));
}
