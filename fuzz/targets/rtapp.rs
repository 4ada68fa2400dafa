//! Any bytes as an rt-app file: `workload check`'s answer, and the scripts on machines of 1 and 8
//! CPUs. Nothing may panic, hang or take much memory; what loads must expand alike twice.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wakeplace_workload::{Dialect, LoadOptions, MachineFacts, Spec, check_rtapp};

fuzz_target!(|text: &[u8]| {
    let outcome = check_rtapp(text, "fuzz.json", 8);
    assert!(matches!(outcome.exit_code, 0 | 2));
    for allow_unmodelled in [false, true] {
        let older = allow_unmodelled; // two ways to load are enough for each input
        let dialect = Dialect {
            workgen: older,
            suspend_ref: older,
        };
        let options = LoadOptions {
            allow_unmodelled,
            dialect,
        };
        let Ok(spec) = Spec::parse_rtapp(text, "fuzz.json", &options) else {
            continue;
        };
        for nr_cpus in [1, 8] {
            let machine = MachineFacts { nr_cpus };
            let first = spec.expand(1, machine);
            if let Ok(workload) = &first {
                assert!(!workload.tasks.is_empty());
                assert_eq!(spec.expand(1, machine).ok().as_ref(), Some(workload));
            }
        }
    }
});
