//! What commands print: standard output, whose reader may have seen enough (`| head -1`), which is no failure; numbers
//! of things; and answers that are no.

use std::{
    fmt::Display,
    io::{self, Write},
};

/// What a command does once standard output is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnceClosed {
    /// It finishes its work without printing: what it writes to the table must not depend on a reader.
    Finish,
    /// It ends: printing is all it does, and there may be much more.
    Stop,
}

/// A pipe, a file or a screen.
#[derive(Debug)]
pub(super) struct Printed<W> {
    to: W,
    once_closed: OnceClosed,
    is_closed: bool,
}

impl<W: Write> Printed<W> {
    pub(super) fn to(to: W, once_closed: OnceClosed) -> Self {
        Self { to, once_closed, is_closed: false }
    }

    fn print<T>(&mut self, unread: T, print: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        if self.is_closed {
            return Ok(unread);
        }
        match (print(&mut self.to), self.once_closed) {
            (Err(error), OnceClosed::Finish) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(unread)
            }
            (Err(error), OnceClosed::Stop) if error.kind() == io::ErrorKind::BrokenPipe => {
                Err(io::Error::new(io::ErrorKind::BrokenPipe, Enough))
            }
            (printed, _) => printed,
        }
    }
}

impl<W: Write> Write for Printed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.print(bytes.len(), |to| to.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.print((), Write::flush)
    }
}

/// Standard output is closed: that is not a connection that broke.
#[derive(Debug, thiserror::Error)]
#[error("standard output is closed")]
struct Enough;

/// Returns whether a command ended because standard output was closed.
pub(super) fn is_enough(error: &anyhow::Error) -> bool {
    let mut inner = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>()?.get_ref());
    inner.any(<dyn std::error::Error + Send + Sync>::is::<Enough>)
}

/// A command was carried out, and its answer is no (exit code 3). Says what the answer is about.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct AnswerIsNo(pub(super) String);

/// Returns a number and what it counts, in the singular where there is one: `1 item`, `0 items`, `2 items`.
pub(super) fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    let what = if count == N::from(1) { one } else { many };
    format!("{count} {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_counted_in_the_singular() {
        let counted = [-1_i64, 0, 1, 2].map(|count| counted(count, "item is", "items are"));
        assert_eq!(counted, ["-1 items are", "0 items are", "1 item is", "2 items are"]);
    }

    /// A reader that has gone after the first line.
    #[derive(Default)]
    struct Head(Vec<u8>);

    impl Write for Head {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0.contains(&b'\n') {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_list_ends_when_standard_output_is_closed_and_other_work_is_finished() {
        let mut out = Printed::to(Head::default(), OnceClosed::Stop);
        out.write_all(b"one\n").unwrap();
        assert!(is_enough(&out.write_all(b"two\n").unwrap_err().into()));

        let mut out = Printed::to(Head::default(), OnceClosed::Finish);
        for line in ["one\n", "two\n", "three\n"] {
            out.write_all(line.as_bytes()).unwrap();
        }
        out.flush().unwrap();
        assert_eq!(out.to.0, b"one\n");
    }

    #[test]
    fn a_connection_that_broke_is_no_reader_that_has_gone() {
        assert!(!is_enough(&io::Error::from(io::ErrorKind::BrokenPipe).into()));
        let full = Printed::to(io::Cursor::new([0_u8; 1]), OnceClosed::Finish).write_all(b"ab").unwrap_err();
        assert!(!is_enough(&full.into()), "a full disk is a failure");
    }
}
