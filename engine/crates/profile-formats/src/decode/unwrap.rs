//! Removes what is wrapped around a profile: gzip, zstd, byte order marks, UTF-16, slabs. Limits are checked while
//! decompressing. flate2 and ruzstd decompress.

use std::io::{self, Read};
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

use flate2::bufread::MultiGzDecoder;
use fulcrum_model::{Cancelled, Progress};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use crate::decode::fault::Fault;
use crate::decode::limits::{ALLOW_MORE, Limits};

const FREE: usize = 64 << 20;
const CHUNK: usize = 64 << 10;
/// Compressed bytes that are worth a thread.
const LARGE: usize = 4 << 20;
/// Bytes that one thread hands to another.
const PIECE: usize = 256 << 10;
/// Pieces that may wait.
const WAITING: usize = 8;
const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// A profile without its wrapping.
#[derive(Debug)]
pub(crate) struct Content<B> {
    data: Data<B>,
    /// Where the profile begins.
    start: usize,
    /// Whether it was compressed.
    pub(crate) compressed: bool,
}

#[derive(Debug)]
enum Data<B> {
    /// The bytes of the file.
    File(B),
    Decoded(Vec<u8>),
}

impl<B: AsRef<[u8]>> Content<B> {
    /// The profile itself.
    pub(crate) fn bytes(&self) -> &[u8] {
        let bytes = match &self.data {
            Data::File(bytes) => bytes.as_ref(),
            Data::Decoded(bytes) => bytes,
        };
        &bytes[self.start..]
    }
}

/// Removes all wrapping. Owned bytes are freed as soon as they are decompressed.
pub(crate) fn unwrap<B: AsRef<[u8]>>(
    bytes: B,
    limits: Limits,
    progress: &Progress,
) -> Result<Content<B>, Fault> {
    let packed = bytes.as_ref();
    let unpacked = if packed.starts_with(GZIP) {
        Some(gunzip(packed, limits, progress)?)
    } else if packed.starts_with(ZSTD) || skippable(packed).is_some() {
        Some(unzstd(packed, limits, progress)?)
    } else {
        None
    };
    let compressed = unpacked.is_some();
    let data = match unpacked {
        Some(unpacked) => {
            drop(bytes);
            Data::Decoded(unpacked)
        }
        None => Data::File(bytes),
    };
    let content = Content {
        data,
        start: 0,
        compressed,
    };
    let most = allowed(content.bytes(), limits);
    if let Some(text) = crate::decode::slabs::text(content.bytes(), most) {
        return Ok(Content {
            data: Data::Decoded(text?),
            compressed: true,
            ..content
        });
    }
    if let Some(text) = utf16(content.bytes()) {
        let data = Data::Decoded(text?.into_bytes());
        return Ok(Content { data, ..content });
    }
    let start = before(content.bytes());
    Ok(Content { start, ..content })
}

const BOM: &[u8] = b"\xef\xbb\xbf";
/// What `node --prof-process --preprocess` writes before its JSON when another version of V8 wrote the log.
const REMARK: &[u8] = b"Testing v8 version different from logging version";

/// How many bytes at the beginning no reader needs. The line end after the remark stays, so that lines keep their numbers.
fn before(bytes: &[u8]) -> usize {
    let mark = match bytes.starts_with(BOM) {
        true => BOM.len(),
        false => 0,
    };
    match bytes[mark..].starts_with(REMARK) {
        true => mark + REMARK.len(),
        false => mark,
    }
}

/// Whether a profile with this beginning has no wrapping.
pub(crate) fn is_bare(head: &[u8]) -> bool {
    let wrappings = [GZIP, ZSTD, BOM, REMARK, &[0xff, 0xfe], &[0xfe, 0xff]];
    let wrapped = wrappings.iter().any(|magic| head.starts_with(magic));
    !wrapped && skippable(head).is_none() && !crate::decode::slabs::begin(head)
}

fn gunzip(bytes: &[u8], limits: Limits, progress: &Progress) -> Result<Vec<u8>, Fault> {
    let limit = allowed(bytes, limits);
    if bytes.len() >= LARGE
        && let Some(result) = gunzip_beside(bytes, limit, progress)
    {
        return result;
    }
    let mut out = Vec::new();
    let mut decoder = MultiGzDecoder::new(bytes);
    let place = |decoder: &MultiGzDecoder<&[u8]>| bytes.len() - decoder.get_ref().len();
    let progress = |decoder: &_| progress.at(place(decoder) as f64 / bytes.len() as f64);
    let result = drain(&mut decoder, &mut out, limit, progress);
    let at = place(&decoder);
    result.map_err(|error| error.fault("gzip", at))?;
    Ok(out)
}

/// Decompresses on another thread, while this one collects the pieces: getting memory for them takes a third as long as decompressing.
/// `None` when no thread can start.
fn gunzip_beside(
    bytes: &[u8],
    limit: usize,
    progress: &Progress,
) -> Option<Result<Vec<u8>, Fault>> {
    let (sender, pieces) = sync_channel(WAITING);
    let (used, again) = channel();
    let inflate = move || {
        let mut decoder = MultiGzDecoder::new(bytes);
        loop {
            let mut piece: Vec<u8> = again.try_recv().unwrap_or_default();
            piece.resize(PIECE, 0);
            let read = decoder.read(&mut piece);
            let at = bytes.len() - decoder.get_ref().len();
            let is_last = !matches!(read, Ok(1..));
            let read = read.map(|read| {
                piece.truncate(read);
                piece
            });
            if sender.send((read, at)).is_err() || is_last {
                return;
            }
        }
    };
    thread::scope(|scope| {
        thread::Builder::new().spawn_scoped(scope, inflate).ok()?;
        let mut out = Vec::new();
        let mut at = 0;
        let mut result = Ok(());
        for (read, after) in &pieces {
            at = after;
            let done = at as f64 / bytes.len() as f64;
            result = progress.at(done).map_err(DecompressError::Cancelled);
            result = result.and_then(|()| {
                let piece = read.map_err(|error| DecompressError::of(&error))?;
                add(&mut out, &piece, limit)?;
                // An error means that the other thread is done, and needs none.
                drop(used.send(piece));
                Ok(())
            });
            if result.is_err() {
                break;
            }
        }
        drop(pieces);
        let result = result.map_err(|error| error.fault("gzip", at));
        Some(result.map(|()| out))
    })
}

fn unzstd(bytes: &[u8], limits: Limits, progress: &Progress) -> Result<Vec<u8>, Fault> {
    frames(bytes, 0, limits, progress)
}

/// Decompresses zstd data whose last frame was flushed but never ended, as a killed recorder leaves it.
pub(crate) fn unzstd_open(mut bytes: Vec<u8>, limits: Limits) -> Result<Vec<u8>, Fault> {
    // An empty last block and space for a checksum.
    const END: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];
    bytes.extend(END);
    frames(&bytes, END.len(), limits, &Progress::default())
}

/// Decompresses all frames and skips skippable ones. The last `spare` bytes may belong to the last frame or to none.
fn frames(
    bytes: &[u8],
    spare: usize,
    limits: Limits,
    progress: &Progress,
) -> Result<Vec<u8>, Fault> {
    let mut out = Vec::new();
    let mut rest = bytes;
    while rest.len() > spare {
        let at = bytes.len() - rest.len();
        if let Some(after) = skippable(rest) {
            rest = after;
            continue;
        }
        let mut decoder = StreamingDecoder::new(&mut rest).map_err(|error| header(&error, at))?;
        // The decoder does not say how much of a frame it has read.
        let done = at as f64 / bytes.len() as f64;
        let progress = |_: &_| progress.at(done);
        let result = drain(&mut decoder, &mut out, allowed(bytes, limits), progress);
        let frame: FrameDecoder = decoder.into_frame_decoder();
        let at = bytes.len() - rest.len();
        result.map_err(|error| error.fault("zstd", at))?;
        let sums = (
            frame.get_checksum_from_data(),
            frame.get_calculated_checksum(),
        );
        if let (Some(stored), Some(computed)) = sums
            && stored != computed
            && rest.len() >= spare
        {
            return Err(Fault::byte(
                at,
                "the zstd data is damaged: its checksum is wrong",
            ));
        }
    }
    Ok(out)
}

fn header(error: &FrameDecoderError, at: usize) -> Fault {
    let problem = match error {
        FrameDecoderError::WindowSizeTooBig { .. } => {
            "the zstd data needs a window of more than 100 MB"
        }
        FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::BadMagicNumber(_)) => {
            "expected another zstd frame or the end of the file"
        }
        _ => "the zstd data is damaged or cut short",
    };
    Fault::byte(at, problem)
}

/// The bytes after a skippable zstd frame.
fn skippable(bytes: &[u8]) -> Option<&[u8]> {
    let (&[first, a, b, c, ..], size) = (bytes, bytes.get(4..8)?) else {
        return None;
    };
    let magic = first & 0xf0 == 0x50 && [a, b, c] == [0x2a, 0x4d, 0x18];
    let size = u32::from_le_bytes(size.try_into().ok()?) as usize;
    magic.then(|| bytes.get(8 + size..))?
}

fn allowed(bytes: &[u8], limits: Limits) -> usize {
    let by_ratio = bytes.len().saturating_mul(limits.ratio).max(FREE);
    limits.bytes.min(by_ratio)
}

/// Why decompression stopped.
enum DecompressError {
    TooLarge(usize),
    CutShort,
    Damaged,
    Cancelled(Cancelled),
}

impl DecompressError {
    fn of(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => DecompressError::CutShort,
            _ => DecompressError::Damaged,
        }
    }

    fn fault(self, kind: &str, at: usize) -> Fault {
        match self {
            DecompressError::CutShort => Fault::byte(at, format!("the {kind} data ends too early"))
                .advise("copy the file again, or record again"),
            DecompressError::Damaged => Fault::byte(at, format!("the {kind} data is damaged"))
                .advise("copy the file again, or record again"),
            DecompressError::Cancelled(cancelled) => cancelled.into(),
            DecompressError::TooLarge(limit) => Fault::byte(
                at,
                format!("the {kind} data becomes larger than {limit} bytes, which is not accepted"),
            )
            .advise(ALLOW_MORE),
        }
    }
}

fn drain<R: Read>(
    from: &mut R,
    out: &mut Vec<u8>,
    limit: usize,
    progress: impl Fn(&R) -> Result<(), Cancelled>,
) -> Result<(), DecompressError> {
    let mut chunk = vec![0; CHUNK];
    loop {
        progress(from).map_err(DecompressError::Cancelled)?;
        let read = match from.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(DecompressError::of(&error)),
        };
        add(out, &chunk[..read], limit)?;
    }
}

/// Adds what was decompressed.
fn add(out: &mut Vec<u8>, more: &[u8], limit: usize) -> Result<(), DecompressError> {
    if out.len() + more.len() > limit {
        return Err(DecompressError::TooLarge(limit));
    }
    out.extend_from_slice(more);
    Ok(())
}

/// The text after a UTF-16 byte order mark.
fn utf16(bytes: &[u8]) -> Option<Result<String, Fault>> {
    let unit = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let (pairs, rest) = bytes[2..].as_chunks::<2>();
    if !rest.is_empty() {
        return Some(Err(Fault::byte(
            bytes.len() - 1,
            "the UTF-16 text ends in the middle of a character",
        )));
    }
    let units = pairs.iter().map(|&pair| unit(pair));
    Some(Ok(char::decode_utf16(units)
        .map(|it| it.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        writer.write_all(bytes).expect("into memory");
        writer.finish().expect("into memory")
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    }

    fn check(bytes: &[u8], expect: &[u8], compressed: bool) {
        let found = unwrap(bytes, Limits::default(), &Progress::default()).expect("whole");
        assert_eq!((found.bytes(), found.compressed), (expect, compressed));
    }

    #[test]
    fn every_wrapping_comes_off() {
        check(b"a;b 1", b"a;b 1", false);
        check(b"\xef\xbb\xbfa;b 1", b"a;b 1", false);
        check(b"\xff\xfea\0;\0\xe9\0", "a;é".as_bytes(), false);
        check(b"\xfe\xff\0a\0;", b"a;", false);
        check(&gzip(b"\xef\xbb\xbfa;b 1"), b"a;b 1", true);
        let twice = [gzip(b"a;b 1\n"), gzip(b"a;c 2\n")].concat();
        check(&twice, b"a;b 1\na;c 2\n", true);
        let skip = b"\x53\x2a\x4d\x18\x02\0\0\0xy".to_vec();
        let frames = [skip, zstd(b"a;b 1\n"), zstd(b"a;c 2\n")].concat();
        check(&frames, b"a;b 1\na;c 2\n", true);
    }

    #[test]
    fn compressed_bytes_are_let_go() {
        use std::sync::Arc;
        for (bytes, holders) in [(gzip(b"a 1"), 1), (zstd(b"a 1"), 1), (b"a 1".to_vec(), 2)] {
            let bytes: Arc<[u8]> = bytes.into();
            let content =
                unwrap(Arc::clone(&bytes), Limits::default(), &Progress::default()).expect("whole");
            assert_eq!(
                (content.bytes(), Arc::strong_count(&bytes)),
                (&b"a 1"[..], holders)
            );
        }
    }

    #[test]
    fn a_wrapping_cut_anywhere_is_an_error_with_its_byte() {
        let text = b"main;work;more work 12\n".repeat(40);
        for (whole, kind) in [(gzip(&text), "gzip"), (zstd(&text), "zstd")] {
            for end in 5..whole.len() {
                let fault = unwrap(&whole[..end], Limits::default(), &Progress::default())
                    .expect_err("cut short");
                assert!(fault.problem.contains(kind), "{end}: {fault:?}");
                assert!(fault.place.is_some());
            }
        }
    }

    #[test]
    fn another_thread_unpacks_the_same() {
        let mut state = 1_u64;
        let text: Vec<u8> = std::iter::repeat_with(|| {
            state = fulcrum_model::hashing::fold(state);
            state as u8
        })
        .take(LARGE + 1000)
        .collect();
        let twice = [gzip(&text), gzip(b"and more")].concat();
        let beside = |bytes: &[u8], limit| {
            let result = gunzip_beside(bytes, limit, &Progress::default());
            result.expect("a thread can start")
        };
        let alone = |bytes: &[u8], limit| {
            let mut decoder = MultiGzDecoder::new(bytes);
            let mut out = Vec::new();
            let result = drain(&mut decoder, &mut out, limit, |_| Ok(()));
            let at = bytes.len() - decoder.get_ref().len();
            result
                .map(|()| out)
                .map_err(|error| error.fault("gzip", at))
        };
        let mut damaged = twice.clone();
        damaged[LARGE / 2..LARGE / 2 + 4000].fill(0xff);
        for bytes in [&twice[..], &twice[..LARGE / 3], &damaged] {
            let all = text.len() + 8;
            for limit in [all, all - 1] {
                let (alone, beside) = (alone(bytes, limit), beside(bytes, limit));
                assert_eq!(alone.is_ok(), bytes == twice && limit == all);
                assert!(
                    alone.as_ref().err().map(|it| &it.problem)
                        == beside.as_ref().err().map(|it| &it.problem)
                );
                assert!(alone.ok() == beside.ok());
            }
        }
        let whole = unwrap(&twice, Limits::default(), &Progress::default()).expect("whole");
        assert!(whole.bytes()[..text.len()] == text && whole.bytes().ends_with(b"and more"));
    }

    #[test]
    fn a_bomb_stops_at_its_limit() {
        let zeros = vec![b'0'; 1 << 20];
        for bomb in [gzip(&zeros), zstd(&zeros)] {
            let limits = Limits {
                bytes: 1000,
                ratio: 400,
            };
            let fault = unwrap(&bomb, limits, &Progress::default()).expect_err("too large");
            assert!(
                fault.problem.contains("larger than 1000 bytes"),
                "{fault:?}"
            );
            assert!(fault.advice.contains("--max-size"), "{fault:?}");
        }
    }

    #[test]
    fn who_trusts_a_file_may_unpack_it() {
        // Zeros are packed to a thousandth.
        let zeros = vec![b'0'; FREE + 1];
        let best = flate2::Compression::best();
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), best);
        writer.write_all(&zeros).expect("into memory");
        let packed = writer.finish().expect("into memory");
        let nobody = Progress::default();
        assert!(unwrap(&packed, Limits::default(), &nobody).is_err());
        let found = unwrap(&packed, Limits::up_to(zeros.len()), &nobody).expect("allowed");
        assert_eq!(found.bytes().len(), zeros.len());
        assert!(unwrap(&packed, Limits::up_to(zeros.len() - 1), &nobody).is_err());
    }
}
