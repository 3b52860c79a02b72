//! Every path, the methods it answers, and the pages that may call. The API's description is compared with this table.

use actix_web::{
    FromRequest, Handler, Resource, Responder, Route,
    guard::{self, Guard as _},
    http::Method,
    web::{self, ServiceConfig},
};

use super::{admin, grants, observe, ops, pages, participant, problem::ApiError, webhook};

/// Returns all endpoints; the busiest first, for they are tried in order.
pub(super) fn endpoints() -> Vec<Endpoint> {
    let mut endpoints = vec![
        at("/api/events/{eventId}/me/stamps/{stampId}").get(participant::stamp).on(Method::POST, participant::acquire),
        at("/api/events/{eventId}/me/scans").on(Method::POST, participant::scan),
        at("/api/events/{eventId}/me/code").get(participant::code),
        at("/api/events/{eventId}/me").get(participant::card).on(Method::PUT, participant::register),
        at("/api/events/{eventId}/stamps").get(participant::stamps),
        at("/webhook/{channel}").on(Method::POST, webhook::receive),
        at("/admin/api/events").get(admin::events::list),
        at("/admin/api/events/{eventId}").get(admin::events::show).on(Method::PUT, admin::events::put),
        at("/admin/api/events/{eventId}/users").get(admin::users::list),
        at("/admin/api/events/{eventId}/users.csv").on(Method::GET, admin::users::csv),
        at("/admin/api/events/{eventId}/users/{lineUserId}").get(admin::users::show),
        at("/admin/api/events/{eventId}/users/{lineUserId}/completed/resend")
            .on(Method::POST, admin::deliveries::resend_completed),
        at("/admin/api/events/{eventId}/stamps").get(admin::stamps::list),
        at("/admin/api/events/{eventId}/stamps/{stampId}").get(admin::stamps::show).on(Method::PUT, admin::stamps::put),
        at("/admin/api/events/{eventId}/stamps/{stampId}/holders").get(admin::holders::list),
        at("/admin/api/events/{eventId}/stamps/{stampId}/codes").get(admin::codes::list),
        at("/admin/api/events/{eventId}/stamps/{stampId}/codes/{kind}/rotate").on(Method::POST, admin::codes::rotate),
        at("/admin/api/events/{eventId}/stamps/{stampId}/codes/{kind}/{generation}/revoke")
            .on(Method::POST, admin::codes::revoke),
        at("/admin/api/events/{eventId}/deliveries").get(admin::deliveries::list),
        at("/admin/api/events/{eventId}/deliveries/{lineUserId}/{stampId}/resend")
            .on(Method::POST, admin::deliveries::resend),
        at("/admin/api/events/{eventId}/refusals").get(admin::refusals::list),
        at("/admin/api/events/{eventId}/stats").get(admin::stats::show),
        at("/openapi.json").get(ops::openapi),
    ];
    endpoints.extend(of_staff());
    endpoints.extend(of_operators());
    endpoints
}

/// Returns what is about staff and screens, and what they ask.
fn of_staff() -> [Endpoint; 6] {
    [
        at("/staff/api/events/{eventId}/stamps/{stampId}/grants").on(Method::POST, grants::grant),
        at("/spot/{eventId}/{stampId}/codes").get(pages::spot::codes),
        at("/spot/{eventId}/{stampId}").get(pages::spot::show),
        at("/assets/{digest}/{name}").get(pages::assets::show),
        at("/admin/api/events/{eventId}/staff").get(admin::staff::list).on(Method::POST, admin::staff::create),
        at("/admin/api/events/{eventId}/staff/{staffId}/revoke").on(Method::POST, admin::staff::revoke),
    ]
}

/// Returns what every process answers that serves something.
fn of_operators() -> [Endpoint; 3] {
    [at("/healthz").get(ops::healthz), at("/readyz").get(ops::readyz), at("/metrics").get(ops::metrics)]
}

/// Registers all endpoints.
pub(super) fn configure(config: &mut ServiceConfig) {
    register(config, endpoints());
}

/// Registers what every process answers.
pub(super) fn configure_ops(config: &mut ServiceConfig) {
    register(config, of_operators());
}

fn register(config: &mut ServiceConfig, endpoints: impl IntoIterator<Item = Endpoint>) {
    for endpoint in endpoints {
        config.service(endpoint.into_resource());
    }
    config.app_data(web::PathConfig::default().error_handler(|error, _| refused_path(&error).into()));
    config.default_service(web::to(|| async { Err::<web::Bytes, _>(ApiError::NotFound) }));
}

/// Refuses an id in a path that isn't one, in the words of the id type.
fn refused_path(error: &actix_web::error::PathError) -> ApiError {
    match error {
        actix_web::error::PathError::Deserialize(error) => ApiError::InvalidRequest(error.to_string()),
        other => ApiError::InvalidRequest(other.to_string()),
    }
}

/// A path and what it answers.
pub(super) struct Endpoint {
    pub path: &'static str,
    pub methods: Vec<Method>,
    routes: Vec<Route>,
}

fn at(path: &'static str) -> Endpoint {
    Endpoint { path, methods: Vec::new(), routes: Vec::new() }
}

impl Endpoint {
    /// Answers GET, and HEAD by the same handler: the answer's body is left out on the wire.
    fn get<F, Args>(mut self, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.methods.extend([Method::GET, Method::HEAD]);
        let is_get = guard::fn_guard(|context| guard::Get().check(context) || guard::Head().check(context));
        self.routes.push(web::route().guard(is_get).to(handler));
        self
    }

    /// Answers one method; GET alone where a HEAD would read a whole list for nothing.
    fn on<F, Args>(mut self, method: Method, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.routes.push(web::method(method.clone()).to(handler));
        self.methods.push(method);
        self
    }

    /// Returns the resource; the answer to any other method names those that there are.
    fn into_resource(self) -> Resource {
        let allowed = self.methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", ");
        let resource = web::resource(self.path).app_data(observe::Route(self.path));
        let resource = self.routes.into_iter().fold(resource, Resource::route);
        resource.default_service(web::to(move || {
            let allowed = allowed.clone();
            async move { Err::<web::Bytes, _>(ApiError::MethodNotAllowed { allowed }) }
        }))
    }
}
