//! A small deterministic random stream: splitmix64 (Steele, Lea and Flood 2014)
//! (docs/guide/lab.md).
//!
//! What must stay: the stream: storms are repeated by their seed; `some_of` is never empty. Free:
//! further draws of the stream.
//!
//! Tests by part: `the_stream_is_splitmix64` (`new`, `bits`), `some_are_never_none` (`some_of`,
//! `below`).
//!
//! Callers: affinity_storm.rs and hotplug_storm.rs, which draw what they change.
//!
//! Tests: below

/// The stream of one seed.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// Equal seeds, equal streams.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Draws the next 64 bits of the stream.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    /// Some of these, at least one, in their order.
    pub(crate) fn some_of(&mut self, all: &[u32]) -> Vec<u32> {
        let certain = self.below(all.len());
        let bits = self.bits();
        let taken = |index: usize| index == certain || bits >> (index % 64) & 1 == 1;
        let kept = all.iter().enumerate().filter(|(index, _)| taken(*index));
        kept.map(|(_, &cpu)| cpu).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_splitmix64() {
        // First outputs for seed 1234567: Rosetta Code, "Pseudo-random numbers/Splitmix64".
        let mut rng = Rng::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| rng.bits()).collect();
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(first, published);
    }

    #[test]
    fn some_are_never_none() {
        let mut rng = Rng::new(1);
        for _ in 0..1000 {
            let some = rng.some_of(&[0, 2, 5]);
            assert!(!some.is_empty() && some.is_sorted());
        }
    }
}
