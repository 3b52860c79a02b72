//! Lists: their query parameters, and their answers with `nextCursor`.

use actix_web::{HttpRequest, HttpResponse, web::Query};
use serde::{Serialize, Serializer, de::DeserializeOwned, ser::SerializeMap as _};

use crate::domain::time::{Range, Span, TimeZone, Timestamp};
use crate::http::problem::ApiError;
use crate::store::listing::{Direction, Page, Position, Wanted};

use super::cursor::{self, QueryDigest};

/// The parameters of a request's query string, each at most once and all of them known.
#[derive(Debug)]
pub struct Parameters {
    pairs: Vec<(String, String)>,
    range: Range,
}

impl Parameters {
    /// Reads them; what is unknown, repeated or malformed is refused by name.
    pub fn of(req: &HttpRequest, known: &[&str]) -> Result<Self, ApiError> {
        let pairs = Query::<Vec<(String, String)>>::from_query(req.query_string());
        let pairs = pairs.map_err(|_| invalid("the query string can't be read"))?.into_inner();
        for (index, (name, _)) in pairs.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                return Err(invalid(format!("{name:?}: no such query parameter here; there are {}", known.join(", "))));
            }
            if pairs[..index].iter().any(|(before, _)| before == name) {
                return Err(invalid(format!("{name}: give it once")));
            }
        }
        let parameters = Self { range: Range::default(), pairs };
        parameters.direction()?;
        parameters.limit()?;
        let range = Range::parse(parameters.one("from"), parameters.one("to"))?;
        Ok(Self { range, ..parameters })
    }

    pub fn one(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns `order`: oldest (or first) first unless it says `desc`.
    pub fn direction(&self) -> Result<Direction, ApiError> {
        match self.one("order") {
            None | Some("asc") => Ok(Direction::Asc),
            Some("desc") => Ok(Direction::Desc),
            Some(_) => Err(invalid("order: must be asc or desc")),
        }
    }

    /// Returns `limit`: 100 unless it says otherwise.
    fn limit(&self) -> Result<usize, ApiError> {
        let Some(text) = self.one("limit") else { return Ok(100) };
        let number = text.parse().ok().filter(|n| (1..=1000).contains(n));
        number.ok_or_else(|| invalid("limit: must be a whole number from 1 to 1000"))
    }

    /// Returns the span of `from` and `to`: days of the zone, both inclusive, or instants, `to` exclusive.
    pub fn span(&self, zone: TimeZone) -> Result<Span, ApiError> {
        Ok(self.range.in_zone(zone)?)
    }
}

fn invalid(rule: impl Into<String>) -> ApiError {
    ApiError::InvalidRequest(rule.into())
}

/// Which part of which list is wanted.
#[derive(Debug)]
pub struct ListQuery {
    /// From which end.
    pub direction: Direction,
    /// At most so many rows.
    pub limit: usize,
    cursor: Option<String>,
    digest: QueryDigest,
}

impl ListQuery {
    /// Reads the query of the list that `what` names (and everything it is filtered by).
    pub fn read(parameters: &Parameters, what: &[&str]) -> Result<Self, ApiError> {
        let direction = parameters.direction()?;
        let order = match direction {
            Direction::Asc => "asc",
            Direction::Desc => "desc",
        };
        let cursor = parameters.one("cursor").map(ToOwned::to_owned);
        let digest = QueryDigest::of(&[what, &[order]].concat());
        Ok(Self { direction, limit: parameters.limit()?, cursor, digest })
    }

    /// Returns where the part begins, if there is a cursor.
    pub fn after<P: DeserializeOwned>(&self) -> Result<Option<P>, ApiError> {
        self.cursor.as_deref().map(|text| cursor::read(&self.digest, text)).transpose()
    }

    /// Returns the query as the store takes it.
    pub fn wanted(&self) -> Result<Wanted, ApiError> {
        Ok(Wanted { direction: self.direction, limit: self.limit, after: self.after::<Position>()? })
    }

    /// Answers with a part of the list under its name.
    pub fn answer<R, P>(&self, name: &'static str, part: Part<R, P>) -> Result<HttpResponse, ApiError>
    where
        R: Serialize,
        P: Serialize,
    {
        let Part { rows, next, unreadable } = part;
        let next_cursor = next.map(|position| cursor::write(&self.digest, &position)).transpose()?;
        Ok(HttpResponse::Ok().json(ListView { name, rows, next_cursor, unreadable }))
    }
}

/// A part of a list, as it is answered.
#[derive(Debug)]
pub struct Part<R, P> {
    pub rows: Vec<R>,
    /// Where the next part begins.
    pub next: Option<P>,
    /// How many items of this part can't be read and were passed over.
    pub unreadable: usize,
}

impl<R> Part<R, Position> {
    /// Shows a page of the store, each row by `view`.
    pub fn of<'page, T>(page: &'page Page<T>, view: impl Fn(&'page T) -> R) -> Self {
        Self { rows: page.rows.iter().map(view).collect(), next: page.next.clone(), unreadable: page.unreadable }
    }
}

/// `{"users":[…],"nextCursor":"…","unreadable":1}`
struct ListView<R> {
    name: &'static str,
    rows: Vec<R>,
    next_cursor: Option<String>,
    unreadable: usize,
}

impl<R: Serialize> Serialize for ListView<R> {
    fn serialize<S: Serializer>(&self, json: S) -> Result<S::Ok, S::Error> {
        let mut map = json.serialize_map(None)?;
        map.serialize_entry(self.name, &self.rows)?;
        if let Some(cursor) = &self.next_cursor {
            map.serialize_entry("nextCursor", cursor)?;
        }
        if self.unreadable > 0 {
            map.serialize_entry("unreadable", &self.unreadable)?;
        }
        map.end()
    }
}

/// Returns a span as part of a query's name.
pub fn span_text(span: Span) -> String {
    let text = |at: Option<Timestamp>| at.map_or_else(String::new, |at| at.to_string());
    format!("{}/{}", text(span.from), text(span.to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    fn parameters(query: &str) -> Result<Parameters, ApiError> {
        let req = TestRequest::with_uri(&format!("/list?{query}")).to_http_request();
        Parameters::of(&req, &["from", "to", "order", "limit", "cursor"])
    }

    fn list(query: &str) -> Result<ListQuery, ApiError> {
        ListQuery::read(&parameters(query)?, &["users", "spring"])
    }

    #[test]
    fn a_list_has_100_rows_oldest_first_unless_it_says_otherwise() {
        let plain = list("").unwrap();
        assert_eq!((plain.limit, plain.direction), (100, Direction::Asc));
        let other = list("limit=1000&order=desc").unwrap();
        assert_eq!((other.limit, other.direction), (1000, Direction::Desc));
    }

    #[test]
    fn what_a_query_cannot_mean_is_refused_by_name() {
        for (query, name) in [
            ("limit=0", "limit"),
            ("limit=1001", "limit"),
            ("limit=", "limit"),
            ("limit=ten", "limit"),
            ("limit=99999999999999999999", "limit"),
            ("order=up", "order"),
            ("order=", "order"),
            ("form=2026-05-24", "form"),
            ("from=tomorrow", "from"),
            ("to=2026-05-24T10:00:00", "to"),
            ("limit=1&limit=2", "limit"),
        ] {
            let refused = list(query).unwrap_err().to_string();
            assert!(refused.contains(name), "{query}: {refused}");
        }
    }

    #[test]
    fn a_span_that_ends_before_it_begins_is_refused() {
        let span = |query: &str| parameters(query).unwrap().span(TimeZone::TOKYO);
        assert!(span("from=2026-05-24&to=2026-05-24").is_ok());
        assert!(span("from=2026-05-24T00:00:00%2B09:00&to=2026-05-24").is_ok());
        assert!(span("from=2026-05-24&to=2026-05-23").is_err());
        assert!(span("from=2026-05-24T00:00:00%2B09:00&to=2026-05-24T00:00:00%2B09:00").is_err());
    }

    #[test]
    fn a_cursor_is_bound_to_its_query_but_not_to_its_limit() {
        let digest = |query: &str| list(query).unwrap().digest;
        assert_eq!(digest("limit=1"), digest("limit=2"));
        assert_ne!(digest("order=asc"), digest("order=desc"));
    }
}
