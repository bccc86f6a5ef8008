//! A publisher for synchronous tests, with short functions to define its answers.

use backissue::io::http_server::{HttpServer, ServedAnswer, ServedRequest};
use tokio::runtime::Runtime;

/// A site that answers on background threads until it is dropped.
pub(crate) struct Site {
    publisher: HttpServer,
    _threads: Runtime,
}

impl Site {
    pub(crate) fn start<F>(respond: F) -> Self
    where
        F: Fn(ServedRequest) -> ServedAnswer + Send + Sync + 'static,
    {
        let threads = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let publisher = threads.block_on(HttpServer::start(respond)).unwrap();
        Self { publisher, _threads: threads }
    }

    /// Returns the full address of a path on this site.
    pub(crate) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.publisher.base_url())
    }

    /// Returns the requests received for a path, in order.
    pub(crate) fn asked(&self, path: &str) -> Vec<ServedRequest> {
        let all = self.publisher.requests().into_iter();
        all.filter(|request| request.path_and_query == path).collect()
    }

    /// Returns all requests received, in order.
    pub(crate) fn all_requests(&self) -> Vec<ServedRequest> {
        self.publisher.requests()
    }
}

/// Creates an answer with this status, these headers and this body.
pub(crate) fn answer(
    status: u16,
    headers: &[(&str, &str)],
    body: impl Into<Vec<u8>>,
) -> ServedAnswer {
    let headers =
        headers.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    ServedAnswer { status, headers, body: body.into() }
}
