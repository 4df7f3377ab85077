//! Flattens nested pieces of code, so that every address belongs to the innermost piece that contains it.

use std::collections::BinaryHeap;

/// Turns pieces `(start, end, order, owner)` into sorted, disjoint ones. Where pieces overlap, the greatest order wins.
///
/// Entries come parents first, so of two that overlap, the later one is the inner one.
pub(crate) fn flatten<T: Copy + Ord>(mut painted: Vec<(u64, u64, usize, T)>) -> Vec<(u64, u64, T)> {
    painted.retain(|piece| piece.0 < piece.1);
    painted.sort_unstable();
    let mut out: Vec<(u64, u64, T)> = Vec::with_capacity(painted.len());
    let mut open: BinaryHeap<(usize, u64, T)> = BinaryHeap::new();
    let mut at = 0;
    let mut emit = |from: u64, to: u64, site: T| {
        match out.last_mut() {
            Some(last) if last.1 == from && last.2 == site => last.1 = to,
            _ if from < to => out.push((from, to, site)),
            _ => {}
        };
    };
    let mut starts = painted.into_iter().peekable();
    loop {
        while open.peek().is_some_and(|inner| inner.1 <= at) {
            open.pop();
        }
        let next = starts.peek().map(|piece| piece.0);
        let Some(&(_, end, site)) = open.peek() else {
            // No piece is open: continue at the next one.
            let Some(piece) = starts.next() else { break };
            at = piece.0;
            open.push((piece.2, piece.1, piece.3));
            continue;
        };
        match next {
            Some(start) if start <= at => {
                if let Some(piece) = starts.next() {
                    open.push((piece.2, piece.1, piece.3));
                }
            }
            next => {
                let stop = next.map_or(end, |start| start.min(end));
                emit(at, stop, site);
                at = stop;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_call_sites_cover_outer_ones() {
        let table = [
            (vec![(10, 20, 0, (0, 1))], vec![(10, 20, (0, 1))]),
            (
                vec![(10, 40, 0, (0, 1)), (20, 30, 1, (0, 2))],
                vec![(10, 20, (0, 1)), (20, 30, (0, 2)), (30, 40, (0, 1))],
            ),
            (
                vec![
                    (10, 20, 0, (0, 1)),
                    (10, 20, 1, (0, 2)),
                    (12, 14, 2, (0, 3)),
                ],
                vec![(10, 12, (0, 2)), (12, 14, (0, 3)), (14, 20, (0, 2))],
            ),
            (
                vec![
                    (10, 20, 0, (0, 1)),
                    (20, 30, 1, (0, 1)),
                    (50, 50, 2, (0, 9)),
                ],
                vec![(10, 30, (0, 1))],
            ),
            // Damaged: a child that extends beyond its parent.
            (
                vec![(10, 20, 0, (0, 1)), (15, 30, 1, (0, 2))],
                vec![(10, 15, (0, 1)), (15, 30, (0, 2))],
            ),
        ];
        for (painted, expected) in table {
            assert_eq!(flatten(painted), expected);
        }
    }
}
