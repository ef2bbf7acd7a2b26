# SPDX-License-Identifier: GPL-2.0-or-later
# Installs and removes copies while processes sleep in them, and while tracers keep the return
# addresses of these processes. `hidden` has copies that call an original in which they sleep.
mount -t tracefs tracefs /sys/kernel/tracing
tracing=/sys/kernel/tracing
cd "$FOLDER" || exit 90

# frames NAME: how many frames of the module are on the stacks of sleeping processes
frames() {
	cat /proc/[0-9]*/stack 2>/dev/null | grep -c "\[$1\]"
}

# round NAME: install, let processes sleep in the copies, remove, wake them
round() {
	rm -f ready go
	insmod "$1.ko" || exit 91
	$PYTHON "$HERE/waits.py" 6 "$FOLDER" &
	while [ ! -e ready ]; do sleep 0.1; done
	[ "$(frames "$1")" -ge 12 ] || exit 92
	rmmod "$1" || exit 93
	echo "$1: $(frames "$1") frames left"
	touch go
	wait $!
}

round_of_code() {
	round code
}

# begin: a job whose sums must be right all the time
begin() {
	(while [ ! -e stop ]; do
		$RING 3 5 50 1000 | sort
		sleep 1
	done >sums 2>&1) &
	ring=$!
}

end() {
	touch stop
	wait $ring
	echo "sums: $(sort -u sums | tr '\n' ' ')"
}

# What changes functions does not go together with copies, in either order.
refusals() {
	insmod code.ko || exit 94
	$KADENCE live list
	insmod hidden.ko && exit 95
	insmod napi_limit.ko && exit 95
	$KADENCE live remove code || exit 96
	insmod napi_limit.ko || exit 97
	insmod code.ko && exit 98
	$KADENCE live remove napi_limit || exit 99
	insmod other.ko && exit 89
	$KADENCE live install other.ko && exit 89
	$KADENCE live list
}

traced() {
	echo schedule_timeout >$tracing/set_ftrace_filter
	echo function_graph >$tracing/current_tracer
	round hidden
	echo nop >$tracing/current_tracer
	echo >$tracing/set_ftrace_filter
}

probed() {
	echo 'r:back schedule_timeout' >$tracing/kprobe_events
	echo 1 >$tracing/events/kprobes/back/enable
	round hidden
	echo 0 >$tracing/events/kprobes/back/enable
	echo >$tracing/kprobe_events
}

ip link set lo up
begin
for step; do $step; done
end
exit 0
