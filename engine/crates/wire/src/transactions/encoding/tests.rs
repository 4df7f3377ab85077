//! Records are read as they were written, and damaged ones are told as that.

extern crate std;

use std::vec::Vec;

use super::*;
use crate::transactions::NAMED_FUNCTIONS;

const HEAD_OF: Head = Head {
    time_ns: 123_456_789,
    path: 42,
};

fn all<'a>() -> Vec<Record<'a>> {
    let address = |last, port| Address {
        ip: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, last],
        port,
    };
    std::vec![
        Record::Program(b"/usr/sbin/apache2"),
        Record::Module {
            start: 0x1000,
            end: 0x2000,
            offset: 0x100,
            file: b"/lib/a.so",
        },
        Record::Path {
            id: 7,
            addresses: &[1; 24],
        },
        Record::Spawn { thread: 3 },
        Record::Begin { by: 1 },
        Record::End,
        Record::Fork { child: 4711 },
        Record::Open {
            stream: 5,
            kind: StreamKind::Tcp,
            via: Via::Accepted,
            inode: 99,
            peer_inode: 98,
            local: address(1, 80),
            peer: address(2, 65_535),
        },
        Record::Close { stream: 5 },
        Record::Send {
            stream: 5,
            offset: 1 << 40,
            length: 17,
            began_ns: 5,
        },
        Record::Receive {
            stream: 5,
            offset: 3,
            length: 0,
            began_ns: 9,
            head: b"GET /",
        },
        Record::Idle { began_ns: 8 },
        Record::Event {
            stream: 0,
            data: u64::MAX,
        },
        Record::Wait {
            lock: 0x7fff_0000,
            kind: LockKind::Condition,
            began_ns: 1,
            holder: u32::MAX,
            timed_out: true,
        },
        Record::Release {
            lock: 8,
            kind: LockKind::ReadWrite,
        },
        Record::Produce { item: 1 },
        Record::Consume {
            item: u64::MAX,
            list: u32::MAX,
        },
        Record::Demote { list: 7 },
        Record::Note(b""),
        Record::Handler {
            item: 4,
            function: 0x40_0000,
            stream: 7,
            depth: 2,
            how: Calling::Onward,
        },
        Record::Returned { depth: 2 },
        Record::Handler {
            item: 5,
            function: 0,
            stream: 0,
            depth: 1,
            how: Calling::Task,
        },
        Record::Function {
            function: NAMED_FUNCTIONS | 7,
            name: b"shop.Checkout",
        },
        Record::Span {
            trace: [1, u64::MAX],
            span: 3,
            flags: 1,
            attributes: b"\x00\x04/buy",
        },
        Record::Context(b"\x12\x00"),
        Record::Register {
            stream: 9,
            interest: Interest::Write,
        },
        Record::JavaWait {
            object: 0x7fff_ffff,
            class: NAMED_FUNCTIONS | 7,
            method: 0,
            kind: LockKind::Mutex,
            condition: 0x7fff_0040,
            began_ns: 5,
            timed_out: true,
        },
        Record::JavaRelease {
            condition: 0x7fff_0040,
            method: NAMED_FUNCTIONS | 8,
        },
    ]
}

#[test]
fn what_is_written_is_read() {
    for record in all() {
        let mut bytes = [0xff; MAX_RECORD];
        let length = record.write(HEAD_OF, &mut bytes).unwrap();
        assert_eq!((length % 8, length), (0, record.length()), "{record:?}");
        let read = Record::read(&bytes[..length]).unwrap();
        assert_eq!(read, (HEAD_OF, record, length));
        let kind = record.kind() as u8;
        assert_eq!(kind, bytes[0]);
    }
}

#[test]
fn what_was_cut_or_changed_is_refused_or_another_record_and_never_more_than_was_there() {
    for record in all() {
        let mut bytes = [0; MAX_RECORD];
        let length = record.write(HEAD_OF, &mut bytes).unwrap();
        for end in 0..length {
            assert!(Record::read(&bytes[..end]).is_err(), "{record:?} {end}");
        }
        for at in 0..length * 8 {
            let mut damaged = bytes;
            damaged[at / 8] ^= 1 << (at % 8);
            if let Ok((_, _, read)) = Record::read(&damaged[..length]) {
                assert!(read <= length);
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_not_written() {
    let record = Record::Note(&[b'x'; 20]);
    let mut small = [7; 32];
    assert_eq!(record.write(HEAD_OF, &mut small), None);
    assert_eq!(small, [7; 32]);
    let long = [b'x'; MAX_RECORD];
    let mut place = [0; 2 * MAX_RECORD];
    assert_eq!(Record::Note(&long).write(HEAD_OF, &mut place), None);
}

#[test]
fn unknown_kinds_and_values_are_told() {
    let mut bytes = [0; 64];
    let length = Record::End.write(HEAD_OF, &mut bytes).unwrap();
    bytes[0] = 99;
    assert_eq!(Record::read(&bytes[..length]), Err(Damage::Kind(99)));
    let release = Record::Release {
        lock: 1,
        kind: LockKind::Mutex,
    };
    let length = release.write(HEAD_OF, &mut bytes).unwrap();
    bytes[HEAD + 8] = 77;
    assert_eq!(Record::read(&bytes[..length]), Err(Damage::Value(77)));
    let register = Record::Register {
        stream: 1,
        interest: Interest::Read,
    };
    let length = register.write(HEAD_OF, &mut bytes).unwrap();
    bytes[HEAD + 8] = 3;
    assert_eq!(Record::read(&bytes[..length]), Err(Damage::Value(3)));
}
