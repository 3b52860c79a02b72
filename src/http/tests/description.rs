//! The API's description is true.

use serde_json::Value;

use crate::http::{ops::OPENAPI, routes};

#[test]
fn the_description_names_every_route_and_no_other() {
    let description: Value = serde_json::from_str(OPENAPI).unwrap();
    let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
    let mut described: Vec<String> = Vec::new();
    for (path, item) in description["paths"].as_object().unwrap() {
        let operations = item.as_object().unwrap().keys().filter(|key| methods.contains(&key.as_str()));
        described.extend(operations.map(|method| format!("{} {path}", method.to_uppercase())));
    }
    // HEAD goes without saying.
    let mut served: Vec<String> = routes::endpoints()
        .iter()
        .flat_map(|endpoint| endpoint.methods.iter().map(move |method| format!("{method} {}", endpoint.path)))
        .filter(|line| !line.starts_with("HEAD"))
        .collect();
    described.sort();
    served.sort();
    assert_eq!(described, served);
}

#[test]
fn the_description_knows_every_reference_it_makes() {
    let description: Value = serde_json::from_str(OPENAPI).unwrap();
    let references = OPENAPI.split("\"$ref\": \"#").skip(1).map(|rest| rest.split('"').next().unwrap());
    let mut count = 0;
    for reference in references {
        count += 1;
        assert!(description.pointer(reference).is_some(), "{reference}");
    }
    assert!(count > 20);
}
