//! What only shows on a socket, and what operators ask.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
};

use actix_web::web;
use tokio_util::sync::CancellationToken;

use super::{app, ask, request};
use crate::http::serve;

/// A server on a port of its own, until it is stopped.
async fn serving<T: Send + 'static>(talk: impl FnOnce(TcpStream) -> T + Send + 'static) -> T {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let server = serve(listener, app(), stop.clone());
    let client = async {
        let talked = web::block(move || talk(TcpStream::connect(address).unwrap())).await.unwrap();
        stop.cancel();
        talked
    };
    let (end, talked) = tokio::join!(server, client);
    end.unwrap();
    talked
}

#[actix_web::test]
async fn an_operator_can_ask_for_health_metrics_and_description() {
    assert_eq!(ask(request("GET", "/healthz")).await.json()["status"], "alive");
    assert_eq!(ask(request("HEAD", "/healthz")).await.status, 200);
    assert_eq!(
        ask(request("GET", "/metrics")).await.header("content-type"),
        Some("text/plain; version=0.0.4; charset=utf-8")
    );
    assert_eq!(ask(request("GET", "/openapi.json")).await.json()["openapi"], "3.1.0");
}

#[actix_web::test]
async fn a_client_that_sends_a_megabyte_before_it_reads_still_reads_why_not() {
    let answer = serving(|mut connection| {
        let head = "POST /api/events/spring/me/stamps/001 HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n";
        connection.write_all(head.as_bytes()).unwrap();
        connection.write_all(&vec![b' '; 1_000_000]).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer
    })
    .await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(answer.contains("payload_too_large"), "{answer}");
}

#[actix_web::test]
async fn a_head_has_the_length_of_its_get_and_no_body() {
    let answer = serving(|mut connection| {
        connection.write_all(b"HEAD /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer
    })
    .await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("content-length: 18\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n"), "{answer}");
}
