//! `stamp-rally codes list|print|revoke|rotate` and `proof-key new`.

use super::*;

/// The contract's key: bytes 0 to 31.
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
/// The first printed code of stamp 001 by that key.
const FIRST: &str = "SBJV9RZ43010QG3PKWJFQE5FNBP";
const PAGE: (&str, &str) = ("timeZone =", "liffId = \"1234567890-AbcdEfgh\"\ntimeZone =");
const POSTER: (&str, &str) = ("\"stamp-acquired.json\"", "\"stamp-acquired.json\"\nproofs = [[\"qr_static\"]]");

/// A desk with a key, and the demo rally with these words replaced.
fn with_key(replace: &[(&str, &str)]) -> Desk {
    let mut desk = Desk::with_tables();
    desk.variables.insert("STAMP_RALLY__PROOFS__KEYS", format!("[\"{KEY}\"]"));
    desk.apply(&desk.rally(replace)).done();
    desk
}

/// The texts of the QR codes in a file of posters, read as a phone would: from pixels.
fn read_back(sheet: &str) -> Vec<String> {
    sheet.split("<svg ").skip(1).map(|rest| scanned(rest.split("</svg>").next().unwrap())).collect()
}

/// Draws an SVG of rectangles, five pixels a module, and reads the one QR code in it.
fn scanned(svg: &str) -> String {
    const SCALE: usize = 5;
    let size: usize = between(svg, "viewBox=\"0 0 ", " ").parse().unwrap();
    let mut dark = vec![false; size * size];
    for run in between(svg, "fill=\"#000\" d=\"M", "\"").split('M') {
        let (left, rest) = run.split_once(' ').unwrap();
        let (top, rest) = rest.split_once('h').unwrap();
        let length: usize = rest.split('v').next().unwrap().parse().unwrap();
        let from = top.parse::<usize>().unwrap() * size + left.parse::<usize>().unwrap();
        dark[from..from + length].fill(true);
    }
    let shade = |x: usize, y: usize| if dark[y / SCALE * size + x / SCALE] { 20 } else { 230 };
    let mut image = rqrr::PreparedImage::prepare_from_greyscale(size * SCALE, size * SCALE, shade);
    let grids = image.detect_grids();
    let [grid] = grids.as_slice() else { panic!("one QR code, not {}", grids.len()) };
    grid.decode().unwrap().1
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    text.split_once(before).unwrap().1.split(after).next().unwrap()
}

#[tokio::test]
async fn posters_are_printed_one_a_page_and_their_qr_codes_hold_the_codes_links() {
    let both = (
        "\"stamp-acquired-last.json\"",
        "\"stamp-acquired-last.json\"\nproofs = [[\"qr_static\", \"location\"], [\"staff\"]]\nproofSettings = {location = \
         {latitude = 35.0, longitude = 139.0}}",
    );
    let desk = with_key(&[PAGE, POSTER, both]);
    let told = desk.run(&["codes", "print", ID, "--out", "posters.html"]).done();
    assert_eq!(told, "2 posters written to posters.html: print it from a browser at 100 %, on A4\n");
    let sheet = fs::read_to_string(desk.path("posters.html")).unwrap();
    let links = read_back(&sheet);
    assert_eq!(links.len(), 2);
    assert_eq!(links[0], format!("https://liff.line.me/1234567890-AbcdEfgh/s/{FIRST}"));
    assert!(links[1].starts_with("https://liff.line.me/1234567890-AbcdEfgh/s/S") && links[1] != links[0]);
    for shown in
        ["スタンプラリー 2026", "<h1>第1スタンプ</h1>", "<h1>第2スタンプ</h1>", "SBJV 9RZ4 3010 QG3P KWJF QE5F NBP"]
    {
        assert!(sheet.contains(shown), "{shown}");
    }
    assert_eq!(sheet.matches("<section class=\"spot\">").count(), 2);
    assert!(!sheet.contains("<script") && !sheet.contains(" src="), "nothing is loaded from elsewhere");
    assert!(!desk.path("posters.html.part").exists());

    desk.run(&["codes", "print", ID, "--stamp", "002", "--stamp", "002", "--out", "posters.html"]).done();
    assert_eq!(read_back(&fs::read_to_string(desk.path("posters.html")).unwrap()), [links[1].clone()]);
}

#[tokio::test]
async fn a_poster_shows_the_newest_code_that_is_good() {
    let desk = with_key(&[PAGE, POSTER]);
    let printed = || {
        desk.run(&["codes", "print", ID, "--out", "posters.html"]).done();
        read_back(&fs::read_to_string(desk.path("posters.html")).unwrap()).remove(0)
    };
    let first = printed();
    desk.run(&["codes", "rotate", ID, "001", "qr_static"]).done();
    assert_ne!(printed(), first);
    desk.run(&["codes", "revoke", ID, "001", "qr_static", "2"]).done();
    assert_eq!(printed(), first);
}

#[tokio::test]
async fn what_can_not_be_printed_is_refused_by_name_and_the_older_file_stays() {
    let refused = |desk: &Desk, arguments: &[&str]| {
        fs::write(desk.path("posters.html"), "yesterday").unwrap();
        let line = desk.run(&[&["codes", "print", ID, "--out", "posters.html"], arguments].concat()).refused();
        assert_eq!(fs::read_to_string(desk.path("posters.html")).unwrap(), "yesterday");
        assert!(!desk.path("posters.html.part").exists());
        line
    };
    assert_eq!(
        refused(&with_key(&[POSTER]), &[]),
        "stamp-rally: event \"stamp-rally-202606\" has no liffId, and a QR code holds a link to its page: give it one in the \
         event's file, and apply that"
    );
    assert_eq!(
        refused(&with_key(&[PAGE]), &[]),
        "stamp-rally: event \"stamp-rally-202606\" has no active stamp that takes a printed code: give one `proofs = \
         [[\"qr_static\"]]` in the event's file, and apply that"
    );
    let mut desk = with_key(&[PAGE, POSTER]);
    assert_eq!(
        refused(&desk, &["--stamp", "001", "--stamp", "002"]),
        "stamp-rally: stamp \"002\" takes no printed code: give it `proofs = [[\"qr_static\"]]` in the event's file, and apply \
         that"
    );
    assert_eq!(refused(&desk, &["--stamp", "009"]), "stamp-rally: event \"stamp-rally-202606\" has no stamp \"009\"");
    desk.run(&["codes", "revoke", ID, "001", "qr_static", "1"]).done();
    assert_eq!(
        refused(&desk, &[]),
        "stamp-rally: stamp \"001\": every generation of its printed code is revoked: `stamp-rally codes rotate \
         stamp-rally-202606 001 qr_static` makes a new one"
    );
    desk.variables.remove("STAMP_RALLY__PROOFS__KEYS");
    assert_eq!(
        refused(&desk, &[]),
        "stamp-rally: `proofs.keys` has no key, and without one there are no codes: `stamp-rally proof-key new` makes one"
    );
}

#[tokio::test]
async fn codes_are_listed_rotated_and_revoked_by_the_one_who_asks() {
    let desk = with_key(&[PAGE, POSTER]);
    let listed = || desk.run(&["codes", "list", ID, "001"]).done();
    let first = format!("{FIRST} https://liff.line.me/1234567890-AbcdEfgh/s/{FIRST}");
    assert_eq!(listed(), format!("qr_static     1  good, always there, {first}\n"));
    assert_eq!(desk.run(&["codes", "list", ID, "002"]).done(), "stamp 002 takes no codes\n");

    let told = desk.run(&["codes", "rotate", ID, "001", "qr_static"]).done();
    assert!(
        told.starts_with("qr_static     2  good, made 20") && told.contains(" by cli:yamada, SBJV9RZ4302"),
        "{told}"
    );
    assert!(told.contains("hang up the new poster (`stamp-rally codes print"), "{told}");

    let told = desk.run(&["codes", "revoke", ID, "001", "qr_static", "1", "--by", "mariko"]).done();
    assert!(told.contains("every server refuses its codes within five seconds"), "{told}");
    assert!(listed().starts_with("qr_static     1  revoked 20") && listed().contains(" by cli:mariko, always there\n"));
    let before = listed();
    desk.run(&["codes", "revoke", ID, "001", "qr_static", "1"]).done();
    assert_eq!(listed(), before, "a repeat changes nothing");

    let told = desk.run(&["codes", "revoke", ID, "001", "qr_static", "2"]).done();
    assert!(told.ends_with("`stamp-rally codes rotate stamp-rally-202606 001 qr_static` makes one\n"), "{told}");
    assert_eq!(
        desk.run(&["codes", "revoke", ID, "001", "qr_static", "3"]).refused(),
        "stamp-rally: stamp \"001\": the stamp's codes have no such generation: nothing is written"
    );
    assert_eq!(
        desk.run(&["codes", "rotate", ID, "009", "qr_static"]).refused(),
        "stamp-rally: stamp \"009\": there is no such stamp: nothing is written"
    );
    assert_eq!(desk.run(&["codes", "list", "spring", "001"]).refused(), "stamp-rally: event \"spring\" does not exist");
    for bad in [["passcode", "1"], ["qr_static", "0"], ["qr_static", "100"], ["qr_static", "one"]] {
        assert_eq!(desk.run(&[&["codes", "revoke", ID, "001"][..], &bad].concat()).code, 2, "{bad:?}");
    }
}

#[tokio::test]
async fn who_rotates_a_screens_codes_is_told_to_wait_a_minute() {
    let screen = (
        "\"stamp-acquired.json\"",
        "\"stamp-acquired.json\"\nproofs = [[\"qr_rotating\"]]\nproofSettings = {qr_rotating = {}}",
    );
    let desk = with_key(&[PAGE, screen]);
    let told = desk.run(&["codes", "rotate", ID, "001", "qr_rotating"]).done();
    assert!(told.starts_with("qr_rotating   2  good, made 20"), "{told}");
    assert!(told.contains("wait a minute before you revoke one, for screens ask anew every minute"), "{told}");
    assert!(!told.contains("liff.line.me"), "a screen's code changes: {told}");
}

#[test]
fn a_new_key_is_printed_with_its_line_for_the_configuration() {
    let desk = Desk::empty();
    let told = desk.run(&["proof-key", "new"]);
    let lines: Vec<&str> = told.out.lines().collect();
    let [key, line] = lines.as_slice() else { panic!("{told:?}") };
    assert_eq!((*line, key.len()), (format!("keys = [\"{key}\"]").as_str(), 43));
    assert!(told.err.contains("[proofs]"), "{told:?}");
}
