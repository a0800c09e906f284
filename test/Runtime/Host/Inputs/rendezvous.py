# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts the ranks of rendezvous.cpp. Usage: rendezvous.py <folder of the program>"""

import concurrent.futures
import os
import socket
import subprocess
import sys
import time

folder = sys.argv[1]
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    PORT = free.getsockname()[1]
FILE, TCP = f"file:{folder}/place", f"tcp://127.0.0.1:{PORT}"


def meet(place, *starts, seconds=2):
    """Starts ranks, each a tuple of rank, number of ranks, message and seconds before the start. Returns
    the exit status and the text of each rank."""
    ranks = []
    for rank, count, message, pause in starts:
        time.sleep(pause)
        command = [f"{folder}/rank", str(rank), str(count), place, str(seconds), message]
        ranks.append((time.monotonic(), subprocess.Popen(command, stdout=subprocess.PIPE, text=True)))
    results = []
    for begin, process in ranks:
        text = process.communicate(timeout=60)[0].strip()
        results.append((process.returncode, text))
        assert time.monotonic() - begin < seconds + 1 or process.returncode == 0, (place, starts, text)
    # Nothing stays behind.
    left = [name for name in os.listdir(folder) if name.startswith("place")]
    assert place != FILE or not left, (starts, left)
    return results


def assert_message(result, text):
    assert result[0] == 1 and text in result[1], (result, text)


def check(place):
    # All get the messages in the order of the ranks, whoever starts first or late.
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
        found = meet(place, *((rank, 3, "abc"[rank], 0.2) for rank in order), seconds=20)
        assert found == [(0, "abc")] * 3, (place, order, found)
    # Rank 0 names the ranks that are missing.
    one, zero = meet(place, (1, 4, "b", 0), (0, 4, "a", 0))
    assert_message(zero, f"rank 0 of 4: ranks 2, 3 have left no message at '{place}'")
    assert_message(one, f"rank 1 of 4: rank 0 waits for other ranks at '{place}'")
    # Ranks that expect other numbers of ranks.
    text = "'number of ranks' is 3 on rank 1 of 3, but 2 on rank 0; expected the same program and options on all ranks"
    for result in meet(place, (1, 3, "b", 0), (0, 2, "a", 0)):
        assert_message(result, text)
    last, zero = meet(place, (2, 3, "c", 0), (0, 2, "a", 0))
    assert_message(last, "'number of ranks' is 3 on rank 2 of 3, but 2 on rank 0")
    assert_message(zero, "rank 0 of 2: rank 1 has left no message")
    (alone,) = meet(place, (1, 2, "b", 0), seconds=1)
    assert_message(alone, "rank 1 of 2: rank 0 " + ("has left no message" if place == FILE else "does not answer"))


with concurrent.futures.ThreadPoolExecutor() as pool:
    list(pool.map(check, (FILE, TCP)))


def number(value):
    return value.to_bytes(8, sys.byteorder)


# Messages of an earlier start, which ended before its ranks had read the answer.
OLD = "0123456789abcdef"
for stale in ("?" + OLD, "!" + OLD):
    for order in ((0, 1), (1, 0)):
        first = stale.encode() + number(2) + (b"x" + OLD.encode() + number(2) + b"y" if stale[0] == "!" else b"")
        for name, text in (("place", first), ("place.1", OLD.encode() + OLD[::-1].encode() + number(2) + b"y")):
            with open(f"{folder}/{name}", "wb") as file:
                file.write(b"amp-ranks test\n" + text)
        found = meet(FILE, *((rank, 2, "ab"[rank], 0.5) for rank in order), seconds=20)
        assert found == [(0, "ab")] * 2, (stale, order, found)

# A stranger at the port of rank 0 does not end the exchange.
process = subprocess.Popen([f"{folder}/rank", "0", "2", TCP, "20", "a"], stdout=subprocess.PIPE, text=True)
for _ in range(100):
    try:
        with socket.create_connection(("127.0.0.1", PORT)) as stranger:
            stranger.sendall(b"GET / HTTP/1.0\r\n\r\n")
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
assert meet(TCP, (1, 2, "b", 0), seconds=20) == [(0, "ab")]
assert process.communicate(timeout=60)[0] == "ab\n"

(wrong,) = meet("nowhere", (0, 2, "a", 0))
assert_message(wrong, "unknown rendezvous 'nowhere', expected file:path, tcp://host:port or torch://host:port")
(wrong,) = meet(f"file:{folder}/no/file", (0, 2, "a", 0))
assert_message(wrong, f"cannot write '{folder}/no/file'")
