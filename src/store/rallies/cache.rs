//! Values by id, fetched once for many: fresh, stale while one caller fetches anew, or awaited.
//!
//! No task of its own fetches: the futures of the callers that wait drive one shared fetch. One that goes away leaves it
//! to the others; when all are gone it ends, and the next one begins a new one.

use std::{collections::HashMap, hash::Hash, num::NonZeroUsize, sync::Arc, time::Duration};

use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared, WeakShared},
};
use lru::LruCache;
use parking_lot::Mutex;

use crate::domain::time::Clock;

use super::super::StoreError;

/// How many absent ids are remembered: a flood of made-up ids must not fill the memory.
const MOST_ABSENT: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9_999);

/// After a fetch failed and a stale copy serves: how long until the next one.
const PAUSE: Duration = Duration::from_secs(1);

/// How old a value may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ages {
    /// Up to this it is simply given out.
    pub(super) fresh: Duration,
    /// Up to this it is given out while it is fetched anew.
    pub(super) stale: Duration,
    /// Up to this a "no" is believed.
    pub(super) absent: Duration,
}

/// What a fetch came to, for all who waited for it.
type Fetched<V> = Result<Option<Arc<V>>, Arc<StoreError>>;
type Fetching<V> = BoxFuture<'static, Fetched<V>>;

pub(super) struct Cache<K, V> {
    ages: Ages,
    clock: Clock,
    known: Arc<Mutex<Known<K, V>>>,
}

struct Known<K, V> {
    values: HashMap<K, Copy<V>>,
    /// When the store last said that there is no such thing.
    absent: LruCache<K, Duration>,
    flights: HashMap<K, Flight<V>>,
    /// Counts the flights, so that each has a name.
    last_flight: u64,
}

struct Copy<V> {
    value: Arc<V>,
    fetched_at: Duration,
    /// Not to be fetched anew before this.
    next_fetch: Duration,
}

struct Flight<V> {
    number: u64,
    /// Weak: no caller that waits, no flight.
    fetching: WeakShared<Fetching<V>>,
}

/// What to do for a caller.
enum Answer<V> {
    Found(Option<Arc<V>>),
    Wait(Shared<Fetching<V>>),
    /// Wait, and take this if the fetch fails, as long as it is not too old by then.
    Renew(Shared<Fetching<V>>, Arc<V>, Duration),
}

impl<K, V> Cache<K, V>
where
    K: Clone + Eq + Hash + Send + 'static,
    V: Send + Sync + 'static,
{
    pub(super) fn new(ages: Ages, clock: Clock) -> Self {
        let known = Known {
            values: HashMap::new(),
            absent: LruCache::new(MOST_ABSENT),
            flights: HashMap::new(),
            last_flight: 0,
        };
        Self { ages, clock, known: Arc::new(Mutex::new(known)) }
    }

    /// Returns the value, from memory or by `fetch`.
    pub(super) async fn find<F>(&self, key: &K, fetch: impl FnOnce() -> F) -> Result<Option<Arc<V>>, StoreError>
    where
        F: Future<Output = Result<Option<V>, StoreError>> + Send + 'static,
    {
        match self.answer(key, fetch) {
            Answer::Found(found) => Ok(found),
            Answer::Wait(fetching) => fetching.await.map_err(shared),
            Answer::Renew(fetching, stale, fetched_at) => match fetching.await {
                Err(_) if self.clock.uptime().saturating_sub(fetched_at) <= self.ages.stale => Ok(Some(stale)),
                fetched => fetched.map_err(shared),
            },
        }
    }

    /// Forgets values, and lets no fetch that began before bring an old one back.
    pub(super) fn forget(&self, is_meant: impl Fn(&K) -> bool) {
        let mut known = self.known.lock();
        known.values.retain(|key, _| !is_meant(key));
        known.flights.retain(|key, _| !is_meant(key));
        let absent: Vec<K> = known.absent.iter().map(|(key, _)| key).filter(|key| is_meant(key)).cloned().collect();
        for key in absent {
            known.absent.pop(&key);
        }
    }

    fn answer<F>(&self, key: &K, fetch: impl FnOnce() -> F) -> Answer<V>
    where
        F: Future<Output = Result<Option<V>, StoreError>> + Send + 'static,
    {
        let now = self.clock.uptime();
        let is_within = |since: Duration, age: Duration| now.saturating_sub(since) <= age;
        let mut guard = self.known.lock();
        let known = &mut *guard;
        if known.absent.get(key).is_some_and(|since| is_within(*since, self.ages.absent)) {
            return Answer::Found(None);
        }
        let flight = known.flights.get(key).and_then(|flight| flight.fetching.upgrade());
        let copy = known.values.get(key).filter(|copy| is_within(copy.fetched_at, self.ages.stale));
        let answer = match (copy, &flight) {
            (Some(copy), flight) if flight.is_some() || now <= copy.next_fetch => {
                Answer::Found(Some(Arc::clone(&copy.value)))
            }
            (Some(copy), _) => {
                let (stale, fetched_at) = (Arc::clone(&copy.value), copy.fetched_at);
                Answer::Renew(self.depart(known, key, fetch()), stale, fetched_at)
            }
            (None, Some(flight)) => Answer::Wait(flight.clone()),
            (None, None) => Answer::Wait(self.depart(known, key, fetch())),
        };
        // Before `flight` is dropped: if that was the last to wait, its end takes the lock itself.
        drop(guard);
        answer
    }

    /// Begins a fetch that many can wait for.
    fn depart<F>(&self, known: &mut Known<K, V>, key: &K, fetch: F) -> Shared<Fetching<V>>
    where
        F: Future<Output = Result<Option<V>, StoreError>> + Send + 'static,
    {
        known.last_flight += 1;
        let number = known.last_flight;
        let (ages, clock) = (self.ages, self.clock.clone());
        let landing = Landing { key: key.clone(), number, ages, clock, known: Arc::clone(&self.known) };
        let fetching = async move {
            let began = landing.clock.uptime();
            let fetched = fetch.await.map(|found| found.map(Arc::new)).map_err(Arc::new);
            landing.land(began, &fetched);
            fetched
        };
        let fetching = fetching.boxed().shared();
        if let Some(weak) = fetching.downgrade() {
            known.flights.insert(key.clone(), Flight { number, fetching: weak });
        }
        fetching
    }
}

/// What ends a flight, come what may.
struct Landing<K: Eq + Hash, V> {
    key: K,
    number: u64,
    ages: Ages,
    clock: Clock,
    known: Arc<Mutex<Known<K, V>>>,
}

impl<K: Clone + Eq + Hash, V> Landing<K, V> {
    /// Keeps what was fetched, unless the cache had to forget meanwhile. A value is as old as its fetch.
    fn land(&self, began: Duration, fetched: &Fetched<V>) {
        let mut known = self.known.lock();
        if !known.is_flying(&self.key, self.number) {
            return;
        }
        match fetched {
            Ok(Some(value)) => {
                let next_fetch = began + self.ages.fresh;
                let copy = Copy { value: Arc::clone(value), fetched_at: began, next_fetch };
                known.values.insert(self.key.clone(), copy);
                known.absent.pop(&self.key);
            }
            Ok(None) => {
                known.values.remove(&self.key);
                known.absent.put(self.key.clone(), began);
            }
            Err(_) => {
                if let Some(copy) = known.values.get_mut(&self.key) {
                    copy.next_fetch = self.clock.uptime() + PAUSE;
                }
            }
        }
    }
}

impl<K: Eq + Hash, V> Drop for Landing<K, V> {
    /// Ends the flight: landed, or no caller waits any more.
    fn drop(&mut self) {
        let mut known = self.known.lock();
        if known.is_flying(&self.key, self.number) {
            known.flights.remove(&self.key);
        }
    }
}

impl<K: Eq + Hash, V> Known<K, V> {
    fn is_flying(&self, key: &K, number: u64) -> bool {
        self.flights.get(key).is_some_and(|flight| flight.number == number)
    }
}

/// Returns one failure, for many callers.
fn shared(error: Arc<StoreError>) -> StoreError {
    match *error {
        StoreError::Unreadable(ref unreadable) => StoreError::Unreadable(unreadable.clone()),
        StoreError::Broken(_) => StoreError::Broken(Waited(error).into()),
        StoreError::Conflict(_) => StoreError::Conflict(Waited(error).into()),
        StoreError::Unavailable(_) => StoreError::Unavailable(Waited(error).into()),
    }
}

/// The fetch that a caller waited for has failed.
#[derive(Debug, thiserror::Error)]
#[error("a shared fetch failed")]
struct Waited(#[source] Arc<StoreError>);

#[cfg(test)]
mod tests;
