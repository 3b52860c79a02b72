//! dynoxide's private table of records, which we index and sweep.

use super::*;

/// We put an index on a private table of dynoxide and delete from it. Should a new version change it, this says so.
#[test]
fn the_private_table_of_records_is_as_we_know_it() {
    let data = Data::open(&Storage::Memory).unwrap();
    let mut columns = data.behind().prepare("SELECT name, type FROM pragma_table_info('_stream_records')").unwrap();
    let columns = columns.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let columns: Vec<(String, String)> = columns.collect::<Result<_, _>>().unwrap();
    let known = [
        ("id", "INTEGER"),
        ("table_name", "TEXT"),
        ("event_name", "TEXT"),
        ("keys_json", "TEXT"),
        ("new_image", "TEXT"),
        ("old_image", "TEXT"),
        ("sequence_number", "TEXT"),
        ("shard_id", "TEXT"),
        ("created_at", "INTEGER"),
        ("user_identity", "TEXT"),
        ("event_id", "TEXT"),
    ];
    assert_eq!(columns, known.map(|(name, kind)| (name.to_owned(), kind.to_owned())));
}

/// The two questions dynoxide asks at every write and at every read of a stream.
#[test]
fn writes_and_reads_of_a_stream_go_by_an_index() {
    let data = Data::open(&Storage::Memory).unwrap();
    for (question, index) in [
        (
            "SELECT MAX(CAST(sequence_number AS INTEGER)) FROM _stream_records WHERE table_name = 'rally'",
            "stamp_rally_by_table",
        ),
        (
            "SELECT id FROM _stream_records WHERE table_name = 'rally' AND shard_id = 's' \
             AND CAST(sequence_number AS INTEGER) > 7 ORDER BY CAST(sequence_number AS INTEGER) LIMIT 100",
            "stamp_rally_by_shard",
        ),
    ] {
        let plan = format!("EXPLAIN QUERY PLAN {question}");
        let plan: String = data.behind().query_row(&plan, [], |row| row.get("detail")).unwrap();
        assert!(plan.contains(&format!("INDEX {index} ")), "{question}: {plan}");
    }
}
