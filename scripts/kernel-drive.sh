# The shim's own host in C, for scripts that run it (sourced by them).
# shellcheck shell=bash

# The source of a version that `wakeplace kernel build` has fetched.
kernel_tree() {
    local cache=${WAKEPLACE_KERNEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/wakeplace/kernel} found
    for found in "$cache"/trees/*/"$1"-*/tree; do
        [ ! -e "$found/kernel/sched/core.c" ] || printf %s "$found"
    done
}

# compile_drive TO FLAG...: for hosts of CROSS_COMPILE, as for the shim's build
compile_drive() {
    local to=$1
    shift
    "${CROSS_COMPILE:-}gcc" -O2 -g -rdynamic "$@" -o "$to" crates/kernel-shim/tests/*.c -ldl
}

# What is run: environment, then the scenario and its length. Between them they have all classes,
# groups with limits and hints, hotplug, partitions, governors and a machine of four nodes.
drive_scenarios() {
    cat <<'SCENARIOS'
periodic 3
busy 2
groups 2
storm 4
deadline 4
big 1
SLOW=1 periodic 2
SLOW=1 storm 2
SLOW=1 deadline 10 41
MACHINE=x86 storm 4
MACHINE=x86 deadline 4
IDLE_GOVERNOR=teo periodic 2
GOVERNOR=performance storm 2
SCENARIOS
}

# drive PROGRAM OBJECT SCENARIO: a line of `drive_scenarios`.
drive() {
    local program=$1 object=$2 environment=() words=() word
    for word in $3; do
        case $word in
            *=*) environment+=("$word") ;;
            *) words+=("$word") ;;
        esac
    done
    env "${environment[@]}" "$program" "$object" "${words[@]}"
}

# Runs of the program that have what the tests of its crate lack: machines with SMT, caches by
# cluster, several nodes and big, middle and little CPUs, and the other models of loads. A line: a
# platform, a length, a workload, keys of the kernel's own (-: none), more arguments.
kernel_runs() {
    cat <<'RUNS'
gs101 600ms periodic:n=12,period=16ms,duty=20%,sleep=io -
gs101 600ms busy-loops:n=10 -
sm8650 600ms workloads/mixed-sizes.json -
rk3588 600ms workloads/nice-mix.json features=NEXT_BUDDY
rk3588 600ms workloads/locks-and-signals.json -
juno-r0 600ms shell:loops=4;sysbench-cpu:threads=2,time=20ms -
rpi5 600ms periodic:n=8,duty=60%,groups=a+b - --set model.shares=a:2048+b:512
kunpeng920-2s 10ms netperf-tcp-rr:instances=16 -
kunpeng920-2s 600ms messaging:groups=1 -
zen4-7950x 600ms schbench: -
zen4-7950x 600ms messaging:groups=2,loops=50 features=NO_TTWU_QUEUE
zen4-7950x 600ms messaging:groups=2,loops=50 features=NEXT_BUDDY
zen4-7950x 600ms periodic:n=40,duty=30%,sleep=io idle_governor=teo
alder-lake-12900k 100ms tbench:clients=12,time=1s -
alder-lake-12900k 600ms busy-loops:n=30 governor=performance
spr-2s 600ms busy-loops:n=130 -
spr-2s 600ms messaging:groups=4,loops=20 -
snb-ep-4s 600ms kbuild:jobs=40 -
wsm-ex-4s-ht 600ms sysbench-cpu:threads=50 - --hotplug 100ms:3=off,200ms:3=on
snb-laptop 30ms context-switch:pairs=6 features=NO_WA_IDLE
RUNS
}

# kernel_run PROGRAM VERSION LINE
kernel_run() {
    local platform length workload keys more
    read -r platform length workload keys more <<<"$3"
    [ "$keys" = - ] && keys= || keys=:$keys
    # shellcheck disable=SC2086 # words
    "$1" sim --quiet --platform "$platform" --workload "$workload" --policy "kernel:$2$keys" \
        --duration "$length" --format csv $more
}
