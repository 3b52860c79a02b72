//! Numbers of things in what is printed.

use std::fmt::Display;

/// A number and what it counts, in the singular where there is one: `1 item`, `0 items`, `2 items`.
pub(super) fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    let what = if count == N::from(1) { one } else { many };
    format!("{count} {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_told_in_the_singular() {
        let told = [-1_i64, 0, 1, 2].map(|count| counted(count, "item is", "items are"));
        assert_eq!(told, ["-1 items are", "0 items are", "1 item is", "2 items are"]);
    }
}
