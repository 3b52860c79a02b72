//! QR codes: modules, drawn as SVG and read back from the very same modules.

use std::fmt::Write as _;

use qrcode::{Color, EcLevel};

/// The light modules that must be around a QR code (ISO/IEC 18004).
const QUIET_ZONE: usize = 4;

/// A QR code of error correction level M.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QrCode {
    width: usize,
    /// Row by row.
    dark: Vec<bool>,
}

impl QrCode {
    /// Makes the code of a text; `None` if that is too long (above 2,331 bytes).
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let made = qrcode::QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
        let width = made.width();
        Some(Self { width, dark: made.into_colors().into_iter().map(|color| color == Color::Dark).collect() })
    }

    /// Reads the text back out of the modules; `None` if they can't be read.
    #[must_use]
    pub fn read(&self) -> Option<String> {
        let modules = rqrr::SimpleGrid::from_func(self.width, |x, y| self.is_dark(x, y));
        rqrr::Grid::new(modules).decode().ok().map(|(_, text)| text)
    }

    /// Draws it as an SVG element that fills its place, with the light modules around it.
    #[must_use]
    pub fn svg(&self) -> String {
        let whole = self.width + 2 * QUIET_ZONE;
        let mut path = String::new();
        for (y, row) in self.dark.chunks(self.width).enumerate() {
            for (x, length) in runs(row) {
                let (left, top) = (x + QUIET_ZONE, y + QUIET_ZONE);
                // Nothing fails that writes to a text.
                let _ = write!(path, "M{left} {top}h{length}v1h-{length}z");
            }
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {whole} {whole}\" shape-rendering=\"crispEdges\">\
             <path fill=\"#fff\" d=\"M0 0h{whole}v{whole}h-{whole}z\"/><path fill=\"#000\" d=\"{path}\"/></svg>"
        )
    }

    fn is_dark(&self, x: usize, y: usize) -> bool {
        self.dark[y * self.width + x]
    }
}

/// Returns the runs of dark modules of a row, each by its first one and its length.
fn runs(row: &[bool]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (x, _) in row.iter().enumerate().filter(|(_, dark)| **dark) {
        match runs.last_mut() {
            Some((first, length)) if *first + *length == x => *length += 1,
            _ => runs.push((x, 1)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn runs_are_those_of_dark_modules() {
        assert_eq!(runs(&[true, true, false, true]), [(0, 2), (3, 1)]);
        assert_eq!(runs(&[false, false]), []);
    }

    #[test]
    fn a_code_is_of_level_m_and_drawn_with_its_quiet_zone() {
        let code = QrCode::of("https://liff.line.me/1234567890-AbcdEfgh/s/SBJV9RZ43010QG3PKWJFQE5FNBP").unwrap();
        let modules = rqrr::SimpleGrid::from_func(code.width, |x, y| code.is_dark(x, y));
        // The two bits of level M (ISO/IEC 18004, table 12).
        assert_eq!(rqrr::Grid::new(modules).decode().unwrap().0.ecc_level, 0b00);
        assert_eq!(code.width, 37);
        let svg = code.svg();
        assert!(svg.contains("viewBox=\"0 0 45 45\"") && svg.contains("d=\"M4 4h7v1h-7z"), "{svg}");
    }

    #[test]
    fn one_wrong_module_is_corrected_and_many_are_not_read() {
        let whole = QrCode::of("灯台").unwrap();
        let (mut scratched, mut burnt) = (whole.clone(), whole);
        scratched.dark[200] ^= true;
        assert_eq!(scratched.read().as_deref(), Some("灯台"));
        burnt.dark.iter_mut().skip(150).step_by(2).for_each(|module| *module = true);
        assert_ne!(burnt.read().as_deref(), Some("灯台"));
    }

    #[test]
    fn a_text_that_is_too_long_has_no_code() {
        assert!(QrCode::of(&"x".repeat(2_331)).is_some());
        assert_eq!(QrCode::of(&"x".repeat(2_332)), None);
    }

    proptest! {
        #[test]
        fn what_was_made_is_read_back(text in "[ -~]{1,120}") {
            prop_assert_eq!(QrCode::of(&text).unwrap().read(), Some(text));
        }
    }
}
