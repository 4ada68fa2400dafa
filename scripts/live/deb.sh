#!/bin/sh
# Runs inside a guest of the lab whose first process is systemd, beside the two Debian packages:
# installs them, runs what they brought, removes them. Prints a line for each step.
# Exit code: 0 if every step held.
ext=/sys/kernel/sched_ext
# By its bare name the shell would run busybox's dpkg.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH
dpkg=/usr/bin/dpkg
failed=0

# The lab brings back what is in /out, whatever it thinks of the scheduler that ran.
say() { echo "$*" | tee -a /out/live-deb-steps; }

step() {
	name=$1
	shift
	if "$@" >/tmp/step.out 2>&1; then
		say "step: $name ok"
	else
		say "step: $name FAILED"
		say "$(tail -n 15 /tmp/step.out)"
		failed=$((failed + 1))
	fi
}

# The guest's files were unpacked, not installed: dpkg's books are empty.
books() {
	mkdir -p /var/lib/dpkg/info /var/lib/dpkg/updates /var/lib/dpkg/triggers
	touch /var/lib/dpkg/status /var/lib/dpkg/available
}
installs() { $dpkg --install ./*.deb; }
simulates() {
	wakeplace compare --platform hikey960 --workload 'periodic:n=4,period=16ms,duty=5%' \
		--policy linux-7.3 --policy wakeplace --duration 1s --seeds 2
}
has_pages() {
	for file in man/man1/wakeplace.1.gz man/man1/scx_wakeplace.1.gz doc/wakeplace/README.md \
		bash-completion/completions/wakeplace bash-completion/completions/scx_wakeplace \
		zsh/vendor-completions/_wakeplace fish/vendor_completions.d/wakeplace.fish; do
		[ -s "/usr/share/$file" ] || [ -s "/usr/share/$file.gz" ] || {
			echo "/usr/share/$file is missing"
			return 1
		}
	done
}
# What was just installed does not run before somebody asks for it.
waits() { [ "$(cat $ext/state)" = disabled ]; }
schedules() {
	systemctl start scx_wakeplace && [ "$(cat $ext/state)" = enabled ] &&
		grep -q '^wakeplace' $ext/root/ops && scx_wakeplace status
}
# Its end gives the machine back.
removes() { $dpkg --remove scx-wakeplace wakeplace; }
gives_back() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ "$(cat $ext/state)" = disabled ] && return
		sleep 1
	done
	return 1
}
is_gone() {
	[ ! -e /usr/bin/wakeplace ] && [ ! -e /usr/bin/scx_wakeplace ] &&
		[ ! -e /usr/lib/systemd/system/scx_wakeplace.service ]
}
keeps_options() { [ -e /etc/default/scx_wakeplace ]; }
purges() { $dpkg --purge scx-wakeplace wakeplace && [ ! -e /etc/default/scx_wakeplace ]; }

step books books
step install installs
step simulator simulates
step pages has_pages
step "service waits" waits
step scheduler schedules
step remove removes
step "machine given back" gives_back
step "files gone" is_gone
step "options kept" keeps_options
step purge purges
say "steps failed: $failed"
[ $failed = 0 ]
