//! Locks of plain values.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. Behind a lock whose thread panicked there are plain values that are whole.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
