# SPDX-License-Identifier: Apache-2.0
"""Rows 8 to 11: from a response's last byte to the sink, deliveries by the thousand, idling, and a full queue."""
from __future__ import annotations

import json
import os
import sqlite3
import statistics
import threading
import time

from parts import JSONHandler, JSONServer, Trouble, cpu_clock, end, lateness, resident, run, start_notified, wait_until

LIST = "  l%03d: {kind: json, url: \"http://%s:%d/list/%d\", every: %s, title: title}\n"


class Server(JSONServer):
    """Lists that grow when they are told to, and a webhook that notes when it was called."""

    def __init__(self):
        self.rows, self.sent, self.heard, self.bodies, self.lock = {}, {}, {}, [], threading.Lock()
        super().__init__(Handler)


class Handler(JSONHandler):
    def do_GET(self):
        rows = self.server.rows.get(self.path, 1)
        body = json.dumps([{"id": "%s-%d" % (self.path, n), "title": "row %d" % n} for n in range(rows)]).encode()
        self.answer(body)
        with self.server.lock:
            for n in range(rows):
                self.server.sent.setdefault("%s-%d" % (self.path, n), time.monotonic())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        now = time.monotonic()
        self.answer(b"")
        key = json.loads(body)["data"]["item"]["key"]
        with self.server.lock:
            self.server.heard[key] = now
            if len(self.server.bodies) < 100:
                self.server.bodies.append(body)


class Drained:
    def __init__(self, count):
        self.count, self.most, self.after, self.start, self.seconds, self.late, self.calm = count, 0, 0, 0, 0, [], []


class Outward:
    def __init__(self, options, nginx):
        self.vedette, self.work, self.cycles, self.nginx = options.vedette, options.work, options.cycles, nginx

    def configuration(self, sources, hook):
        return "sources:\n" + sources + "sinks:\n  hook: {kind: webhook, url: \"%s\"}\n" % hook + (
            "rules:\n  - {name: new, when: {appears: true}, notify: [hook]}\n")

    def latency(self, figures):
        """One list of its own after the other grows by a row; its poll and the webhook's call are matched by the row."""
        server = Server()
        host, port = server.server_address
        text = self.configuration("".join(LIST % (n, host, port, n, "300ms") for n in range(20)), "http://%s:%d/" % (host, port))
        process, ready = start_notified(self.vedette, self.work, "latency", text)
        try:
            ready(30)
            wait_until(lambda: len(server.sent) >= 20, 30, "the baselines")
            time.sleep(1)
            for round_ in range(20):
                for n in range(20):
                    server.rows["/list/%d" % n] = round_ + 2
                wait_until(lambda: len(server.heard) >= 20 * (round_ + 1), 30, "20 calls of the webhook")
        finally:
            end(process)
            server.close()
        waits = sorted(server.heard[key] - server.sent[key] for key in server.heard)
        figures.add("vedette, p50", statistics.median(waits))
        figures.add("vedette, p99", waits[int(len(waits) * 0.99)])
        return server.bodies

    def deliveries(self, figures, bodies, each=400, count=64):
        """64 lists grow by 400 rows at once; the receiver is nginx, whose log tells when the last call came. The polls that find
        the rows come over a second: with fewer of them, that second would be what is measured."""
        server = Server()
        host, port = server.server_address
        hook = self.nginx.hook()
        text = self.configuration("".join(LIST % (n, host, port, n, "1s") for n in range(count)), hook)
        process, ready = start_notified(self.vedette, self.work, "deliveries", text)
        try:
            ready(30)
            wait_until(lambda: len(server.sent) >= count, 30, "the baselines")
            time.sleep(1)
            offset = self.nginx.log_size()
            for n in range(count):
                server.rows["/list/%d" % n] = each + 1
            wait_until(lambda: len(self.nginx.times(offset).get("/hook", [])) >= each * count, 120, "all deliveries", 0.2)
        finally:
            end(process)
            server.close()
        times = sorted(self.nginx.times(offset)["/hook"])
        if len(times) != each * count:
            raise Trouble("%d calls for %d events" % (len(times), each * count))
        # From the moment at which a quarter had come: the polls come over a second.
        quarter = len(times) // 4
        figures.add("vedette", (len(times) - quarter) / (times[-1] - times[quarter]))
        path, config = os.path.join(self.work, "body.json"), os.path.join(self.work, "posts.conf")
        with open(path, "wb") as file:
            file.write(bodies[0])
        with open(config, "w") as file:
            for _ in range(each * count):
                file.write("next\nurl = \"%s\"\ndata-binary = \"@%s\"\noutput = \"/dev/null\"\nheader = \"Content-Type: application/json\"\n" % (hook, path))
        text = open(config).read()[len("next\n"):]
        with open(config, "w") as file:
            file.write(text)
        _, _, wall = run(["curl", "--silent", "--parallel", "--parallel-max", "64", "--config", config], 120)
        figures.add("curl -Z", each * count / wall)

    def drain(self, each=1563, count=64):
        """A sink is down while 100,000 messages come for it; then the watcher starts anew and the sink is back."""
        polled = "".join("  p%02d: {kind: feed, url: \"%s\", every: 1s}\n" % (n, url) for n, url in enumerate(self.nginx.logged("still", 50)))
        server = Server()
        host, port = server.server_address
        lists = "".join(LIST % (n, host, port, n, "1s") for n in range(count))
        process, ready = start_notified(self.vedette, self.work, "drain", self.configuration(lists, "http://127.0.0.1:9/"))
        try:
            ready(30)
            wait_until(lambda: len(server.sent) >= count, 30, "the baselines")
            for n in range(count):
                server.rows["/list/%d" % n] = each + 1
            wait_until(lambda: self.pending("drain") >= each * count, 120, "the messages", 0.5)
        finally:
            end(process)
            server.close()
        drained = Drained(each * count)
        offset, begin = self.nginx.log_size(), time.monotonic()
        process, ready = start_notified(self.vedette, self.work, "drain", self.configuration(polled, self.nginx.hook()))
        try:
            ready(30)
            drained.start = time.monotonic() - begin
            while self.pending("drain") > 0:
                drained.most = max(drained.most, resident(process.pid))
                time.sleep(0.5)
                if time.monotonic() - begin > 300:
                    raise Trouble("%d deliveries are still pending after 300 s" % self.pending("drain"))
            times = self.nginx.times(offset)
            posts = sorted(times.pop("/hook"))
            drained.seconds, drained.late = posts[-1] - posts[0], lateness(times, 1.0)
            offset = self.nginx.log_size()
            time.sleep(15)
            drained.after, drained.calm = resident(process.pid), lateness(self.nginx.times(offset), 1.0)
        finally:
            end(process)
        return drained

    def pending(self, name):
        """Read beside the watcher."""
        path = os.path.join(self.work, name, "state", "journal.db")
        with sqlite3.connect("file:%s?mode=ro" % path, uri=True, timeout=10) as journal:
            return journal.execute("select count(*) from delivery where ended_at is null").fetchone()[0]

    def idle(self):
        """A hundred sources that are polled every minute: memory and CPU over twenty quiet seconds."""
        urls = self.nginx.urls("still", 64)
        text = "sources:\n" + "".join(
            "  f%03d: {kind: feed, url: \"%s&%d\", every: 60s}\n" % (n, urls[n % 64], n) for n in range(100)) + (
            "sinks:\n  out: {kind: stdout}\nrules:\n  - {name: new, when: {appears: true}, notify: [out]}\n")
        process, ready = start_notified(self.vedette, self.work, "idle", text)
        try:
            ready(30)
            time.sleep(10)
            before, begin = cpu_clock(process.pid), time.monotonic()
            time.sleep(20)
            used = (cpu_clock(process.pid) - before) / (time.monotonic() - begin)
            return used, resident(process.pid, "VmRSS:"), resident(process.pid)
        finally:
            end(process)
