//! Finds which ends belong to one stream. Addresses and inodes are reused, so the same pair may be several streams, one
//! after the other.

use std::collections::BTreeMap;

use fulcrum_wire::transactions::{Address, StreamKind, Via};

use super::ends::{Channel, ChannelId, End, EndId};
use crate::process::ProcessInfo;

/// What the two ends of a stream have in common. Includes the machine where the value is local to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Tcp(Option<usize>, Address, Address),
    Unix(usize, u64, u64),
    Pipe(usize, u64),
    /// Nothing: the end has no peer.
    Alone(EndId),
}

/// One side of one stream, among those with the same key.
#[derive(Debug)]
struct Life {
    ends: Vec<EndId>,
    from_ns: i64,
    to_ns: i64,
}

/// Pairs ends, and sets each end's channel and side.
pub(super) fn channels(
    ends: &mut [End],
    processes: &[ProcessInfo],
    machines: &[usize],
) -> Vec<Channel> {
    let peers = unix_peers(ends, machines);
    let mut groups: BTreeMap<Key, [Vec<EndId>; 2]> = BTreeMap::new();
    for (row, end) in ends.iter().enumerate() {
        let id = EndId(row);
        let (key, side) = key(id, end, machines[end.process], &peers);
        groups.entry(key).or_default()[side].push(id);
    }
    let mut channels = Vec::new();
    for (key, sides) in groups {
        if let Key::Pipe(..) = key {
            let [all, _] = sides;
            channels.push(Channel {
                sides: [all, Vec::new()],
                is_pipe: true,
            });
            continue;
        }
        let [a, b] = sides.map(|it| lives(it, ends, processes));
        channels.extend(pairs(a, b).map(|sides| Channel {
            sides,
            is_pipe: false,
        }));
    }
    for (row, channel) in channels.iter().enumerate() {
        for (side, of_side) in channel.sides.iter().enumerate() {
            for &end in of_side {
                (ends[end].channel, ends[end].side) = (ChannelId(row), side);
            }
        }
    }
    channels
}

/// Inodes of unix sockets, by machine and peer inode.
type UnixPeers = BTreeMap<(usize, u64), u64>;

/// For ends of unix sockets that do not know their peers: the sockets that name them as peers.
fn unix_peers(ends: &[End], machines: &[usize]) -> UnixPeers {
    let known = ends
        .iter()
        .filter(|it| it.kind == StreamKind::Unix && it.peer_inode != 0);
    known
        .map(|it| ((machines[it.process], it.peer_inode), it.inode))
        .collect()
}

fn key(id: EndId, end: &End, machine: usize, unix_peers: &UnixPeers) -> (Key, usize) {
    match end.kind {
        StreamKind::Tcp if end.local.port != 0 && end.peer.port != 0 && end.local != end.peer => {
            let is_second = usize::from(end.peer < end.local);
            let (first, second) = match is_second {
                0 => (end.local, end.peer),
                _ => (end.peer, end.local),
            };
            let is_local = is_loopback(first) || first.ip == second.ip;
            let machine = is_local.then_some(machine);
            (Key::Tcp(machine, first, second), is_second)
        }
        StreamKind::Unix if end.inode != 0 => {
            let named_by = unix_peers.get(&(machine, end.inode)).copied().unwrap_or(0);
            let peer = if end.peer_inode == 0 {
                named_by
            } else {
                end.peer_inode
            };
            let (first, second) = (end.inode.min(peer), end.inode.max(peer));
            (
                Key::Unix(machine, first, second),
                usize::from(peer < end.inode),
            )
        }
        StreamKind::Pipe if end.inode != 0 => (Key::Pipe(machine, end.inode), 0),
        _ => (Key::Alone(id), 0),
    }
}

fn is_loopback(address: Address) -> bool {
    let ip = std::net::Ipv6Addr::from(address.ip);
    ip.is_loopback() || ip.to_ipv4_mapped().is_some_and(|it| it.is_loopback())
}

/// The streams of one side, by start. An end that was inherited from a parent or received from a process continues one.
fn lives(mut side: Vec<EndId>, ends: &[End], processes: &[ProcessInfo]) -> Vec<Life> {
    side.sort_by_key(|&it| (ends[it].opened_ns, it));
    let mut lives: Vec<Life> = Vec::new();
    for id in side {
        let end = &ends[id];
        let continues = matches!(end.via, Via::Inherited | Via::Found);
        let of_ancestor = |life: &Life| {
            let mut owners = life.ends.iter().map(|&it| ends[it].process);
            owners.any(|it| is_ancestor(it, end.process, processes))
        };
        let row = match continues {
            false => None,
            true => lives
                .iter()
                .rposition(of_ancestor)
                .or(lives.len().checked_sub(1)),
        };
        match row {
            Some(row) => lives[row].ends.push(id),
            None => {
                if let Some(last) = lives.last_mut() {
                    last.to_ns = last.to_ns.min(end.opened_ns);
                }
                lives.push(Life {
                    ends: vec![id],
                    from_ns: end.opened_ns,
                    to_ns: i64::MAX,
                });
            }
        }
    }
    for life in &mut lives {
        let mut closed = life.ends.iter().map(|&it| ends[it].closed_ns);
        let last = closed.try_fold(i64::MIN, |a, b| Some(a.max(b?)));
        life.to_ns = life.to_ns.min(last.unwrap_or(i64::MAX));
    }
    lives
}

/// Whether a process is an ancestor of another one by forks, or was the same process before an `exec`.
fn is_ancestor(it: usize, of: usize, processes: &[ProcessInfo]) -> bool {
    let mut at = of;
    for _ in 0..processes.len() {
        let Some(before) = processes[at].parent.or(processes[at].before) else {
            return false;
        };
        if before == it {
            return true;
        }
        at = before;
    }
    false
}

/// Pairs the streams of both sides: the n-th with the n-th if all were recorded, else those that overlap.
fn pairs(a: Vec<Life>, b: Vec<Life>) -> impl Iterator<Item = [Vec<EndId>; 2]> {
    let all_were_seen = a.len() == b.len();
    let mut pairs = Vec::new();
    let (mut a, mut b) = (a.into_iter().peekable(), b.into_iter().peekable());
    loop {
        match (a.peek(), b.peek()) {
            (None, None) => break,
            (Some(_), None) => pairs.push([a.next(), None]),
            (None, Some(_)) => pairs.push([None, b.next()]),
            (Some(x), Some(y))
                if all_were_seen || (x.to_ns >= y.from_ns && y.to_ns >= x.from_ns) =>
            {
                pairs.push([a.next(), b.next()]);
            }
            (Some(x), Some(y)) if x.from_ns < y.from_ns => pairs.push([a.next(), None]),
            _ => pairs.push([None, b.next()]),
        }
    }
    let ends = |it: Option<Life>| it.map(|it| it.ends).unwrap_or_default();
    pairs.into_iter().map(move |pair| pair.map(ends))
}
