# shellcheck shell=bash
# What the scripts that run the live scheduler in guests share. Sourced from the repository's root.

wakeplace=${WAKEPLACE:-${CARGO_TARGET_DIR:-target}/release/wakeplace}
live=scripts/live
# What did not hold, one after the other: in a file, since guests may run beside each other.
faults=$(mktemp)
leftovers=("$faults")
trap 'rm -rf "${leftovers[@]}"' EXIT

say() { printf '%s\n' "$*"; }
fault() {
    local text="**** FAILED: $*"
    printf '%s\n' "$text" >&2
    printf '%s\n' "${text:0:600}" >>"$faults"
}
# all_held: nothing has failed so far.
all_held() { [ ! -s "$faults" ]; }

# keep_in FOLDER: `keep` is where all that guests bring back is left; without a name a folder that
# goes with the script.
keep_in() {
    keep=$1
    if [ -n "$keep" ]; then
        mkdir -p "$keep"
    else
        keep=$(mktemp -d)
        leftovers+=("$keep")
    fi
}

[ -x "$wakeplace" ] || {
    printf '%s is missing: run `make build`, or set WAKEPLACE\n' "$wakeplace" >&2
    exit 3
}

# Packages with the libraries of programs that are not static (`lab-binaries.sh --tested`).
lab_programs=${WAKEPLACE_LAB_BIN:-$(dirname "$(dirname "$wakeplace")")/lab}
libraries() {
    if readelf -l "$lab_programs/$1/scx_wakeplace" 2>/dev/null | grep -q INTERP; then
        echo --package libelf1t64 --package zlib1g --package libgcc-s1
    fi
}

# guest FOLDER OPTION... -- COMMAND...: a run of the lab, all that comes back in FOLDER, its own
# output in FOLDER/log. That the lab had to start it twice is said aloud. It is not priced: the
# tracer would take time of what is measured.
guest() {
    local folder=$1 code=0 packages=()
    shift
    case " $* " in *" --arch x86_64 "*) read -ra packages <<<"$(libraries x86_64)" ;; esac
    rm -rf "$folder"
    mkdir -p "$folder"
    "$wakeplace" lab run --unpriced --keep "$folder" "${packages[@]}" "$@" >"$folder/log" 2>&1 ||
        code=$?
    sed -n 's/^warning: the guest did not come up/**** &/p' "$folder/log" >&2
    return $code
}

# Complaints of a kernel. What merely names a feature ("rcu: RCU ...") is none.
complaints() {
    grep -E 'BUG:|WARNING:|Oops|Call Trace|general protection|detected stalls|self-detected' "$1" ||
        true
    grep -E 'soft lockup|hard LOCKUP|blocked for more than|runnable task stall|workqueue lockup' \
        "$1" || true
    grep -E 'sched_ext: .*(error|fail|stall|aborted)' "$1" || true
}

# clean FOLDER NAME: the scheduler went because it was asked to, and the kernel said nothing bad.
clean() {
    local dmesg=$1/dmesg found
    grep -q 'scheduler "wakeplace.*disabled (unregistered from user space)' "$dmesg" ||
        fault "$2: exit kind is not 64, unregistered from user space"
    [ "$(sed -n 's/^scheduler_exit=//p' "$1/facts" | tail -n 1)" = 0 ] ||
        fault "$2: scx_wakeplace's exit code is not 0"
    found=$(complaints "$dmesg")
    [ -n "$found" ] || return 0
    fault "$2: the kernel complains:"$'\n'"$found"
    say "$2: the first of it, whole:"
    grep -F -m 1 -A 45 "${found%%$'\n'*}" "$dmesg"
}

# The `"key": value` lines of one-key-a-line JSON that are wanted, as "value value ..." per object.
objects() {
    awk -v keys="$1" '
        BEGIN { n = split(keys, key, " ") }
        /^ *[{]/ { for (i in value) delete value[i] }
        match($0, /^ *"[a-z0-9_]+": /) {
            name = $1; gsub(/[":]/, "", name)
            text = substr($0, RLENGTH + 1); gsub(/[",]/, "", text); value[name] = text
        }
        /^ *[}]/ && key[1] in value {
            line = ""; for (i = 1; i <= n; i++) line = line (i > 1 ? " " : "") value[key[i]]
            print line
            for (i in value) delete value[i]
        }'
}
