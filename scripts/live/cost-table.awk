# A table of what guests have measured (`guest.sh cost`): the median of the repeats, and the ratio
# to the first file, which is the kernel's own scheduler. Each file is SCHEDULER/stdout. Needs
# median.awk.
FNR == 1 {
    parts = split(FILENAME, path, "/")
    scheduler[++schedulers] = path[parts - 1]
}
/^cost: / {
    if (!($2 in known)) { known[$2] = 1; order[++rows] = $2 }
    value[$2, schedulers, ++count[$2, schedulers]] = $3
}
# Sets `spread`, how far the repeats lie apart, percent.
function figure(row, of,   n, i, v, middle) {
    n = count[row, of]
    for (i = 1; i <= n; i++) v[i] = value[row, of, i] + 0
    middle = median(v, n)
    spread = v[1] > 0 ? 100 * (v[n] - v[1]) / v[1] : 0
    return middle
}
END {
    title["ping-pong-1"] = "ping-pong on one CPU, instructions per wake-up"
    title["ping-pong-4"] = "ping-pong on four CPUs, instructions per wake-up"
    title["hackbench"] = "hackbench -g 2 -l 100, virtual s"
    title["wait-p50"] = "its tasks from wake-up to running, median, us"
    title["wait-p99"] = "the same, 99th percentile, us"
    printf "| |"
    for (s = 1; s <= schedulers; s++) printf " %s |", scheduler[s]
    printf " repeats within |\n|:--|"
    for (s = 1; s <= schedulers; s++) printf "--:|"
    print "--:|"
    for (r = 1; r <= rows; r++) {
        row = order[r]; widest = 0
        printf "| %s |", title[row]
        for (s = 1; s <= schedulers; s++) {
            one = figure(row, s)
            if (one <= 0 || count[row, s] != count[row, 1]) { print row ": no figure"; exit 1 }
            if (spread > widest) widest = spread
            # The clock counts 2 ns for each instruction.
            if (row ~ /^ping-pong/) one /= 2
            if (s == 1) base = one
            printf row == "hackbench" ? " %.3f" : " %.0f", one
            printf s == 1 ? " |" : " (%.2f) |", one / base
        }
        printf " %.1f %% |\n", widest
    }
    if (rows != 5) { print "figures are missing"; exit 1 }
}
