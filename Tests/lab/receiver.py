# SPDX-License-Identifier: Apache-2.0
"""A webhook receiver that remembers everything and fails when told to, per path."""
from __future__ import annotations

import base64
import json
import threading
import time
from collections import Counter, deque

from wire import Reply, Routes, head, json_reply


class Receiver:
    def __init__(self, keep=100_000):
        self.got, self.seq, self.failures = deque(maxlen=keep), 0, []
        self.totals, self.changed = Counter(), threading.Condition()
        self.routes = Routes({"GET /received": self.received, "POST /fail": self.fail, "GET /failures": lambda: self.failures,
                              "POST /clear": self.clear, "GET /stats": self.stats})

    def __call__(self, request, connection):
        if "%s %s" % (request.method, request.path) in self.routes.table:
            return self.routes(request, connection)
        failure = self.take_failure(request.path)
        self.record(request, failure)
        return self.misbehave(failure, connection) if failure else Reply(200, "ok\n", "text/plain")

    def record(self, request, failure):
        answer = 200 if failure is None else failure["answer"]
        accepted = isinstance(answer, int) and answer < 300
        entry = {"path": request.path, "method": request.method, "answer": answer, "accepted": accepted, "time": time.time(),
                 "headers": [list(pair) for pair in request.headers]}
        try:
            entry["body"] = request.body.decode()
        except UnicodeDecodeError:
            entry["body_base64"] = base64.b64encode(request.body).decode()
        with self.changed:
            self.seq += 1
            self.got.append(dict(entry, seq=self.seq))
            for path in (None, request.path):
                self.totals[path, False] += 1
                self.totals[path, True] += accepted
            self.changed.notify_all()

    def received(self, min=0, timeout=10, after=0, path=None, accepted=False):
        """What came (to `path`; `accepted`: what was answered with 2xx), once there are `min` of these since the start
        or the last clear. `after` leaves out what has a seq up to it."""
        only = accepted in (True, "1", "true")
        with self.changed:
            self.changed.wait_for(lambda: self.totals[path, only] >= int(min), float(timeout))
            return [entry for entry in self.got if entry["seq"] > int(after) and path in (None, entry["path"])
                    and (entry["accepted"] or not only)]

    def stats(self):
        with self.changed:
            return {"received": self.totals[None, False], "accepted": self.totals[None, True]}

    def clear(self):
        with self.changed:
            self.got.clear()
            self.totals.clear()
            self.failures = []
            return {"received": 0}

    def fail(self, path=None, times=1, status=None, retry_after=None, hang=None, close=False, huge=None, location=None):
        """The next `times` posts (to `path`) fail; -1: until times 0, which clears the failures of that path (without
        a path: all). status 503 unless hang (seconds of silence, then a close; with status: then that answer), close
        (no answer at all) or huge (an answer of so many bytes, with 200 or the status)."""
        if status is None:
            status = 200 if huge is not None else None if hang is not None or close else 503
        failure = {"path": path, "times": int(times), "status": status, "retry_after": retry_after, "hang": hang,
                   "close": close, "huge": huge, "location": location}
        failure["answer"] = status if status is not None else "close" if close else "hang"
        with self.changed:
            if int(times):
                self.failures.append(failure)
            else:
                self.failures = [f for f in self.failures if path not in (None, f["path"])]
            return self.failures

    def take_failure(self, path):
        with self.changed:
            failure = next((f for f in self.failures if f["path"] in (None, path)), None)
            if failure:
                failure["times"] -= 1
                if failure["times"] == 0:
                    self.failures.remove(failure)
            return failure

    def misbehave(self, failure, connection):
        if failure["hang"] is not None and connection.hold(failure["hang"]):
            return None
        if failure["status"] is None:
            return None
        headers = [(name, str(failure[key])) for name, key in (("Retry-After", "retry_after"), ("Location", "location"))
                   if failure[key] is not None]
        if failure["huge"] is None:
            return Reply(failure["status"], "told to fail\n", "text/plain", headers)
        left = int(failure["huge"])
        connection.write(head(failure["status"], headers + [("Content-Type", "text/plain"), ("Content-Length", str(left))]))
        while left > 0:
            connection.write(b"x" * min(left, 65536))
            left -= 65536
        return None
