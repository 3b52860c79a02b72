//! The participants who have a stamp, and how they proved it.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Path},
};

use crate::domain::ids::{EventId, StampId};
use crate::http::{app::App, auth::Viewer, problem::ApiError};
use crate::store::{listing::Proofs, masters::Stored};

use super::{
    list::{ListQuery, Parameters, Part},
    view::HolderView,
};

/// What a list of holders shows of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// Who, and since when.
    Plain,
    /// Also how they proved it.
    WithProofs,
}

impl Shown {
    /// Reads `proofs`, which is `true` or absent.
    fn read(parameters: &Parameters) -> Result<Self, ApiError> {
        match parameters.one("proofs") {
            None => Ok(Self::Plain),
            Some("true") => Ok(Self::WithProofs),
            Some(_) => Err(ApiError::InvalidRequest("proofs: must be true, or be left out".to_owned())),
        }
    }
}

/// `GET …/{eventId}/stamps/{stampId}/holders`: the participants who have the stamp, by time; with `proofs=true` how they
/// proved it.
pub async fn list(
    _viewer: Viewer,
    req: HttpRequest,
    app: Data<App>,
    path: Path<(EventId, StampId)>,
) -> Result<HttpResponse, ApiError> {
    let (event_id, stamp_id) = path.into_inner();
    let parameters = Parameters::of(&req, &["order", "limit", "cursor", "proofs"])?;
    let shown = Shown::read(&parameters)?;
    let query = ListQuery::read(&parameters, &["holders", event_id.as_str(), stamp_id.as_str()])?;
    let wanted = query.wanted()?;
    let event = app.stored_event(&event_id).await?;
    // Its holders are known also where the stamp itself can't be read.
    if let Stored::Absent = app.store.stored_master(&event_id, &stamp_id).await? {
        return Err(ApiError::StampNotFound);
    }
    let page = app.store.holders(&event, &stamp_id, &wanted).await?;
    let proofs = match shown {
        Shown::Plain => Proofs::new(),
        Shown::WithProofs => app.store.proofs_of(&event_id, &stamp_id, &page.rows).await?,
    };
    query.answer("holders", Part::of(&page, |holder| HolderView::of(holder, proofs.get(&holder.line_user_id))))
}
