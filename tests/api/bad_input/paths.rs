//! Paths, ids and query strings.

use super::{Got, Request, all_well_mannered, operations};
use crate::house::{House, RALLY};

/// What is no id, in a path. None of it may reach a key.
const BAD_IDS: [&str; 26] = [
    "a%23b",
    "%23",
    "%00",
    "a%00b",
    "%0A",
    "a%0D%0Ab",
    "%7F",
    "%FF",
    "%C3%28",
    "%ED%A0%80",
    "%zz",
    "%",
    "%2",
    "a%2Fb",
    "%2e%2e",
    "..",
    "a%5Cb",
    "a%20b",
    "a+b",
    "a:b",
    "a,b",
    "-a",
    "_a",
    "%E8%8A%B1",
    "{eventId}",
    "a|b",
];

#[tokio::test]
async fn what_is_no_id_is_refused_by_name_and_asks_the_store_nothing() {
    let house = House::open("bad ids").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    let operations = operations(&house, &hanako.token).await;
    house.wire();
    let long = "a".repeat(65);
    let endless = "a".repeat(60_000);
    for operation in &operations {
        for parameter in operation.parameters() {
            let ids = BAD_IDS.iter().copied().chain([long.as_str(), endless.as_str()]);
            let requests = ids.map(|id| operation.to(&operation.target_with(parameter, id))).collect();
            for (request, got) in all_well_mannered(&house, requests).await {
                // `..` is a segment like any other: nothing is resolved.
                let expected: &[(u16, &str)] = match parameter {
                    "{channel}" => &[(404, "channel_not_found")],
                    _ => &[(400, "invalid_request")],
                };
                let found = (got.status, got.code());
                assert!(expected.contains(&(found.0, &found.1)), "{}\n{got:?}", request.shown());
                if parameter != "{channel}" {
                    assert!(
                        got.body.contains(parameter.trim_matches(['{', '}'])),
                        "it is named: {}\n{got:?}",
                        request.shown()
                    );
                }
            }
        }
    }
    let asked: Vec<_> = house.wire();
    assert_eq!(asked, [] as [&str; 0]);
    house.close().await;
}

#[tokio::test]
async fn what_is_no_path_is_not_found() {
    let house = House::open("bad paths").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    for operation in operations(&house, &hanako.token).await {
        let target = operation.target();
        let targets = [
            format!("{target}/"),
            format!("/{target}"),
            target.replacen('/', "//", 2),
            format!("{target}//"),
            format!("{target}/x/y/z"),
            format!("/x{target}"),
            target.to_uppercase(),
            format!("{target};v=1"),
            format!("{target}%20"),
            format!("{target}%00"),
            format!("/%2F{}", &target[1..]),
            format!("/.{target}"),
            format!("/../{target}"),
        ];
        let requests = targets.iter().map(|target| operation.to(target)).collect();
        for (request, got) in all_well_mannered(&house, requests).await {
            let is_id =
                request.target.ends_with(";v=1") || request.target.ends_with("%20") || request.target.ends_with("%00");
            let id = (got.status, got.code());
            assert!(
                got.code() == "not_found"
                    || is_id
                        && [(400, "invalid_request".to_owned()), (404, "channel_not_found".to_owned())].contains(&id),
                "{}\n{got:?}",
                request.shown()
            );
        }
    }
    house.close().await;
}

#[tokio::test]
async fn a_query_string_that_means_nothing_is_refused_or_passed_over() {
    let house = House::open("odd queries").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    let long = format!("cursor={}", "A".repeat(60_000));
    let many = "limit=1&".repeat(5_000);
    let queries = [
        "",
        "?",
        "&",
        "&&=&",
        "=",
        "%",
        "%zz",
        "%FF=%FF",
        "a=%00",
        "a=b&a=b",
        "limit=",
        "limit=0",
        "limit=-1",
        "limit=1001",
        "limit=1e3",
        "limit=%00",
        "limit=%EF%BC%91",
        "limit=99999999999999999999",
        "limit=1&limit=1",
        "limit[]=1",
        "LIMIT=1",
        "order=",
        "order=ASC",
        "order=asc%00",
        "cursor=",
        "cursor=%00",
        "cursor=%FF",
        "cursor=AAAA",
        "cursor=%F0%9F%8E%89",
        "from=",
        "from=0000-01-01",
        "from=9999-12-31",
        "to=9999-12-31",
        "from=2026-02-30",
        "from=2026-05-24&to=2026-05-23",
        "to=-0001-01-01",
        "from=+12026-05-23",
        "from=2026-05-23T00:00:00",
        "from=2026-05-23T24:00:00Z",
        "from=1e9",
        "from=0001-01-01T00:00:00%2B14:00",
        "to=9999-12-31T23:59:59-14:00",
        "state=",
        "state=sent",
        "state=failed&state=held",
        "state=failed%00",
        "state=held&limit=0",
        "state=held&cursor=x",
        "%E8%8A%B1=%E5%AD%90",
        "from='%20OR%201=1",
        "limit=1;drop",
        long.as_str(),
        many.as_str(),
    ];
    let participants = "/api/events/";
    for operation in operations(&house, &hanako.token).await {
        let asked = |query: &&str| operation.complete(operation.to(&format!("{}?{query}", operation.target())));
        let requests = queries.iter().map(asked).collect();
        for (request, got) in all_well_mannered(&house, requests).await {
            if operation.path.starts_with(participants) {
                // Pages may be opened with whatever LINE and its parameters add.
                assert!(got.status < 300, "{}\n{got:?}", request.shown());
            }
        }
    }
    house.close().await;
}

#[tokio::test]
async fn a_list_says_what_it_cant_do() {
    let house = House::open("refused lists").await;
    let users = format!("/admin/api/events/{RALLY}/users");
    let ask = |query: &str| Request::new("GET", &format!("{users}?{query}")).header("authorization", "Bearer viewer");
    let refusals = [
        ("limit=0", "invalid_request"),
        ("limit=1001", "invalid_request"),
        ("order=up", "invalid_request"),
        ("from=tomorrow", "invalid_request"),
        ("from=2026-05-24&to=2026-05-23", "invalid_request"),
        ("cursor=AAAA", "cursor_invalid"),
        ("cursor=", "cursor_invalid"),
        ("since=2026-05-24", "invalid_request"),
    ];
    let answers = all_well_mannered(&house, refusals.iter().map(|(query, _)| ask(query)).collect()).await;
    for ((query, code), (_, got)) in refusals.iter().zip(answers) {
        assert_eq!((got.status, got.code().as_str()), (400, *code), "{query}: {got:?}");
    }
    house.close().await;
}

/// A target that is no path at all.
#[tokio::test]
async fn odd_targets_are_not_found() {
    let house = House::open("odd targets").await;
    let me = format!("/api/events/{RALLY}/me");
    let mut requests: Vec<Request> = [
        "*",
        "/",
        "//",
        "///",
        "/%",
        "/%zz",
        "/%00",
        "/%FF",
        "/..",
        "/.",
        "/?",
        "/?#",
        "/api",
        "/admin",
        "/webhook",
        "/webhook/",
    ]
    .iter()
    .flat_map(|target| ["GET", "POST", "OPTIONS", "HEAD"].map(|method| Request::new(method, target)))
    .collect();
    // A fragment never arrives; a whole URL is RFC 9112's absolute form, and names the path in it.
    requests.push(Request::new("GET", &format!("{me}#stamps")));
    requests.push(Request::new("GET", &format!("http://evil.example{me}")));
    let answers = all_well_mannered(&house, requests).await;
    let (mine, others): (Vec<_>, Vec<_>) = answers.into_iter().partition(|(request, _)| request.target.contains("/me"));
    for (request, got) in &mine {
        assert_eq!((got.status, got.code().as_str()), (401, "token_missing"), "{}\n{got:?}", request.shown());
    }
    for (request, Got { status, .. }) in &others {
        assert!([404, 405].contains(status), "{}: {status}", request.shown());
    }
    house.close().await;
}
