/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In the place of libbpf's header of this name: the glue's own fields are the kernel's here, and
 * all of them exist. So do values of enums, unless a test says otherwise.
 *
 * What must stay: names and arguments that src/bpf uses.
 *
 * Tests: crates/scx/tests/parity/glue.rs
 */
#ifndef GLUE_CORE_READ_H
#define GLUE_CORE_READ_H

static bool lacks_enum_values;

#define bpf_core_field_exists(...) 1
#define bpf_core_enum_value(type, value) value
#define bpf_core_enum_value_exists(type, value) (!lacks_enum_values)
#define bpf_core_field_offset(type, field) __builtin_offsetof(type, field)
#define BPF_CORE_READ_BITFIELD(object, field) ((object)->field)

#endif
