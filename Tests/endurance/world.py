# SPDX-License-Identifier: Apache-2.0
"""The world around one watcher, and its process: lists whose items hold numbers that only grow, and receivers that remember
what they accepted. Shares no code with Vedette."""
from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lab"))
import local  # noqa: E402
from wire import Reply, Server, head, json_reply  # noqa: E402

SOURCE_OUTAGES = {"http": ("500", "close", "reset", "cut", "hang", "empty", "login", "503"), **local.OUTAGES}
SINK_OUTAGES = ("503", "close", "hang", "reset")


class Outages:
    """What fails until when: by the number of a list, or by the name of a receiver."""

    def __init__(self):
        self.until = {}

    def begin(self, who, kind, seconds):
        """The failure that lasts longest is the one that counts."""
        until = time.monotonic() + seconds
        if until > self.until.get(who, (None, 0))[1]:
            self.until[who] = (kind, until)

    def end(self):
        self.until = {}

    def of(self, who):
        kind, until = self.until.get(who, (None, 0))
        return kind if time.monotonic() < until else None

    @property
    def any(self):
        now = time.monotonic()
        return any(until > now for _, until in list(self.until.values()))


class Lists:
    """JSON lists of items `{"id": "N-K", "v": NUMBER}`. A number only grows, a key is never given twice; so the events of an item
    must lead without a break from its first number to its last, whatever was missed in between. Most lists are `/list/N` of a
    server, the others files and what programs print."""

    TRANSPORTS = ("http", "http", "http", "http", "file", "command")

    def __init__(self, count, items):
        self.count, self.lock, self.outages, self.polls = count, threading.Lock(), Outages(), 0
        self.rows = [{"%d-%d" % (n, k): 0 for k in range(items)} for n in range(count)]
        self.served = {key: {0} for row in self.rows for key in row}
        self.next, self.removed = [items] * count, set()

    def transport(self, n):
        return self.TRANSPORTS[n % len(self.TRANSPORTS)]

    def numbers(self, transport):
        return [n for n in range(self.count) if self.transport(n) == transport]

    def advance(self, n, dice, changes=2, keeps_items=False):
        """Some items of a list change; now and then one is new, and one is gone."""
        with self.lock:
            rows = self.rows[n]
            for key in dice.sample(sorted(rows), min(changes, len(rows))):
                rows[key] += 1
            if keeps_items:
                return
            if dice.random() < 0.12:
                rows["%d-%d" % (n, self.next[n])] = 0
                self.next[n] += 1
            if dice.random() < 0.12 and len(rows) > 5:
                key = dice.choice(sorted(rows))
                del rows[key]
                self.removed.add(key)

    def now(self):
        with self.lock:
            return {key: value for rows in self.rows for key, value in rows.items()}

    def of(self, n):
        with self.lock:
            return dict(self.rows[n])

    def serve(self, n):
        """The list, of which each number may be in an event from now on."""
        with self.lock:
            for key, value in self.rows[n].items():
                self.served.setdefault(key, set()).add(value)
            return dict(self.rows[n])

    def __call__(self, request, connection):
        n = int(request.path.rsplit("/", 1)[1])
        outage = self.outages.of(n)
        with self.lock:
            self.polls += 1
        if outage:
            return self.fail(outage, local.body_of(self.of(n), local.NEVER_TRUE), connection)
        body = local.body_of(self.serve(n))
        tag = '"%s"' % hashlib.sha1(body).hexdigest()
        if n % 2 == 0 and request.header("If-None-Match") == tag:
            return Reply(304, headers=[("ETag", tag)])
        return Reply(200, body, headers=[("ETag", tag)] if n % 2 == 0 else [])

    def fail(self, outage, body, connection):
        if outage in ("500", "503"):
            return Reply(int(outage), "told to fail", headers=[("Retry-After", "1")] if outage == "503" else [])
        if outage == "empty":
            return Reply(200, b"")
        if outage == "login":
            return Reply(200, "<html><body><form action=login>", "text/html")
        if outage == "cut":
            connection.write(head(200, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]) + body[:-9])
        if outage == "reset":
            connection.reset()
        if outage == "hang":
            connection.hold(2)
        return None


class Receivers:
    """`/hook/NAME`: what came, by the id of the message: a digest of its body, and how often it was accepted."""

    def __init__(self):
        self.lock, self.outages = threading.Lock(), Outages()
        self.posts, self.unequal, self.latest, self.accepted = {}, [], {}, 0

    def __call__(self, request, connection):
        if len(request.body) != int(request.header("Content-Length", "0")):
            return None  # the sender died within the body
        sink = request.path.rsplit("/", 1)[1]
        outage = self.outages.of(sink)
        # "close", "reset" and "hang" come after the message was taken: the sender cannot know that it was.
        self.record(sink, request.header("webhook-id"), request.body, accepted=outage != "503", answered=outage is None)
        if outage == "503":
            return Reply(503, "told to fail", headers=[("Retry-After", "1")])
        if outage == "reset":
            connection.reset()
        if outage == "hang":
            connection.hold(1.5)
        return None if outage else Reply(200, "ok\n", "text/plain")

    def record(self, sink, message, body, accepted, answered):
        digest = hashlib.sha256(body).hexdigest()
        data = json.loads(body).get("data", {})
        item = data.get("item") or {}
        with self.lock:
            post = self.posts.setdefault(message, {"sink": sink, "digest": digest, "accepted": 0, "answered": 0, "first": 0})
            if post["digest"] != digest:
                self.unequal.append(message)
            if accepted:
                self.accepted += 1
                post["accepted"] += 1
                post["first"] = post["first"] or self.accepted
                post["answered"] += answered
                value = (item.get("fields") or {}).get("v")
                if value is not None:
                    key = (sink, item.get("key"))
                    self.latest[key] = max(self.latest.get(key, -1), int(value))

    def has(self, sinks, values):
        """Whether each of the sinks accepted a message with the newest number of each key."""
        with self.lock:
            return all(self.latest.get((sink, key), -1) >= value for sink in sinks for key, value in values.items())

    @property
    def duplicates(self):
        with self.lock:
            return sum(post["accepted"] - 1 for post in self.posts.values() if post["accepted"] > 1)


class Trouble(Exception):
    """What stops the run itself, in one line."""


class World:
    """One configuration, one state, and the watcher that has them."""

    SURE = ("a", "b")  # the sinks that get every change
    LATE_ENDS = 0  # how often a watcher may end after the last fault, and because of it
    OF_MACHINE = ""  # what a source of one machine has besides

    def __init__(self, vedette, work, sources=6, items=8, sinks=("a", "b", "c"), every="150ms", faults=None, state=None,
                 address="127.0.0.1"):
        self.vedette, self.faults, self.every, self.sinks = vedette, faults, every, sinks
        self.config, self.state = os.path.join(work, "config"), state or os.path.join(work, "state")
        self.log, self.journal = os.path.join(work, "log"), os.path.join(self.state, "journal.db")
        for directory in (self.config, self.state):
            os.makedirs(directory, exist_ok=True)
        self.lists, self.receivers, self.first_items = Lists(sources, items), Receivers(), items
        self.local, self.left_out, self.revived = local.LocalLists(self.lists, os.path.join(work, "lists")), 0, set()
        self.source_server, self.sink_server = Server("lists", self.lists, host=address), Server("receivers", self.receivers, host=address)
        self.process, self.asked, self.may_end, self.odd, self.variant = None, None, False, [], 0
        self.is_settled = True
        self.configure()

    def configure(self, variant=0):
        """Writes the configuration. Variants: 0 the usual one; 1 another interval and priority; 2 without one of the sources, in
        turn, and the last sink; 3 broken."""
        self.variant = variant
        sources, sinks = list(range(self.lists.count)), list(self.sinks)
        if variant == 2:
            self.left_out = (self.left_out - 1) % self.lists.count
            sources.remove(self.left_out)
            sinks = sinks[:-1]
        every = "170ms" if variant == 1 else self.every
        lines = ["sources:"]
        for n in sources:
            lines.append("  l%03d: {kind: json, %s, key: id, title: id, fields: {v: v}, every: %s}" % (n, self.place_of(n), every))
        lines.append("sinks:")
        for sink in sinks:
            lines.append('  %s: {kind: webhook, url: "%s/hook/%s", timeout: 3s}' % (sink, self.sink_server.url, sink))
        # Longer than any step of the clock: the journal is the evidence.
        lines += ["settings: {retain: {events: 3650d}, give_up: 3650d}", "rules:",
                  "  - {name: changed, when: {changes: [v]}, notify: [a, b]}",
                  "  - {name: new, when: {appears: true}, notify: [a, b]}",
                  "  - {name: gone, when: {disappears: true}, notify: [a, b]}"]
        rest = ", ".join(sinks[2:])
        if rest:
            priority = "high" if variant == 1 else "normal"
            lines += ["  - {name: few, when: {changes: [v]}, limit: {count: 2, per: 5s, by: item}, priority: %s, notify: [%s]}" % (priority, rest),
                      "  - {name: held, when: {changes: [v]}, for: 400ms, notify: [%s]}" % rest,
                      "  - {name: summed, when: {changes: [v]}, digest: {every: 2s}, notify: [%s]}" % rest]
        if variant == 3:
            lines.append("nonsense: [")
        path = os.path.join(self.config, "world.yaml")
        with open(path + ".new", "w") as file:
            file.write("\n".join(lines) + "\n")
        os.replace(path + ".new", path)

    def place_of(self, n):
        """Where the watcher finds a list."""
        return {"http": 'url: "%s/list/%d"' % (self.source_server.url, n),
                "file": 'url: "file://%s"%s' % (self.local.place(n), self.OF_MACHINE),
                "command": 'command: ["%s"]%s' % (self.local.place(n), self.OF_MACHINE)}[self.lists.transport(n)]

    def is_first(self, key):
        """Whether the item was there from the start, with 0."""
        return int(key.split("-")[1]) < self.first_items

    # The process.

    @property
    def environment(self):
        """glibc fills memory with a pattern when it is given out and when it is freed: a value that was never written, or is read
        after its end, cannot be right by luck."""
        return {"MALLOC_PERTURB_": "165", **os.environ}

    @property
    def place(self):
        """The options that name the configuration and the journal."""
        return ["--config", self.config, "--state", self.state]

    def command(self, verb, *arguments):
        """Runs another command beside the watcher, without faults. One that fails is odd."""
        done = subprocess.run([self.vedette, *verb.split(), *self.place, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=30, env=self.environment)
        if done.returncode != 0:
            self.odd.append("vedette %s ended with %s: %s" % (verb, end_of(done.returncode), done.stderr.strip()[-300:]))
        return done.returncode

    def retry(self, sink):
        """`outbox retry`, which also releases dead messages a second time, after those that followed them."""
        with closing(sqlite3.connect("file:%s?mode=ro" % self.journal, uri=True, timeout=10)) as journal:
            self.revived.update(id for (id,) in journal.execute("select id from delivery where state = 'dead' and sink = ?", (sink,)))
        self.command("outbox retry", "--sink", sink)

    def start(self):
        command = [self.vedette, "run", *self.place]
        if shutil.which("setpriv"):
            command = ["setpriv", "--pdeathsig", "KILL"] + command
        self.asked = None
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
                env=dict(self.environment, **(self.faults.environment if self.faults else {})))

    @property
    def alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        if self.alive:
            self.asked = signal.SIGKILL
            self.process.kill()
        return self.collect()

    def terminate(self):
        self.asked = signal.SIGTERM
        self.process.terminate()

    def stop(self, seconds=12):
        """SIGTERM; I10 promises an end within 10 s."""
        if not self.alive:
            return self.collect()
        self.terminate()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.odd.append("SIGTERM did not end the watcher within %d s" % seconds)
            return self.kill()
        return self.collect()

    def collect(self):
        """Takes the exit code of a process that ended."""
        if self.process is None:
            return None
        code, self.process = self.process.wait(), None
        asked = signal.SIGKILL if self.faults and self.faults.take_death() else self.asked
        self.check_end("the watcher", code, asked)
        return code

    def check_end(self, who, code, asked):
        """An end is odd unless it comes from the signal that this process sent (`asked`), or a fault that may end a watcher."""
        is_ours = code == -signal.SIGKILL and asked == signal.SIGKILL or code == 0 and asked == signal.SIGTERM
        if not is_ours and not (self.may_end and code in (69, 73, 74, 75)):
            self.odd.append("%s ended by itself with %s" % (who, end_of(code)))

    def log_text(self):
        try:
            with open(self.log, errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def close(self):
        if self.alive:
            self.kill()
        self.close_servers()

    def close_servers(self):
        self.local.close()
        for server in (self.source_server, self.sink_server):
            server.close()


def end_of(code):
    """A code of `subprocess`, with the signal's name."""
    return "code %d" % code if code >= 0 else signal.Signals(-code).name


def wait_until(condition, seconds, pause=0.02):
    """Whether the condition became true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True
