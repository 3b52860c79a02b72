//! Standard output as commands write it: whoever reads it may have seen enough (`| head -1`), which is no failure.

use std::{
    fmt,
    io::{self, Write},
};

/// What a command does once nobody reads what it prints any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnceClosed {
    /// It ends its work, unheard: what it writes to the table must not depend on who reads along.
    GoOn,
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

    fn tell<T>(&mut self, unheard: T, tell: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        if self.is_closed {
            return Ok(unheard);
        }
        match (tell(&mut self.to), self.once_closed) {
            (Err(error), OnceClosed::GoOn) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(unheard)
            }
            (Err(error), OnceClosed::Stop) if error.kind() == io::ErrorKind::BrokenPipe => {
                Err(io::Error::new(io::ErrorKind::BrokenPipe, Enough))
            }
            (told, _) => told,
        }
    }
}

impl<W: Write> Write for Printed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.tell(bytes.len(), |to| to.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.tell((), Write::flush)
    }
}

/// Nobody reads any more. Tells a closed standard output from a connection that broke.
#[derive(Debug)]
struct Enough;

impl fmt::Display for Enough {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody reads what is printed any more")
    }
}

impl std::error::Error for Enough {}

/// Whether a command ended because nobody read on.
pub(super) fn is_enough(error: &anyhow::Error) -> bool {
    let mut inner = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>()?.get_ref());
    inner.any(<dyn std::error::Error + Send + Sync>::is::<Enough>)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_list_ends_when_its_reader_has_gone_and_work_goes_on() {
        let mut out = Printed::to(Head::default(), OnceClosed::Stop);
        out.write_all(b"one\n").unwrap();
        assert!(is_enough(&out.write_all(b"two\n").unwrap_err().into()));

        let mut out = Printed::to(Head::default(), OnceClosed::GoOn);
        for line in ["one\n", "two\n", "three\n"] {
            out.write_all(line.as_bytes()).unwrap();
        }
        out.flush().unwrap();
        assert_eq!(out.to.0, b"one\n");
    }

    #[test]
    fn a_connection_that_broke_is_no_reader_that_has_gone() {
        assert!(!is_enough(&io::Error::from(io::ErrorKind::BrokenPipe).into()));
        let full = Printed::to(io::Cursor::new([0_u8; 1]), OnceClosed::GoOn).write_all(b"ab").unwrap_err();
        assert!(!is_enough(&full.into()), "a full disk is a failure");
    }
}
