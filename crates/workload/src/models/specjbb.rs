//! `specjbb`: warehouses whose threads never sleep but while the garbage is collected
//! (docs/decisions/025).
//!
//! Called by `models/mod.rs` for its name. Times of collections are assumed; the order of draws
//! stays. Collectors are one per CPU of the machine.
//!
//! What must stay: a collection takes the mutexes of all warehouses, so no warehouse runs
//! meanwhile; one collector per CPU; a warehouse's draws are of its own stream. Free: what leaves
//! scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no
//! test quotes. Tests by part: `specjbb_stops_its_warehouses` (`warehouse`, `vm`, `collector`,
//! `meet`), `coarse_models_say_so_and_draw_by_the_seed` (draws), `wrong_values_say_their_range`
//! (`load`), played.rs::`collections_stop_the_world` (in time), the first also `expand`.
//!
//! Tests: crates/workload/tests/all/coarse_models.rs, crates/workload/tests/all/played.rs
use super::builder::Builder;
use super::draw::Spread;
use super::measures::per_second;
use super::parse::MAX_TIME_NS;
use super::tasks::{DONE, endless, lock, unlock};
use super::values::Values;
use super::work::{Share, work};
use super::working_set::{WORKING_SET, with_sets};
use super::{Model, ModelInfo, parameters};
use crate::error::WorkloadError;
use crate::script::{Event, TaskScript, Workload};
use crate::{MachineFacts, Stream};
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "specjbb",
    also: &["specjbb2005", "jbb", "java"],
    summary: "coarse: a thread per warehouse that never sleeps, and one collector of garbage per \
              CPU that stops them all",
    parameters: parameters! {
        "warehouses", "1..=10000", "8", "number of warehouses, a thread each";
        "transaction", "times, 1us to 1s", "50us-200us",
            "CPU time of a transaction, drawn, on the biggest CPU";
        "memory", "0%..=100%", "30%", "share of all CPU time that waits for memory; assumed";
        WORKING_SET;
        "gc_every", "time from 1ms to 1000s", "1s",
            "from the end of a collection to the next; assumed";
        "gc_burst", "time from 1us to 10s", "5ms",
            "CPU time of each collector in a collection; assumed";
        "warmup", "time from 0ns to 1000s", "500ms", "transactions count from then on; assumed";
    },
    metric: "throughput_per_s",
    source: "SPECjbb2005 as in the power-aware scheduling series v4 (2013); structure and range of \
             docs/rules/workloads.md#other-benchmarks",
};

/// Transactions that a thread draws; it repeats them over and over.
const CYCLE: usize = 64;

/// A validated argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpecJbb {
    warehouses: u32,
    transaction: Spread,
    memory: Share,
    gc_every_ns: u64,
    gc_burst_ns: u64,
    warm_up_ns: u64,
}

/// Reads `specjbb:key=value,...`.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    let values = Values::read(argument, &INFO)?;
    let model = SpecJbb {
        warehouses: values.number("warehouses", 1..=10_000)?,
        transaction: values.times("transaction", 1_000..=1_000_000_000)?,
        memory: values.share("memory")?,
        gc_every_ns: values.time_ns("gc_every", 1_000_000..=MAX_TIME_NS)?,
        gc_burst_ns: values.time_ns("gc_burst", 1_000..=10_000_000_000)?,
        warm_up_ns: values.time_from_zero_ns("warmup")?,
    };
    Ok(Arc::new(with_sets(&values, model)?))
}

/// Barriers of a collection.
#[derive(Clone, Copy, Debug)]
struct Collection {
    begins: u32,
    done: u32,
}

impl SpecJbb {
    /// Transactions, each under the warehouse's own mutex, which has its number: whoever else holds
    /// that one has stopped the thread between two transactions.
    fn warehouse(&self, warehouse: u32, seed: u64) -> TaskScript {
        let name = format!("warehouse-{warehouse}");
        let mut stream = Stream::for_task(seed, &name);
        let mut events = Vec::new();
        for _ in 0..CYCLE {
            events.push(lock(warehouse));
            events.extend(work(self.transaction.draw(&mut stream), self.memory));
            events.extend([unlock(warehouse), DONE]);
        }
        endless(name, events)
    }

    /// The JVM's own thread: stops all warehouses, lets the collectors run, and goes on.
    fn vm(&self, collection: Collection) -> TaskScript {
        let duration_ns = self.gc_every_ns;
        let mut events = vec![Event::Sleep { duration_ns }];
        events.extend((0..self.warehouses).map(lock));
        events.extend([collection.begins, collection.done].map(meet));
        events.extend((0..self.warehouses).map(unlock));
        endless("vm".to_owned(), events)
    }

    /// A collector: it waits for the begin, works its burst, and meets the others at the end.
    fn collector(&self, index: u32, collection: Collection) -> TaskScript {
        let mut events = vec![meet(collection.begins)];
        events.extend(work(self.gc_burst_ns, self.memory));
        events.push(meet(collection.done));
        endless(format!("gc-{index}"), events)
    }
}

/// Waits for the others at a barrier.
fn meet(barrier: u32) -> Event {
    Event::Barrier { barrier }
}

impl Model for SpecJbb {
    /// The scripts: the warehouses, the JVM's own thread, a collector per CPU.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        machine: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let mut builder = Builder::new(argument);
        // Handed over in order: a warehouse that has just released its own could otherwise take it
        // again before the waiting thread runs, and would never stop.
        for index in 0..self.warehouses {
            builder.handed_mutex(format!("warehouse {index} between transactions"));
            builder.task(self.warehouse(index, seed));
        }
        let collectors = machine.nr_cpus().max(1);
        let parties = u64::from(collectors) + 1;
        let collection = Collection {
            begins: builder.barrier("collection begins".to_owned(), parties),
            done: builder.barrier("collection done".to_owned(), parties),
        };
        builder.task(self.vm(collection));
        for index in 0..collectors {
            builder.task(self.collector(index, collection));
        }
        builder.count(self.warm_up_ns, [per_second()]);
        Ok(builder.finish_as_process())
    }
}
