//! Any bytes as a device tree and as LISA's plat_info. What is imported is a platform by the
//! ordinary
//! loader's rules.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wakeplace_platform::Platform;
use wakeplace_platform::import::{device_tree, plat_info};

fuzz_target!(|bytes: &[u8]| {
    for imported in [device_tree(bytes, "fuzz"), plat_info(bytes, "fuzz")].into_iter().flatten() {
        let again = Platform::from_toml(&imported.toml, "fuzz.toml").expect("it was read before");
        assert_eq!(again, imported.platform);
    }
});
