#!/bin/sh
# Runs inside a guest of the lab, under whatever scheduler runs: what a wake-up costs
# (scripts/bench-floor.sh), as `guest.sh cost` has it. Three passes of each; the first does not
# count.
sleep 3
for pass in 0 1 2 3; do
	for cpus in 1 4; do
		mask=f
		[ $cpus != 1 ] || mask=1
		wakeup=$(taskset $mask wakeplace-guest ping-pong --rounds 3000 |
			sed -n 's/.*"ns_per_wakeup":\([0-9.]*\).*/\1/p')
		[ $pass = 0 ] || echo "cost: ping-pong-$cpus ${wakeup:-none}"
	done
done
