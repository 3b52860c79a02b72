//! How far each shard was read, and by whom (table `line-event-consumers`).
