//! Random streams, one per task name: what one task draws does not depend on the other tasks
//! (ARCHITECTURE.md, "Invariants": equal bytes).
//!
//! Called by everything that draws: workloads, jitter, drawn machines, sweeps. Never changes: every
//! result by seed depends on each bit. A new draw takes a stream with a name of its own, so that it
//! shifts none of the others.
//!
//! What must stay: every bit of every stream: the hash of names, the mixing and how `below`
//! rejects. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and
//! words of messages that no test quotes. Tests by part: `the_first_draws_never_change`
//! (`next_u64`, `mix`, `fnv1a`), `names_and_seeds_have_streams_of_their_own` (`for_task`),
//! `bounded_draws_are_even` (`below`).
//!
//! Tests: below
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

/// A stream of random integers. The generator is PCG XSL RR 128/64 (M. E. O'Neill, "PCG: A Family
/// of Simple Fast Space-Efficient Statistically Good Algorithms for Random Number Generation",
/// 2014); only integers are used, so that every machine draws the same.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64);

impl Stream {
    /// The stream of the task of that name in the run with that seed.
    ///
    /// The name's FNV-1a hash selects PCG's stream. PCG streams from one state are correlated, so
    /// the state is mixed of seed and hash as well, with the finaliser of SplitMix64.
    pub fn for_task(seed: u64, name: &str) -> Self {
        /// 2^64 divided by the golden ratio, SplitMix64's increment.
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        let hash = fnv1a(name.as_bytes());
        let high = mix(seed ^ hash);
        let low = mix(seed.wrapping_add(GOLDEN) ^ hash.rotate_left(32));
        let state = (u128::from(high) << 64) | u128::from(low);
        Self(Pcg64::new(state, u128::from(hash)))
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, each with the same probability; 0 for a bound of 0.
    ///
    /// Draws below `2^64 mod bound` are rejected: the rest is a whole multiple of `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        let rejected = bound.wrapping_neg() % bound;
        loop {
            let draw = self.next_u64();
            if draw >= rejected {
                return draw % bound;
            }
        }
    }
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo; offset basis and prime from RFC 9923).
fn fnv1a(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014; constants of S. Vigna).
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by a separate implementation from the definitions (Python integers), not recorded
    /// from this program: a change of these is a change of every seeded result.
    #[test]
    fn the_first_draws_never_change() {
        let mut stream = Stream::for_task(1, "periodic-0");
        let draws: Vec<u64> = (0..8).map(|_| stream.next_u64()).collect();
        assert_eq!(draws, DRAWS);
    }

    const DRAWS: [u64; 8] = [
        0x829e_c847_66aa_bfc4,
        0xf4c6_0244_acd7_43b1,
        0x12db_9424_1b22_d3f4,
        0x7b89_9c6f_071b_f4f8,
        0xd3ec_9f43_08f6_eece,
        0x0f55_8ebc_927b_6c70,
        0x495e_06ea_bd89_1575,
        0x5a5d_cd10_89fa_e56d,
    ];

    #[test]
    fn names_and_seeds_have_streams_of_their_own() {
        let first = |seed, name| Stream::for_task(seed, name).next_u64();
        assert_eq!(first(7, "a-0"), first(7, "a-0"));
        assert_ne!(first(7, "a-0"), first(7, "a-1"));
        assert_ne!(first(7, "a-0"), first(8, "a-0"));
    }

    #[test]
    fn bounded_draws_are_even() {
        let mut stream = Stream::for_task(3, "even");
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[stream.below(6) as usize] += 1;
        }
        // Binomial: mean 10000, standard deviation 91; five of these.
        assert!(
            counts.iter().all(|&count| count.abs_diff(10_000) < 456),
            "{counts:?}"
        );
        assert_eq!(stream.below(0), 0);
        assert_eq!(stream.below(1), 0);
        // Half of all draws are rejected at this bound; the rest must stay below it.
        let bound = (1 << 63) + 1;
        assert!((0..100).all(|_| stream.below(bound) < bound));
    }
}
