//! Pages of other origins (CORS), on answers and failures alike.

use super::{Request, all_well_mannered, operations};
use crate::house::{House, PAGE, RALLY};

#[tokio::test]
async fn the_rallys_page_reads_every_answer_and_others_read_none() {
    let house = House::open("origins").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    let mut requests = vec![Request::new("GET", "/nothing"), Request::new("DELETE", "/healthz")];
    for operation in operations(&house, &hanako.token).await {
        requests.push(operation.request());
        requests.push(Request::new(&operation.method, &operation.target()));
        requests.push(operation.to(&operation.target().replace(RALLY, "a%23")));
        requests.push(operation.request().json("{"));
        requests.push(operation.request().by("DELETE"));
    }
    let from = |origin: &str| requests.iter().map(|request| request.clone().header("origin", origin)).collect();
    for (request, got) in all_well_mannered(&house, from(PAGE)).await {
        assert_eq!(got.header("access-control-allow-origin"), PAGE, "{}\n{got:?}", request.shown());
        assert!(got.header("access-control-expose-headers").contains("x-request-id"), "{}\n{got:?}", request.shown());
        assert!(got.header("vary").contains("Origin"), "{}\n{got:?}", request.shown());
    }
    for origin in [
        "https://evil.example",
        "http://rally.example",
        "https://rally.example:8443",
        "https://rally.example.evil.example",
        "null",
        "*",
    ] {
        for (request, got) in all_well_mannered(&house, from(origin)).await {
            assert_eq!(got.header("access-control-allow-origin"), "", "{origin}: {}\n{got:?}", request.shown());
        }
    }
    house.close().await;
}

#[tokio::test]
async fn a_browser_that_asks_first_is_answered_what_the_page_may_do() {
    let house = House::open("preflights").await;
    let hanako = house.hanako();
    let operations = operations(&house, &hanako.token).await;
    let preflight = |target: &str, origin: &str, method: &str, headers: &str| {
        let options =
            Request::new("OPTIONS", target).header("origin", origin).header("access-control-request-method", method);
        if headers.is_empty() { options } else { options.header("access-control-request-headers", headers) }
    };
    let wanted = "authorization, content-type, idempotency-key, if-match, if-none-match";
    let requests: Vec<_> = operations.iter().map(|it| preflight(&it.target(), PAGE, &it.method, wanted)).collect();
    for (request, got) in all_well_mannered(&house, requests).await {
        assert_eq!(
            (got.status, got.header("access-control-allow-origin")),
            (200, PAGE),
            "{}\n{got:?}",
            request.shown()
        );
        let headers = got.header("access-control-allow-headers").to_ascii_lowercase();
        assert!(wanted.split(", ").all(|name| headers.contains(name)), "{headers}");
        assert_eq!(got.header("access-control-allow-credentials"), "", "no cookies here");
    }
    let me = format!("/api/events/{RALLY}/me");
    let refused = [
        preflight(&me, "https://evil.example", "PUT", wanted),
        preflight(&me, "null", "PUT", ""),
        preflight(&me, PAGE, "DELETE", ""),
        preflight(&me, PAGE, "b r e w", ""),
        preflight(&me, PAGE, "", ""),
        preflight(&me, PAGE, "PUT", "x-something-else"),
        preflight(&me, PAGE, "PUT", "\"(),;"),
        preflight("/nothing", "https://evil.example", "GET", ""),
    ];
    for (request, got) in all_well_mannered(&house, refused.to_vec()).await {
        assert!([400, 404, 405].contains(&got.status), "{}\n{got:?}", request.shown());
        assert_eq!(got.header("access-control-allow-headers"), "", "{}\n{got:?}", request.shown());
    }
    house.close().await;
}
