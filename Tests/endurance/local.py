# SPDX-License-Identifier: Apache-2.0
"""The lists that a watcher reads on its own machine: a file for a `file:` source, and a program for a `command:` source."""
from __future__ import annotations

import json
import os
import threading

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "print-list")
BODY_LIMIT = 16 << 20  # of Documentation.docc/Limits.md
NEVER_TRUE = 1 << 40  # added to the numbers of a list that nobody may believe

# "quiet": the list changes, what is read does not.
OUTAGES = {"file": ("missing", "half", "empty", "login", "large", "directory", "pipe", "quiet"),
           "command": ("missing", "half", "empty", "login", "large", "fail", "signal", "hang", "quiet")}


def body_of(rows, added=0):
    return json.dumps([{"id": key, "v": value + added} for key, value in rows.items()]).encode()


class LocalLists(threading.Thread):
    """Writes each list when it changes, and breaks it as its outage says. One thread is the only writer."""

    def __init__(self, lists, directory):
        super().__init__(daemon=True)
        self.lists, self.directory, self.closed, self.written = lists, directory, threading.Event(), {}
        self.transports = {n: transport for transport in OUTAGES for n in lists.numbers(transport)}
        os.makedirs(directory, exist_ok=True)
        self.update()
        self.start()

    def place(self, n):
        """The file, or the program."""
        return os.path.join(self.directory, str(n))

    def run(self):
        while not self.closed.wait(0.02):
            self.update()

    def update(self):
        for n, transport in self.transports.items():
            outage = self.lists.outages.of(n)
            if outage == "quiet":
                continue
            # A command that hangs prints the list as it is in the end.
            rows = self.lists.serve(n) if outage in (None, "hang") else None
            if self.written.get(n) != (outage, rows):
                self.write(n, transport, outage, rows)
                self.written[n] = (outage, rows)

    def write(self, n, transport, outage, rows):
        false = body_of(self.lists.of(n), NEVER_TRUE)
        if transport == "file":
            self.write_body(self.place(n), outage, rows, false)
            return
        place = self.place(n)
        replace(place + ".false", false)
        if outage == "hang":
            replace(place + ".hang", b"")
        # `print-list` reads these two one after the other, so each of them must be right beside the other's former state.
        replace(place + ".fault", b"%s\n" % (outage or "none").encode())
        if outage not in ("fail", "signal", "missing"):
            self.write_body(place + ".json", outage, rows, false)
        if outage != "hang":
            clear(place + ".hang")
        if outage == "missing":
            clear(place)
        elif not os.path.lexists(place):
            os.symlink(PROGRAM, place)

    def write_body(self, path, outage, rows, false):
        if outage in (None, "hang"):
            replace(path, body_of(rows))
        elif outage == "half":
            clear_unless_regular(path)
            with open(path, "wb") as file:  # in place, as by a program that does not rename
                file.write(false[:len(false) // 2])
        elif outage == "empty":
            replace(path, b"")
        elif outage == "login":
            replace(path, b"<html><body><form action=login>")
        elif outage == "large":
            replace(path, false + b" " * BODY_LIMIT)
        else:
            clear(path)
            if outage == "directory":
                os.mkdir(path)
            elif outage == "pipe":
                os.mkfifo(path)

    def close(self):
        """Ends the thread, and every command that still hangs."""
        self.closed.set()
        self.join()
        for n in self.transports:
            clear(self.place(n) + ".hang")


def clear(path):
    if os.path.isdir(path):
        os.rmdir(path)
    elif os.path.lexists(path):
        os.unlink(path)


def clear_unless_regular(path):
    if not os.path.isfile(path):
        clear(path)


def replace(path, body):
    """Writes a whole file in one step, as its reader sees it."""
    with open(path + ".new", "wb") as file:
        file.write(body)
    if os.path.isdir(path):
        os.rmdir(path)
    os.replace(path + ".new", path)
