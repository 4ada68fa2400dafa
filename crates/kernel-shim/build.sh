#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# build.sh TREE OUT FRAGMENT...: builds OUT/kernel.so from the kernel source TREE.
#
# TREE is only read. OUT keeps what was built, so that a second call builds what changed. FRAGMENTs are
# configuration fragments, merged in their order after config/base.config; one of config/like-*.config
# says what the simulated machine is. JOBS (default: all CPUs) and CC as usual.
# Exit codes: 2 the tree or the configuration cannot be used, 3 a tool is missing, 4 a compile error
# (the compiler's messages are on standard error), 5 a symbol that nobody defines (named).
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
cc=${CC:-gcc}
jobs=${JOBS:-$(nproc)}

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
for tool in make "$cc" ld nm objcopy flex bison bc; do
	command -v "$tool" >/dev/null || die 3 "$tool is not installed"
done

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

kbuild() {
	# The messages name files below the overlay: they are the user's.
	make -s -C "$out/tree" ARCH=wpsim O="$out/obj" CC="$cc" HOSTCC="$cc" \
		KBUILD_BUILD_TIMESTAMP=0 WPSIM_CFLAGS="$defines ${WPSIM_CFLAGS:-}" \
		"$@" >"$out/log" 2>&1
}

configure() {
	local s
	cat "$here/config/base.config" "$@" | write "$out/fragment"
	# The Kconfig files of the tree may have changed, too: the answer is computed each time it may differ.
	if [ "$out/fragment" -nt "$out/obj/.config" ] || [ "$out/kconfig-sum" -nt "$out/obj/.config" ]; then
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

mkdir -p "$out/obj" || exit 2
overlay
defines=$(probe)
(cd "$tree" && find . -name 'Kconfig*' -type f -path './[ikal]*' -newer "$out/obj/.config" 2>/dev/null) |
	write "$out/kconfig-sum"
configure "$@"
objs=$(objects)
kbuild -j"$jobs" -k kernel/sched/ $objs
status=$?
sed "s,$out/tree/,,g; s,\.\./tree/,,g; s,$here/,,g" "$out/log" >&2
[ $status = 0 ] || die 4 "the tree does not compile"
