# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that wait for a message of TCP until a file appears; prints what they then receive.

    python waits.py COUNT FOLDER

The file FOLDER/ready tells that all wait, and FOLDER/go ends that. Signals interrupt half of them
all the time, and the kernel is told to send from where there is no memory.
"""

import ctypes
import errno
import os
import signal
import socket
import sys
import time
from pathlib import Path


def main() -> None:
    """Fork, connect, wait, and send."""
    count, folder = int(sys.argv[1]), Path(sys.argv[2])
    server = socket.create_server(("127.0.0.1", 0))
    children = [_child(number, server.getsockname()) for number in range(count)]
    peers = [server.accept()[0] for _ in children]
    _send_from_nowhere(peers[0])
    time.sleep(0.5)
    (folder / "ready").touch()
    while not (folder / "go").exists():
        time.sleep(0.05)
    for peer in peers:
        peer.sendall(b"x" * 10)
    print("received", sum(os.waitstatus_to_exitcode(os.waitpid(each, 0)[1]) for each in children))


def _child(number: int, address: tuple[str, int]) -> int:
    child = os.fork()
    if not child:
        if number % 2:
            signal.signal(signal.SIGALRM, lambda *_: None)
            signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        with socket.create_connection(address) as connection:
            os._exit(len(connection.recv(100)))
    return child


def _send_from_nowhere(peer: socket.socket) -> None:
    """The instruction that copies the data faults, which the kernel must find in a table."""
    library = ctypes.CDLL(None, use_errno=True)
    sent = library.send(peer.fileno(), ctypes.c_void_p(64), 4096, 0)
    assert (sent, ctypes.get_errno()) == (-1, errno.EFAULT)


if __name__ == "__main__":
    main()
