//! Modules and style sheets: `/assets/{digest}/{name}`. The digest is of what is in the file, so a page always loads the
//! files that it was made with, and browsers keep them.

use std::sync::LazyLock;

use actix_web::{HttpResponse, http::header, web::Path};
use sha2::{Digest as _, Sha256};

use crate::http::problem::ApiError;

/// A file that pages load.
struct Asset {
    name: &'static str,
    content_type: &'static str,
    content: &'static str,
}

const ASSETS: [Asset; 2] = [
    Asset { name: "spot.css", content_type: "text/css; charset=utf-8", content: include_str!("spot/spot.css") },
    Asset { name: "spot.js", content_type: "text/javascript; charset=utf-8", content: include_str!("spot/spot.js") },
];

static DIGESTS: LazyLock<[String; 2]> =
    LazyLock::new(|| ASSETS.map(|asset| hex::encode(&Sha256::digest(asset.content)[..8])));

fn find(name: &str) -> Option<(&'static Asset, &'static str)> {
    ASSETS
        .iter()
        .zip(DIGESTS.iter())
        .find(|(asset, _)| asset.name == name)
        .map(|(asset, digest)| (asset, digest.as_str()))
}

/// `GET /assets/{digest}/{name}`: for a year if the digest is today's; else today's file, not to be kept.
pub async fn show(path: Path<(String, String)>) -> Result<HttpResponse, ApiError> {
    let (digest, name) = path.into_inner();
    let (asset, todays) = find(&name).ok_or(ApiError::NotFound)?;
    let kept = if digest == todays { "public, max-age=31536000, immutable" } else { "no-store" };
    Ok(HttpResponse::Ok()
        .content_type(asset.content_type)
        .insert_header((header::CACHE_CONTROL, kept))
        .body(asset.content))
}

/// Returns a page with the address of each file in the place of its name in double braces.
pub(super) fn linked(html: &str) -> String {
    ASSETS.iter().zip(DIGESTS.iter()).fold(html.to_owned(), |html, (Asset { name, .. }, digest)| {
        html.replace(&format!("{{{{{name}}}}}"), &format!("/assets/{digest}/{name}"))
    })
}
