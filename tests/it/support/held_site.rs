//! A site that holds back its answers until the test releases them.

#![expect(clippy::disallowed_types, reason = "threads of a test wait for each other")]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use super::documents::rss;

/// A site that, once released, answers every request with a feed of two entries.
pub(crate) struct HeldSite {
    address: SocketAddr,
    state: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Default)]
struct State {
    asked: usize,
    released: bool,
}

impl HeldSite {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::<(Mutex<State>, Condvar)>::default();
        let shared = Arc::clone(&state);
        // The thread ends with the test process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                thread::spawn(move || attend(stream, &state));
            }
        });
        Self { address, state }
    }

    pub(crate) fn at(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the number of requests received.
    pub(crate) fn asked(&self) -> usize {
        self.state.0.lock().unwrap().asked
    }

    /// Answers the requests that are waiting, and from now on every later request at once.
    pub(crate) fn release(&self) {
        self.state.0.lock().unwrap().released = true;
        self.state.1.notify_all();
    }
}

fn attend(mut stream: TcpStream, state: &(Mutex<State>, Condvar)) {
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return,
            Ok(count) => head.extend_from_slice(&piece[..count]),
        }
    }
    let mut counted = state.0.lock().unwrap();
    counted.asked += 1;
    drop(state.1.wait_while(counted, |state| !state.released).unwrap());
    let body = rss("Held", "e", 2);
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    // The client may have disconnected, so the write may fail.
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).ok();
}
