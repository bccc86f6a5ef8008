//! The HTTP clients: direct or through a proxy, and for public addresses only, or for private addresses too (SPEC D.6).
//!
//! Each client has its own connections, so that a connection to a private address is never reused for a request that
//! must go to a public address. An address that the user typed is tried with the client for public addresses first. Because most
//! addresses are public, one connection then serves a feed and the redirects on its host.
//!
//! TLS 1.2 and 1.3 are provided by rustls. The platform verifies certificates, since it knows, for example, the authorities of
//! the user's company. If the platform has no certificate authorities (as in a bare container), Mozilla's are used. `[network]
//! extra_roots` adds more certificates. HTTP/2 is negotiated in the TLS handshake. Connections without TLS use HTTP/1.1.
//!
//! The limit on idle connections is for the connections of all clients together, because reqwest limits only those to each host.
#![expect(
    clippy::disallowed_types,
    reason = "fetches run at once, and each may change the clients for all"
)]

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use backissue_core::{InputFlaw, flaw};
use hyper_util::client::legacy::connect::HttpInfo;
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::header::HeaderValue;
use reqwest::{Client, ClientBuilder, Method, RequestBuilder, Response};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;
use url::Url;

use super::address_guard::{
    AddressClass, AddressGuard, Allowed, GuardedResolver, NameResolver, RefusedAddress,
    SystemResolver, host_text, is_localhost, literal,
};
use super::failures::{Limits, Repetition, find_error};
use super::proxies::{OwnProxy, ProxyChoice, no_proxy, own_proxies, proxies, proxy_variables};
use super::request_headers::USER_AGENT;
use crate::engine::politeness::host_queue::parallel_to_site;
use crate::engine::settings::NetworkSettings;
use crate::io::regular_files;
use crate::io::system::system_words;

/// Maximum number of header lines in a response.
const HEADERS_MAX: usize = 256;
/// Maximum lifetime of an idle connection.
const POOL_IDLE: Duration = Duration::from_secs(30);
/// The client's environment, which tests replace.
#[derive(Debug, Clone)]
pub struct ClientEnvironment {
    pub names: Arc<dyn NameResolver>,
    /// Classifies an address; [`AddressClass::classify`] outside of tests.
    pub classify: fn(IpAddr) -> AddressClass,
    pub proxies: Arc<Matcher>,
    /// Environment variables that configure proxies, with their values. They are checked separately, because [`Matcher`] silently
    /// ignores invalid values.
    pub proxy_variables: Vec<(&'static str, String)>,
    /// Hosts that are requested without the configured proxy, in the form of `NO_PROXY`.
    pub no_proxy: String,
    /// Trusted certificate authorities, instead of the platform's.
    pub roots: Option<Arc<RootCertStore>>,
}

impl ClientEnvironment {
    /// Returns the environment of the running program.
    pub fn real() -> Self {
        Self {
            names: Arc::new(SystemResolver),
            classify: AddressClass::classify,
            proxies: Arc::new(Matcher::from_system()),
            proxy_variables: proxy_variables(),
            no_proxy: no_proxy(),
            roots: None,
        }
    }
}

/// The clients, and the rules for choosing between them.
#[derive(Debug)]
pub(super) struct Clients {
    pool: ConnectionPool,
    through: ProxyChoice,
    own: Arc<Vec<OwnProxy>>,
    guard: Arc<AddressGuard>,
}

/// A response, and whether it came from a public address.
#[derive(Debug)]
pub(super) struct ReceivedResponse {
    pub(super) response: Response,
    /// `true` if the response came from a public address. For a request through a proxy, a host name counts as public.
    pub(super) public: bool,
}

/// The reason why there is no response.
#[derive(Debug)]
pub(super) enum SendError {
    /// The address is not allowed.
    Refused(RefusedAddress),
    Broken {
        error: reqwest::Error,
        /// The host of the proxy, if the request went through one.
        through: Option<String>,
    },
}

impl Clients {
    pub(super) fn new(
        settings: &NetworkSettings,
        limits: &Limits,
        around: &ClientEnvironment,
    ) -> Result<Self, InputFlaw> {
        let own = read_extra_roots(&settings.extra_roots)?;
        let tls = tls(around.roots.as_ref(), own)
            .map_err(|error| format!("secure connections are not possible: {error}"))?;
        let agent = settings.user_agent.as_deref().unwrap_or(USER_AGENT);
        HeaderValue::from_str(agent).map_err(|_| {
            "[network] user_agent cannot be sent: use only printable characters, on one line"
                .to_owned()
        })?;
        let link_local = settings.allow_link_local.iter().cloned().collect();
        let allowed = settings.allow_addresses.clone();
        let guard = Arc::new(AddressGuard { classify: around.classify, link_local, allowed });
        let (proxies, hosts) = proxies(settings, &around.proxies, &around.proxy_variables)?;
        let own = Arc::new(own_proxies(settings)?);
        let hosts = Arc::new(hosts);
        let make = {
            let (settings, limits) = (settings.clone(), *limits);
            let (names, guard, hosts) =
                (Arc::clone(&around.names), Arc::clone(&guard), Arc::clone(&hosts));
            let own = Arc::clone(&own);
            move |kind: ClientKind| {
                let (proxies, hosts) = match kind.via {
                    Via::Nothing => (Vec::new(), Arc::clone(&hosts)),
                    Via::Usual => (proxies.clone(), Arc::clone(&hosts)),
                    Via::Own(place) => {
                        let through = own.get(place).and_then(|own| own.through.as_ref());
                        let hosts = through.map(|(_, host)| host.clone()).into_iter().collect();
                        (
                            through.map(|(proxy, _)| proxy.clone()).into_iter().collect(),
                            Arc::new(hosts),
                        )
                    }
                };
                let resolver = GuardedResolver {
                    names: Arc::clone(&names),
                    guard: Arc::clone(&guard),
                    allowed: kind.allowed,
                    proxies: hosts,
                };
                let idle = idle_per_host(&settings, kind);
                let builder = builder(&settings, &limits, idle).dns_resolver(resolver);
                let builder = proxies.into_iter().fold(builder, ClientBuilder::proxy);
                let mut tls = tls.clone();
                if kind.http1 {
                    tls.alpn_protocols.retain(|protocol| protocol != b"h2");
                }
                (idle, builder.tls_backend_preconfigured(tls).build())
            }
        };
        let pool = ConnectionPool::new(Box::new(make));
        // All clients are created now, so that errors in the settings are reported early.
        for via in [Via::Nothing, Via::Usual] {
            pool.client(ClientKind { via, allowed: Allowed::Public, http1: false }, "")
                .map_err(|error| format!("the HTTP client cannot start: {error}"))?;
        }
        let through = ProxyChoice::new(settings, &around.proxies, &around.no_proxy);
        Ok(Self { pool, through, own, guard })
    }

    /// Sends a request with the client that matches the proxy and the allowed addresses. `get` builds the request.
    pub(super) async fn send(
        &self,
        url: &Url,
        allowed: Allowed,
        get: impl Fn(&Client) -> RequestBuilder,
    ) -> Result<ReceivedResponse, SendError> {
        let host = host_text(url);
        let literal = literal(url);
        if let Some(address) = literal {
            self.guard.check(allowed, &host, address).map_err(SendError::Refused)?;
        }
        if let Some((via, proxy)) = self.proxy_for(url) {
            return self.send_through(url, (via, &proxy), allowed, get).await;
        }
        let public = literal.map(|address| self.guard.is_public(&host, address));
        let nearby = is_localhost(&host) || self.guard.link_local.contains(&host);
        let first = match (allowed, public) {
            (Allowed::Near, Some(false)) => Allowed::Near,
            (Allowed::Near, None) if nearby => Allowed::Near,
            (Allowed::Public | Allowed::Near, _) => Allowed::Public,
        };
        let sent = self.send_directly(url, first, &get).await;
        match sent {
            // The request can be repeated with the other client, because the address was rejected before a connection was made.
            Err(SendError::Refused(_)) if first != allowed => {
                self.send_directly(url, allowed, &get).await
            }
            other => other,
        }
    }

    /// Returns the proxy for a request and its host: the proxy of the origin, or else the usual one.
    fn proxy_for(&self, url: &Url) -> Option<(Via, String)> {
        let origin = url.origin().ascii_serialization();
        let own = self.own.iter().enumerate().find(|(_, own)| own.origin == origin);
        match own {
            Some((place, own)) => {
                own.through.as_ref().map(|(_, host)| (Via::Own(place), host.clone()))
            }
            None => self.through.proxy_for(url).map(|host| (Via::Usual, host)),
        }
    }

    /// Sends a request. If the server did not process a GET, or closed the connection in the meantime without answering, sends
    /// the GET once more on a new connection (SPEC D.2).
    async fn exchange(
        &self,
        (via, allowed): (Via, Allowed),
        url: &Url,
        get: &impl Fn(&Client) -> RequestBuilder,
    ) -> Result<Response, reqwest::Error> {
        let kind = ClientKind { via, allowed, http1: false };
        let client = self.pool.client(kind, url.authority())?;
        let request = get(&client).build()?;
        let is_get = request.method() == Method::GET;
        let mut sent = client.execute(request).await;
        let again = sent.as_ref().err().filter(|_| is_get).and_then(|error| {
            Repetition::after(error, |connection| self.pool.has_answered(connection))
        });
        if let Some(again) = again {
            let http1 = again == Repetition::OverHttp1;
            let client = self.pool.fresh_client(ClientKind { http1, ..kind })?;
            sent = get(&client).send().await;
        }
        let info = sent.as_ref().ok().and_then(|response| response.extensions().get::<HttpInfo>());
        if let Some(info) = info {
            self.pool.note_answered(info.local_addr());
        }
        sent
    }

    async fn send_directly(
        &self,
        url: &Url,
        allowed: Allowed,
        get: &impl Fn(&Client) -> RequestBuilder,
    ) -> Result<ReceivedResponse, SendError> {
        let host = host_text(url);
        let sent = self.exchange((Via::Nothing, allowed), url, get).await;
        let response = sent.map_err(|error| unsent(error, None))?;
        let peer = response.remote_addr().map(|peer| peer.ip());
        // Check the address of the peer too, in case a connection was made without the check in the resolver.
        match peer {
            Some(peer) => self.guard.check(allowed, &host, peer).map_err(SendError::Refused)?,
            None if allowed == Allowed::Public => {
                let class = AddressClass::Forbidden;
                return Err(SendError::Refused(RefusedAddress { host, address: None, class }));
            }
            None => {}
        }
        let public = peer.is_some_and(|peer| self.guard.is_public(&host, peer));
        Ok(ReceivedResponse { response, public })
    }

    async fn send_through(
        &self,
        url: &Url,
        (via, proxy): (Via, &str),
        allowed: Allowed,
        get: impl Fn(&Client) -> RequestBuilder,
    ) -> Result<ReceivedResponse, SendError> {
        let host = host_text(url);
        if allowed == Allowed::Public && is_localhost(&host) {
            let class = AddressClass::Loopback;
            return Err(SendError::Refused(RefusedAddress { host, address: None, class }));
        }
        let sent = self.exchange((via, allowed), url, &get).await;
        let response = sent.map_err(|error| unsent(error, Some(proxy)))?;
        let public = match literal(url) {
            Some(address) => self.guard.is_public(&host, address),
            None => !is_localhost(&host),
        };
        Ok(ReceivedResponse { response, public })
    }
}

fn unsent(error: reqwest::Error, through: Option<&str>) -> SendError {
    match find_error::<RefusedAddress>(&error) {
        Some(refusal) => SendError::Refused(refusal.clone()),
        None => SendError::Broken { error, through: through.map(str::to_owned) },
    }
}

/// Returns the maximum number of idle connections per host, which equals the number of parallel requests to it.
fn idle_per_host(settings: &NetworkSettings, kind: ClientKind) -> usize {
    let unspaced = !settings.space_loopback && kind.allowed == Allowed::Near;
    parallel_to_site(settings, unspaced).clamp(1, IDLE_MAX)
}

/// Returns a client builder with the settings that all clients share.
fn builder(settings: &NetworkSettings, limits: &Limits, idle_per_host: usize) -> ClientBuilder {
    Client::builder()
        .user_agent(settings.user_agent.as_deref().unwrap_or(USER_AGENT))
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .connect_timeout(limits.connect)
        .read_timeout(limits.idle)
        .pool_max_idle_per_host(idle_per_host)
        .pool_idle_timeout(POOL_IDLE)
        .http1_ignore_invalid_headers_in_responses(true)
        .http1_allow_spaces_after_header_name_in_responses(true)
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .http1_max_headers(HEADERS_MAX)
}

/// Maximum number of idle connections (SPEC D.1).
const IDLE_MAX: usize = 64;
/// Number of connections of which it is remembered that they answered: more than can be idle or in use at the same time.
const ANSWERED_MAX: usize = 4 * IDLE_MAX;

/// The properties of a client: each combination has its own client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ClientKind {
    /// Proxy that requests go through.
    via: Via,
    /// The addresses that the client may connect to.
    allowed: Allowed,
    /// `true` to use HTTP/1.1 even if the server offers HTTP/2.
    http1: bool,
}

/// The proxy that requests go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Via {
    /// None.
    Nothing,
    /// The proxy for all requests.
    Usual,
    /// The proxy of an origin, by its position among the proxies of origins.
    Own(usize),
}

/// Creates a client, and returns it with the maximum number of idle connections that it keeps per host.
type MakeClient = Box<dyn Fn(ClientKind) -> (usize, Result<Client, reqwest::Error>) + Send + Sync>;

/// The clients in use.
struct ConnectionPool {
    make: MakeClient,
    open: Mutex<OpenClients>,
}

#[derive(Default)]
struct OpenClients {
    clients: BTreeMap<ClientKind, (usize, Client)>,
    /// Maximum number of idle connections that a client may have per host and port: no more than requests were sent to that host
    /// and port.
    hosts: BTreeMap<(ClientKind, String), usize>,
    /// The sum of all values in `hosts`.
    idle: usize,
    /// Local addresses of the connections that answered most recently. Each connection has its own local address.
    answered: VecDeque<SocketAddr>,
}

impl ConnectionPool {
    fn new(make: MakeClient) -> Self {
        Self { make, open: Mutex::default() }
    }

    /// Returns the client for requests to a host.
    fn client(&self, kind: ClientKind, host: &str) -> Result<Client, reqwest::Error> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let host = (kind, host.to_owned());
        let known = open.clients.get(&kind);
        let (per_host, client) = match known {
            Some((per_host, client))
                if open.hosts.get(&host).is_some_and(|idle| idle >= per_host) =>
            {
                return Ok(client.clone());
            }
            Some((per_host, client)) if open.idle < IDLE_MAX => (*per_host, client.clone()),
            Some(_) | None => {
                let (per_host, client) = (self.make)(kind);
                (per_host, client?)
            }
        };
        if open.idle >= IDLE_MAX {
            *open = OpenClients {
                answered: std::mem::take(&mut open.answered),
                ..OpenClients::default()
            };
        }
        open.idle = open.idle.saturating_add(1);
        let idle = open.hosts.entry(host).or_default();
        *idle = idle.saturating_add(1);
        open.clients.insert(kind, (per_host, client.clone()));
        Ok(client)
    }

    /// Returns a client without open connections.
    fn fresh_client(&self, kind: ClientKind) -> Result<Client, reqwest::Error> {
        (self.make)(kind).1
    }

    /// Records that the connection with this local address answered a request.
    fn note_answered(&self, connection: SocketAddr) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if !open.answered.contains(&connection) {
            open.answered.push_back(connection);
        }
        if open.answered.len() > ANSWERED_MAX {
            open.answered.pop_front();
        }
    }

    /// Checks whether the connection with this local address answered an earlier request.
    fn has_answered(&self, connection: SocketAddr) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.answered.contains(&connection)
    }
}

impl fmt::Debug for ConnectionPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionPool").finish_non_exhaustive()
    }
}

/// Maximum size of a certificate file, bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Reads the certificates that the user trusts in addition from PEM files. The error is a sentence.
fn read_extra_roots(files: &[PathBuf]) -> Result<Vec<CertificateDer<'static>>, InputFlaw> {
    let mut all = Vec::new();
    for file in files {
        let wrong =
            |why: String| flaw!("[network] extra_roots: {} cannot be used: {why}", file.display());
        let bytes = regular_files::read(file, FILE_BYTES_MAX);
        let bytes = bytes.map_err(|error| wrong(system_words(&error)))?;
        let here: Result<Vec<CertificateDer<'static>>, _> =
            CertificateDer::pem_slice_iter(&bytes).collect();
        let here = here.map_err(|_| wrong("it is damaged".into()))?;
        if here.is_empty() {
            return Err(wrong("it contains no certificate ('-----BEGIN CERTIFICATE-----')".into()));
        }
        all.extend(here);
    }
    Ok(all)
}

/// Trusts the certificates that another verifier trusts, and the exact certificates that the user configured, which may be
/// self-signed. The server name must match in both cases.
#[derive(Debug)]
struct WithOwn {
    others: Arc<dyn ServerCertVerifier>,
    own: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for WithOwn {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.own.iter().any(|own| own == shown) {
            verify_server_name(&ParsedCertificate::try_from(shown)?, name)?;
            return Ok(ServerCertVerified::assertion());
        }
        self.others.verify_server_cert(shown, between, name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.others.verify_tls12_signature(message, shown, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.others.verify_tls13_signature(message, shown, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.others.supported_verify_schemes()
    }
}

/// Returns the TLS configuration. `roots` replaces the platform's authorities; `own` is trusted in addition.
pub(super) fn tls(
    roots: Option<&Arc<RootCertStore>>,
    own: Vec<CertificateDer<'static>>,
) -> Result<rustls::ClientConfig, Error> {
    // This fails only if the same provider is already installed, so the error is ignored.
    rustls::crypto::ring::default_provider().install_default().ok();
    let builder = rustls::ClientConfig::builder();
    let mut tls = if let Some(roots) = roots.filter(|_| own.is_empty()) {
        builder.with_root_certificates(Arc::clone(roots)).with_no_client_auth()
    } else {
        let verifier = verifier(roots, own)?;
        builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
    };
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(tls)
}

/// Returns the certificate verifier. `roots` replaces the platform's authorities, or Mozilla's if the platform has none.
fn verifier(
    roots: Option<&Arc<RootCertStore>>,
    own: Vec<CertificateDer<'static>>,
) -> Result<Arc<WithOwn>, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let others: Arc<dyn ServerCertVerifier> = match roots {
        Some(roots) => trusting(RootCertStore::clone(roots), &own, provider)?,
        None => match Verifier::new_with_extra_roots(own.iter().cloned(), Arc::clone(&provider)) {
            Ok(platform) => Arc::new(platform),
            Err(_) => trusting(mozilla(), &own, provider)?,
        },
    };
    Ok(Arc::new(WithOwn { others, own }))
}

fn trusting(
    mut roots: RootCertStore,
    own: &[CertificateDer<'static>],
    provider: Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, Error> {
    roots.add_parsable_certificates(own.iter().cloned());
    let built = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
    built.map_err(|error| Error::General(error.to_string()))
}

fn mozilla() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    roots
}
