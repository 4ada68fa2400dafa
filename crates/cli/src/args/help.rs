//! Texts of the help. Lines that begin with two blanks and `wakeplace` are examples: a test runs
//! those of all commands that it lists (`COMMANDS` of crates/cli/tests/all/help.rs). Free: the
//! words.
//!
//! What must stay: an example can be typed as it stands. The short help fits a screen of 40 lines
//! and 100 columns. Exit codes are those of `failure.rs`; commands without conditions do not speak
//! of them. Tests by part: crates/cli/tests/all/help.rs::`every_example_works` (examples),
//! help.rs::`help_is_complete_and_fits` (`TEMPLATE`, widths),
//! help.rs::`without_arguments_comes_short_help` (`MAIN`),
//! crates/cli/tests/all/said.rs::`only_commands_with_expectations_speak_of_them`
//! (`ANSWER_EXIT_CODES`, `CELLS_EXIT_CODES`).
//!
//! Tests: crates/cli/tests/all/help.rs,
//! crates/cli/tests/all/said.rs::only_commands_with_expectations_speak_of_them

/// Examples first.
pub(super) const TEMPLATE: &str =
    "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// The program.
pub(super) const MAIN: &str = "\
Examples:
  wakeplace compare --platform hikey960 --workload 'periodic:n=10,period=16ms,duty=5%' \\
                    --policy linux-4.17 --policy linux-4.17+energy-aware --duration 5s
  wakeplace study run energy-aware/energy-hikey960 --quick
  wakeplace platform show hikey960";

pub(super) const COMPARE_SHORT: &str = "\
Example:
  wakeplace compare --platform hikey960 --workload 'periodic:n=10,period=16ms,duty=5%' \\
                    --policy linux-4.17 --policy linux-4.17+energy-aware --duration 30s";

pub(super) const COMPARE: &str = "\
Examples:
  Does energy-aware placement save energy on a phone board?
  wakeplace compare --platform hikey960 --workload 'periodic:n=10,period=16ms,duty=5%' \\
                    --policy linux-4.17 --policy linux-4.17+energy-aware --duration 30s

  Three policies on your own machine and tasks, as JSON in a file
  wakeplace compare --platform my-board.toml --workload app.json --policy linux-4.17 \\
                    --policy linux-4.17+energy-aware --policy linux-4.17-asym-capacity \\
                    --seeds 3 --format json --output result.json

  As a page for a browser, with what ran where in a fifth of a second
  wakeplace compare --platform hikey960 --workload 'periodic:n=10,period=16ms,duty=5%' \\
                    --policy linux-4.17 --policy linux-4.17+energy-aware --duration 5s \\
                    --timeline 1s..1200ms --export-html report.html

  In a script: fail if wake-ups become slow
  wakeplace compare --platform juno-r0 --workload periodic:n=20 --policy linux-4.17 \\
                    --policy linux-4.17+energy-aware --expect 'wake_latency_us_p99<=50000'";

pub(super) const SWEEP_SHORT: &str = "\
Example:
  wakeplace sweep --platform hikey960 --workload periodic:n=12 --policy linux-7.3 \\
                  --vary runnable_boost_pct=0..100:3 --seeds 2 --duration 1s --store boost.db";

pub(super) const SWEEP: &str = "\
Examples:
  Two parameters against each other, on two boards. The same command goes on where it was stopped,
  and run twice at a time it is shared
  wakeplace sweep --platform hikey960 --platform juno-r0 --workload periodic:n=12 \\
                  --policy linux-7.3 --vary runnable_boost_pct=0..100:3 \\
                  --vary workload.duty=5%,10% --seeds 2 --duration 1s --store runs.db \\
                  --export runs.parquet

  The least of the tasks' hints with which no frame is missed
  wakeplace sweep --platform gs101 --workload workloads/scroll-busy.json --policy linux-7.3 \\
                  --seeds 3 --duration 2s --jitter start=5ms,run=5% \\
                  --vary task.render.util_min=0,128,256,512 --base task.render.util_min=0 \\
                  --expect 'missed_frames_total<=0' --choose task.render.util_min

  Twenty points of a space of three, drawn so that each axis is covered evenly
  wakeplace sweep --platform hikey960 --workload periodic:n=4 --policy linux-7.3 \\
                  --vary runnable_boost_pct=0..100 --vary platform.kernel.tick_hz=100..1000 \\
                  --vary workload.n=1..8 --latin-hypercube 20 --duration 50ms";

pub(super) const SIM_SHORT: &str = "\
Example:
  wakeplace sim --platform juno-r0 --workload app.json --policy linux-4.17+energy-aware";

pub(super) const SIM: &str = "\
Examples:
  What does a policy do with these tasks?
  wakeplace sim --platform juno-r0 --workload app.json --policy linux-4.17+energy-aware

  With one parameter changed (`wakeplace policy show linux-4.17` lists them)
  wakeplace sim --platform hikey960 --workload 'periodic:n=30,duty=10%' --duration 10s \\
                --policy linux-4.17+energy-aware --set energy_margin_shift=4

  Look at it: a trace for https://ui.perfetto.dev
  wakeplace sim --platform hikey960 --workload periodic --policy linux-7.3 --duration 2s \\
                --export-perfetto run.pftrace

  The same for LISA, and as tables
  wakeplace sim --platform hikey960 --workload periodic --policy linux-7.3 --duration 2s \\
                --export-ftrace run.txt --export-parquet tables

  What would it do with what was recorded on a board? (ftrace, perf script, Perfetto)
  wakeplace sim --platform hikey960 --workload trace:build.txt --policy linux-6.12

  Is the result the same every time?
  wakeplace sim --platform tc2 --workload periodic --policy linux-4.17 --verify-determinism";

pub(super) const EVALUATE_SHORT: &str = "\
Example:
  wakeplace evaluate wakeplace:busy_factor=8 --base wakeplace --json";

pub(super) const EVALUATE: &str = "\
Examples:
  How good is a setting, beside the default?
  wakeplace evaluate wakeplace:busy_factor=8 --base wakeplace --json

  Energy and latency alone, on two boards and on seeds that a search has not seen
  wakeplace evaluate wakeplace --platform rk3588 --platform mt8186 --seeds 101,102 \\
                     --goal energy --goal latency

`./x.bpf.o` or 'scx_lavd --performance' as the candidate is a scheduler, which runs contained;
`kernel:PATH` a kernel tree's own code.

The score is the geometric mean over the cells (each load on each board) of each cell's goals:
how many times as good as the base in energy for the work done, in what the benchmark reports, in
the 99th percentile of wake-up latency, and in missed frames or periods. 1 is like the base, more
is better. A candidate that crashes, stalls or does not finish anywhere has no score.";

pub(super) const EXPLAIN_SHORT: &str = "\
Example:
  wakeplace explain --platform hikey960 --workload 'periodic:n=10,period=16ms,duty=5%' \\
                    --policy linux-5.0 --wakeup 40 --why-not 2";

pub(super) const EXPLAIN: &str = "\
Examples:
  Why did the 40th wake-up not go to CPU 2?
  wakeplace explain --platform hikey960 --workload 'periodic:n=10,period=16ms,duty=5%' \\
                    --policy linux-5.0 --wakeup 40 --why-not 2

  The first wake-up of a task that went to CPU 2
  wakeplace explain --platform juno-r0 --workload app.json --policy linux-4.17 --task small --to 2

  Beside two policies only, for another program
  wakeplace explain --platform tc2 --workload periodic --policy linux-4.17 --at 15ms \\
                    --compare-policy linux-4.7 --compare-policy linux-7.3 --format json

Under a sched_ext scheduler (`--scheduler`) it says what the callbacks did for the wake-up.";

pub(super) const REVIEW_SHORT: &str = "\
Example:
  wakeplace review --base linux-7.3 --change linux-7.3:runnable_boost=off --mail cover.txt";

pub(super) const REVIEW: &str = "\
Examples:
  A parameter, a feature or a policy beside another
  wakeplace review --base linux-7.3 --change linux-7.3:runnable_boost=off --battery small

  A kernel tree before and after a patch, as a mail and a page, with what its author claims
  wakeplace review --base kernel:$HOME/linux@v7.3 --change kernel:$HOME/linux@mine \\
                   --claim claim.toml --mail cover.txt --html review.html

  Two sched_ext schedulers
  wakeplace review --scheduler scx_bpfland --scheduler scx_cosmos

  On a board of your own
  wakeplace review --base linux-6.12 --change linux-7.3 --platform my-board.toml";

pub(super) const REPORT: &str = "\
Examples:
  A page of results made with `--format json`, to send to somebody
  wakeplace report result.json --output report.html

  The same without a file between
  wakeplace study run energy-aware/energy-hikey960 --quick --export-html report.html";

pub(super) const DIFF: &str = "\
Examples:
  Yesterday's result and today's, as a gate
  wakeplace diff yesterday.json today.json --expect 'cpu_energy_j<=+3%'

  The same load on another board, for a browser
  wakeplace diff hikey960.json gs101.json --export-html diff.html";

pub(super) const STUDY: &str = "\
Examples:
  wakeplace study list
  wakeplace study show energy-aware/energy-hikey960
  wakeplace study run energy-aware/energy-hikey960 --quick";

pub(super) const STUDY_RUN: &str = "\
Examples:
  wakeplace study run energy-aware/energy-hikey960 --quick
  wakeplace study run energy-aware/energy-hikey960 --format json --output hikey960.json
  wakeplace study run energy-aware/energy-hikey960 --seeds 3 --experiments
  wakeplace study run 'energy-aware/energy-*' --quick --format csv";

pub(super) const PLATFORM: &str = "\
Examples:
  wakeplace platform list
  wakeplace platform show hikey960
  wakeplace platform import --live -o this-machine.toml";

pub(super) const PLATFORM_IMPORT: &str = "\
Examples:
  This machine; what the kernel does not say is assumed, marked in the file, and listed
  wakeplace platform import --live -o this-machine.toml

  A phone, from a shell on it: `wakeplace platform capture > capture.sh`, there
  `sh capture.sh phone.tar`, and here
  wakeplace platform import --sysfs phone.tar --energy-model energy_model -o phone.toml

  A board by its device tree, with the voltages that the tree lacks
  wakeplace platform import --dtb board.dtb --voltages volts.csv -o board.toml";

pub(super) const PLATFORM_NEW: &str = "\
Examples:
  wakeplace platform new --clusters 4xcortex-a520@2000MHz,4xcortex-a725@600-3000MHz -o new.toml

  The same with the powers of a known machine's cores, scaled
  wakeplace platform new --clusters 4xcortex-a520@500-2000MHz --power-like tensor-g5 -o new.toml

  What the words do not say is assumed, marked in the file, and listed. Without --power-like there
  is no power.";

pub(super) const PLATFORM_CAPTURE: &str = "\
Examples:
  wakeplace platform capture > capture.sh
  wakeplace platform capture -o this-machine.tar";

pub(super) const PLATFORM_SHOW: &str = "\
Examples:
  wakeplace platform show hikey960
  wakeplace platform show my-board.toml --format md";

pub(super) const WORKLOAD: &str = "\
Examples:
  wakeplace workload list
  wakeplace workload check app.json --cpus 8";

pub(super) const WORKLOAD_RECORD: &str = "\
Example, as root: the next line is how it is used then
  sudo wakeplace workload record -o build.txt -- make -j4
  wakeplace sim --platform hikey960 --workload trace:build.txt --policy linux-6.12";

pub(super) const WORKLOAD_CHECK: &str = "\
Example:
  wakeplace workload check app.json --cpus 4";

pub(super) const POLICY: &str = "\
Examples:
  wakeplace policy list
  wakeplace policy show linux-4.17+energy-aware=5.0";

pub(super) const METRIC: &str = "\
Examples:
  wakeplace metric list
  wakeplace metric list --format csv";

pub(super) const POLICY_SHOW: &str = "\
Examples:
  wakeplace policy show linux-4.17+energy-aware
  wakeplace policy show linux-4.17 --set imbalance_pct=117 --format json";

pub(super) const DOCTOR: &str = "\
Examples:
  wakeplace doctor
  wakeplace doctor --format json";

pub(super) const COMPLETIONS: &str = "\
Examples:
  wakeplace completions bash > ~/.local/share/bash-completion/completions/wakeplace
  wakeplace completions zsh > ~/.zfunc/_wakeplace
  wakeplace completions fish > ~/.config/fish/completions/wakeplace.fish

Shells: bash, elvish, fish, powershell, zsh";

pub(super) const MCP: &str = "\
Example, in the configuration of a client that speaks the Model Context Protocol:
  {\"mcpServers\": {\"wakeplace\": {\"command\": \"wakeplace\", \"args\": [\"mcp\"]}}}

Each call is a process of its own with a limit of time; schedulers run contained, and nothing is
written. It ends when its standard input does.";

pub(super) const KERNEL: &str = "\
Examples:
  wakeplace kernel list
  wakeplace kernel build 7.3
  wakeplace kernel diff linux-7.3 kernel:7.3 --platform hikey960 --workload periodic:n=10";

pub(super) const KERNEL_DIFF: &str = "\
Examples:
  Every decision of the kernel's code beside the answer of the policy core
  wakeplace kernel diff linux-7.3 kernel:7.3 --platform hikey960 --workload periodic:n=10

  Machines and loads drawn from a seed, until there are 100,000 decisions
  wakeplace kernel diff linux-6.12 kernel:6.12 --random 100000 --seed 7 --allow 0.1";

pub(super) const KERNEL_LIST: &str = "\
Examples:
  wakeplace kernel list
  wakeplace kernel list --format json";

pub(super) const KERNEL_BUILD: &str = "\
Examples:
  The newest 7.3 of the package archive, and a version for machines of another architecture
  wakeplace kernel build 7.3
  wakeplace kernel build 6.12 --arch x86_64

  A tree of yours as it is, and a revision of it
  wakeplace kernel build linux
  wakeplace kernel build linux@HEAD --kernel-config my.config";

pub(super) const LAB: &str = "\
Examples:
  wakeplace lab kernels
  wakeplace lab run --arch x86_64 --scheduler kernel -- hackbench -g 2 -l 100";

pub(super) const LAB_RUN_SHORT: &str = "\
Example:
  wakeplace lab run --arch x86_64 --scheduler wakeplace -- hackbench -g 2 -l 100";

pub(super) const LAB_RUN: &str = "\
Examples:
  A benchmark on a plain machine of four CPUs, under the kernel's own scheduler
  wakeplace lab run --arch x86_64 --scheduler kernel -- hackbench -g 2 -l 100

  Tasks on a phone board's clusters and energy model, under the live scheduler, with a trace
  wakeplace lab run --arch arm64 --platform hikey960 --scheduler wakeplace:linux-7.3 --icount \\
                    --workload 'periodic:n=6,period=16ms,duty=10%' --duration 5s --trace out.txt

  Several programs, on an older kernel
  wakeplace lab run --arch x86_64 --scheduler wakeplace --kernel 7.0.13 --cpus 8 \\
                    -- sh -c 'stress-ng --cpu 4 -t 5 && cyclictest -q -D 2'

  Your own kernel, with what the tasks cost by the platform's power model
  wakeplace lab run --arch arm64 --platform gs101 --kernel linux/arch/arm64/boot/Image \\
                    --scheduler kernel --icount --workload app.json

  A program of a Debian package
  wakeplace lab run --arch x86_64 --scheduler kernel --package strace -- strace -c sleep 1

`--scheduler 'scx_bpfland -m powersave'` runs any sched_ext scheduler that is on this machine.
The guest has busybox, hackbench, cyclictest, stress-ng, wakeplace-guest and scx_wakeplace.";

pub(super) const LAB_KERNELS: &str = "\
Examples:
  wakeplace lab kernels
  wakeplace lab kernels --arch arm64 --format json";

pub(super) const LAB_FETCH: &str = "\
Example:
  wakeplace lab fetch --arch x86_64";

pub(super) const EXIT_CODES_SHORT: &str = "Exit codes: 0 done, 1 expectation failed or run \
    stuck, 2 bad input, 3 this machine cannot do it";

/// Of commands that may leave runs out.
pub(super) const CELLS_EXIT_CODES_SHORT: &str = "Exit codes: 0 done, 1 expectation failed or a \
    run is none, 2 bad input, 3 this machine cannot do it";

/// The same, all of them.
pub(super) const CELLS_EXIT_CODES: &str = "\
Exit codes:
    0  it ran, and all expectations hold (also when the reader of a pipe goes away)
    1  it ran, but an expectation failed, or some runs could not be made or got stuck: column
       `error` of the export
    2  usage, input or output file is wrong; nothing was written
    3  this machine cannot do it; `wakeplace doctor` says what is missing
  130  interrupted with Ctrl-C; the same command with its --store goes on";

/// Of `evaluate`.
pub(super) const EVALUATE_EXIT_CODES_SHORT: &str = "Exit codes: 0 done, 1 the candidate failed, \
    2 bad input, 3 this machine cannot do it";

/// The same, all of them.
pub(super) const EVALUATE_EXIT_CODES: &str = "\
Exit codes:
    0  it ran, and there is a score (also when the reader of a pipe goes away)
    1  it ran, but the candidate crashed, stalled or did not finish: there is no score
    2  usage, input or output file is wrong; nothing was written
    3  this machine cannot do it; `wakeplace doctor` says what is missing
  130  interrupted with Ctrl-C";

/// Of commands that answer or fail.
pub(super) const ANSWER_EXIT_CODES_SHORT: &str = "Exit codes: 0 done, 2 bad input, 3 this machine \
    cannot do it";

/// The same, all of them.
pub(super) const ANSWER_EXIT_CODES: &str = "\
Exit codes:
    0  it ran (also when the reader of a pipe goes away)
    2  usage, input or output file is wrong; nothing was written
    3  this machine cannot do it; `wakeplace doctor` says what is missing
  130  interrupted with Ctrl-C";

pub(super) const EXIT_CODES: &str = "\
Exit codes:
    0  it ran, and all expectations hold (also when the reader of a pipe goes away)
    1  it ran, but an expectation failed, two runs differ, or tasks got stuck
    2  usage, input or output file is wrong; nothing was written
    3  this machine cannot do it; `wakeplace doctor` says what is missing
  130  interrupted with Ctrl-C";
