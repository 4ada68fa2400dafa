//! The load of `tbench`: how often each operation occurs, and how many bytes go each way.
//!
//! The benchmark replays a recorded file; here a shorter list has the same mix. How often: the
//! counts that dbench, which replays the same file, printed at the end of a run of 1000 s (Yufen
//! Yu, linux-raid, 2020-05-27, md/raid5 series v3 01/11); making and removing directories, 360 of
//! 57 million, is left out. Sizes: docs/rules/workloads.md#tbench-dbench, names of 40 bytes. Data
//! sizes are the common ones of the file; how often each occurs is assumed such that the mean is
//! that of the run: 307.799 MB/s x 1000 s / (15370483 + 4887239) = 15194 bytes.
//!
//! Called by `tbench.rs`. The order of draws stays. A change of the mix moves results
//! (CHANGELOG.md).
//!
//! What must stay: the published counts and sizes, and the one shuffle of the list. Free: what
//! leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages
//! that no test quotes. Tests by part: `shares_are_whole_and_sum_up` (`quotas`),
//! `the_list_has_the_published_mix` (`operations`, `kinds`), `tbench_costs_follow_the_bytes`
//! (sizes).
//!
//! Tests: below, crates/workload/tests/all/schbench_tbench.rs
use super::draw::shuffle;
use crate::Stream;

/// One operation: a request to the server and its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    /// Bytes to the server.
    pub(super) request: u64,
    /// Bytes back.
    pub(super) reply: u64,
    /// Bytes of these that are read or written: what the benchmark counts.
    pub(super) payload: u64,
}

/// Operations of the list.
pub(super) const LENGTH: u64 = 400;

/// How often, request, reply: all but reads and writes.
const SMALL: [(u64, u64, u64); 12] = [
    (9_805_011, 111, 69), // NTCreateX
    (7_202_525, 45, 39),  // Close
    (415_213, 121, 39),   // Rename, two names
    (1_980_066, 83, 39),  // Unlink
    (8_887_512, 81, 80),  // Qpathinfo
    (1_557_262, 41, 80),  // Qfileinfo
    (1_629_582, 41, 80),  // Qfsinfo
    (798_756, 81, 39),    // Sfileinfo
    (3_436_004, 81, 200), // Find
    (31_934, 41, 39),     // LockX
    (31_933, 41, 39),     // UnlockX
    (687_205, 41, 39),    // Flush
];
const WRITES: u64 = 4_887_239;
const READS: u64 = 15_370_483;

/// Thousandths of the reads and of the writes, bytes of data.
const DATA: [(u64, u64); 5] = [
    (392, 512),
    (250, 2_048),
    (50, 4_096),
    (120, 16_384),
    (188, 65_471),
];

/// Bytes around the data of a write's request and a read's reply, and of the other direction.
const DATA_HEAD: u64 = 59;
const WRITE_REPLY: u64 = 55;

/// The list in the order in which all clients go through it. The mix is the same for all seeds.
pub(super) fn operations(seed: u64) -> Vec<Operation> {
    let mut list = Vec::new();
    let kinds = kinds();
    let weights: Vec<u64> = kinds.iter().map(|(weight, _)| *weight).collect();
    for ((_, operation), times) in kinds.iter().zip(quotas(&weights, LENGTH)) {
        list.extend((0..times).map(|_| *operation));
    }
    let mut stream = Stream::for_task(seed, "tbench-load");
    shuffle(&mut list, &mut stream);
    list
}

/// All operations, each with its weight.
fn kinds() -> Vec<(u64, Operation)> {
    let small = SMALL.iter().map(|&(weight, request, reply)| {
        let payload = 0;
        let operation = Operation {
            request,
            reply,
            payload,
        };
        (1_000 * weight, operation)
    });
    let writes = DATA.iter().map(|&(permille, payload)| {
        let operation = Operation {
            request: payload + DATA_HEAD,
            reply: WRITE_REPLY,
            payload,
        };
        (permille * WRITES, operation)
    });
    let reads = DATA.iter().map(|&(permille, payload)| {
        let operation = Operation {
            request: DATA_HEAD,
            reply: payload + DATA_HEAD,
            payload,
        };
        (permille * READS, operation)
    });
    small.chain(writes).chain(reads).collect()
}

/// `total` shared out in proportion to weights, by largest remainders.
fn quotas(weights: &[u64], total: u64) -> Vec<u64> {
    let sum: u64 = weights.iter().sum();
    let mut quotas: Vec<u64> = weights.iter().map(|weight| weight * total / sum).collect();
    let mut rest: Vec<usize> = (0..weights.len()).collect();
    rest.sort_by_key(|&index| (std::cmp::Reverse(weights[index] * total % sum), index));
    let missing = total - quotas.iter().sum::<u64>();
    for &index in rest.iter().take(missing as usize) {
        quotas[index] += 1;
    }
    quotas
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 10 shared 5 : 3 : 1 is 5.56, 3.33, 1.11, rounded down 9; the largest remainder
    /// is the first's.
    #[test]
    fn shares_are_whole_and_sum_up() {
        assert_eq!(quotas(&[5, 3, 1], 10), [6, 3, 1]);
        assert_eq!(quotas(&[1, 1, 1, 1], 2), [1, 1, 0, 0]);
    }

    /// Goal: the list has the published mix. Method: 35.7 % of the operations read or write, three
    /// reads for a write, 15194 bytes each; each rounded share is less than one operation off.
    #[test]
    fn the_list_has_the_published_mix() {
        for seed in [1, 2] {
            let list = operations(seed);
            assert_eq!(list.len(), 400);
            let data = list.iter().filter(|o| o.payload > 0);
            // 400 x 20257722 / 56720725 = 142.9, in ten kinds.
            assert!(data.clone().count().abs_diff(143) <= 3);
            let writes = data.clone().filter(|o| o.reply == 55).count();
            assert!(writes.abs_diff(34) <= 2, "400 x 4887239 / 56720725 = 34.5");
            let bytes: u64 = data.map(|o| o.payload).sum();
            // 142.9 x 15192, and at most one of the largest sort off for reads and for writes.
            assert!(bytes.abs_diff(2_170_000) <= 2 * 65_471, "{bytes}");
        }
        assert_ne!(operations(1), operations(2), "the order is drawn");
    }
}
