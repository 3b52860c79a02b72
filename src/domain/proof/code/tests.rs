use super::*;
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use proptest::prelude::*;

/// The contract's key: bytes 0 to 31.
pub(in crate::domain) fn contract_keys() -> ProofKeys {
    let bytes: Vec<u8> = (0..32).collect();
    ProofKeys::read([BASE64_URL_SAFE_NO_PAD.encode(bytes).as_str()]).unwrap()
}

fn ids() -> (EventId, StampId) {
    ("stamp-rally-202606".parse().unwrap(), "001".parse().unwrap())
}

fn stamp_code(text: &str) -> StampCode {
    match Code::read(text) {
        Some(Code::Stamp(code)) => code,
        _ => panic!("{text} is no code of a stamp"),
    }
}

fn with<T>(check: impl FnOnce(&CodeSource<'_>) -> T) -> T {
    let (keys, (event_id, stamp_id)) = (contract_keys(), ids());
    check(&CodeSource { keys: &keys, event_id: &event_id, stamp_id: &stamp_id })
}

#[test]
fn the_contracts_codes_are_made_and_read() {
    with(|source| {
        let printed = source.printed(Generation::FIRST).unwrap();
        assert_eq!(printed, "SBJV9RZ43010QG3PKWJFQE5FNBP");
        assert!(source.made(&stamp_code(&printed)) && stamp_code(&printed).step.is_none());
        let shown = source.shown(Generation::FIRST, Step(59_317_860)).unwrap();
        assert_eq!(shown, "RBJV9RZ43011RJ7K488PT7SYYVCRJBQCG");
        assert!(source.made(&stamp_code(&shown)));
        assert_eq!(stamp_code(&shown).step, Some(Step(59_317_860)));
    });
}

#[test]
fn the_contracts_code_of_a_person_is_made_and_read() {
    let (keys, (event_id, _)) = (contract_keys(), ids());
    let hanako = "U00000000000000000000000000000001".parse().unwrap();
    let now = Step(29_658_930).start(PERSON_STEP_SECONDS).plus_millis(59_999);
    let (code, until) = PersonCode::make(&keys, &event_id, &hanako, now).unwrap();
    assert_eq!(code, "P000000000000000000000000010W93SJ8E4MRR67J5BAKYFC");
    assert_eq!(until, now.plus_millis(1));
    let Some(Code::Person(read)) = Code::read(&code) else { panic!("it is a person's") };
    assert_eq!(read.line_user_id, hanako);
    assert!(read.is_signed(&keys, &event_id) && !read.is_signed(&keys, &"autumn".parse().unwrap()));
}

#[test]
fn a_code_is_read_as_it_is_typed() {
    let printed = stamp_code("SBJV9RZ43010QG3PKWJFQE5FNBP");
    for typed in ["sbjv-9rz4-30 1oqg 3pkw jfqe 5fnbp", "ＳBJV9RZ43O1OQG3PKWJFQE5FNBP", "SBJV9RZ430l0QG3PKWJFQE5FNBP"] {
        assert!(stamp_code(typed) == printed, "{typed}");
    }
}

#[test]
fn what_is_no_code_is_none() {
    let long = format!("{}0", "SBJV9RZ43010QG3PKWJFQE5FNBP");
    for other in [
        "",
        "S",
        "灯台",
        "🗼🗼🗼",
        "https://liff.line.me/1234567890-AbcdEfgh",
        &long[..26],
        &long,
        "SBJV9RZ43000QG3PKWJFQE5FNBP",
    ] {
        assert!(Code::read(other).is_none(), "{other}");
    }
}

#[test]
fn a_code_of_another_stamp_generation_step_or_key_is_not_ours() {
    with(|source| {
        let printed = stamp_code(&source.printed(Generation::FIRST).unwrap());
        let two: Generation = 2_i64.try_into().unwrap();
        assert!(!source.made(&StampCode { generation: two, ..printed }));
        assert!(!source.made(&StampCode { step: Some(Step(1)), ..printed }));
        let other = "002".parse().unwrap();
        assert!(!CodeSource { stamp_id: &other, ..*source }.made(&printed));
        assert!(!CodeSource { keys: &ProofKeys::default(), ..*source }.made(&printed));
        assert_eq!(CodeSource { keys: &ProofKeys::default(), ..*source }.printed(two), None);
    });
}

#[test]
fn a_step_is_good_from_two_seconds_before_its_start_until_its_tolerance_ends() {
    let settings = RotatingSettings { step_seconds: Whole::known(30), tolerance_steps: Whole::known(1) };
    let step = Step(59_317_860);
    let at = |millis| step.timeliness(step.start(30).plus_millis(millis), settings);
    assert_eq!(
        [-2_001, -2_000, 59_999, 60_000].map(at),
        [Timeliness::Early, Timeliness::Good, Timeliness::Good, Timeliness::Expired]
    );
    let none = RotatingSettings { tolerance_steps: Whole::known(0), ..settings };
    assert_eq!(step.timeliness(step.start(30).plus_millis(29_999), none), Timeliness::Good);
    assert_eq!(step.timeliness(step.start(30).plus_millis(30_000), none), Timeliness::Expired);
}

proptest! {
    #[test]
    fn one_changed_character_makes_it_no_code_of_ours(place in 1_usize..27, digit in 0_usize..32) {
        with(|source| {
            let mut text = source.printed(Generation::FIRST).unwrap().into_bytes();
            let new = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"[digit];
            prop_assume!(text[place] != new);
            text[place] = new;
            let read = Code::read(&String::from_utf8(text).unwrap());
            prop_assert!(!matches!(read, Some(Code::Stamp(code)) if source.made(&code)));
            Ok(())
        })?;
    }

    #[test]
    fn any_text_is_read_without_a_panic(text: String) {
        let _ = Code::read(&text);
    }
}
