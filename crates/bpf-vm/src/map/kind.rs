//! Types of maps, by the kernel's numbers (`enum bpf_map_type`, include/uapi/linux/bpf.h).
//!
//! What must stay: numbers are the kernel's. A type that is not offered is refused by its name.
//! Free: which further types are offered.
//! Tests by part: programs.rs::`what_is_not_offered_is_refused_by_name` (`from_number`, `OTHERS`),
//! `an_array_with_other_keys_is_refused` (`is_array`), `a_program_writes_the_value_of_its_own_cpu`
//! (`per_cpu`), `values_with_fields_of_the_kernel_are_given_up` (`is_lru`). `of_maps` has no test
//! of its own here. Callers: map/mod.rs; crates/foreign/src/load/bpf.rs (`from_number`).
//!
//! Tests: crates/bpf-vm/tests/all/maps.rs,
//! crates/bpf-vm/tests/all/programs.rs::what_is_not_offered_is_refused_by_name,
//! crates/cli/tests/all/schedulers.rs::what_is_not_offered_is_refused_by_name

/// What a map is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the kernel's names")]
pub enum MapKind {
    Hash,
    Array,
    PerfEventArray,
    PercpuHash,
    PercpuArray,
    LruHash,
    LruPercpuHash,
    ArrayOfMaps,
    HashOfMaps,
    Queue,
    Stack,
    StructOps,
    RingBuffer,
    TaskStorage,
    CgroupStorage,
    Arena,
}

/// Names of those that are not offered.
const OTHERS: [(u32, &str); 16] = [
    (3, "prog_array"),
    (7, "stack_trace"),
    (8, "cgroup_array"),
    (11, "lpm_trie"),
    (14, "devmap"),
    (15, "sockmap"),
    (16, "cpumap"),
    (17, "xskmap"),
    (18, "sockhash"),
    (19, "cgroup_storage_deprecated"),
    (20, "reuseport_sockarray"),
    (21, "percpu_cgroup_storage_deprecated"),
    (24, "sk_storage"),
    (25, "devmap_hash"),
    (28, "inode_storage"),
    (30, "bloom_filter"),
];

impl MapKind {
    /// By its number.
    ///
    /// # Errors
    /// Its name, if it is not offered.
    pub fn from_number(number: u32) -> Result<Self, String> {
        Ok(match number {
            1 => Self::Hash,
            2 => Self::Array,
            4 => Self::PerfEventArray,
            5 => Self::PercpuHash,
            6 => Self::PercpuArray,
            9 => Self::LruHash,
            10 => Self::LruPercpuHash,
            12 => Self::ArrayOfMaps,
            13 => Self::HashOfMaps,
            22 => Self::Queue,
            23 => Self::Stack,
            26 => Self::StructOps,
            27 => Self::RingBuffer,
            29 => Self::TaskStorage,
            32 => Self::CgroupStorage,
            33 => Self::Arena,
            31 => return Err("user_ringbuf".to_owned()),
            other => {
                let known = OTHERS.iter().find(|(number, _)| *number == other);
                return Err(known.map_or(format!("number {other}"), |(_, name)| (*name).into()));
            }
        })
    }

    /// One value per CPU.
    #[must_use]
    pub fn per_cpu(self) -> bool {
        matches!(
            self,
            Self::PercpuHash | Self::PercpuArray | Self::LruPercpuHash
        )
    }

    /// Says whether the map is an array: its keys are indices.
    pub(crate) fn is_array(self) -> bool {
        matches!(
            self,
            Self::Array | Self::PercpuArray | Self::ArrayOfMaps | Self::PerfEventArray
        )
    }

    /// Is an old entry dropped where there is no room?
    pub(crate) fn is_lru(self) -> bool {
        matches!(self, Self::LruHash | Self::LruPercpuHash)
    }

    /// Values are other maps.
    #[must_use]
    pub fn of_maps(self) -> bool {
        matches!(self, Self::ArrayOfMaps | Self::HashOfMaps)
    }
}
