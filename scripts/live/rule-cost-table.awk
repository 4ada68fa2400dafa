# A table of what guests have measured (`rule-cost.sh`): a file per platform, a row per setting.
# Needs median.awk.
FNR == 1 { file++ }
$1 == "cost:" {
    if (!($2 in row)) { row[$2] = ++rows; name[rows] = $2 }
    at = row[$2] SUBSEP file
    n = ++count[at]
    choice[at, n] = $3
    all[at, n] = $4
}
# "median (least to most)" of the figures of a place; sets `middle`.
function figure(of, at,   n, i, v) {
    n = count[at]
    for (i = 1; i <= n; i++) v[i] = of[at, i] + 0
    middle = median(v, n)
    return sprintf("%d (%d to %d)", middle, v[1], v[n])
}
END {
    files = split(platforms, of, " ")
    printf "| |"
    for (f = 1; f <= files; f++) printf " %s: choice | all programs |", of[f]
    printf "\n|:--|"
    for (f = 1; f <= files; f++) printf "--:|--:|"
    print ""
    for (r = 1; r <= rows; r++) {
        printf r == 1 ? "| the policy as it is |" : "| `" name[r] "` |"
        for (f = 1; f <= files; f++) {
            at = r SUBSEP f
            if (count[at] != count[1, 1]) { print name[r] ": no figure"; exit 1 }
            for (k = 1; k <= 2; k++) {
                text = k == 1 ? figure(choice, at) : figure(all, at)
                if (r == 1) own[f, k] = middle
                change = r == 1 ? "" : sprintf(", %+.1f %%", 100 * (middle / own[f, k] - 1))
                printf " %s%s |", text, change
            }
        }
        print ""
    }
    if (rows < 2) { print "figures are missing"; exit 1 }
}
