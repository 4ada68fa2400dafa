#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# build.sh TREE OUT FRAGMENT...: builds OUT/kernel.so from the kernel source TREE.
#
# TREE is only read. OUT keeps what was built, so that a second call builds what changed. FRAGMENTs
# are configuration fragments, merged in their order after config/base.config; one of
# config/like-*.config says what the simulated machine is. JOBS (default: all CPUs), CC, HOSTCC and
# CROSS_COMPILE as usual (docs/guide/kernel.md#what-it-needs). WPSIM_COHERENT=1: accesses to memory
# call hooks (docs/rules/contended-lines.md#coherence).
# Exit codes: 2 the tree or the configuration cannot be used, 3 a tool is missing, 4 a compile error
# (the compiler's messages are on standard error), 5 a symbol that nobody defines (named).
#
# What must stay: exit codes, which crates/kernel-tree/src/compile.rs reads; the tree is not written
# to; what did not change keeps its date. May change: words of messages.
#
# Tests by part: `a_kernel_of_the_archive_boots` (all of it, once), `cargo xtask kernel-shim` (other
# flags and machines: `configure`, `compile`, `link`; `stubs`: a function that lacks is named). A
# second call that has to build anew (`newer`, `write`) and the exit codes have no test with a tree:
# compile.rs and tests/all/fake_tree.rs of crates/kernel-tree put other scripts in this one's place.
#
# Callers: crates/kernel-tree/src/compile.rs, xtask/src/trees/shim.rs.
#
# Tests: crates/kernel-tree/tests/all/real_tree.rs, crates/kernel-shim/tests
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
cross=${CROSS_COMPILE:-}
cc=${CC:-${cross}gcc}
hostcc=${HOSTCC:-${CC:-gcc}}
jobs=${JOBS:-$(nproc)}
coherent=${WPSIM_COHERENT:-}

say() { printf 'kernel-shim: %s\n' "$*" >&2; }
die() { code=$1; shift; say "$*"; exit "$code"; }

[ $# -ge 2 ] || die 2 "usage: build.sh TREE OUT FRAGMENT..."
tree=$(cd "$1" 2>/dev/null && pwd) || die 2 "$1 is no folder"
for f in Makefile Kbuild kernel/sched/core.c kernel/sched/fair.c include/linux/sched.h; do
	[ -e "$tree/$f" ] || die 2 "$1 is not a kernel tree: it has no $f"
done
mkdir -p "$2" 2>/dev/null && [ -w "$2" ] || die 2 "$2 cannot be written to"
out=$(cd "$2" && pwd)
shift 2
for f in "$@"; do
	[ -r "$f" ] || die 2 "the configuration fragment $f cannot be read"
done
for tool in make "$cc" "$hostcc" "${cross}ld" "${cross}nm" "${cross}objcopy" \
	"${cross}readelf" flex bison bc; do
	command -v "$tool" >/dev/null || die 3 "$tool is not installed"
done

# Hooks at accesses are gcc's: clang has none for those that are volatile, nor older ones.
if [ -n "$coherent" ]; then
	printf 'int f(volatile int *p) { return *p; }\n' |
		"$cc" -O2 -fsanitize=thread --param tsan-distinguish-volatile=1 \
			--param tsan-instrument-func-entry-exit=0 -S -x c -o - - 2>/dev/null |
		grep -q __tsan_volatile_read4 ||
		die 2 "$cc cannot instrument accesses to memory, as model.coherence=on needs it; \
expected gcc 12 or later"
fi

# write FILE: standard input to FILE, which keeps its date when nothing changes.
write() {
	cat >"$1.new"
	if cmp -s "$1.new" "$1"; then rm "$1.new"; else mv "$1.new" "$1"; fi
}

# The tree with arch/wpsim added, made of links. What a build in the tree itself left is not linked.
overlay() {
	local o=$out/tree e
	rm -rf "$o"
	mkdir -p "$o/arch" "$o/include"
	for e in "$tree"/*; do
		case ${e##*/} in
		arch | include | vmlinux* | *.o | *.a) ;;
		*) ln -s "$e" "$o/" ;;
		esac
	done
	for e in "$tree"/arch/*; do ln -s "$e" "$o/arch/"; done
	for e in "$tree"/include/*; do
		case ${e##*/} in
		generated | config) ;;
		*) ln -s "$e" "$o/include/" ;;
		esac
	done
	ln -s "$here/arch/wpsim" "$o/arch/wpsim"
}

# -DWPK_HAS_NAME for each question that the tree answers with yes.
probe() {
	local name path regex
	while read -r name path regex; do
		case $name in '' | '#'*) continue ;; esac
		grep -qsE "$regex" "$tree/$path" && printf ' -DWPK_HAS_%s' "$name"
	done <"$here/probes"
	return 0
}

# The governor's own structs, which no header has.
governor() {
	sed -n '/^struct sugov_[a-z]* {/,/^};/p' "$tree/kernel/sched/cpufreq_schedutil.c" |
		write "$out/wp/sugov.h"
}

# What fair.c alone knows of an attempt to balance.
attempt() {
	sed -n '/^enum migration_type {/,/^};/p; /^#define LBF_/p; /^struct lb_env {/,/^};/p' \
		"$tree/kernel/sched/fair.c" | write "$out/wp/attempt.h"
}

kbuild() {
	# What fair.c's steps of balancing pass through; none where accesses are priced.
	local led="-include $here/shim/fair.h"
	[ -z "${coherent:-}" ] || led=
	# The messages name files below the overlay: they are the user's.
	make -s -C "$out/tree" ARCH=wpsim O="$out/obj" CC="$cc" HOSTCC="$hostcc" \
		CROSS_COMPILE="$cross" \
		KBUILD_BUILD_TIMESTAMP=0 ${coherent:+WPSIM_COHERENT=1} \
		WPSIM_CFLAGS="$defines ${WPSIM_CFLAGS:-}" \
		CFLAGS_fair.o="$led" \
		"$@" >"$out/log" 2>&1
}

configure() {
	local s
	cat "$here/config/base.config" "$@" | write "$out/fragment"
	# The Kconfig files of the tree may have changed, too: the answer is computed each time it
	# may differ.
	if [ "$out/fragment" -nt "$out/obj/.config" ] ||
		[ "$out/kconfig-sum" -nt "$out/obj/.config" ]; then
		kbuild allnoconfig KCONFIG_ALLCONFIG="$out/fragment" || {
			cat "$out/log" >&2
			die 2 "the tree cannot be configured"
		}
	fi
	while read -r s; do
		case $s in '' | '#'*) continue ;; esac
		grep -q "^$s=" "$out/obj/.config" || die 2 "the configuration lacks $s"
	done <"$here/config/required"
}

# Objects that the tree has a source for.
objects() {
	local o
	while read -r o; do
		case $o in '' | '#'*) continue ;; esac
		[ -e "$tree/${o%.o}.c" ] || [ -e "$tree/${o%.o}.S" ] && printf '%s\n' "$o"
	done <"$here/objects"
	return 0
}

# The command line that compiled kernel/sched/core.o, without what names that file.
flags() {
	sed -n 's/^\(savedcmd_\|cmd_\)kernel\/sched\/core.o := //p' \
		"$out/obj/kernel/sched/.core.o.cmd" | head -1 |
		sed 's/-Wp,-MMD,[^ ]*//; s/ -c -o .*//; s/-DKBUILD_[A-Z]*=[^ ]*//g'
}

# compile NAME ARGUMENT...: the shim's own files, again only when one of them or the configuration
# changed.
compile() {
	local object=$out/wp/$1.o
	shift
	newer "$object" || return 0
	(cd "$out/obj" && eval "$* -o $object") 2>"$out/log" || {
		sed "s,$here/,,g; s,$out/tree/,,g" "$out/log" >&2
		die 4 "the shim does not compile with this tree"
	}
}

newer() {
	[ ! -e "$1" ] || [ -n "$(find "$here/shim" "$here/arch" "$out/obj/.config" \
		"$out/obj/kernel/sched/core.o" "$out/wp/sugov.h" "$out/wp/attempt.h" \
		"$out/defines" -newer "$1" -type f 2>/dev/null | head -1)" ]
}

# Symbols that no object has. Those that are called become stubs which say their name; others must
# be known.
stubs() {
	local wp=$out/wp unknown
	"${cross}nm" -u "$wp/all.o" | awk '$1 == "U" {print $2}' | sort -u >"$wp/undefined"
	grep -oE '[A-Za-z_][A-Za-z0-9_]* = ' "$wp/kernel.lds" | sed 's/ = //' >"$wp/known"
	printf '%s\n' _GLOBAL_OFFSET_TABLE_ jiffies _end __ehdr_start \
		__start_wp_registers __stop_wp_registers wp_keys_start wp_keys_end >>"$wp/known"
	sort -u -o "$wp/known" "$wp/known"
	# What a sanitizer calls is in the program that opens the object, what counts lines in a
	# library that is linked to it (WPSIM_LDFLAGS).
	comm -23 "$wp/undefined" "$wp/known" | grep -vE '^__(asan|ubsan|gcov)_' >"$wp/lacking"
	"${cross}readelf" -rW "$wp/all.o" | awk '$3 ~ /PLT32|CALL26|JUMP26/ {print $5}' |
		sort -u >"$wp/called"
	grep -v '^#' "$here/absent" | sort -u >"$wp/absent"
	unknown=$(comm -23 "$wp/lacking" "$wp/called" | comm -23 - "$wp/absent")
	[ -z "$unknown" ] ||
		die 5 "the tree needs data that the shim does not have: $(echo $unknown) \
(an object of the tree to add to crates/kernel-shim/objects, or a definition in shim/stub.c)"
	{
		echo '.text'
		while read -r s; do
			printf '.globl %s\n.hidden %s\n%s:\n' "$s" "$s" "$s"
			case $("$cc" -dumpmachine) in
			x86_64*) printf '\tlea 9f(%%rip), %%rdi\n\tjmp wp_missing\n' ;;
			aarch64*)
				printf '\tadrp x0, 9f\n\tadd x0, x0, :lo12:9f\n\tb wp_missing\n' ;;
			esac
			printf '.section .rodata.wp,"a"\n9:\t.asciz "%s"\n.text\n' "$s"
		done <"$wp/lacking"
		echo '.section .note.GNU-stack,"",%progbits'
	} | write "$wp/missing.S"
}

# The hooks that the instrumented objects call.
priced() {
	compile lines "$cc -O2 -g1 -w -fPIC -fno-builtin -fvisibility=hidden \
		-fno-stack-protector -fno-omit-frame-pointer -fno-strict-aliasing \
		${WPSIM_SHIM_CFLAGS:-} -c $here/shim/lines.c"
}

# Addresses of static keys, which are code on a real machine and data here: by their names in the
# tree's text.
keys() {
	local wp=$out/wp s
	grep -rhoE '(DEFINE|DECLARE)_STATIC_KEY_(TRUE|FALSE|MAYBE)(_RO)?\([^)]*\)' \
		"$tree/kernel" "$tree/drivers/base" "$tree/drivers/cpufreq" "$tree/include/linux" |
		sed 's/.*(//; s/)//; s/.*, *//' | sort -u >"$wp/key-names"
	"${cross}nm" --defined-only "$wp/all.o" | awk '$2 ~ /[bBdD]/ {print $3}' | sort |
		uniq -u | comm -12 - "$wp/key-names" >"$wp/keys"
	"${cross}objcopy" --globalize-symbols="$wp/keys" "$wp/all.o"
	{
		printf '.data\n.balign 8\n.globl wp_keys_start, wp_keys_end\n'
		printf '.hidden wp_keys_start, wp_keys_end\nwp_keys_start:\n'
		while read -r s; do printf '.hidden %s\n.quad %s\n' "$s" "$s"; done <"$wp/keys"
		printf 'wp_keys_end:\n.section .note.GNU-stack,"",%%progbits\n'
	} | write "$wp/keys.S"
	"$cc" -c -o "$wp/keys.o" "$wp/keys.S" || exit 4
}

link() {
	local wp=$out/wp cmd
	mkdir -p "$wp"
	cmd=$(flags)
	[ -n "$cmd" ] || die 2 "the tree's own command line is not to be found"
	governor
	attempt
	compile shim "$cmd ${coherent:+-fno-sanitize=thread} -I$here/shim -I$out/tree -I$wp \
		-Wno-missing-prototypes -Wno-missing-declarations \
		${WPSIM_SHIM_CFLAGS:-} -c $here/shim/shim.c"
	compile stub "$cc -O2 ${coherent:+-DWPSIM_COHERENT} -g1 -w -fPIC -fno-builtin \
		-fvisibility=hidden -fno-stack-protector \
		-fno-omit-frame-pointer -fno-tree-loop-distribute-patterns \
		${WPSIM_SHIM_CFLAGS:-} -c $here/shim/stub.c"
	[ -z "$coherent" ] || priced
	(cd "$out/obj" && eval "$cmd -E -P -DLINKER_SCRIPT -D__ASSEMBLY__ -D__ASSEMBLER__ \
		-x assembler-with-cpp \
		$here/shim/kernel.lds.S") | sed -n '/^SECTIONS/,$p' |
		sed 's/PAGE_SIZE/4096/g' | write "$wp/kernel.lds"
	# Updates of averages and picks pass through the shim (signals.c, turns.c).
	(cd "$out/obj" && "${cross}ld" -r -o "$wp/all.o" \
		--wrap=__update_load_avg_se --wrap=__update_load_avg_blocked_se \
		--wrap=__update_load_avg_cfs_rq --wrap=pick_task_fair --wrap=pick_next_task_fair \
		--whole-archive kernel/sched/built-in.a --no-whole-archive \
		$objs "$wp/shim.o" "$wp/stub.o" ${coherent:+"$wp/lines.o"}) 2>"$out/log" || {
		cat "$out/log" >&2
		die 5 "the objects do not go together"
	}
	[ -z "$coherent" ] || keys
	stubs
	"$cc" -c -o "$wp/missing.o" "$wp/missing.S" || exit 4
	"$cc" -shared -nostdlib -o "$out/kernel.so.new" "$wp/all.o" "$wp/missing.o" \
		${coherent:+"$wp/keys.o"} \
		-Wl,-T,"$wp/kernel.lds" -Wl,--version-script="$here/shim/so.map" \
		-Wl,-Bsymbolic -Wl,--no-undefined \
		-Wl,-z,noexecstack -Wl,-z,now -Wl,-soname,kernel.so \
		${WPSIM_LDFLAGS:-} 2>"$out/log" || {
		cat "$out/log" >&2
		die 5 "the object cannot be linked"
	}
	mv "$out/kernel.so.new" "$out/kernel.so"
}

mkdir -p "$out/obj" "$out/wp" || exit 2
overlay
# make goes by dates, and what another program's shim built may be newer than this one's files:
# commands have the sum of what the tree includes, and the shim's own objects know its folder.
sum=$(cd "$here/arch" && find . -type f | sort | xargs cat | cksum | cut -d' ' -f1)
defines="$(probe) -DWPSIM_ARCH=$sum"
echo "$here $defines $coherent ${WPSIM_CFLAGS:-} ${WPSIM_SHIM_CFLAGS:-}" | write "$out/defines"
configure "$@"
objs=$(objects)
kbuild -j"$jobs" kernel/sched/ $objs
status=$?
# Some trees (5.10, 6.1) warn of system calls that the architecture lacks: nothing of the user's.
sed "/#warning syscall/d; s,$out/tree/,,g; s,\.\./tree/,,g; s,$here/,,g" "$out/log" >&2
[ $status = 0 ] || die 4 "the tree does not compile"
link
