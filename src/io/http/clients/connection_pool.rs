//! The HTTP clients, one for each [`ClientKind`], and the limit on their idle connections.
//!
//! reqwest limits only the idle connections per host. Once the idle connections of all hosts together may reach the limit, new
//! clients replace the old clients, whose idle connections are then closed. Requests in progress are not affected.

#![expect(
    clippy::disallowed_types,
    reason = "fetches run at once, and each may change the clients for all"
)]

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use reqwest::Client;

use crate::io::http::address_guard::Allowed;

/// Maximum number of idle connections (SPEC D.1).
pub(super) const IDLE_MAX: usize = 64;
/// Number of connections whose last answer is remembered: more than can be idle or in use at a time.
const ANSWERED_MAX: usize = 4 * IDLE_MAX;

/// The properties of a client: each combination has its own client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClientKind {
    /// Proxy that requests go through.
    pub(super) via: Via,
    /// The addresses that the client may connect to.
    pub(super) allowed: Allowed,
    /// `true` to use HTTP/1.1 even if the server offers HTTP/2.
    pub(super) http1: bool,
}

/// The proxy that requests go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Via {
    /// None.
    Nothing,
    /// The proxy for all requests.
    Usual,
    /// The proxy of an origin, by its position among the proxies of origins.
    Own(usize),
}

/// Creates a client, and returns it with the maximum number of idle connections that it keeps per host.
pub(super) type MakeClient =
    Box<dyn Fn(ClientKind) -> (usize, Result<Client, reqwest::Error>) + Send + Sync>;

/// The clients in use.
pub(super) struct ConnectionPool {
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
    /// Local addresses of the connections that answered last. A connection has a local address of its own.
    answered: VecDeque<SocketAddr>,
}

impl ConnectionPool {
    pub(super) fn new(make: MakeClient) -> Self {
        Self { make, open: Mutex::default() }
    }

    /// Returns the client for requests to a host.
    pub(super) fn client(&self, kind: ClientKind, host: &str) -> Result<Client, reqwest::Error> {
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
    pub(super) fn fresh_client(&self, kind: ClientKind) -> Result<Client, reqwest::Error> {
        (self.make)(kind).1
    }

    /// Records that the connection with this local address answered a request.
    pub(super) fn note_answered(&self, connection: SocketAddr) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if !open.answered.contains(&connection) {
            open.answered.push_back(connection);
        }
        if open.answered.len() > ANSWERED_MAX {
            open.answered.pop_front();
        }
    }

    /// Checks whether the connection with this local address answered an earlier request.
    pub(super) fn has_answered(&self, connection: SocketAddr) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.answered.contains(&connection)
    }
}

impl fmt::Debug for ConnectionPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionPool").finish_non_exhaustive()
    }
}
