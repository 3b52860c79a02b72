//! A request is followed by its trace: in the log, at LINE, and at a collector of OpenTelemetry's.

use super::{
    client,
    site::{Site, address, engine},
};
use crate::house::{Answer, RALLY};

/// The example of W3C Trace Context, level 1.
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

#[tokio::test]
async fn request_is_logged_under_the_trace_of_its_caller_unless_traceparent_is_malformed() {
    let engine = engine();
    let site = Site::at(&engine.endpoint_url());
    site.set_up();
    let mut server = site.start(&["serve"]);
    let api = address(&mut server).await;
    let stamps = client().get(format!("{api}/api/events/{RALLY}/stamps"));

    let asked = stamps.try_clone().unwrap().header("traceparent", format!("00-{TRACE}-b7ad6b7169203331-01"));
    Answer::to(asked).await.is(200);
    let line = server.logs("answered").await;
    assert!(line.contains(&format!("trace.id={TRACE}")), "{line}");
    assert!(line.contains("http.route=\"/api/events/{eventId}/stamps\""), "{line}");

    let zeros = format!("00-{}-b7ad6b7169203331-01", "0".repeat(32));
    for malformed in ["", "nonsense", &zeros] {
        Answer::to(stamps.try_clone().unwrap().header("traceparent", malformed)).await.is(200);
        let line = server.logs("answered").await;
        let (_, id) = line.split_once("trace.id=").unwrap();
        let is_an_id = id.bytes().take(32).all(|byte| byte.is_ascii_hexdigit());
        assert!(is_an_id && !id.starts_with(TRACE) && !id.starts_with("0000"), "{line}");
    }
    server.stops().await;
}

#[cfg(feature = "otel")]
mod exported {
    use std::{
        io::{BufRead as _, BufReader, Read as _, Write as _},
        net::TcpListener,
        thread,
    };

    use tokio::sync::mpsc::{self, UnboundedReceiver};

    use super::*;

    /// A collector on this machine: where it listens, and the bodies that it is sent (protobuf).
    fn collector() -> (String, UnboundedReceiver<Vec<u8>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (sender, bodies) = mpsc::unbounded_channel();
        thread::spawn(move || {
            for connection in listener.incoming() {
                let mut reader = BufReader::new(connection.unwrap());
                let head: Vec<String> =
                    reader.by_ref().lines().map(Result::unwrap).take_while(|line| !line.is_empty()).collect();
                assert!(head[0].starts_with("POST /v1/traces "), "{head:?}");
                let length =
                    head.iter().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
                let mut body = vec![0; length.unwrap()];
                reader.read_exact(&mut body).unwrap();
                sender.send(body).unwrap();
                reader
                    .get_mut()
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                    .unwrap();
            }
        });
        (address, bodies)
    }

    #[tokio::test]
    async fn span_of_a_request_reaches_the_collector_with_the_trace_of_its_caller() {
        let (address_of_collector, mut bodies) = collector();
        let engine = engine();
        let mut site = Site::at(&engine.endpoint_url());
        site.set_up();
        site.set("OTEL_EXPORTER_OTLP_ENDPOINT", &address_of_collector);
        let mut server = site.start(&["serve"]);
        let api = address(&mut server).await;
        let stamps = client().get(format!("{api}/api/events/{RALLY}/stamps"));
        let followed = stamps.try_clone().unwrap().header("traceparent", format!("00-{TRACE}-b7ad6b7169203331-01"));
        Answer::to(followed).await.is(200);
        let followed = server.logs("answered").await;
        Answer::to(stamps).await.is(200);
        let begun = server.logs("answered").await;
        // What waits to be exported is sent at the end.
        server.stops().await;

        let mut exported = Vec::new();
        while let Ok(body) = bodies.try_recv() {
            exported.extend(body);
        }
        let holds = |part: &[u8]| exported.windows(part.len()).any(|window| window == part);
        for text in ["stamp-rally", "http.request", "trace.id", "http.method", "http.route", "http.status"] {
            assert!(holds(text.as_bytes()), "{text}");
        }
        assert!(holds(b"/api/events/{eventId}/stamps"));
        assert!(holds(&0xb7ad_6b71_6920_3331_u64.to_be_bytes()), "the caller's span is the parent");
        for line in [followed, begun] {
            assert!(holds(field(&line, "request.id").as_bytes()), "{line}");
            let trace_id = u128::from_str_radix(&field(&line, "trace.id"), 16).unwrap();
            assert!(holds(&trace_id.to_be_bytes()), "the log and the collector name one trace: {line}");
        }
    }

    fn field(line: &str, name: &str) -> String {
        let (_, value) = line.split_once(&format!("{name}=")).unwrap();
        value.split_whitespace().next().unwrap().to_owned()
    }
}
