//! Timeouts and size limits of a fetch (SPEC 0), and the failures that are shown to the user, converted from errors of the HTTP
//! library (SPEC D.2).

use std::error::Error;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use h2::Reason;
use hyper::http::Extensions;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpInfo;
use rustls::{AlertDescription, CertificateError, PeerIncompatible};
use url::Url;

use super::article::PAGE_BYTES_MAX;
use super::body::BodyLimits;
use crate::engine::entries::page_fetches::PICTURE_BYTES_MAX;
use crate::engine::poll::fetch::{CONNECTING, FetchFailure, RequestKind};
use crate::io::system::{is_out_of_files, one_line, system_words};

/// Hint at how to trust a certificate that the system does not know.
const TO_TRUST: &str = "to trust it, name its PEM file in [network] extra_roots";

/// Converts an error of the HTTP library to a failure. `through` is the host of the proxy, if the request used one.
pub(super) fn classify_error(
    error: &reqwest::Error,
    url: &Url,
    through: Option<&str>,
    limits: &Limits,
) -> FetchFailure {
    let host = url.host_str().unwrap_or_default();
    if error.is_timeout() {
        let (phase, limit) = if error.is_connect() {
            (CONNECTING, limits.connect)
        } else {
            ("waiting for data", limits.idle)
        };
        return FetchFailure::Timeout { phase, seconds: limit.as_secs() };
    }
    if let Some(tls) = find_error::<rustls::Error>(error) {
        return FetchFailure::Tls(tls_words(tls));
    }
    if error.is_dns() || message_chain(error).contains("dns error") {
        // With a `socks4` or `socks5` proxy, this machine resolves the host name of the site, so a failed lookup is not the
        // proxy's fault.
        let is_ours = message_chain(error).contains("resolving for socks proxy");
        let name = through.filter(|_| !is_ours).unwrap_or(host);
        return FetchFailure::Name(name.to_owned());
    }
    let io = io_kind(error);
    if error.is_connect() {
        let place = match through {
            Some(proxy) => format!("{host} through the proxy {proxy}"),
            None => host.to_owned(),
        };
        return no_connection(place, url, io);
    }
    if let Some(http) = find_error::<hyper::Error>(error) {
        if http.is_parse_too_large() {
            return FetchFailure::TooLarge("its headers".into());
        }
        if http.is_incomplete_message() {
            return FetchFailure::CutOff;
        }
        if http.is_parse() {
            return FetchFailure::Protocol("the response is not HTTP".into());
        }
    }
    if error.is_body() || error.is_decode() || io == Some(ErrorKind::UnexpectedEof) {
        return FetchFailure::CutOff;
    }
    if io.is_some_and(is_reset) {
        return FetchFailure::Protocol("the connection was reset".into());
    }
    let reason = find_error::<h2::Error>(error).and_then(h2::Error::reason);
    FetchFailure::Protocol(match reason {
        Some(Reason::REFUSED_STREAM | Reason::NO_ERROR | Reason::ENHANCE_YOUR_CALM) => {
            "the server takes no requests at the moment".into()
        }
        Some(Reason::HTTP_1_1_REQUIRED) => {
            "the server requires HTTP/1.1, and refused it too".into()
        }
        Some(reason) => format!("the server ended the HTTP/2 exchange with an error ({reason:?})"),
        None => "the connection ended before the server answered".into(),
    })
}

/// How to repeat a GET that got no answer. Both ways use a new connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repetition {
    Alike,
    OverHttp1,
}

impl Repetition {
    /// Returns whether and how to repeat a GET after an error (RFC 9112 §9.3.1, RFC 9113 §6.8 and §8.7). `has_answered` checks
    /// whether the connection with a local address answered an earlier request.
    pub(super) fn after(
        error: &reqwest::Error,
        has_answered: impl Fn(SocketAddr) -> bool,
    ) -> Option<Self> {
        let remote = find_error::<h2::Error>(error).filter(|error| error.is_remote());
        match remote.and_then(h2::Error::reason) {
            Some(Reason::REFUSED_STREAM | Reason::NO_ERROR) => return Some(Self::Alike),
            Some(Reason::HTTP_1_1_REQUIRED) => return Some(Self::OverHttp1),
            _ => {}
        }
        let is_cut = find_error::<hyper::Error>(error)
            .is_some_and(|http| http.is_incomplete_message() || http.is_canceled());
        let is_hung_up = |kind: ErrorKind| is_reset(kind) || kind == ErrorKind::UnexpectedEof;
        let mut extras = Extensions::new();
        find_error::<legacy::Error>(error)?.connect_info()?.get_extras(&mut extras);
        let is_kept = has_answered(extras.get::<HttpInfo>()?.local_addr());
        (is_kept && (is_cut || io_kind(error).is_some_and(is_hung_up))).then_some(Self::Alike)
    }
}

fn io_kind(error: &reqwest::Error) -> Option<ErrorKind> {
    let of_stream = || find_error::<h2::Error>(error)?.get_io();
    find_error::<std::io::Error>(error).or_else(of_stream).map(std::io::Error::kind)
}

/// Checks whether an error, at any depth, means that the system allows this process no further open file or connection.
pub(super) fn is_refused_a_file(error: &(dyn Error + 'static)) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    let inside = io.and_then(std::io::Error::get_ref);
    io.is_some_and(is_out_of_files)
        || inside.is_some_and(|inner| is_refused_a_file(inner))
        || error.source().is_some_and(is_refused_a_file)
}

const fn is_reset(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe
    )
}

/// Returns the failure to report if a connection could not be made.
fn no_connection(place: String, url: &Url, io: Option<ErrorKind>) -> FetchFailure {
    match io {
        Some(
            ErrorKind::NetworkUnreachable
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkDown
            | ErrorKind::AddrNotAvailable,
        ) => FetchFailure::Unreachable(place),
        Some(ErrorKind::UnexpectedEof) if url.scheme() == "https" => {
            FetchFailure::Tls("the server closed the connection during the handshake".into())
        }
        Some(ErrorKind::Other) | None => FetchFailure::Connect(place),
        Some(kind) => match kind.to_string() {
            unsaid if unsaid == "uncategorized error" => FetchFailure::Connect(place),
            words => FetchFailure::Connect(format!("{place} ({words})")),
        },
    }
}

/// Describes a TLS error.
#[expect(clippy::wildcard_enum_match_arm, reason = "the library's enum, which may grow")]
fn tls_words(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(why) => certificate_words(why),
        rustls::Error::NoCertificatesPresented => "the server has no certificate".into(),
        rustls::Error::InvalidMessage(_) | rustls::Error::InappropriateMessage { .. } => {
            "the server does not speak TLS".into()
        }
        rustls::Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        )
        | rustls::Error::AlertReceived(AlertDescription::ProtocolVersion) => {
            "the server supports only TLS versions that are too old to be safe".into()
        }
        // If both sides have no cipher suite in common, servers give no other reason (RFC 5246 §7.2.2, RFC 9325 §4).
        rustls::Error::PeerIncompatible(_)
        | rustls::Error::AlertReceived(
            AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity,
        ) => "the server offers only ciphers that are too old to be safe".into(),
        rustls::Error::AlertReceived(AlertDescription::UnrecognisedName) => {
            "the server does not serve this host name".into()
        }
        rustls::Error::AlertReceived(
            AlertDescription::CertificateRequired | AlertDescription::BadCertificate,
        ) => "the server requires a client certificate".into(),
        rustls::Error::AlertReceived(alert) => {
            format!("the server refused the handshake ({alert:?})")
        }
        rustls::Error::PeerMisbehaved(_) => "the server breaks the rules of TLS".into(),
        _ => "the handshake with the server failed".into(),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the library's enum, which may grow")]
fn certificate_words(why: &CertificateError) -> String {
    match why {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the server's certificate has expired".into()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the server's certificate is not valid yet; is the clock of this computer right?".into()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the server's certificate is for another name".into()
        }
        CertificateError::UnknownIssuer => {
            format!(
                "the server's certificate comes from an issuer that this computer does not trust; {TO_TRUST}"
            )
        }
        CertificateError::Revoked => "the server's certificate was revoked".into(),
        _ if format!("{why:?}").contains("CaUsedAsEndEntity") => {
            format!("the server's certificate is self-signed; {TO_TRUST}")
        }
        _ => "the server's certificate is damaged, or of a kind no longer accepted".into(),
    }
}

/// Joins the messages of an error and its sources in one line, without the URL.
fn message_chain(error: &reqwest::Error) -> String {
    let own = error.to_string();
    // Remove the URL that the library appends, because the user already knows the URL.
    let own = own.split(" for url (").next().unwrap_or_default().to_owned();
    let mut parts = vec![own];
    let mut source = Error::source(error);
    while let Some(inner) = source {
        parts.push(match inner.downcast_ref::<std::io::Error>() {
            Some(error) => system_words(error),
            None => inner.to_string(),
        });
        source = inner.source();
    }
    one_line(&parts.join(": "))
}

/// Finds the first error of a type among an error and its sources. I/O errors wrap their cause without exposing it as a source.
pub(super) fn find_error<'a, T: Error + 'static>(
    error: &'a (dyn Error + 'static),
) -> Option<&'a T> {
    if let Some(found) = error.downcast_ref::<T>() {
        return Some(found);
    }
    let inside = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    let inside = inside.map(|inner| -> &(dyn Error + 'static) { inner });
    inside.and_then(find_error).or_else(|| error.source().and_then(find_error))
}

/// Timeouts and size limits of a fetch (SPEC 0); tests use smaller ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Timeout for the connection, including the DNS lookup.
    pub connect: Duration,
    /// Maximum wait for the next bytes of a response.
    pub idle: Duration,
    /// Timeout for the whole fetch, including redirects and the body.
    pub total: Duration,
    /// Maximum number of redirects (SPEC 0, `REDIRECT_MAX`).
    pub redirects_max: usize,
    /// Maximum number of redirect documents among the redirects (SPEC 0, `XML_REDIRECT_MAX`).
    pub redirect_documents_max: usize,
    /// Maximum value of `Retry-After` in a redirect. A fetch waits that time before it follows the redirect (SPEC D.3).
    pub redirect_wait_max: Duration,
    pub body: BodyLimits,
}

impl Limits {
    /// Returns the body limits for a kind of request.
    pub(super) fn body_limits(&self, kind: RequestKind) -> BodyLimits {
        let bytes_max = if kind == RequestKind::Picture {
            PICTURE_BYTES_MAX
        } else if kind == RequestKind::Page {
            // Larger pages need not be received, because the article extractor rejects them.
            PAGE_BYTES_MAX
        } else {
            return self.body;
        };
        let most = |max: usize| max.min(bytes_max);
        let (wire_max, body_max) = (most(self.body.wire_max), most(self.body.body_max));
        BodyLimits { wire_max, body_max, ..self.body }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(20),
            total: Duration::from_secs(90),
            redirects_max: 8,
            redirect_documents_max: 2,
            redirect_wait_max: Duration::from_secs(5),
            body: BodyLimits::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use crate::io::http::failures::*;

    #[test]
    fn descriptor_exhaustion_is_found_in_nested_errors() {
        let refused = || io::Error::from_raw_os_error(24);
        assert!(is_refused_a_file(&refused()));
        assert!(is_refused_a_file(&io::Error::other(io::Error::other(refused()))));
        assert!(!is_refused_a_file(&io::Error::other(io::Error::from_raw_os_error(111))));
    }
}

#[cfg(test)]
mod limits_tests {
    use super::*;

    #[test]
    fn pictures_and_pages_have_separate_limits() {
        let limits = Limits::default();
        let bounds = |kind| (limits.body_limits(kind).wire_max, limits.body_limits(kind).body_max);
        assert_eq!(bounds(RequestKind::Picture), (PICTURE_BYTES_MAX, PICTURE_BYTES_MAX));
        assert_eq!(bounds(RequestKind::Page), (PAGE_BYTES_MAX, PAGE_BYTES_MAX));
        assert_eq!(limits.body_limits(RequestKind::Usual), limits.body);
    }
}
