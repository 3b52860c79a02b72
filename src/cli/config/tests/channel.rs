//! Channels and their secrets.

use std::num::NonZeroU32;

use super::*;

#[test]
fn a_channel_name_is_small_letters_digits_and_hyphens() {
    let named = |name: &str| load(&CHANNEL.replace("main", name), &[]);
    for good in ["main", "0", "harbour-walk-2026", "a2345678901234567890123456789012"] {
        named(good).unwrap();
    }
    for bad in ["Main", "-main", "ma_in", "a23456789012345678901234567890123"] {
        assert_eq!(
            named(bad).unwrap_err(),
            format!(
                "`line.channels` (file rally.toml): `{bad}` is no channel name: use 1 to 32 small letters, digits and hyphens, no hyphen first"
            )
        );
    }
}

#[test]
fn a_channel_needs_login_channels_and_something_to_send_with() {
    load(CHANNEL, &[]).unwrap();
    refuses(
        &CHANNEL.replace("login_channel_ids = [\"1234567890\"]\n", ""),
        "`line.channels.main.login_channel_ids` (file rally.toml): is missing: list the ids of the LINE Login channels whose ID tokens are accepted",
    );
    refuses(
        &CHANNEL.replace("[\"1234567890\"]", "[]"),
        "`line.channels.main.login_channel_ids` (file rally.toml): is missing: list the ids of the LINE Login channels whose ID tokens are accepted",
    );
    refuses(
        &CHANNEL.replace("messaging_channel_id = \"2345678901\"\n", ""),
        "`line.channels.main.access_token` (file rally.toml): is missing: give it, or `messaging_channel_id` with `channel_secrets`",
    );
    refuses(
        &CHANNEL.replace("[\"newest-secret\", \"older-secret\"]", "[]"),
        "`line.channels.main.channel_secrets` (file rally.toml): is missing: tokens are issued with the newest channel secret; give it, or an `access_token`",
    );
    assert_eq!(
        variable_refusal("STAMP_RALLY__LINE__CHANNELS__MAIN__ACCESS_TOKEN", "a"),
        "`line.channels.main.login_channel_ids` (the defaults): is missing: list the ids of the LINE Login channels whose ID tokens are accepted"
    );
}

#[test]
fn channel_ids_and_basic_ids_have_their_form() {
    refuses(
        &CHANNEL.replace("1234567890", "hush-hush"),
        "`line.channels.main.login_channel_ids` (file rally.toml): must be a channel id from LINE's console: digits only",
    );
    refuses(
        &CHANNEL.replace("\"2345678901\"", "\"hush-hush\""),
        "`line.channels.main.messaging_channel_id` (file rally.toml): must be a channel id from LINE's console: digits only",
    );
    refuses(
        &format!("{CHANNEL}basic_id = \"123abcde\"\n"),
        "`line.channels.main.basic_id` (file rally.toml): must be the account's basic id with its @, for example \"@123abcde\"",
    );
}

#[test]
fn a_budget_is_one_push_a_month_or_more() {
    let monthly = |pushes: &str| load(&format!("{CHANNEL}monthly_pushes = {pushes}\n"), &[]);
    let budget =
        |settings: Settings| settings.line.channels.values().next().unwrap().monthly_pushes.map(NonZeroU32::get);
    assert_eq!(budget(load(CHANNEL, &[]).unwrap()), None);
    assert_eq!((budget(monthly("1").unwrap()), budget(monthly("30000").unwrap())), (Some(1), Some(30_000)));
    for bad in ["0", "-1", "1000000001"] {
        refuses(
            &format!("{CHANNEL}monthly_pushes = {bad}\n"),
            &format!(
                "`line.channels.main.monthly_pushes` (file rally.toml): must be a whole number from 1 to 1000000000, not {bad}"
            ),
        );
    }
}

#[test]
fn a_token_is_what_a_header_can_hold_and_no_secret_is_empty() {
    for bad in ["hush hush", "hush\\thush", "hush\\nhush", "ハッシュ", "hush\\u00a0hush"] {
        refuses(
            &format!("{CHANNEL}access_token = \"{bad}\"\n"),
            "`line.channels.main.access_token` (file rally.toml): has spaces or other characters that no token has: copy it anew, whole and alone",
        );
    }
    load(&format!("{CHANNEL}access_token = \" a+b/c=.~_- \"\n"), &[]).unwrap();
    for empty in ["", " "] {
        refuses(
            &CHANNEL.replace("older-secret", empty),
            "`line.channels.main.channel_secrets` (file rally.toml): is empty: give it a value or leave the key out",
        );
    }
}

#[test]
fn a_secret_is_never_shown() {
    let settings = load(&format!("{CHANNEL}access_token = \"hush-hush\"\nlogin_channel_secret = \"hush-hush\"\n"), &[]);
    let shown = format!("{:?}", settings.unwrap());
    assert!(!shown.contains("hush") && !shown.contains("newest-secret"), "{shown}");
    for wrong in [
        CHANNEL.replace("[\"newest-secret\", \"older-secret\"]", "{ hush = \"hush-hush\" }"),
        CHANNEL.replace("\"newest-secret\"", "[\"hush-hush\"]"),
        CHANNEL.replace("[\"newest-secret\", \"older-secret\"]", "1234567890123"),
        format!("{CHANNEL}access_token = [\"hush-hush\"]\n"),
        format!("{CHANNEL}access_token = 1234567890123\n"),
        "[line.channels]\nmain = \"hush-hush\"\n".to_owned(),
        "[line]\nchannels = \"hush-hush\"\n".to_owned(),
        "line = \"hush-hush\"\n".to_owned(),
        "[admin]\ntokens = [\"hush-hush\"]\n".to_owned(),
        "[admin]\ntokens = [{ name = \"a\", role = \"admin\", sha256 = \"hush-hush\", events = \"*\" }]\n".to_owned(),
    ] {
        let refusal = refusal(&wrong);
        assert!(!refusal.contains("hush-hush") && !refusal.contains("1234567890123"), "{refusal}");
    }
    refuses(
        &format!("{CHANNEL}access_token = \" \"\n"),
        "`line.channels.main.access_token` (file rally.toml): is empty: give it a value or leave the key out",
    );
}
