//! Any bytes as a platform file. Nothing may panic, hang or take much memory; what loads keeps what
//! the model promises.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wakeplace_platform::Platform;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(platform) = Platform::from_toml(text, "fuzz.toml") else {
        return;
    };
    let n = platform.cpus.len();
    assert!((1..=1024).contains(&n));
    assert!(platform.cpus.iter().all(|cpu| (1..=1024).contains(&cpu.capacity)));
    assert_eq!(platform.cpus.iter().map(|cpu| cpu.capacity).max(), Some(1024));
    let clocked: usize = platform.freq_domains.iter().map(|d| d.cpus.len()).sum();
    assert_eq!(clocked, n, "each CPU has one clock");
    for domain in &platform.freq_domains {
        assert!(domain.opps.windows(2).all(|pair| pair[0].khz < pair[1].khz));
    }
});
