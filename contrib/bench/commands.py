# SPDX-License-Identifier: Apache-2.0
"""Row 14: the commands that a person waits for, over journals that a watcher filled. The watcher runs, and has little to do."""
from __future__ import annotations

import json
import os
import sqlite3
import time

from parts import JSONServer, Trouble, end, run, start_notified, wait_until

EVENTS, EACH = 150_000, 1_500  # events of the last hour, by lists of so many rows
FEEDS, ITEMS = 1_000, 10_000


class Server(JSONServer):
    """Lists of one row each until they are told to grow, and one long list."""

    def __init__(self):
        self.rows, self.asked = 1, set()
        super().__init__()

    def body(self, path):
        self.asked.add(path)
        count = ITEMS if path == "/long" else self.rows
        return json.dumps([{"id": "%s-%d" % (path, n), "title": "row %d" % n, "state": "Ready"} for n in range(count)]).encode()


class Commands:
    """A watcher of 1,000 feeds, and one of lists with 150,000 events and 10,000 items."""

    def __init__(self, options, nginx):
        self.vedette, self.work, self.processes, self.server = options.vedette, options.work, [], Server()
        try:
            self.start("feeds", "".join("  f%04d: {kind: feed, url: \"%s\", every: 1h}\n" % (n, url)
                                        for n, url in enumerate(nginx.urls("still", FEEDS))), nginx.requests, FEEDS)
            host, port = self.server.server_address
            line = "  %s: {kind: json, url: \"http://%s:%d/%s\", every: %s, title: title, state: state}\n"
            lists = lambda every: "".join(line % ("l%03d" % n, host, port, "list%d" % n, every) for n in range(EVENTS // EACH)) + (
                line % ("long", host, port, "long", "1h"))
            self.start("events", lists("1s"), lambda: len(self.server.asked), EVENTS // EACH + 1)
            time.sleep(1)  # the last baselines are committed
            self.server.rows = 1 + EACH
            wait_until(lambda: self.number("select coalesce(max(seq), 0) from event") >= EVENTS, 120, "150,000 events", 0.5)
            # What is measured is the commands, not how they share two cores with 150,000 messages and 100 polls a second.
            with open(os.path.join(self.work, "commands-events", "config", "bench.yaml"), "w") as file:
                file.write(self.text(lists("1h")))
            wait_until(lambda: self.number("select count(*) from delivery where ended_at is null") == 0, 300, "all messages are sent", 0.5)
            time.sleep(2)  # the polls under way have ended
        except BaseException:
            self.close()
            raise

    def start(self, name, sources, asked, count):
        begin = asked()
        process, ready = start_notified(self.vedette, self.work, "commands-" + name, self.text(sources))
        self.processes.append(process)
        ready(30)
        wait_until(lambda: asked() - begin >= count, 60, "the baselines of " + name)

    def text(self, sources):
        return "sources:\n" + sources + "sinks:\n  out: {kind: stdout}\nrules:\n  - {name: new, when: {appears: true}, notify: [out]}\n"

    def number(self, query):
        """Read beside the watcher."""
        path = os.path.join(self.work, "commands-events", "state", "journal.db")
        with sqlite3.connect("file:%s?mode=ro" % path, uri=True, timeout=10) as journal:
            return journal.execute(query).fetchone()[0]

    def run(self, name, *arguments):
        places = [] if name is None else [part for option, folder in (("--config", "config"), ("--state", "state"))
                                          for part in (option, os.path.join(self.work, "commands-" + name, folder))]
        output, _, wall = run([self.vedette, *arguments, *places], 60)
        return output, wall

    def all(self):
        """Titles, targets in milliseconds, and functions that return the seconds of one run."""
        for title, limit, name, arguments in (
                ("vedette --help", 15.0, None, ("--help",)),
                ("status with 1,000 sources", 50.0, "feeds", ("status",)),
                ("tail -n 20 over 150,000 events", 50.0, "events", ("tail", "-n", "20", "--no-follow")),
                ("tail --since 1h over 150,000 events", 1000.0, "events", ("tail", "--since", "1h", "--no-follow")),
                ("list of 10,000 items", 60.0, "events", ("list", "long"))):
            output, _ = self.run(name, *arguments)
            if not output.strip():
                raise Trouble("vedette %s printed nothing" % " ".join(arguments))
            yield title, limit, lambda name=name, arguments=arguments: self.run(name, *arguments)[1]

    def close(self):
        for process in self.processes:
            end(process)
        self.server.shutdown()
        self.server.server_close()
