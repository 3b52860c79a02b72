//! Whom a token means, for which events, and how long.

use std::time::Duration;

use reqwest::{Method, header::HeaderValue};
use serde_json::json;
use stamp_rally::domain::time::TimeSource as _;

use super::{endpoint, no_way_gets_in};
use crate::house::{Answer, Fittings, House, MINI_APP, Person, RALLY};

const OVER_AN_HOUR: Duration = Duration::from_secs(3631);

#[tokio::test]
async fn without_a_token_no_request_is_answered() {
    let house = House::open("no token").await;
    let ask = || house.request(Method::GET, &format!("/api/events/{RALLY}/me"));
    let hanako = house.hanako();
    let token = &hanako.token;
    for value in ["", "Bearer", "Bearer ", "Basic aGFuYWtvOmhhbmFrbw==", token, &format!("Token {token}")] {
        Answer::to(ask().header("authorization", value)).await.refuses(401, "token_missing");
    }
    Answer::to(ask()).await.refuses(401, "token_missing");
    Answer::to(ask().query(&[("access_token", token), ("id_token", token)])).await.refuses(401, "token_missing");
    Answer::to(ask().header("x-id-token", token).header("cookie", format!("token={token}")))
        .await
        .refuses(401, "token_missing");
    for value in [format!("Bearer {token} {token}"), format!("Bearer {token}\u{3042}"), format!("Bearer {token}\t")] {
        let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
        let answer = Answer::to(ask().header("authorization", value)).await;
        assert!([200, 401, 404].contains(&answer.status), "{answer:?}");
    }
    let two = ask().bearer_auth(token).bearer_auth(token);
    Answer::to(two).await.refuses(401, "token_invalid");
    for scheme in ["bearer", "BEARER"] {
        Answer::to(ask().header("authorization", format!("{scheme} {token}"))).await.refuses(404, "not_registered");
    }
    house.close().await;
}

#[tokio::test]
async fn only_the_tokens_own_user_is_ever_meant() {
    let house = House::open("only the sub").await;
    let (hanako, taro) = (house.hanako(), house.person("太郎"));
    let claim = hanako
        .request(Method::POST, &format!("/me/stamps/001?lineUserId={0}&userId={0}&sub={0}", taro.id))
        .header("x-line-user-id", &taro.id)
        .header("x-user-id", &taro.id)
        .json(&json!({"proof": {"lineUserId": taro.id}}));
    Answer::to(claim).await.is(201);
    let claim = hanako.request(Method::POST, "/me/stamps/002").json(&json!({"lineUserId": taro.id}));
    Answer::to(claim).await.refuses(400, "invalid_request");
    assert_eq!(hanako.card().await.is(200).body["lineUserId"], hanako.id);
    taro.card().await.refuses(404, "not_registered");
    house.close().await;
}

#[tokio::test]
async fn a_token_of_any_accepted_login_channel_is_good_and_of_no_other_event() {
    for fittings in [Fittings::default(), endpoint()] {
        let house = House::fitted("several login channels", fittings).await;
        let hanako = house.hanako();
        hanako.register().await.is(201);
        hanako.minted(&json!({"aud": MINI_APP})).await.register().await.is(200);
        hanako.minted(&json!({"claims": {"name": null}})).await.register().await.is(200);
        hanako
            .minted(&json!({"nonce": "n", "claims": {"amr": ["linesso"], "new": {"a": 1}}}))
            .await
            .register()
            .await
            .is(200);

        let now = house.clock.now();
        let elsewhere =
            json!({"name": "隣のラリー", "channel": "other", "startsAt": now, "endsAt": now.plus_millis(3_600_000)});
        house.organiser().put_event("next-door", &elsewhere).await.is(201);
        let register = |who: &Person<'_>| {
            Answer::to(house.request(Method::PUT, "/api/events/next-door/me").bearer_auth(&who.token))
        };
        register(&hanako).await.refuses(401, "token_invalid");
        register(&hanako.minted(&json!({"channel": "other"})).await).await.is(201);
        register(&hanako).await.refuses(401, "token_invalid");
        house.close().await;
    }
}

#[tokio::test]
async fn clocks_may_differ_by_thirty_seconds() {
    let house = House::open("clocks differ").await;
    let hanako = house.hanako();
    let now = house.clock.now().as_millis() / 1000;
    let minted = async |iat: i64, exp: i64| hanako.minted(&json!({"iat": iat, "exp": exp})).await;
    minted(now + 29, now + 3600).await.register().await.is(201);
    minted(now + 32, now + 3600).await.register().await.refuses(401, "token_invalid");
    minted(now - 3600, now - 28).await.register().await.is(200);
    minted(now - 3600, now - 31).await.register().await.refuses(401, "token_expired");
    house.close().await;
}

#[tokio::test]
async fn a_token_that_was_good_expires_all_the_same() {
    for fittings in [Fittings::default(), endpoint()] {
        let house = House::fitted("expires", fittings).await;
        let hanako = house.hanako();
        hanako.acquire("001").await.is(201);
        house.pass(OVER_AN_HOUR).await;
        no_way_gets_in(&hanako, "token_expired", "seen an hour ago").await;
        hanako.again().acquire("001").await.is(200);
        house.close().await;
    }
}
