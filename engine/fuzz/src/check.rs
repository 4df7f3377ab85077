// What must hold for every reader and any bytes. The fuzz targets use it, and `fulcrum-profile-formats`'s tests include it by path.

use fulcrum_model::{Place, ReadError};
use fulcrum_profile_formats::names::{ALL, normalise};
use fulcrum_profile_formats::{
    At, Calls, Code, Format, Limits, OutputFormat, Profile, Symbols, WriteError, read_as,
    read_lines, read_with, write,
};

/// Small, because a fuzzer that unpacks gigabytes finds little.
const LIMITS: Limits = Limits {
    bytes: 8 << 20,
    ratio: 100,
};
const NAME: &str = "x.prof";
/// Larger trees are not written and read back.
const NODES: u32 = 20_000;

/// Gives an address no name, one, or two.
struct Named;

impl Symbols for Named {
    fn code(&self, file: &str, build_id: Option<&[u8]>, at: At) -> Vec<Code> {
        let (At::Byte(offset) | At::Address(offset)) = at;
        let code = || Code {
            name: format!("{file}{build_id:?}{}", offset / 16),
            file: file.to_owned(),
            line: (offset % 16) as u32,
        };
        (0..offset % 3).map(|_| code()).collect()
    }
}

/// Reads bytes in this format, whatever they look like. Returns whether they are a profile.
pub(crate) fn reader(format: Format, bytes: &[u8]) -> bool {
    check(bytes, read_as(format, bytes, NAME, LIMITS, &Named))
}

/// Detects the format and reads. Returns whether the bytes are a profile.
pub(crate) fn detection(bytes: &[u8]) -> bool {
    lines(bytes);
    check(bytes, read_with(bytes, NAME, LIMITS, &Named))
}

/// Checks that the totals are the same with a frame for each line.
fn lines(bytes: &[u8]) {
    let (Ok(profile), Ok(Some(lines))) = (
        read_with(bytes, NAME, LIMITS, &Named),
        read_lines(bytes, NAME, LIMITS, &Named),
    ) else {
        return;
    };
    if let (Calls::Tree(tree), Calls::Tree(lines)) = (profile.calls, lines.calls) {
        for value in 0..tree.value_types().len() {
            assert_eq!(tree.total(value), lines.total(value));
        }
    }
}

fn check(bytes: &[u8], result: Result<Profile, ReadError>) -> bool {
    match result {
        Ok(profile) => {
            check_profile(profile);
            true
        }
        Err(error) => {
            let text = error.to_string();
            let sentence = text.starts_with(NAME) && text.ends_with('.');
            let short = text.len() < 2000 && !text.contains(['\n', '\r']);
            assert!(sentence && short, "not one sentence: {text:?}");
            match error.place {
                None => {}
                Some(Place::Line(line)) => assert!(line >= 1, "{text}"),
                Some(Place::Byte(at)) => {
                    let most = bytes.len().max(LIMITS.bytes) as u64;
                    assert!(at <= most, "beyond the end: {text}");
                }
            }
            false
        }
    }
}

fn check_profile(profile: Profile) {
    let types = profile.value_types().len();
    assert!(profile.default_value < types, "no such value type");
    assert!(profile.notes.iter().all(|note| !note.contains('\n')));
    let Calls::Tree(tree) = &profile.calls else {
        let mut nothing = Vec::new();
        assert!(write(&profile, OutputFormat::Folded, 0, &mut nothing).is_err());
        normalise(profile, &ALL).expect("no larger than it was");
        return;
    };
    assert!(!tree.is_empty());
    let totals: Vec<i64> = (0..types).map(|row| tree.total(row)).collect();
    if tree.len() > NODES {
        return;
    }
    for format in [
        OutputFormat::Folded,
        OutputFormat::Speedscope,
        OutputFormat::Pprof,
    ] {
        let mut file = Vec::new();
        let written = write(&profile, format, profile.default_value, &mut file);
        let costs = |&value: &i64| value != 0;
        match written {
            Ok(()) => {}
            // These formats cannot express a profile without costs.
            Err(WriteError::Nothing { .. }) if format != OutputFormat::Pprof => {
                assert!(!tree.values(profile.default_value).iter().any(costs));
                assert!(file.is_empty());
            }
            Err(error) => panic!("into memory: {error}"),
        }
        // Stacks without costs are not written.
        if format == OutputFormat::Pprof && totals.iter().any(|&total| total != 0) {
            let again = read_with(&file, NAME, Limits::default(), &Named).expect("our own");
            let Calls::Tree(tree) = &again.calls else {
                panic!("a tree became a graph");
            };
            for (row, total) in totals.iter().enumerate() {
                assert_eq!(tree.total(row), *total, "a total changed on the way");
            }
        }
    }
    let renamed = normalise(profile, &ALL).expect("no larger than it was");
    let Calls::Tree(tree) = &renamed.calls else {
        panic!("a tree became a graph");
    };
    for (row, total) in totals.iter().enumerate() {
        assert_eq!(tree.total(row), *total, "a name changed a total");
    }
}
