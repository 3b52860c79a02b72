use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::{join, join_all, poll_immediate};
use tokio::sync::Semaphore;

use super::*;
use crate::domain::{manual_clock::ManualClock, time::Timestamp};

/// A store with one answer to everything, which can be kept waiting.
struct Shop {
    clock: Arc<ManualClock>,
    cache: Cache<u32, &'static str>,
    answer: Arc<Mutex<Result<Option<&'static str>, &'static str>>>,
    /// One permit for each fetch that may end.
    gate: Arc<Semaphore>,
    fetches: Arc<AtomicUsize>,
}

impl Shop {
    fn open() -> Self {
        let clock = ManualClock::at(Timestamp::EPOCH);
        let ages =
            Ages { fresh: Duration::from_secs(5), stale: Duration::from_secs(30), absent: Duration::from_secs(2) };
        Self {
            cache: Cache::new(ages, clock.clone()),
            clock,
            answer: Arc::new(Mutex::new(Ok(Some("first")))),
            gate: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            fetches: Arc::default(),
        }
    }

    /// The same, every fetch waiting to be let through.
    fn slow() -> Self {
        Self { gate: Arc::new(Semaphore::new(0)), ..Self::open() }
    }

    fn now_has(&self, value: &'static str) {
        *self.answer.lock() = Ok(Some(value));
    }

    fn has_nothing(&self) {
        *self.answer.lock() = Ok(None);
    }

    fn is_down(&self) {
        *self.answer.lock() = Err("down");
    }

    fn let_through(&self, fetches: usize) {
        self.gate.add_permits(fetches);
    }

    fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }

    async fn find(&self, id: u32) -> Result<Option<Arc<&'static str>>, StoreError> {
        let (answer, gate, fetches) = (self.answer.clone(), self.gate.clone(), self.fetches.clone());
        let fetch = async move || {
            fetches.fetch_add(1, Ordering::SeqCst);
            let read = *answer.lock();
            gate.acquire().await.unwrap().forget();
            read.map_err(|why| StoreError::Unavailable(why.into()))
        };
        self.cache.find(&id, fetch).await
    }

    async fn found(&self, id: u32) -> Option<&'static str> {
        self.find(id).await.unwrap().map(|value| *value)
    }
}

#[tokio::test]
async fn a_hundred_who_ask_at_once_share_one_fetch() {
    let shop = Shop::slow();
    let all = join_all((0..100).map(|_| shop.found(1)));
    let (found, ()) = join(all, async { shop.let_through(1) }).await;
    assert_eq!(found, vec![Some("first"); 100]);
    assert_eq!(shop.fetches(), 1);
}

#[tokio::test]
async fn a_value_is_fresh_for_five_seconds() {
    let shop = Shop::open();
    assert_eq!(shop.found(1).await, Some("first"));
    shop.now_has("second");
    shop.clock.advance(Duration::from_secs(5));
    assert_eq!(shop.found(1).await, Some("first"));
    shop.clock.advance(Duration::from_millis(1));
    assert_eq!(shop.found(1).await, Some("second"), "who fetches anew gets what is new");
    assert_eq!(shop.fetches(), 2);
}

#[tokio::test]
async fn while_one_fetches_anew_the_others_get_the_stale_copy() {
    let shop = Shop::slow();
    shop.let_through(1);
    shop.found(1).await;
    shop.clock.advance(Duration::from_secs(6));
    shop.now_has("second");
    let mut first = Box::pin(shop.found(1));
    assert_eq!(poll_immediate(&mut first).await, None, "it waits");
    assert_eq!(poll_immediate(Box::pin(shop.found(1))).await, Some(Some("first")), "the others don't");
    shop.let_through(1);
    assert_eq!(first.await, Some("second"));
    assert_eq!(shop.found(1).await, Some("second"));
    assert_eq!(shop.fetches(), 2);
}

#[tokio::test]
async fn a_copy_older_than_thirty_seconds_is_awaited() {
    let shop = Shop::slow();
    shop.let_through(1);
    shop.found(1).await;
    shop.clock.advance(Duration::from_millis(30_001));
    shop.now_has("second");
    let (found, ()) = join(join_all([shop.found(1), shop.found(1)]), async { shop.let_through(1) }).await;
    assert_eq!(found, [Some("second"), Some("second")]);
    assert_eq!(shop.fetches(), 2);
}

#[tokio::test]
async fn while_the_store_is_down_the_stale_copy_serves_until_thirty_seconds_and_then_the_failure() {
    let shop = Shop::open();
    shop.found(1).await;
    shop.is_down();
    shop.clock.advance(Duration::from_secs(6));
    assert_eq!(shop.found(1).await, Some("first"));
    assert_eq!(shop.found(1).await, Some("first"));
    assert_eq!(shop.fetches(), 2, "a store that is down is asked once a second, not by everybody");
    shop.clock.advance(Duration::from_millis(1_001));
    assert_eq!(shop.found(1).await, Some("first"));
    assert_eq!(shop.fetches(), 3);
    shop.clock.advance(Duration::from_secs(23));
    assert!(matches!(shop.find(1).await, Err(StoreError::Unavailable(_))));
    shop.now_has("second");
    assert_eq!(shop.found(1).await, Some("second"));
}

#[tokio::test]
async fn a_copy_that_grew_too_old_while_its_fetch_failed_is_not_given_out() {
    let shop = Shop::slow();
    shop.let_through(1);
    shop.found(1).await;
    shop.clock.advance(Duration::from_secs(29));
    shop.is_down();
    let mut asked = Box::pin(shop.find(1));
    assert!(poll_immediate(&mut asked).await.is_none());
    shop.clock.advance(Duration::from_secs(2));
    shop.let_through(1);
    assert!(asked.await.is_err());
}

#[tokio::test]
async fn a_failure_is_told_to_all_who_waited_and_is_not_kept() {
    let shop = Shop::slow();
    shop.is_down();
    let all = join_all((0..10).map(|_| shop.find(1)));
    let (found, ()) = join(all, async { shop.let_through(1) }).await;
    assert!(found.iter().all(|found| matches!(found, Err(StoreError::Unavailable(_)))));
    assert_eq!(shop.fetches(), 1);
    shop.now_has("first");
    shop.let_through(1);
    assert_eq!(shop.found(1).await, Some("first"));
}

#[tokio::test]
async fn a_no_is_believed_for_two_seconds() {
    let shop = Shop::open();
    shop.has_nothing();
    assert_eq!(shop.found(1).await, None);
    shop.now_has("first");
    shop.clock.advance(Duration::from_secs(2));
    assert_eq!(shop.found(1).await, None);
    assert_eq!(shop.fetches(), 1);
    shop.clock.advance(Duration::from_millis(1));
    assert_eq!(shop.found(1).await, Some("first"));
}

#[tokio::test]
async fn a_flood_of_unknown_ids_does_not_grow_the_memory_or_push_out_what_is_known() {
    let shop = Shop::open();
    shop.found(0).await;
    shop.has_nothing();
    for id in 1..=20_000 {
        assert_eq!(shop.found(id).await, None);
    }
    assert_eq!(shop.found(0).await, Some("first"));
    assert_eq!(shop.fetches(), 20_001);
    let known = shop.cache.known.lock();
    assert_eq!((known.values.len(), known.absent.len(), known.flights.len()), (1, 10_000, 0));
}

#[tokio::test]
async fn when_the_one_who_fetches_goes_away_the_others_go_on_with_it() {
    let shop = Shop::slow();
    let mut first = Box::pin(shop.found(1));
    let mut second = Box::pin(shop.found(1));
    assert!(poll_immediate(&mut first).await.is_none() && poll_immediate(&mut second).await.is_none());
    drop(first);
    shop.let_through(1);
    assert_eq!(second.await, Some("first"));
    assert_eq!(shop.fetches(), 1);
}

#[tokio::test]
async fn when_all_go_away_the_fetch_ends_and_leaves_nothing() {
    let shop = Shop::slow();
    let mut first = Box::pin(shop.found(1));
    assert!(poll_immediate(&mut first).await.is_none());
    drop(first);
    assert_eq!(shop.cache.known.lock().flights.len(), 0);
    shop.let_through(1);
    assert_eq!(shop.found(1).await, Some("first"));
    assert_eq!(shop.fetches(), 2);
}

#[tokio::test]
async fn a_fetch_that_began_before_a_change_does_not_bring_the_old_value_back() {
    let shop = Shop::slow();
    let mut before = Box::pin(shop.found(1));
    assert!(poll_immediate(&mut before).await.is_none());
    shop.now_has("second");
    shop.cache.forget(|id| *id == 1);
    shop.let_through(2);
    assert_eq!(before.await, Some("first"), "it asked before the change");
    assert_eq!(shop.found(1).await, Some("second"));
    assert_eq!(shop.fetches(), 2);
}

#[tokio::test]
async fn a_no_is_forgotten_with_the_rest() {
    let shop = Shop::open();
    shop.has_nothing();
    assert_eq!(shop.found(1).await, None);
    shop.now_has("first");
    shop.cache.forget(|_| true);
    assert_eq!(shop.found(1).await, Some("first"));
}
