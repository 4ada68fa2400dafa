# For the tables of what guests have measured: the middle one of v[1] to v[n], which are sorted.
function median(v, n,   i, j, t) {
    for (i = 1; i <= n; i++)
        for (j = i + 1; j <= n; j++) if (v[j] < v[i]) { t = v[i]; v[i] = v[j]; v[j] = t }
    return v[int((n + 1) / 2)]
}
