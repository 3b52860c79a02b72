//! Posters as one HTML file: A4, one stamp a page. Nothing in it is loaded from elsewhere.

use crate::domain::{event::Event, ids::StampId, proof::Generation, qr::QrCode, setting::Name};

/// What a poster shows.
pub(super) struct Poster {
    /// Of which stamp it is.
    pub(super) stamp_id: StampId,
    /// The stamp's name.
    pub(super) name: Name,
    /// Which generation its code is of.
    pub(super) generation: Generation,
    /// The code, for those who type it.
    pub(super) code: String,
    /// The link with the code.
    pub(super) qr: QrCode,
}

/// How the pages look. The QR code is 100 mm wide with the light modules around it, about 80 mm without.
const STYLE: &str = "\
@page { size: A4 portrait; margin: 0 }
* { box-sizing: border-box; margin: 0 }
body { font-family: 'Hiragino Sans', 'Yu Gothic', 'Noto Sans CJK JP', sans-serif; color: #000; background: #fff }
.spot { width: 210mm; height: 296mm; padding: 16mm; overflow: hidden; break-after: page; break-inside: avoid;
  display: flex; flex-direction: column; align-items: center; justify-content: space-between; text-align: center }
.spot:last-child { break-after: auto }
.event { font-size: 14pt; overflow-wrap: anywhere }
h1 { font-size: 34pt; line-height: 1.25; overflow-wrap: anywhere }
h1.long { font-size: 16pt }
.spot svg { width: 100mm; height: 100mm; flex: none }
ol { text-align: left; font-size: 13pt; line-height: 1.6; padding-left: 1.6em }
.code { font: bold 17pt monospace; white-space: nowrap }
.office { font-size: 8pt; color: #444 }
@media screen { body { background: #ccc } .spot { background: #fff; margin: 8mm auto } }
";

/// From so many characters on a name is written small, so that 200 of them fit on the page.
const LONG: usize = 40;

/// How many characters of a code stand together.
const GROUP: usize = 4;

/// Returns the file with the posters of an event.
pub(super) fn sheet(event: &Event, posters: &[Poster]) -> String {
    let title = escaped(event.name.as_str());
    let pages: String = posters.iter().map(|poster| page(event, poster)).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"ja\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n{pages}</body>\n</html>\n"
    )
}

fn page(event: &Event, poster: &Poster) -> String {
    let (name, stamp) = (poster.name.as_str(), escaped(poster.name.as_str()));
    let class = if name.chars().count() >= LONG { " class=\"long\"" } else { "" };
    let (event_name, event_id) = (escaped(event.name.as_str()), &event.event_id);
    let Poster { stamp_id, generation, code, qr, .. } = poster;
    let (code, qr) = (grouped(code), qr.svg());
    format!(
        "<section class=\"spot\">\n<p class=\"event\">{event_name}</p>\n<h1{class}>{stamp}</h1>\n{qr}\n<ol>\n\
         <li>スマートフォンのカメラかLINEで、QRコードを読み取ってください。</li>\n\
         <li>LINEで開いたページで、スタンプを受け取れます。</li>\n\
         <li>読み取れないときは、ページで次のコードを入力してください。</li>\n\
         </ol>\n<p class=\"code\">{code}</p>\n\
         <p class=\"office\">{event_id} / {stamp_id} / qr_static {generation}</p>\n</section>\n"
    )
}

/// Returns a code in groups, for typing: white space in a code is passed over.
fn grouped(code: &str) -> String {
    let characters: Vec<char> = code.chars().collect();
    characters.chunks(GROUP).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
}

/// Returns a text as HTML shows it, whatever is in it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_stands_in_groups_that_are_read_as_the_code() {
        assert_eq!(grouped("SBJV9RZ43010QG3PKWJFQE5FNBP"), "SBJV 9RZ4 3010 QG3P KWJF QE5F NBP");
    }

    #[test]
    fn a_name_is_text_whatever_is_in_it() {
        assert_eq!(escaped("<b>\"A&B\""), "&lt;b&gt;&quot;A&amp;B&quot;");
    }
}
