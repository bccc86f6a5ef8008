//! The clients that requests are sent with, one for each [`ClientKind`], and how many idle connections they keep together.
//!
//! reqwest bounds the idle connections to one host only. So once as many may be idle as have room together, new
//! clients take the place of the old ones, whose idle connections close with them; requests under way end as they began.

#![expect(
    clippy::disallowed_types,
    reason = "fetches run at once, and each may change the clients for all"
)]

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use reqwest::Client;

use crate::io::http::address_guard::Allowed;

/// Idle connections kept at most (SPEC D.1).
pub(super) const IDLE_MAX: usize = 64;

/// Which client a request is sent with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClientKind {
    /// Through the proxy.
    pub(super) proxied: bool,
    /// The addresses that it may connect to.
    pub(super) allowed: Allowed,
}

/// Makes a client, and says how many idle connections it keeps to one host.
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
    /// The idle connections that they may keep to each host, named with its port: no more than requests were sent to it.
    hosts: BTreeMap<(ClientKind, String), usize>,
    /// The sum of these.
    idle: usize,
}

impl ConnectionPool {
    pub(super) fn new(make: MakeClient) -> Self {
        Self { make, open: Mutex::default() }
    }

    /// The client to ask a host with.
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
            *open = OpenClients::default();
        }
        open.idle = open.idle.saturating_add(1);
        let idle = open.hosts.entry(host).or_default();
        *idle = idle.saturating_add(1);
        open.clients.insert(kind, (per_host, client.clone()));
        Ok(client)
    }
}

impl fmt::Debug for ConnectionPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionPool").finish_non_exhaustive()
    }
}
