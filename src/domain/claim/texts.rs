//! What a participant reads of a refusal: what is wrong, and what to do; in Japanese and in English.

use std::{fmt, time::Duration};

use super::{Refusal, Rejection, refusal::whole_seconds};
use crate::domain::{
    language::Language::{self, English, Japanese},
    schedule::Closed,
};

impl Refusal {
    /// Returns what a participant reads: what is wrong, and what to do.
    #[must_use]
    pub fn text(&self, language: Language) -> String {
        of(self, language)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(English))
    }
}

impl std::error::Error for Refusal {}

fn of(refusal: &Refusal, language: Language) -> String {
    match refusal {
        Refusal::EventEnded => pick(language, "イベントは終了しました。", "the event has ended"),
        Refusal::EventNotStarted => pick(language, "イベントはまだ始まっていません。", "the event has not started"),
        Refusal::StampInactive => pick(language, "このスタンプは現在配布していません。", "the stamp is not active"),
        Refusal::Prerequisite { missing } => prerequisite(missing.len(), language),
        Refusal::ProofRequired { .. } => pick(
            language,
            "スポットにいることの確認が必要です。スポットのQRコードなどをご利用ください。",
            "This spot needs a proof that you are here. Scan its code, or do what the sign at the spot says.",
        ),
        Refusal::Interval { retry_after } => wait(
            *retry_after,
            language,
            ("前のスタンプから間もないため、取得できません。", "It is too soon after your last stamp."),
        ),
        Refusal::Travel { retry_after } => wait(
            *retry_after,
            language,
            ("前のスポットから離れすぎています。", "Your last spot is too far away to have come here since."),
        ),
        Refusal::TooManyTries { retry_after } => {
            wait(*retry_after, language, ("合言葉を続けて間違えました。", "Too many passcodes were tried."))
        }
        Refusal::StampClosed(closed) => stamp_closed(*closed, language),
        Refusal::Rejected(rejection) => rejected(rejection, language),
    }
}

fn pick(language: Language, japanese: &str, english: &str) -> String {
    match language {
        English => english.to_owned(),
        Japanese => japanese.to_owned(),
    }
}

fn prerequisite(missing: usize, language: Language) -> String {
    match language {
        English => format!("Collect {missing} other stamp{} first.", if missing == 1 { "" } else { "s" }),
        Japanese => format!("先に、ほかのスタンプ{missing}個を集めてください。"),
    }
}

fn wait(wait: Duration, language: Language, (japanese, english): (&str, &str)) -> String {
    let seconds = whole_seconds(wait);
    match (language, seconds) {
        (English, ..120) => format!("{english} Try again in {seconds} seconds."),
        (English, _) => format!("{english} Try again in {} minutes.", seconds.div_ceil(60)),
        (Japanese, ..120) => format!("{japanese}{seconds}秒後にもう一度お試しください。"),
        (Japanese, _) => format!("{japanese}{}分後にもう一度お試しください。", seconds.div_ceil(60)),
    }
}

fn stamp_closed(closed: Closed, language: Language) -> String {
    match closed {
        Closed::NotYet(_) => pick(
            language,
            "このスタンプはまだ始まっていません。始まってからもう一度お試しください。",
            "This stamp isn't open yet. Come back when it is.",
        ),
        Closed::Over => pick(
            language,
            "このスタンプの配布は終了しました。ほかのスポットへどうぞ。",
            "This stamp is over. Go on to another spot.",
        ),
        Closed::Hours(_) => pick(
            language,
            "ただいまの時間はスタンプを取得できません。受付時間内にお越しください。",
            "This stamp is closed at this hour. Come back during its opening hours.",
        ),
    }
}

fn rejected(rejection: &Rejection, language: Language) -> String {
    let (japanese, english) = match rejection {
        Rejection::CodeEarly => (
            "コードの時刻が進んでいます。画面のコードをもう一度読み取ってください。",
            "The code isn't valid yet. Scan the screen again.",
        ),
        Rejection::CodeExpired => (
            "コードが更新されました。画面のコードをもう一度読み取ってください。",
            "The code has changed. Scan the screen again.",
        ),
        Rejection::CodeOtherStamp(_) => (
            "別のスポットのコードです。このスポットのコードを読み取ってください。",
            "This is another spot's code. Scan the code of this spot.",
        ),
        Rejection::CodeRevoked => (
            "このコードは使えなくなりました。スポットの新しいコードを読み取るか、スタッフにお知らせください。",
            "This code is no longer valid. Scan the new one at the spot, or ask the staff.",
        ),
        Rejection::CodeUnknown => (
            "このイベントのコードではありません。スポットのコードを読み取ってください。",
            "This isn't a code of this event. Scan the code at the spot.",
        ),
        Rejection::KindNotTaken => (
            "このスタンプはスタッフからは渡せません。スポットの案内に従ってください。",
            "This stamp can't be granted by staff. Follow the sign at the spot.",
        ),
        Rejection::LocationStale => (
            "位置情報が古くなっています。もう一度位置情報を取得してください。",
            "Your location is too old. Let the page read it again.",
        ),
        Rejection::LocationInaccurate(limit) => return inaccurate(limit.0, language),
        Rejection::PasscodeWrong { tries_left } => return wrong(*tries_left, language),
        Rejection::TooFar(distance) => return too_far(distance.0, language),
    };
    pick(language, japanese, english)
}

fn inaccurate(limit: u32, language: Language) -> String {
    match language {
        English => {
            format!("Your location is only rough; it must be within {limit} m. Step into the open and try again.")
        }
        Japanese => format!("位置情報の精度が足りません（{limit}m以内）。空の見える場所でもう一度お試しください。"),
    }
}

fn wrong(tries_left: u32, language: Language) -> String {
    match language {
        English => format!("That isn't the passcode. Look at the spot again; tries left: {tries_left}."),
        Japanese => format!("合言葉が違います。スポットで確かめてください（残り{tries_left}回）。"),
    }
}

fn too_far(distance: u32, language: Language) -> String {
    match language {
        English => format!("You are about {distance} m away. Go to the spot and try again."),
        Japanese => format!("スポットまで約{distance}mです。近づいてもう一度お試しください。"),
    }
}
