//! Student's t: the factor of a two-sided 95 % confidence interval.
//!
//! A table and a rational expansion instead of a library call, so that no platform's `libm` can
//! change a bit of a result (docs/guide/results.md, "Intervals").
//!
//! Called by `stats.rs` for each interval. Pure: `df` in, the factor out. `Z975` is used by
//! `proportion.rs`.
//!
//! What must stay: each digit; every result has intervals, and a changed digit changes their bytes.
//! Tests by part: `agrees_with_an_independent_distribution` (`T975` and the expansion above 30),
//! `agrees_with_the_published_three_decimals` (`T975`), stats.rs::`same_bits_in_every_build` (bits
//! of the expansion), both (`t975`).
//!
//! Tests: below, crates/metrics/src/stats.rs::same_bits_in_every_build

/// 0.975 quantile for 1 to 30 degrees of freedom. NIST/SEMATECH e-Handbook of Statistical Methods,
/// table 1.3.6.7.2, with more decimals from the closed form of the distribution for whole degrees
/// of freedom (Abramowitz & Stegun 26.7.3 and 26.7.4).
const T975: [f64; 30] = [
    12.706_204_736,
    4.302_652_730,
    3.182_446_305,
    2.776_445_105,
    2.570_581_836,
    2.446_911_851,
    2.364_624_252,
    2.306_004_135,
    2.262_157_163,
    2.228_138_852,
    2.200_985_160,
    2.178_812_830,
    2.160_368_656,
    2.144_786_688,
    2.131_449_546,
    2.119_905_299,
    2.109_815_578,
    2.100_922_040,
    2.093_024_054,
    2.085_963_447,
    2.079_613_845,
    2.073_873_068,
    2.068_657_610,
    2.063_898_562,
    2.059_538_553,
    2.055_529_439,
    2.051_830_516,
    2.048_407_142,
    2.045_229_642,
    2.042_272_456,
];

/// 0.975 quantile of the normal distribution.
pub(crate) const Z975: f64 = 1.959_963_984_540_054;

/// 0.975 quantile of Student's t with `df` degrees of freedom.
///
/// Above 30 it is the expansion of Abramowitz & Stegun 26.7.5, wrong by less than 1e-7 there.
///
/// # Panics
/// If `df` is 0: one value has no spread to speak of.
#[must_use]
pub(crate) fn t975(df: usize) -> f64 {
    assert!(df > 0, "Student's t needs at least one degree of freedom");
    if let Some(&t) = T975.get(df - 1) {
        return t;
    }
    let x = Z975;
    let x2 = x * x;
    let g1 = (x2 + 1.0) * x / 4.0;
    let g2 = ((5.0 * x2 + 16.0) * x2 + 3.0) * x / 96.0;
    let g3 = (((3.0 * x2 + 19.0) * x2 + 17.0) * x2 - 15.0) * x / 384.0;
    let g4 = ((((79.0 * x2 + 776.0) * x2 + 1482.0) * x2 - 1920.0) * x2 - 945.0) * x / 92_160.0;
    let v = 1.0 / df as f64;
    x + v * (g1 + v * (g2 + v * (g3 + v * g4)))
}

#[cfg(test)]
mod tests {
    use super::t975;
    use statrs::distribution::{ContinuousCDF, StudentsT};

    #[test]
    fn agrees_with_an_independent_distribution() {
        for df in (1..=200).chain([999, 10_000]) {
            let oracle = StudentsT::new(0.0, 1.0, df as f64).expect("valid parameters");
            let p = oracle.cdf(t975(df));
            assert!(
                (p - 0.975).abs() < 1e-8,
                "df {df}: the cumulative probability is {p}"
            );
        }
    }

    #[test]
    fn agrees_with_the_published_three_decimals() {
        // NIST/SEMATECH 1.3.6.7.2, column 0.975.
        for (df, t) in [
            (1, 12.706),
            (2, 4.303),
            (9, 2.262),
            (29, 2.045),
            (40, 2.021),
            (100, 1.984),
        ] {
            assert_eq!((t975(df) * 1000.0).round() / 1000.0, t, "df {df}");
        }
    }
}
