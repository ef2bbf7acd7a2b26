# SPDX-License-Identifier: GPL-2.0-or-later
"""The needs of bench/lab's program when bench/io/io_records.py runs it."""

NEEDS = {
    "system_calls": [
        *("openat", "read", "write", "writev", "pread64", "lseek", "ftruncate", "mount"),
        *("pipe2", "splice", "vmsplice", "poll", "socket", "socketpair", "setsockopt", "accept4"),
        *("sendto", "recvfrom", "sendmsg", "sendmmsg", "recvmsg", "ioctl", "fallocate", "fcntl"),
        *("io_uring_setup", "io_uring_enter", "clock_gettime", "fork", "wait4", "kill"),
    ],
    "socket_families": [1, 2],
    "io_paths": True,
}

# A disk in memory for ext4. The system calls above do not imply it.
OVERRIDES = (
    ("BLOCK", "y"),
    ("BLK_DEV", "y"),
    ("BLK_DEV_RAM", "y"),
    ("BLK_DEV_RAM_COUNT", "1"),
    ("BLK_DEV_RAM_SIZE", "32768"),
    ("EXT4_FS", "y"),
)
