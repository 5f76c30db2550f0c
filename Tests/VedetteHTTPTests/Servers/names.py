# SPDX-License-Identifier: Apache-2.0
"""A name server on 127.0.0.1:53, for a network namespace of its own. It says "ready", and ends with its standard input.

good.test    127.0.0.1
both.test    127.0.0.1, and an IPv6 address that leads nowhere
six.test     that IPv6 address alone
fail.test    SERVFAIL
silent.test  no answer
others       NXDOMAIN
"""

import ipaddress
import socket
import sys
import threading

FOUR, SIX = ipaddress.ip_address("127.0.0.1").packed, ipaddress.ip_address("fd00:dead::1").packed
ANSWERS = {"good.test": {1: FOUR}, "both.test": {1: FOUR, 28: SIX}, "six.test": {28: SIX}}


def reply(query):
    at, labels = 12, []
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode().lower())
        at += 1 + query[at]
    name, kind, question = ".".join(labels), int.from_bytes(query[at + 1:at + 3], "big"), query[12:at + 5]
    if name == "silent.test":
        return None
    code = 2 if name == "fail.test" else 0 if name in ANSWERS else 3
    address = ANSWERS.get(name, {}).get(kind, b"")
    head = query[:2] + bytes([0x81, 0x80 | code, 0, 1, 0, 1 if address else 0, 0, 0, 0, 0])
    record = b"\xc0\x0c" + kind.to_bytes(2, "big") + bytes([0, 1, 0, 0, 0, 0]) + len(address).to_bytes(2, "big")
    return head + question + (record + address if address else b"")


def main():
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))

    def serve():
        while True:
            query, peer = server.recvfrom(4096)
            answer = reply(query)
            if answer:
                server.sendto(answer, peer)

    threading.Thread(target=serve, daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()


main()
