//! The attribute of a bpf(2) command (`union bpf_attr`, include/uapi/linux/bpf.h;
//! docs/guide/schedulers.md, "What the loader sees").
//!
//! What must stay: no offset here; who reads names it (`union bpf_attr`). Little-endian. Free: how
//! a field is found by name.
//!
//! Tests by part: schedulers.rs::`runs_are_the_same_twice_and_interpreted` (`u32`, `u64`: libbpf
//! loads maps and programs), schedulers.rs::`what_is_not_offered_is_refused_by_name` (`name`: it is
//! in the refusal). Attributes that are too short come from mutations.rs (`bpf`).
//!
//! Callers: load/bpf.rs, load/program.rs.
//!
//! Tests: fuzz/tests/all/mutations.rs,
//! crates/cli/tests/all/schedulers.rs::runs_are_the_same_twice_and_interpreted

/// The attribute of a command.
pub(super) struct Attr(pub(super) Vec<u8>);

impl Attr {
    /// What is beyond the end of the attribute is 0, as the kernel has it.
    pub(super) fn u32(&self, at: usize) -> u32 {
        let word = self.0.get(at..at + 4).and_then(|word| word.first_chunk());
        word.map_or(0, |word| u32::from_le_bytes(*word))
    }

    /// Lower half first; 0 beyond the end.
    pub(super) fn u64(&self, at: usize) -> u64 {
        u64::from(self.u32(at)) | u64::from(self.u32(at + 4)) << 32
    }

    /// 16 bytes, up to the first NUL.
    pub(super) fn name(&self, at: usize) -> String {
        let bytes = self.0.get(at..at + 16).unwrap_or_default();
        let length = bytes
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }
}
