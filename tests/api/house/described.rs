//! Every answer of the server must be one that its `openapi.json` describes: path, method, status, headers, content type,
//! problem code, and each member of the body.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex},
};

use jsonschema::Validator;
use reqwest::{Method, header::HeaderMap};
use serde_json::{Value, json};

static DESCRIPTION: LazyLock<Description> = LazyLock::new(|| Description {
    document: serde_json::from_str(include_str!("../../../src/http/openapi.json")).unwrap(),
    validators: Mutex::default(),
});

/// An answer, as it is compared with the description.
pub struct Received<'a> {
    pub method: &'a Method,
    /// Without the query.
    pub path: &'a str,
    pub status: u16,
    pub headers: &'a HeaderMap,
    /// The JSON, or the text as a JSON string.
    pub body: &'a Value,
}

/// Insists that the answer is one that `openapi.json` describes. Answers without `x-request-id` aren't the server's, and
/// those to CORS preflights (`OPTIONS`) are the Fetch standard's: neither is looked at.
#[track_caller]
pub fn insist(received: &Received<'_>) {
    if !received.headers.contains_key("x-request-id") || received.method == Method::OPTIONS {
        return;
    }
    if let Err(problem) = DESCRIPTION.check(received) {
        let Received { method, path, status, body, .. } = received;
        panic!("openapi.json doesn't describe this answer: {problem}\n{method} {path}: {status}\n{body:#}");
    }
}

struct Description {
    document: Value,
    /// By method, path template and status.
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Description {
    fn check(&self, received: &Received<'_>) -> Result<(), String> {
        let Some((template, item)) = self.path_item(received.path) else {
            return is_problem(received, 404, &["not_found"]);
        };
        let Some((method, operation)) = operation(item, received.method) else {
            return is_problem(received, 405, &["method_not_allowed"]);
        };
        if received.method == Method::HEAD && received.status == 405 {
            // Declared nowhere; a stream (the CSV) has no answer to it.
            return Ok(());
        }
        let response = self.resolved(&operation["responses"][received.status.to_string()]);
        if !response.is_object() {
            return Err(format!("status {} of {method} {template}", received.status));
        }
        if let Some(missing) = missing_header(response, received.headers) {
            return Err(format!("the header {missing} is missing"));
        }
        if received.method == Method::HEAD {
            return Ok(());
        }
        self.check_content(&format!("{method} {template} {}", received.status), response, received)
    }

    fn check_content(&self, name: &str, response: &Value, received: &Received<'_>) -> Result<(), String> {
        let media = content_type(received.headers);
        let content = response["content"].get(media).ok_or_else(|| format!("content type {media:?}"))?;
        let validator = self.validator(name, &content["schema"]);
        if let Some(error) = validator.iter_errors(received.body).next() {
            return Err(format!("{error} at {:?}", error.instance_path().to_string()));
        }
        if media == "application/problem+json" {
            let description = response["description"].as_str().unwrap_or_default();
            let codes: Vec<&str> = description.split('`').skip(1).step_by(2).collect();
            return is_problem(received, received.status, &codes);
        }
        Ok(())
    }

    /// The path that describes this one; one with fewer parameters wins.
    fn path_item(&self, path: &str) -> Option<(&str, &Value)> {
        let paths = self.document["paths"].as_object().unwrap();
        let mut matching: Vec<_> = paths.iter().filter(|(template, _)| matches(template, path)).collect();
        matching.sort_by_key(|(template, _)| template.matches('{').count());
        matching.first().map(|(template, item)| (template.as_str(), *item))
    }

    fn resolved<'a>(&'a self, response: &'a Value) -> &'a Value {
        match response["$ref"].as_str() {
            Some(reference) => self.document.pointer(reference.trim_start_matches('#')).unwrap(),
            None => response,
        }
    }

    fn validator(&self, name: &str, schema: &Value) -> Arc<Validator> {
        let mut validators = self.validators.lock().unwrap();
        let made = validators.entry(name.to_owned()).or_insert_with(|| {
            let whole = json!({"allOf": [schema], "components": self.document["components"]});
            Arc::new(jsonschema::options().should_validate_formats(true).build(&whole).unwrap())
        });
        Arc::clone(made)
    }
}

/// The operation of a method, and its name there.
fn operation<'a>(item: &'a Value, method: &Method) -> Option<(String, &'a Value)> {
    let name = match method.as_str() {
        // As GET, without the content (RFC 9110, section 9.3.2).
        "HEAD" => "get".to_owned(),
        // Case matters (section 9.1): `get` is another method than `GET`.
        name if name == name.to_uppercase() => name.to_lowercase(),
        _ => return None,
    };
    item.get(&name).map(|operation| (name, operation))
}

fn matches(template: &str, path: &str) -> bool {
    let (template, path): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
    let matches =
        |(expected, part): (&&str, &&str)| expected == part || (expected.starts_with('{') && !part.is_empty());
    template.len() == path.len() && template.iter().zip(&path).all(matches)
}

fn missing_header(response: &Value, headers: &HeaderMap) -> Option<String> {
    let described = response["headers"].as_object()?;
    described.keys().find(|name| !headers.contains_key(name.as_str())).cloned()
}

fn content_type(headers: &HeaderMap) -> &str {
    let value = headers.get("content-type").map_or("", |value| value.to_str().unwrap());
    value.split(';').next().unwrap_or_default().trim()
}

fn is_problem(received: &Received<'_>, status: u16, codes: &[&str]) -> Result<(), String> {
    if received.method == Method::HEAD && received.status == status {
        return Ok(());
    }
    let code = received.body["code"].as_str().unwrap_or_default();
    if received.status == status && codes.contains(&code) {
        return Ok(());
    }
    Err(format!("it should be {status} with one of {codes:?}, and is {} with {code:?}", received.status))
}

mod tests {
    use super::*;

    fn check(path: &str, status: u16, media: &str, body: &Value) -> Result<(), String> {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", media.parse().unwrap());
        headers.insert("cache-control", "max-age=30".parse().unwrap());
        DESCRIPTION.check(&Received { method: &Method::GET, path, status, headers: &headers, body })
    }

    #[test]
    fn an_answer_that_is_not_described_is_found_by_each_of_its_parts() {
        let listed = json!({"stamps": [{"stampId": "001", "name": "駅", "order": 1}]});
        let (stamps, json) = ("/api/events/rally/stamps", "application/json");
        assert_eq!(check(stamps, 200, json, &listed), Ok(()));
        let mut wrong = listed.clone();
        wrong["stamps"][0]["secret"] = json!("hint");
        assert!(check(stamps, 200, json, &wrong).unwrap_err().contains("secret"));
        wrong = listed.clone();
        wrong["stamps"][0]["order"] = json!("1");
        assert!(check(stamps, 200, json, &wrong).unwrap_err().contains("/stamps/0/order"));
        assert!(check(stamps, 418, json, &listed).unwrap_err().contains("status 418"));
        assert!(check(stamps, 200, "text/html", &listed).unwrap_err().contains("text/html"));
        assert!(check("/api/elsewhere", 200, json, &listed).unwrap_err().contains("not_found"));

        let problem = |code: &str| json!({"type": "about:blank", "title": "t", "status": 404, "detail": "d", "code": code, "requestId": "r"});
        let media = "application/problem+json";
        assert_eq!(check(stamps, 404, media, &problem("event_not_found")), Ok(()));
        assert!(check(stamps, 404, media, &problem("stamp_not_found")).unwrap_err().contains("event_not_found"));
        assert!(check("/readyz", 503, media, &problem("store_unavailable")).unwrap_err().contains("Retry-After"));
    }
}
