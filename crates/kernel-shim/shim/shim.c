// SPDX-License-Identifier: GPL-2.0-only
/*
 * The shim in one unit: the kernel's headers are read once, which is most of the time it takes to
 * compile.
 *
 * What must stay: a file stands behind those whose static names it uses and shim.h does not
 * declare; a file that is added is named here, or is not built. May change: the order, within that.
 *
 * Tests: crates/kernel-shim/tests (`cargo xtask kernel-shim`)
 */
#include "shim.h"
#include "fault.c"
#include "log.c"
#include "memory.c"
#include "time.c"
#include "watch.c"
#include "switch.c"
#include "order.c"
#include "stall.c"
#include "rcu.c"
#include "kept.c"
#include "irq.c"
#include "idle.c"
#include "works.c"
#include "device.c"
#include "topology.c"
#include "energy.c"
#include "cpufreq.c"
#include "groups.c"
#include "task.c"
#include "threads.c"
#include "call.c"
#include "partition.c"
#include "hotplug.c"
#include "debugfs.c"
#include "sysctl.c"
#include "parameters.c"
#include "control.c"
#include "choices.c"
#include "decision.c"
#include "signals.c"
#include "turns.c"
#include "balance.c"
#include "governor.c"
#include "state.c"
#include "boot.c"
