//! Tests of the HTTP server over real sockets.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use super::*;

/// Sends raw bytes and reads the response until the server closes the connection. This may block, because the server runs on
/// other threads.
fn exchange(address: SocketAddr, sent: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(sent.as_bytes()).unwrap();
    let mut received = Vec::new();
    drop(stream.read_to_end(&mut received));
    String::from_utf8_lossy(&received).into_owned()
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: h\r\nX-Colour: red\r\nconnection: close\r\n\r\n")
}

fn answer(status: u16, name: &str, value: &str, body: &str) -> ServedAnswer {
    ServedAnswer { status, headers: vec![(name.into(), value.into())], body: body.into() }
}

async fn asked(server: &HttpServer, sent: String) -> String {
    let address = server.address();
    tokio::task::spawn_blocking(move || exchange(address, &sent)).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn test_server_answers_over_tcp_and_records_requests() {
    let server = HttpServer::start(|request| {
        let colour = request.header("x-colour").unwrap_or_default().to_owned();
        let words = format!("{} {:?} {colour}", request.path(), request.query());
        answer(203, "x-shape", "round", &words)
    })
    .await
    .unwrap();
    assert_eq!(server.base_url(), format!("http://{}", server.address()));

    let received = asked(&server, get("/a?b=c")).await;
    assert!(received.starts_with("HTTP/1.1 203 "), "{received}");
    assert!(received.contains("x-shape: round\r\n"));
    assert!(received.ends_with("\r\n\r\n/a Some(\"b=c\") red"));

    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].method, "GET");
    assert_eq!(requests[0].path_and_query, "/a?b=c");
    assert_eq!(server.requests_for("/a?b=c"), 1);
    assert_eq!(server.requests_for("/a"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_response_or_endless_head_still_gets_http() {
    let server = HttpServer::start(|_| answer(200, "x", "a\r\nb", "")).await.unwrap();
    let received = asked(&server, get("/")).await;
    assert!(received.starts_with("HTTP/1.1 500 "), "{received}");
    let endless = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(2 * HEAD_BYTES_MAX));
    let received = asked(&server, endless).await;
    assert!(received.is_empty() || received.starts_with("HTTP/1.1 431 "), "{received}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_log_drops_the_oldest() {
    let server = HttpServer::start(|_| answer(204, "x", "y", "")).await.unwrap();
    let one = "GET /N HTTP/1.1\r\nhost: h\r\n\r\n";
    let mut many: String =
        (0..REQUESTS_LOGGED_MAX).map(|n| one.replace('N', &n.to_string())).collect();
    many.push_str(&get("/last"));
    asked(&server, many).await;
    let requests = server.requests();
    assert_eq!(requests.len(), REQUESTS_LOGGED_MAX);
    assert_eq!(requests[0].path_and_query, "/1");
    assert_eq!(server.requests_for("/last"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_server_closes_its_connections() {
    let server = HttpServer::start(|_| answer(200, "x", "y", "here")).await.unwrap();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: h\r\n\r\n").unwrap();
    let mut some = [0; 64];
    assert!(stream.read(&mut some).unwrap() > 0);
    drop(server);
    let rest = tokio::task::spawn_blocking(move || {
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).map(|_| ())
    });
    rest.await.unwrap().expect("closed, not left open");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_clients_keep_none_from_being_served() {
    let server = HttpServer::start(|_| answer(200, "x", "y", "here")).await.unwrap();
    let address = server.address();
    let answered = tokio::task::spawn_blocking(move || {
        let connect = |place: usize| {
            let mut idle = TcpStream::connect(address).unwrap();
            if place.is_multiple_of(2) {
                // The rest of the headers is never sent.
                idle.write_all(b"GET / HTTP/1.1\r\nhost: h\r\nx: ").unwrap();
            }
            idle
        };
        let idle: Vec<_> = (0..CONNECTIONS_MAX).map(connect).collect();
        for idle in &idle {
            idle.set_read_timeout(Some(HEAD_WAIT * 3)).unwrap();
        }
        let mut waiting = Vec::new();
        for _ in 0..8 {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(get("/").as_bytes()).unwrap();
            waiting.push(stream);
        }
        let read = waiting.into_iter().map(|mut stream| {
            let mut received = String::new();
            stream.read_to_string(&mut received).unwrap();
            received.ends_with("here")
        });
        let count = read.filter(|is_answered| *is_answered).count();
        // The connections of slow clients are closed as well.
        let ended = idle.into_iter().filter_map(|mut idle| {
            let ended = idle.read_to_end(&mut Vec::new());
            ended
                .map_or_else(|why| why.kind() == io::ErrorKind::ConnectionReset, |_| true)
                .then_some(())
        });
        (count, ended.count())
    });
    assert_eq!(answered.await.unwrap(), (8, CONNECTIONS_MAX));
}
