//! Any bytes as a recording, text or Perfetto: nothing may panic, hang or take much memory, and
//! events
//! come in the order of time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wakeplace_trace::event::Event;
use wakeplace_trace::read::{Order, Ordered, read};

struct InOrder(u64);

impl Ordered for InOrder {
    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        assert!(event.time_ns >= self.0);
        self.0 = event.time_ns;
        Ok(())
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut last = InOrder(0);
    let mut order = Order::new(&mut last);
    if read(bytes, &mut order).is_ok() {
        let _ = order.finish();
    }
});
