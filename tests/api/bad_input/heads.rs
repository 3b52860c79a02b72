//! Methods, tokens and other headers, and what isn't HTTP at all.

use super::{Got, Request, all_well_mannered, is_well_mannered, operations, wire::send};
use crate::house::{House, RALLY};

#[tokio::test]
async fn any_other_method_is_answered_which_ones_there_are() {
    let house = House::open("other methods").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    let operations = operations(&house, &hanako.token).await;
    let methods =
        ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "BREW", "get"];
    for operation in &operations {
        let known: Vec<&str> =
            operations.iter().filter(|other| other.path == operation.path).map(|other| other.method.as_str()).collect();
        let is_known = |method: &str| known.contains(&method) || (method == "HEAD" && known.contains(&"GET"));
        let unknown = methods.into_iter().filter(|method| !is_known(method));
        // A stream isn't begun for nothing.
        let unknown = unknown.chain(operation.is_streamed().then_some("HEAD"));
        let request = |method: &str| operation.request().by(method);
        for (request, got) in all_well_mannered(&house, unknown.map(request).collect()).await {
            assert_eq!(got.status, 405, "{}\n{got:?}", request.shown());
            let allowed: Vec<&str> = got.header("allow").split(", ").collect();
            assert!(known.iter().all(|method| allowed.contains(method)), "{}\n{got:?}", request.shown());
            assert!(!allowed.contains(&request.method.as_str()), "{}\n{got:?}", request.shown());
        }
    }
    house.close().await;
}

#[tokio::test]
async fn a_head_answers_as_a_get_without_its_body() {
    let house = House::open("heads").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    let operations = operations(&house, &hanako.token).await;
    for get in operations.iter().filter(|operation| operation.method == "GET" && !operation.is_streamed()) {
        let head = get.request().by("HEAD");
        let answers = all_well_mannered(&house, vec![get.request(), head]).await;
        let [(_, whole), (request, alone)] = &answers[..] else { unreachable!() };
        assert_eq!((alone.status, alone.body.as_str()), (whole.status, ""), "{}", request.shown());
        assert_eq!(alone.header("content-type"), whole.header("content-type"));
    }
    house.close().await;
}

#[tokio::test]
async fn a_request_without_a_good_token_is_refused() {
    let house = House::open("no good token").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    let operations = operations(&house, &hanako.token).await;
    let closed: Vec<_> = operations.iter().filter(|operation| operation.token.is_some()).collect();
    assert!(closed.len() > 10);
    for operation in closed {
        let token = operation.token.clone().unwrap();
        let bare = || operation.complete(Request::new(&operation.method, &operation.target()));
        let bearer = format!("Bearer {token}");
        let other =
            if token == "organiser" { format!("Bearer {}", hanako.token) } else { "Bearer organiser".to_owned() };
        let mut requests = vec![
            bare(),
            bare().header("authorization", &bearer).header("authorization", &bearer),
            bare().header("authorization", &bearer).header("Authorization", "Bearer x"),
            bare().raw_header("authorization", b"Bearer \xff\xfe"),
            bare().raw_header("authorization", format!("{bearer}あ").as_bytes()),
            bare().header("proxy-authorization", &bearer),
            bare().header("x-authorization", &bearer),
            bare().header("cookie", &format!("authorization={token}")),
        ];
        let texts = [
            "",
            "Bearer",
            "Bearer ",
            "Basic eDp5",
            &token,
            &format!("Bearer {token} x"),
            &format!("Bearer,{token}"),
            &other,
        ];
        requests.extend(texts.map(|text| bare().header("authorization", text)));
        requests.push(bare().header("authorization", &format!("Bearer {}", "a".repeat(100_000))));
        for (request, got) in all_well_mannered(&house, requests).await {
            assert_eq!(got.status, 401, "{}\n{got:?}", request.shown());
            assert!(!got.body.contains(&token), "{}\n{got:?}", request.shown());
        }
    }
    house.close().await;
}

#[tokio::test]
async fn odd_headers_are_refused_or_passed_over() {
    let house = House::open("odd headers").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    let many = (0..60).fold(Request::new("GET", "/"), |request, n| request.header(&format!("x-{n}"), "y"));
    for operation in operations(&house, &hanako.token).await {
        let request = || operation.request();
        let requests = vec![
            request().header("if-match", "abc"),
            request().header("if-match", "\"\""),
            request().header("if-match", "W/\"2026-05-23T10:00:00.000Z\""),
            request().header("if-match", "*, \"x\""),
            request().raw_header("if-match", b"\"\xff\""),
            request().header("if-none-match", "\"x\""),
            request().header("if-none-match", "*").header("if-match", "*"),
            request().header("idempotency-key", ""),
            request().header("idempotency-key", "a b"),
            request().header("idempotency-key", &"a".repeat(256)),
            request().raw_header("idempotency-key", "花".as_bytes()),
            request().header("idempotency-key", "a").header("idempotency-key", "b"),
            request().header("x-line-signature", &"A".repeat(50_000)),
            request().raw_header("x-line-signature", b"\xff"),
            request().header("x-request-id", "mine"),
            request().header("x-http-method-override", "DELETE"),
            request().header("accept", "text/plain"),
            request().header("accept-encoding", "gzip, br, zstd"),
            request().header("range", "bytes=0-1"),
            request().header("expect", "100-continue"),
            request().header("upgrade", "websocket"),
            request().header("upgrade", "h2c").header("http2-settings", "AAMAAABkAARAAAAAAAIAAAAA"),
            request().header("origin", ""),
            request().raw_header("origin", b"\xff"),
            request().header("origin", &"https://a.".repeat(1000)),
            request().header("x-forwarded-for", "not an address, ::1, 999.9.9.9"),
            request().header("forwarded", "for=\"_gazonk"),
            request().header("x-forwarded-proto", "gopher"),
            request().header("x-large", &"y".repeat(100_000)),
            many.clone().by(&operation.method).at(&operation.target()),
        ];
        for (request, got) in all_well_mannered(&house, requests).await {
            assert_ne!(got.header("x-request-id"), "mine", "{}", request.shown());
        }
    }
    house.close().await;
}

/// Below HTTP there is no request id to answer with: what can't be read as a request is answered by the server's
/// parser, with a bare 4xx (or a closed door), and the connection ends.
#[tokio::test]
async fn what_isnt_http_gets_a_bare_400_and_harms_no_other_request() {
    let house = House::open("no http").await;
    let hanako = house.hanako();
    let head = format!("PUT /api/events/{RALLY}/me HTTP/1.1\r\nhost: x\r\n");
    let large = format!("{head}x: {}\r\n\r\n", "y".repeat(200_000));
    let many = format!("{head}{}\r\n", "x: y\r\n".repeat(200));
    let garbage: [&[u8]; 25] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET /api/events/a<b/stamps HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET /api/events/a\"b/stamps HTTP/1.1\r\nhost: x\r\n\r\n",
        "GET /api/events/caf\u{e9}/stamps HTTP/1.1\r\nhost: x\r\n\r\n".as_bytes(),
        b"GET / HTTP/1.1\r\nhost x\r\n\r\n",
        b"GET / HTTP/1.1\r\n: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nx\x00y: z\r\n\r\n",
        b"GET / HTTP/1.1\r\nx: \x00\r\n\r\n",
        b"G\x00T / HTTP/1.1\r\n\r\n",
        b"GET /a b HTTP/1.1\r\n\r\n",
        b"POST /webhook/main HTTP/1.1\r\nhost: x\r\ncontent-length: abc\r\n\r\n",
        b"POST /webhook/main HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        b"POST /webhook/main HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999999999999\r\n\r\n",
        b"POST /webhook/main HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
        b"POST /webhook/main HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /webhook/main HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip\r\n\r\n",
        b"POST /webhook/main HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nab\r\n",
        b"GET http:///x HTTP/1.1\r\n\r\n",
        b"\r\n\r\n\r\n",
        large.as_bytes(),
        many.as_bytes(),
    ];
    for bytes in garbage {
        let got = send(&house.url, bytes.to_vec()).await;
        let Got { status, .. } = &got;
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]);
        assert!(*status == 0 || (400..500).contains(status), "{shown}\n{got:?}");
        assert!(!got.header("content-type").starts_with("text/plain"), "{shown}\n{got:?}");
        assert!(got.body.is_empty() || got.header("content-type") == "application/problem+json", "{shown}\n{got:?}");
    }
    hanako.register().await.is(201);
    house.close().await;
}

#[tokio::test]
async fn a_body_that_breaks_off_or_never_was_one_is_refused() {
    let house = House::open("bodies that break off").await;
    let hanako = house.hanako();
    let put = || {
        Request::new("PUT", &format!("/api/events/{RALLY}/me"))
            .header("authorization", &format!("Bearer {}", hanako.token))
    };
    let chunked = || put().header("content-type", "application/json").header("transfer-encoding", "chunked");
    let requests = [
        chunked().bytes(b"2\r\n{}\r\n0\r\n\r\n"),
        chunked().bytes(b"zz\r\n{}\r\n0\r\n\r\n"),
        chunked().bytes(b"ffffffffffffffffff\r\n{}"),
        chunked().bytes(b"2\r\n{}"),
        put().header("content-type", "application/json").header("content-length", "10").bytes(b"{}"),
    ];
    let answers = super::talk(&house.url, requests.to_vec()).await;
    assert_eq!(answers[0].1.status, 201);
    for (request, got) in &answers[1..] {
        // A client that hangs up in the middle may get nothing.
        assert!([0, 400].contains(&got.status), "{}\n{got:?}", request.shown());
        if got.header("content-type") == "application/problem+json" {
            is_well_mannered(request, got);
        }
    }
    house.close().await;
}
