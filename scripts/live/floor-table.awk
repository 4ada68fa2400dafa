# A table of what guests have measured (`guest.sh ping-pong`): the medians of the repeats, and the
# ratio to the first file, which is the kernel's own scheduler. Each file is SCHEDULER/stdout. Needs
# median.awk.
FNR == 1 {
    parts = split(FILENAME, path, "/")
    scheduler[++schedulers] = path[parts - 1]
}
/^cost: / { value[schedulers, $2, ++count[schedulers, $2]] = $3 }
function figure(of, work,   n, i, v) {
    n = count[of, work]
    for (i = 1; i <= n; i++) v[i] = value[of, work, i] + 0
    return median(v, n) / 2 # the clock counts 2 ns for each instruction
}
END {
    title["kernel"] = "the kernel's own"
    title["floor-1"] = "queues by virtual time, records, idle CPUs"
    title["floor-2"] = "and load tracking"
    title["floor-3"] = "and EEVDF"
    print "| instructions per wake-up | one CPU | four CPUs |\n|:--|--:|--:|"
    for (s = 1; s <= schedulers; s++) {
        one = figure(s, "ping-pong-1"); four = figure(s, "ping-pong-4")
        if (one <= 0 || four <= 0) { print scheduler[s] ": no figure"; exit 1 }
        if (s == 1) { base_one = one; base_four = four }
        printf "| %s | %.0f (%.2f) | %.0f (%.2f) |\n", title[scheduler[s]],
            one, one / base_one, four, four / base_four
    }
    if (schedulers != 4) { print "figures are missing"; exit 1 }
}
