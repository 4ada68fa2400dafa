//! Measured powers: tables in Wattson's form in a platform file, and what is refused.
//! Page: docs/guide/platforms.md, "Measured power".
//!
//! What must stay: measured figures are the source's; they change only with it.
//! Tests by part (in crates/platform/src): measured.rs: `figures_are_by_both_clocks`,
//! `gs101_draws_what_was_measured` (`at`), `heat_and_limits_need_powers_by_the_own_clock`
//! (`is_shared`); read/measured.rs: `figures_are_by_both_clocks` (`measured`, `states`, `nearest`),
//! `a_units_clock_may_be_in_hertz` (`other`), `odd_figures_are_named` (`Odd`, `falls`),
//! `tables_that_are_refused` (`check_policies`, `measured`), `powers_beside_a_table_are_refused` (a
//! point without a row); read/power_table.rs: `tables_that_are_refused` (`columns`, `row`,
//! `fields`); read/frequency.rs: `powers_beside_a_table_are_refused` (`check_measured`, `em_uw`);
//! read/thermal.rs: `heat_and_limits_need_powers_by_the_own_clock` (`read`).
//! Helpers, and who fails with them: `file` (most tests); `read` (`figures_are_by_both_clocks`,
//! `a_units_clock_may_be_in_hertz`, `odd_figures_are_named`); `refused` (`tables_that_are_refused`,
//! `powers_beside_a_table_are_refused`, `heat_and_limits_need_powers_by_the_own_clock`).

use wakeplace_platform::{MeasuredPoint, OtherClock, Platform};

const GOOD: &str = include_str!("../good.toml");
const ALONE: &str = "\
policy,freq_khz,static,active,idle0,idle1
2,600,0,30.5,4.25,0
2,1200,0,80,9,0
";
const BESIDE: &str = "\
device,policy,freq_khz,dep_policy,dep_freq,static,active,idle0,idle1,interconnect
Two,0,500,2,600,1.5,10,0.5,0,0.25
Two,0,900,2,600,2,20,0.75,0,0
Two,0,900,2,1200,4,48,1,0,0
";

/// The good file with these tables in the place of its powers. § marks a place in them.
fn file(alone: &str, beside: &str) -> String {
    let table = format!(
        "[measured_power]\nsource = \"a meter\"\nstanding = \"published\"\ncpu_1d = \"\"\"\n\
         {alone}\"\"\"\ncpu_2d = \"\"\"\n{beside}\"\"\"\n\n[costs]"
    );
    let mut text = GOOD
        .replace("cpu_uw = 100, cluster_uw = 10", "em_uw = 100")
        .replace("cpu_uw = 200, cluster_uw = 20", "em_uw = 200")
        .replace("cpu_uw = 300", "em_uw = 300")
        .replace("cpu_uw = 800", "em_uw = 800")
        .replace("cpu_power =", "em_power =")
        .replace("[costs]", &table);
    text = text
        .lines()
        .filter(|line| !line.starts_with("power = {") && !line.starts_with("cluster_power"))
        .map(|line| format!("{line}\n"))
        .collect();
    text
}

fn read(text: &str) -> Platform {
    Platform::from_toml(text, "p.toml").unwrap_or_else(|error| panic!("{error}"))
}

/// What is said of a file in which § marks the place.
#[track_caller]
fn refused(marked: &str, expected: &str) {
    let at = marked.find('§').expect("the expected place is marked");
    let line = marked[..at].matches('\n').count() + 1;
    let column = at - marked[..at].rfind('\n').map_or(0, |p| p + 1) + 1;
    let error = Platform::from_toml(&marked.replace('§', ""), "p.toml").expect_err("wrong");
    assert_eq!(
        error.to_string(),
        format!("p.toml:{line}:{column}: {expected}")
    );
}

/// Goal: each figure is where its clocks are, milliwatts as microwatts; the cluster has what is
/// static and what the interconnect draws; a pair that the table lacks (500 kHz beside 1200) has
/// the nearest lower other clock's.
#[test]
fn figures_are_by_both_clocks() {
    let platform = read(&file(ALONE, BESIDE));
    let [little, big] = &platform.freq_domains[..] else {
        panic!("two domains")
    };
    let own = big.measured.as_ref().expect("measured");
    assert_eq!(own.rows, [OtherClock::Alone]);
    let point = |busy_uw, gated_uw, cluster_uw| MeasuredPoint {
        busy_uw,
        gated_uw,
        off_uw: 0,
        cluster_uw,
    };
    assert_eq!(
        own.points,
        [point(30_500, 4_250, 0), point(80_000, 9_000, 0)]
    );
    let own = little.measured.as_ref().expect("measured");
    let beside = |opp| OtherClock::Domain { domain: 1, opp };
    assert_eq!(own.rows, [beside(0), beside(1)]);
    assert_eq!(
        own.points,
        [
            point(10_000, 500, 1_750),
            point(10_000, 500, 1_750),
            point(20_000, 750, 2_000),
            point(48_000, 1_000, 4_000),
        ]
    );
    // The busy power of an operating point is that beside the lowest other clock.
    assert_eq!(little.opps[1].power, Some(20_000));
    assert_eq!(little.opps[1].em_power, Some(200), "what is believed stays");
}

/// Goal: the clock of a shared unit in Hz is known as such (Wattson's Tensor G5).
#[test]
fn a_units_clock_may_be_in_hertz() {
    let beside = "\
policy,freq_khz,dep_policy,dep_freq,static,active,idle0,idle1
0,500,255,115000000,1,10,1,0
0,900,255,268000000,1,20,1,0
";
    let platform = read(&file(ALONE, beside));
    let own = platform.freq_domains[0]
        .measured
        .as_ref()
        .expect("measured");
    let unit = |khz| OtherClock::Unit { khz };
    assert_eq!(own.rows, [unit(115_000), unit(268_000)]);
}

/// Goal: what is odd about measured figures is counted and named, not refused.
#[test]
fn odd_figures_are_named() {
    let falling = ALONE.replace("1200,0,80,", "1200,0,30,");
    let slips = BESIDE
        .replace("2,1200,4,48,1,0,0", "2,1200,4,0,1,0,0")
        .replace("2,600,2,20,0.75,0,0", "2,600,2,20,0.75,222,0");
    let platform = read(&file(&falling, &slips));
    let notes = platform.notes.join("\n");
    for part in [
        "Measured busy power falls where the clock rises at 1 of 2 steps: CPU 2 at 1 MHz.",
        "1 measured rows have a busy power of 0 and count as not measured.",
        "1 measured rows have more power off (`idle1`) than clock-gated",
    ] {
        assert!(notes.contains(part), "{notes}");
    }
    let own = platform.freq_domains[0]
        .measured
        .as_ref()
        .expect("measured");
    // The row without a busy power: that beside 600 kHz. Off is not above clock-gated.
    assert_eq!((own.points[3].busy_uw, own.points[3].off_uw), (20_000, 750));
}

#[test]
fn tables_that_are_refused() {
    let alone = |from: &str, to: &str| file(&ALONE.replacen(from, to, 1), BESIDE);
    let beside = |from: &str, to: &str| file(ALONE, &BESIDE.replacen(from, to, 1));
    for (text, expected) in [
        (
            alone("30.5", "§-30.5"),
            "`active` is `-30.5`; expected 0 to 64000 mW, such as 28.51",
        ),
        (
            alone("4.25", "§"),
            "`idle0` is empty; expected 0 to 64000 mW, such as 28.51",
        ),
        (
            alone("idle0", "§idle_0"),
            "unknown column `idle_0`; expected policy, freq_khz, static, active, idle0, idle1, \
             device, interconnect; did you mean `idle0`?",
        ),
        (
            alone("2,600,0,30.5,4.25,0\n", "§2,601,0,30.5,4.25,0\n"),
            "policy 2 has no clock of 601 kHz; expected one of the domain's `opps`",
        ),
        (
            alone("2,600,0", "§3,600,0"),
            "no frequency domain begins with CPU 3; expected policies 0, 2, or 255 as \
             `dep_policy`",
        ),
        (
            alone("2,1200,0,80,9,0", "§2,600,0,80,9,0"),
            "two rows of policy 2 at 600 kHz; expected each pair of clocks once",
        ),
        (
            beside("2,600,1.5,10,0.5,0,0.25", "2,600,1.5,10,0.5,0").replacen(
                "Two,0,500",
                "§Two,0,500",
                1,
            ),
            "a row of 9 fields; expected 10, as in the first line",
        ),
        (
            beside("Two,0,900,2,1200", "§Two,0,900,2,1100"),
            "policy 2 has no clock of 1100 kHz; expected one of its domain's `opps`",
        ),
    ] {
        refused(&text, expected);
    }
}

#[test]
fn powers_beside_a_table_are_refused() {
    let alone = |from: &str, to: &str| file(&ALONE.replacen(from, to, 1), BESIDE);
    let believes_nothing: String = file(ALONE, BESIDE)
        .lines()
        .filter(|line| !line.starts_with("em_power"))
        .map(|line| format!("{}\n", line.split(", em_uw").next().unwrap_or(line)))
        .map(|line| line.replace("khz = 600\n", "khz = 600 },\n"))
        .map(|line| line.replace("khz = 1200\n", "khz = 1200 },\n"))
        .map(|line| line.replace("mv = 700\n", "mv = 700 },\n"))
        .map(|line| line.replace("mv = 800\n", "mv = 800 },\n"))
        .collect();
    for (text, expected) in [
        (
            believes_nothing.replace("[measured_power]", "§[measured_power]"),
            "measured powers, and not what the kernel believes of them; expected `em_uw` at all \
             operating points, or `energy_model = \"none\"`",
        ),
        (
            alone("2,1200,0,80,9,0\n", "").replace("[measured_power]", "§[measured_power]"),
            "no row of policy 2 at 1200 kHz; expected measured power at each operating point of \
             each domain",
        ),
        (
            file(ALONE, BESIDE).replace("em_uw = 300", "cpu_uw = §300"),
            "`cpu_uw` beside a table `[measured_power]`; expected no `cpu_uw`: what is drawn is \
             measured; what is believed is `em_uw`",
        ),
        (
            file(ALONE, BESIDE).replace("em_uw = 800", "em_uw = §200"),
            "the believed power falls from 300 to 200 uW at 1200 kHz; expected `em_uw` to rise \
             with the clock: only measured power may fall",
        ),
    ] {
        refused(&text, expected);
    }
}

/// Goal: what is computed of clusters apart is refused where a cluster's power depends on another's
/// clock. Method: a limit of packages, and heat, in the file of the tables above.
#[test]
fn heat_and_limits_need_powers_by_the_own_clock() {
    let limit = "[power_limit]\nlong_uw = 1000\nshort_uw = 2000\ntau_ms = 10\nsource = \"t\"\n\
                 standing = \"assumed\"\n";
    let heat = "[[thermal]]\ncluster = \"big\"\ntrip_millic = 75000\nhysteresis_millic = 1000\n\
                polling_ms = 1000\npassive_ms = 100\nsource = \"t\"\nstanding = \"assumed\"\n\
                [thermal.rc]\nambient_millic = 25000\nresistance_mk_per_w = 10000\n\
                capacity_mj_per_k = 500\nsource = \"t\"\nstanding = \"assumed\"\n";
    for (name, table) in [("[power_limit]", limit), ("[[thermal]]", heat)] {
        let text = format!("{}\n§{table}", file(ALONE, BESIDE));
        refused(
            &text,
            &format!(
                "a table `{name}` beside powers that depend on another cluster's clock; expected \
                 powers by the cluster's own clock (`cpu_1d`), or no such table"
            ),
        );
    }
}

/// Goal: gs101 has the measured figures as published (Wattson's Tensor_cpu_*.csv), and the device
/// tree's as what the kernel believes.
#[test]
fn gs101_draws_what_was_measured() {
    let platform = Platform::builtin("gs101").expect("built in");
    let point = |domain: usize, opp: usize, row: usize| {
        let own = platform.freq_domains[domain]
            .measured
            .as_ref()
            .expect("measured");
        own.points[own.at(opp, row)]
    };
    // 2802 MHz of the big cores: 1942.89 mW busy, 121.43 in WFI; believed 650 * 2802 * 1056^2 uW.
    let big = point(2, 16, 0);
    assert_eq!(
        (big.busy_uw, big.gated_uw, big.cluster_uw),
        (1_942_890, 121_430, 0)
    );
    assert_eq!(platform.freq_domains[2].opps[16].em_power, Some(2_030_997));
    // 1803 MHz of the little ones, beside 400 MHz of the mid cores and beside 2802 of the big ones
    // (row 14 is the big cores' first).
    assert_eq!(
        (point(0, 10, 0).busy_uw, point(0, 10, 0).cluster_uw),
        (342_950, 35_710)
    );
    assert_eq!(
        (point(0, 10, 30).busy_uw, point(0, 10, 30).cluster_uw),
        (269_200, 35_120)
    );
}
