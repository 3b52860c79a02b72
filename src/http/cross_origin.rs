//! Pages of other origins that may call us (CORS, WHATWG Fetch).

use actix_cors::Cors;
use actix_web::http::header;

/// Pages of exactly these origins may call us and read every answer, failures too.
pub(super) fn cors(origins: &[String]) -> Cors {
    let cors = Cors::default()
        .allowed_methods(["GET", "POST", "PUT"])
        .allowed_headers([header::AUTHORIZATION, header::CONTENT_TYPE, header::IF_MATCH, header::IF_NONE_MATCH])
        .allowed_header("idempotency-key")
        .expose_headers(["etag", "retry-after", "x-request-id"])
        .max_age(600);
    origins.iter().fold(cors, |cors, origin| cors.allowed_origin(origin))
}
