#!/usr/bin/env bash
# What Perfetto's trace_processor makes of the traces in a folder: no error, and both forms of a run
# give the same switches, times by state and wake-ups with their wakers.
#   scripts/traces/processor.sh ENGINE FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
engine=$1
folder=$2

# Of text it does not know `sched_wakeup_new`, so what the process's main thread (1000) wakes, and
# the wait for the first run, are left out.
queries=(
    "select name, value from stats where severity in ('error', 'data_loss') and value > 0"
    "select ts, dur, cpu, tid, priority from sched join thread using (utid) order by ts, cpu"
    "select tid, state, count(*) as n, sum(dur) as ns from thread_state join thread using (utid)
     where tid > 0 and state <> 'R' group by 1, 2 order by 1, 2"
    "select thread.tid, waker.tid as waker, count(*) as n from thread_state
     join thread using (utid) join thread waker on waker.utid = thread_state.waker_utid
     where waker.tid <> 1000 group by 1, 2 order by 1, 2"
    "select track.name, count(*) as n, sum(value) as sum from counter
     join cpu_counter_track as track on track.id = track_id
     where track.name in ('cpufreq', 'cpuidle') group by 1 order by 1"
)
for trace in app wide; do
    for form in pftrace txt; do
        node "$here/query.mjs" "$engine" "$folder/$trace.$form" "${queries[@]}" \
            >"$folder/$trace.$form.rows"
        if [ "$(head -n 1 "$folder/$trace.$form.rows")" != '[]' ]; then
            printf '%s.%s: trace_processor complains:\n' "$trace" "$form" >&2
            head -n 1 "$folder/$trace.$form.rows" >&2
            exit 1
        fi
    done
    printf '%s, both forms by trace_processor: ' "$trace"
    python3 "$here/rows.py" "$folder/$trace.pftrace.rows" "$folder/$trace.txt.rows"
done

node "$here/query.mjs" "$engine" "$folder/wide.pftrace" \
    "select count(*) as n from slice join args using (arg_set_id)
     where category = 'decision' and key = 'debug.dur_avg_ns' and int_value > 0" \
    "select count(distinct capacity) as n from cpu where capacity > 0" >"$folder/extra"
if grep -q '"n":0' "$folder/extra"; then
    printf 'no duration averages on decisions, or no capacities:\n' >&2
    cat "$folder/extra" >&2
    exit 1
fi
echo "wide: duration averages are on decisions, capacities are known"
