# The runs that scripts/same-bytes.sh and scripts/same-runs.sh make (sourced by both): every era,
# feature and version of one, every queue with every mode of the live one, every model of a load,
# every switch of the machine's model, every export of traces and tables. Short: a core makes all of
# them with a debug build in less than a minute.
#
# A run is its name and a command line. Words that are not the program's: EXPORTS, all traces and
# tables; OUT, the run's own folder. Where no length is given it is 600 ms, past the warm-up of the
# models, or with EXPORTS 100 ms.
# shellcheck shell=bash

runs=(
    # Linux 3.1, and packing by sched-mc.
    'linux-3.1            sim --platform core2-2s --policy linux-3.1 --workload aim9:'
    'sched-mc-0           sim --platform u8500 --policy linux-3.1+sched-mc=0
        --workload cyclictest:threads=2 EXPORTS'
    'sched-mc-1           sim --platform u8500-2011 --policy linux-3.1+sched-mc=1
        --workload sysbench-cpu:threads=12'
    'sched-mc-2           sim --platform tc2 --policy linux-3.1+sched-mc=2
        --workload periodic:n=6 EXPORTS'
    'sched-mc-2-on-7.3    sim --platform ca9-quad --policy linux-7.3+sched-mc=2
        --workload periodic:n=3,duty=30% --set mc_irq_idle_us=1000
        --set model.irq=0:2ms:100us:movable --dump-state 20ms,70ms'
    # Linux 3.8, and packing by power-policy.
    'linux-3.8            sim --platform nhm-ep-2s --policy linux-3.8
        --workload specjbb:warehouses=6'
    'power-performance    sim --platform snb-ep-2s --policy linux-3.8+power-policy=performance
        --workload kbuild:jobs=8'
    'power-balance        sim --platform wsm-ex-4s --policy linux-3.8+power-policy=balance
        --workload aim7-compute:tasks=12 --duration 60ms'
    'power-saving         sim --platform snb-ep-2s --policy linux-3.8+power-policy=powersaving
        --workload messaging:groups=1 EXPORTS'
    'power-saving-loops   sim --platform snb-laptop --policy linux-3.8+power-policy=powersaving
        --workload busy-loops:n=4 --set model.policy_per_cpu=off --hotplug 30ms:3=off'
    'power-by-mode-7.3    sim --platform wsm-ex-4s-ht --policy linux-7.3+power-policy=by-mode
        --workload periodic:n=20 --set mode=powersave --duration 60ms'
    'power-changes        sim --platform snb-ep-4s --policy linux-3.8+power-policy=performance
        --workload periodic:n=16,duty=40% --duration 60ms
        --policy-at 20ms=power-policy=powersaving --policy-at 40ms=power-policy=balance'
    # Linux 4.7 and 4.17.
    'linux-4.7            sim --platform ivb-ep-2s --policy linux-4.7
        --workload messaging:groups=1'
    'asym-capacity        sim --platform juno-r0 --policy linux-4.7+asym-capacity
        --workload periodic:n=10 --export-wakeup-cases OUT/cases.csv EXPORTS'
    'asym-capacity-exec   sim --platform tc2 --policy linux-4.7+asym-capacity
        --workload shell:loops=4;sysbench-cpu:threads=1,time=20ms'
    'linux-4.17           sim --platform hikey620 --policy linux-4.17 --workload periodic:n=24
        --seeds 3'
    'energy-aware         sim --platform hikey960 --policy linux-4.17+energy-aware
        --workload periodic:n=10,duty=5% --set model.thermal=on
        --hotplug 20ms:5=off,60ms:5=on EXPORTS'
    'energy-aware-file    sim --platform juno-r0 --policy linux-4.17+energy-aware=v3
        --workload workloads/mixed-sizes.json --set energy_margin_shift=4'
    'rtapp-log            sim --platform hikey960 --policy linux-4.17+energy-aware
        --workload workloads/locks-and-signals.json --export-rtapp-log OUT/log EXPORTS'
    'recording            sim --platform hikey960 --policy linux-4.17
        --workload trace:crates/trace/tests/data/by_hand.txt EXPORTS'
    # Linux 5.0 and 6.2.
    'linux-5.0            sim --platform rk3399 --policy linux-5.0
        --workload workloads/steady-mix.json'
    'linux-5.0-eevdf      sim --platform juno-r2 --policy linux-5.0 --workload periodic:n=8
        --set queue=eevdf EXPORTS'
    'energy-aware-5.0     sim --platform sdm845 --policy linux-6.2+energy-aware=5.0
        --workload workloads/ramp.json --timeline 20ms..60ms'
    'energy-aware-6.1     sim --platform rk3588 --policy linux-6.2+energy-aware=6.1
        --workload workloads/frame-deadline.json --oracle'
    'linux-6.2-groups     sim --platform rpi5 --policy linux-6.2
        --workload periodic:n=8,duty=60%,groups=a+b --set model.shares=a:2048+b:512'
    'sis-short-v1         sim --platform raptor-lake-1370p --policy linux-6.2+sis-short=v1
        --workload context-switch:pairs=8 --duration 30ms'
    'sis-short-v2         sim --platform kunpeng920-2s --policy linux-6.2+sis-short=v2
        --workload netperf-tcp-rr:instances=16 --duration 10ms'
    'sis-short-v3         sim --platform alder-lake-12900k --policy linux-6.2+sis-short=v3
        --workload netperf-udp-rr:instances=8 --duration 20ms'
    'sis-short-v4         sim --platform alder-lake-12900k-nosmt
        --policy linux-6.2+sis-short=v4 --workload tbench:clients=4,time=1s --duration 30ms'
    'sis-short-v5         sim --platform zen4-7950x --policy linux-6.2+sis-short=v5
        --workload schbench: EXPORTS'
    'sis-short-v6         sim --platform spr-2s --policy linux-6.2+sis-short=v6
        --workload netperf-tcp-rr:instances=56,grouping=one --duration 5ms'
    'sis-short-v7         sim --platform raptor-lake-1370p-nosmt --policy linux-6.2+sis-short=v7
        --workload schbench:messages=2 --duration 50ms'
    'sis-short-v8         sim --platform zen3-2s --policy linux-6.2+sis-short=v8
        --workload messaging:groups=1,grouping=two --duration 5ms'
    'sis-short-scan-cost  sim --platform zen4-7950x --policy linux-7.3+sis-short=scan-cost
        --workload oltp:grouping=nested --duration 50ms'
    # Linux 6.12 and 7.3.
    'linux-6.12           sim --platform rk3588 --policy linux-6.12 --workload messaging:
        --set model.irq=0:3ms:200us EXPORTS'
    'linux-6.12-memory    sim --platform zen4-7950x --policy linux-6.12
        --workload sysbench-memory: --duration 50ms --set model.cpuidle=teo'
    'linux-6.12-no-driver sim --platform mt8195 --policy linux-6.12 --workload periodic:n=4
        --set model.cpuidle=none'
    'energy-aware-6.12    sim --platform mt8183 --policy linux-6.12+energy-aware=6.12
        --workload periodic:n=12,uclamp_max=40% --set model.idle_latency_us=500'
    'linux-6.12-cfs       sim --platform mt8186 --policy linux-6.12 --set queue=cfs
        --workload workloads/nice-mix.json'
    'linux-7.3            sim --platform gs101 --policy linux-7.3 --workload cyclictest:
        --set model.freq_cap=1:max@10ms --set model.em_scale=1:150@20ms EXPORTS'
    'linux-7.3-bare       sim --platform apple-m1 --policy linux-7.3
        --workload workloads/periodic-pair.json --set model.kernel_costs=off
        --set model.transition_latency=off --set model.idle_states=off'
    'linux-7.3-no-eas     sim --platform apple-m2 --policy linux-7.3-energy-aware
        --workload dbench: --set model.parent_cpu=4 --set model.fork_ns=20000'
    'linux-7.3-costs      sim --platform gb10 --policy linux-7.3 --workload aiostress:
        --set model.ipi_ns=off --set model.publish_ns=500 --set model.lock_hold_ns=300
        --set model.lock_shared_cache_ns=60 --set model.lock_other_cache_ns=150
        --set model.switch_out_ns=400 --set model.scx_callback_ns=off --set model.scx_kfunc_ns=20'
    'linux-7.3-eevdf-6.12 sim --platform sm8650 --policy linux-7.3 --set eevdf_form=6.12
        --set delay_dequeue=off --set hrtick=off --workload sysbench-fileio:'
    'linux-7.3-eas        sim --platform rk3399 --policy linux-7.3
        --workload eas-behaviour:pin=on,start=spread'
    'linux-7.3-classes    sim --platform juno-r0 --policy linux-7.3
        --workload periodic:n=8,policy=rr,duty=40% --set model.housekeeping=off'
    'linux-7.3-deadline   sim --platform hikey960 --policy linux-7.3
        --workload periodic:n=4,policy=deadline,dl_runtime=4ms --set model.work_power=off'
    'linux-7.3-throttled  sim --platform hikey960 --policy linux-7.3 --set model.thermal=on
        --workload periodic:n=8,duty=90% --set model.freq_cap=1:1805000@20ms --duration 200ms'
    # The live queues, in each mode and under older rules.
    'wakeplace            sim --platform sdm845 --policy wakeplace
        --workload sysbench-threads:threads=9,locks=3 --hotplug 30ms:1=off EXPORTS'
    'live-powersave       sim --platform wsm-ep-2s --policy wakeplace --set mode=powersave
        --workload oltp: --policy-at 40ms=mode=performance EXPORTS'
    'live-performance     sim --platform sm8550 --policy wakeplace --set mode=performance
        --workload schbench:'
    'live-balanced        sim --platform sm8250 --policy wakeplace --set mode=balanced
        --workload messaging:groups=1 --duration 50ms'
    'live-file            sim --platform hikey960 --policy wakeplace
        --workload workloads/nice-mix.json --export-ftrace OUT/ftrace.txt'
    'live-no-delay        sim --platform zen4-7950x --policy wakeplace --set delay_dequeue=off
        --set hrtick=off --set vq_slice_ns=3000000 --workload context-switch:pairs=16
        --duration 30ms'
    'live-on-4.17         sim --platform hikey960 --policy linux-4.17+energy-aware
        --set queue=dsq --workload periodic:n=14'
    'live-on-6.12         sim --platform sc7180 --policy linux-6.12 --set queue=dsq
        --workload kbuild:jobs=10'
    # Several runs, studies, and one decision.
    'compare              compare --platform hikey960 --workload periodic:n=20,start=spread
        --policy linux-4.17 --policy linux-4.17+energy-aware --policy wakeplace --seeds 2
        --duration 100ms'
    'study-energy         study run energy-aware/energy-hikey960 --quick --duration 100ms
        --seeds 1'
    'study-cases          study run asym-capacity/wakeup-cases-tc2 --quick --duration 100ms
        --seeds 1'
    'study-sched-mc       study run sched-mc/sysbench-threads-u8500 --quick --duration 50ms
        --seeds 1'
    'explain              explain --platform hikey960 --policy linux-5.0 --wakeup 40
        --workload periodic:n=10,duty=5% --why-not 2'
    'explain-live         explain --platform juno-r0 --policy wakeplace --wakeup 20
        --workload periodic:n=8 --other linux-4.7 --other linux-7.3'
)

# make_run PROGRAM RUN OUT: makes it, into the folder OUT, which must be new. PROGRAM is a command,
# its words apart by blanks; RUN is one of the above. What it prints is in OUT.log.
make_run() {
    local -a program words line=()
    read -ra program <<<"$1"
    read -ra words <<<"$(tr -s ' \n' ' ' <<<"$2")"
    local out=$3 word
    for word in "${words[@]:1}"; do
        if [ "$word" = EXPORTS ]; then
            line+=(--export-ftrace "$out/ftrace.txt" --export-perfetto "$out/perfetto"
                --export-parquet "$out/tables")
        else
            line+=("${word/#OUT/$out}")
        fi
    done
    case "$2" in
        *' --duration '*) ;;
        *EXPORTS*) line+=(--duration 100ms) ;;
        *) line+=(--duration 600ms) ;;
    esac
    case "$2" in
        *' --seeds '*) ;;
        *) line+=(--seed 7) ;;
    esac
    mkdir "$out"
    "${program[@]}" "${line[@]}" --quiet --format json -o "$out/result.json" >"$out.log" 2>&1
}

# The name of a run.
run_name() { printf '%s' "${1%% *}"; }

# The hashes of all files of a run, one line each.
sums() { (cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum); }
