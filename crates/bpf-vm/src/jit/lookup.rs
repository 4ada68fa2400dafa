//! `bpf_map_lookup_elem` of an array, without leaving compiled code: what programs call most. A
//! kernel makes instructions of it, too (`array_map_gen_lookup`). All else is called.
//!
//! What must stay: the layout of a map's view (map/mod.rs) and the helper's answer, with its
//! charge. Free: which machine code is made of it. Tests by part:
//! `compiled_code_looks_up_as_the_helper_does` (`look_up`, `map_and_key`). Caller: function.rs
//! (`call`).
//!
//! Tests: crates/bpf-vm/tests/all/maps.rs::compiled_code_looks_up_as_the_helper_does

use super::function::Making;
use crate::map::ArrayView;
use crate::memory::{BASE, SIZE};
use crate::vm::{Context, MAP_HANDLE};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{Block, InstBuilder as _, MemFlags, Value};
use std::mem::{offset_of, size_of};

/// Bytes of an array's key.
const KEY: u64 = 4;

impl Making<'_, '_> {
    /// The address of a value, or 0. `otherwise` makes the call.
    pub(super) fn look_up(&mut self, otherwise: impl FnOnce(&mut Self) -> Value) -> Value {
        let [known, found, called, done] = [(); 4].map(|()| self.b.create_block());
        self.b.append_block_param(done, I64);
        let trusted = MemFlags::trusted();
        let (number, key) = self.map_and_key(known, called);
        // The map is one, and the key is in memory.
        self.b.switch_to_block(known);
        let views = self.context_word(offset_of!(Context, views));
        let at = self.b.ins().imul_imm(number, size_of::<ArrayView>() as i64);
        let view = self.b.ins().iadd(views, at);
        let mut field = |offset: usize| self.b.ins().load(I64, trusted, view, offset as i32);
        let entries = field(offset_of!(ArrayView, entries));
        let (base, stride) = (
            field(offset_of!(ArrayView, base)),
            field(offset_of!(ArrayView, stride)),
        );
        let per_cpu = field(offset_of!(ArrayView, per_cpu));
        self.b.ins().brif(entries, found, &[], called, &[]);
        // It is an array.
        self.b.switch_to_block(found);
        let index = self.b.ins().load(I32, MemFlags::new(), key, 0);
        let index = self.b.ins().uextend(I64, index);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, index, entries);
        let of_index = self.b.ins().imul(index, stride);
        let cpu = self.context_word(offset_of!(Context, cpu));
        let of_cpu = self.b.ins().imul(cpu, per_cpu);
        let value = self.b.ins().iadd(base, of_index);
        let value = self.b.ins().iadd(value, of_cpu);
        let zero = self.constant(0);
        let value = self.b.ins().select(inside, value, zero);
        self.b.ins().jump(done, &[value.into()]);
        self.b.switch_to_block(called);
        let value = otherwise(self);
        self.b.ins().jump(done, &[value.into()]);
        self.b.switch_to_block(done);
        self.b.block_params(done)[0]
    }

    /// The number of the map of the first argument, and where the host has the key of the second;
    /// goes to `known` if both are good.
    fn map_and_key(&mut self, known: Block, called: Block) -> (Value, Value) {
        let handle = self.get(1);
        let at = (MAP_HANDLE as i64).wrapping_neg();
        let at = self.b.ins().iadd_imm(handle, at);
        let number = self.b.ins().ushr_imm(at, 8);
        let rest = self.b.ins().band_imm(at, 0xff);
        let whole = self.b.ins().icmp_imm(IntCC::Equal, rest, 0);
        let count = self.context_word(offset_of!(Context, nr_views));
        let is_map = self.b.ins().icmp(IntCC::UnsignedLessThan, number, count);
        let key = self.get(2);
        let offset = self.b.ins().iadd_imm(key, (BASE as i64).wrapping_neg());
        let last = (SIZE - KEY) as i64;
        let in_memory = self
            .b
            .ins()
            .icmp_imm(IntCC::UnsignedLessThanOrEqual, offset, last);
        let good = self.b.ins().band(whole, is_map);
        let good = self.b.ins().band(good, in_memory);
        let host = self.host;
        let key = self.b.ins().iadd(host, offset);
        self.b.ins().brif(good, known, &[], called, &[]);
        (number, key)
    }
}
