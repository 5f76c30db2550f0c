# SPDX-License-Identifier: Apache-2.0
"""Row 12: calendars of a few hundred bytes whose rules and time zones take long to expand, beside sources that must not wait for them."""
from __future__ import annotations

import json
import os
import subprocess
import threading
import time

import stores
from parts import JSONHandler, JSONServer, end, start_notified, wait_until

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Tests", "Fixtures", "calendar")
LISTS, SECONDS, PATIENCE = 5, 20, 30
CHANGING = ("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:bench\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\n"
            "DTSTART:20260101T000000Z\r\nRRULE:FREQ=DAILY\r\nSUMMARY:%d\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
SOURCE = "  %s: {kind: %s, url: \"http://%s:%d/%s\", every: 1s, fails: 1}\n"


class Server(JSONServer):
    """Lists that stay as they are, a calendar that is another one at each request, and the calendars of Tests/Fixtures."""

    def __init__(self):
        self.asked, self.lock, self.hostile = {}, threading.Lock(), {}
        for name in sorted(os.listdir(FIXTURES)):
            with open(os.path.join(FIXTURES, name), "rb") as file:
                self.hostile[name] = file.read()
        super().__init__(Handler)

    def body(self, path):
        name = path.strip("/")
        with self.lock:
            times = self.asked.setdefault(name, [])
            times.append(time.monotonic())
        if name == "changing":
            return (CHANGING % len(times)).encode()
        return self.hostile.get(name, b"[{\"id\": 1}]")

    def since(self, begin):
        """When each of the others was asked since then."""
        with self.lock:
            return {name: [when for when in self.asked.get(name, []) if when >= begin] for name in others()}


class Handler(JSONHandler):
    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "text/calendar" if body.startswith(b"BEGIN") else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


class One(stores.SQLite):
    name, watchers = "SQLite", 1


class Two(stores.Postgres):
    name, watchers = "PostgreSQL, 2 watchers", 2


class Seen:
    """Seconds: the latest poll of each other source, the longest pause of the sink, and the end of each watcher (None: killed after half a
    minute). `ended`: codes of watchers that ended by themselves. `reasons`: what is said of the calendars."""

    def __init__(self):
        self.late, self.pause, self.messages, self.ending, self.ended, self.reasons = {}, 0.0, 0, [], [], {}

    @property
    def latest(self):
        return max(self.late.values())

    @property
    def is_met(self):
        return self.latest < 1 and not self.ended and all(seconds is not None and seconds < 10 for seconds in self.ending)


def others():
    return ["l%d" % n for n in range(LISTS)] + ["changing"]


def configuration(server, number, is_besieged):
    host, port = server.server_address
    lines = [SOURCE % (name, "calendar" if name == "changing" else "json", host, port, name) for name in others()]
    if is_besieged:
        lines += [SOURCE % (name.replace(".ics", ""), "calendar", host, port, name) for name in server.hostile]
    return ("settings: {watcher: w%d}\nsources:\n%ssinks:\n  out: {kind: stdout, format: line, watcher: w0}\nrules:\n"
            "  - {name: any, when: {changes: [title]}, notify: [out]}\n" % (number, "".join(lines)))


def measure(vedette, store):
    """The hostile calendars come to watchers that work; what is measured begins then."""
    server, seen, processes, told = Server(), Seen(), [], []
    state = store.state("calendars")
    try:
        for number in range(store.watchers):
            process, ready = start_notified(
                vedette, store.work, "calendars-%d" % number, configuration(server, number, False), state, subprocess.PIPE)
            processes.append(process)
            threading.Thread(target=listen, args=(process.stdout, told), daemon=True).start()
            ready(60)
        wait_until(lambda: told and store.is_divided("calendars"), 60, "the first message of the calendar that changes")
        time.sleep(2)
        begin = time.monotonic()
        for number in range(store.watchers):
            with open(path_of(store, number), "w") as file:
                file.write(configuration(server, number, True))
        time.sleep(SECONDS)
        now = time.monotonic()
        # Of a source that is not asked any more the time until now counts.
        seen.late = {name: longest(times, begin, now) - 1.1 for name, times in server.since(begin).items()}
        times = [when for when in told if when >= begin]
        seen.messages, seen.pause = len(times), longest(times, begin, now)
        seen.ended = [process.returncode for process in processes if process.poll() is not None]
        seen.reasons = reasons(vedette, store, state, [name.replace(".ics", "") for name in server.hostile])
        seen.ending = ending([process for process in processes if process.poll() is None])
        return seen
    finally:
        for process in processes:
            end(process)
        server.close()


def path_of(store, number):
    return os.path.join(store.work, "calendars-%d" % number, "config", "bench.yaml")


def listen(output, told):
    for _ in output:
        told.append(time.monotonic())


def longest(times, begin, now):
    points = [begin, *times, now]
    return max(b - a for a, b in zip(points, points[1:]))


def reasons(vedette, store, state, names):
    command = [vedette, "status", "--all", "--json", "--config", os.path.dirname(path_of(store, 0)), "--state", state]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    rows = [json.loads(line) for line in answer.stdout.splitlines()]
    found = {row["source"]: row.get("error") for row in rows if row.get("source") in names}
    return {name: "%s: %s" % (error["class"], error["detail"]) if error else "no failure" for name, error in found.items()}


def ending(processes):
    """Seconds from SIGTERM, to all at once, until each process ended."""
    begin, seconds = time.monotonic(), []
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(max(0, begin + PATIENCE - time.monotonic()))
            seconds.append(time.monotonic() - begin)
        except subprocess.TimeoutExpired:
            seconds.append(None)
    return seconds
