//! The text in pieces of whole lines, whether it is in memory or stays in its file.

use std::borrow::Cow;
use std::io;

use memchr::memchr;

use crate::decode::fault::Fault;

/// The size of a piece in bytes, roughly.
pub(crate) const SIZE: usize = 1 << 20;
/// How many bytes are read first to find the end of a piece's last line.
const TAIL: usize = 16 << 10;

/// Bytes that stay in their file. Several threads read at any offset at the same time.
pub trait ReadAt: Sync {
    /// The number of bytes.
    fn length(&self) -> u64;

    /// Fills `into` with the bytes from offset `at` on.
    ///
    /// # Errors
    /// When they cannot be read, or fewer bytes are left.
    fn read_exact_at(&self, into: &mut [u8], at: u64) -> io::Result<()>;
}

/// A text.
#[derive(Clone, Copy)]
pub(crate) enum Text<'t> {
    /// In memory.
    Held(&'t [u8]),
    /// Read piece by piece.
    Elsewhere(&'t dyn ReadAt),
}

/// A place in the text: the piece, and the byte of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) piece: usize,
    pub(crate) byte: usize,
}

/// Whole lines. A line belongs to the piece in whose [`SIZE`] bytes it begins, so some pieces have no lines.
#[derive(Clone, Debug)]
pub(crate) struct Piece<'b> {
    pub(crate) number: usize,
    /// Bytes that are not UTF-8 are replaced. A line end is never part of such bytes, so the result does not depend on
    /// where the text is cut into pieces.
    pub(crate) text: Cow<'b, str>,
    /// Whether this is the end of the text.
    pub(crate) last: bool,
}

impl Piece<'_> {
    /// The place of a part of the text.
    pub(crate) fn place(&self, part: &str) -> Place {
        Place {
            piece: self.number,
            byte: part.as_ptr().addr() - self.text.as_ptr().addr(),
        }
    }
}

impl Text<'_> {
    fn length(&self) -> u64 {
        match self {
            Text::Held(bytes) => bytes.len() as u64,
            Text::Elsewhere(bytes) => bytes.length(),
        }
    }

    /// The number of pieces.
    pub(crate) fn pieces(&self) -> usize {
        self.length().div_ceil(SIZE as u64) as usize
    }

    /// The piece with this number. A text that is not in memory is read into `buffer`.
    ///
    /// # Errors
    /// When the text cannot be read.
    pub(crate) fn piece<'b>(
        &'b self,
        number: usize,
        buffer: &'b mut Vec<u8>,
    ) -> Result<Piece<'b>, Fault> {
        let (bytes, last) = match self {
            Text::Held(bytes) => held(bytes, number),
            Text::Elsewhere(bytes) => read(*bytes, number, buffer)
                .map_err(|error| Fault::whole(format!("it cannot be read: {error}")))?,
        };
        // Nearly all text is UTF-8, and checking is faster than replacing.
        let text = match str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => String::from_utf8_lossy(bytes),
        };
        Ok(Piece { number, text, last })
    }

    /// Visits the pieces in order until `visit` returns a result.
    ///
    /// # Errors
    /// When the text cannot be read, and those of `visit`.
    pub(crate) fn each<T>(
        &self,
        mut visit: impl FnMut(&Piece<'_>) -> Result<Option<T>, Fault>,
    ) -> Result<Option<T>, Fault> {
        let mut buffer = Vec::new();
        for number in 0..self.pieces() {
            let found = visit(&self.piece(number, &mut buffer)?)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The 1-based number of the line that begins at a place.
    ///
    /// # Errors
    /// When the text cannot be read.
    pub(crate) fn line_number(&self, at: Place) -> Result<usize, Fault> {
        let ends = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let mut before = 1;
        let found = self.each(|piece| {
            if piece.number == at.piece {
                return Ok(Some(before + ends(&piece.text[..at.byte])));
            }
            before += ends(&piece.text);
            Ok(None)
        })?;
        Ok(found.unwrap_or(before))
    }
}

/// The range of bytes in which a piece's lines begin.
fn window(number: usize, length: u64) -> (u64, u64) {
    let from = number as u64 * SIZE as u64;
    (from, length.min(from + SIZE as u64))
}

fn held(bytes: &[u8], number: usize) -> (&[u8], bool) {
    let (from, to) = window(number, bytes.len() as u64);
    let (from, to) = (from as usize, to as usize);
    // The first line is searched within this range only: most of a very long line is in no piece.
    let first = match from.checked_sub(1) {
        None => Some(0),
        Some(before) => memchr(b'\n', &bytes[before..to - 1]).map(|at| from + at),
    };
    let Some(first) = first else {
        return (&[], false);
    };
    let end = memchr(b'\n', &bytes[to - 1..]).map_or(bytes.len(), |at| to + at);
    (&bytes[first..end], end == bytes.len())
}

fn read<'b>(
    bytes: &dyn ReadAt,
    number: usize,
    buffer: &'b mut Vec<u8>,
) -> io::Result<(&'b [u8], bool)> {
    let length = bytes.length();
    let (from, to) = window(number, length);
    let begin = from.saturating_sub(1);
    buffer.resize((to - begin) as usize, 0);
    bytes.read_exact_at(buffer, begin)?;
    let first = match from {
        0 => Some(0),
        _ => memchr(b'\n', &buffer[..buffer.len() - 1]).map(|at| at + 1),
    };
    let Some(first) = first else {
        return Ok((&[], false));
    };
    let (mut at, mut tail) = (to, TAIL as u64);
    while at < length && buffer.last() != Some(&b'\n') {
        let more = tail.min(length - at);
        let old = buffer.len();
        buffer.resize(old + more as usize, 0);
        bytes.read_exact_at(&mut buffer[old..], at)?;
        at += more;
        tail *= 2;
        if let Some(end) = memchr(b'\n', &buffer[old..]) {
            at -= (buffer.len() - old - end - 1) as u64;
            buffer.truncate(old + end + 1);
        }
    }
    Ok((&buffer[first..], at == length))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Kept<'t>(&'t [u8]);

    impl ReadAt for Kept<'_> {
        fn length(&self) -> u64 {
            self.0.len() as u64
        }

        fn read_exact_at(&self, into: &mut [u8], at: u64) -> io::Result<()> {
            let from = at as usize;
            let part = self.0.get(from..from + into.len());
            into.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        }
    }

    fn pieces(text: Text<'_>) -> Vec<(String, bool)> {
        let mut all = Vec::new();
        let seen = text.each(|piece| {
            all.push((piece.text.clone().into_owned(), piece.last));
            Ok(None::<()>)
        });
        assert_eq!(seen, Ok(None));
        all
    }

    #[test]
    fn pieces_are_whole_lines_and_all_of_the_text_wherever_it_is() {
        let line = "main;work 12\n";
        let long = "x".repeat(3 * SIZE);
        let many = line.repeat(3 * SIZE / line.len());
        // Line ends right before, at and behind the places where pieces are cut.
        let at = |length: usize| "y".repeat(length - 1) + "\n" + &many;
        for text in [
            String::new(),
            line.to_owned(),
            many.clone() + "main 1",
            format!("{many}{long} 1\n{many}"),
            format!("{long} 1"),
            at(SIZE - 1),
            at(SIZE),
            at(SIZE + 1),
            "\n".repeat(2 * SIZE + 1),
        ] {
            let found = pieces(Text::Held(text.as_bytes()));
            assert_eq!(found, pieces(Text::Elsewhere(&Kept(text.as_bytes()))));
            let all: String = found.iter().map(|it| &*it.0).collect();
            assert!(all == text, "{} bytes", text.len());
            let full: Vec<_> = found.iter().filter(|it| !it.0.is_empty()).collect();
            let (last, others) = full.split_last().unzip();
            assert!(last.is_none_or(|it| it.1));
            let others = others.unwrap_or_default();
            assert!(others.iter().all(|it| it.0.ends_with('\n') && !it.1));
        }
    }

    #[test]
    fn lines_have_numbers_in_every_piece() {
        let line = "main;caf\u{e9} 12\n";
        let mut bytes = line.repeat(2 * SIZE / line.len()).into_bytes();
        // One byte becomes three: places are in the text, lines are not moved.
        bytes.extend(b"caf\xe9 1\nhere 1\n");
        let text = Text::Held(&bytes);
        let place = text.each(|piece| {
            let at = piece.text.find("here").map(|at| &piece.text[at..]);
            Ok(at.map(|part| piece.place(part)))
        });
        let place = place.expect("held").expect("it is there");
        assert_eq!(text.line_number(place), Ok(2 * SIZE / line.len() + 2));
    }

    #[test]
    fn what_became_shorter_is_an_error() {
        struct Shorter;
        impl ReadAt for Shorter {
            fn length(&self) -> u64 {
                10
            }
            fn read_exact_at(&self, _: &mut [u8], _: u64) -> io::Result<()> {
                Err(io::ErrorKind::UnexpectedEof.into())
            }
        }
        let mut buffer = Vec::new();
        let error = Text::Elsewhere(&Shorter).piece(0, &mut buffer).map(|_| ());
        let problem = error.expect_err("there are fewer").problem;
        assert!(problem.starts_with("it cannot be read: "), "{problem}");
    }
}
