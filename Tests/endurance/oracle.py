# SPDX-License-Identifier: Apache-2.0
"""The verdict over what the lists served, what the journal holds and what the receivers accepted. The journal is read with
Python's sqlite3 after the watcher has ended; nothing of Vedette is used."""
from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing

PENDING = ("pending", "retry", "paused")


class Verdict:
    """The five properties, and four more that the same data show. `violations` is empty when all hold.

    1. Every committed message was delivered, is pending, or ended with a reason; and every committed event that a rule matches
       has its message.
    2. Every delivered message was committed.
    3. Equal ids have equal bodies.
    4. Fresh events pass after the faults stop: crash.py measures it, and adds what did not pass.
    5. Duplicates are counted.
    6. The events of an item lead from its first number to its last without a break, over numbers that were served.
    7. A sink first accepted the messages of one source and priority in the order of their release. It did the same with the
       messages of one rule and subject, whatever their priorities.
    8. The journal is sound: SQLite's own check, the kept totals of the queues, numbers without a gap.
    9. The watcher ends as it was told to: world.py sees it, and adds each other end.
    """

    def __init__(self, world):
        self.world, self.violations = world, list(world.odd)
        with closing(sqlite3.connect("file:%s?mode=ro" % world.journal, uri=True, timeout=10)) as journal:
            self.check_journal(journal)
            self.events = [(seq, id, kind, source, key, json.loads(body)) for seq, id, kind, source, key, body in journal.execute(
                "select seq, id, type, source, key, body from event order by seq")]
            self.messages = journal.execute(
                "select d.id, d.message, d.source, d.sink, d.rule, d.event, d.state, d.reason, d.ended_at, d.priority, d.subject"
                " from delivery d order by d.id").fetchall()
        self.check_messages()
        self.check_coverage()
        self.check_history()
        self.check_order()
        self.check_log()

    def wrong(self, text, *values):
        self.violations.append(text % values)

    def check_journal(self, journal):
        for (line,) in journal.execute("pragma integrity_check"):
            if line != "ok":
                self.wrong("integrity_check: %s", line)
        if journal.execute("pragma foreign_key_check").fetchone():
            self.wrong("foreign_key_check finds a row without its parent")
        kept = {row[:2]: row[2:] for row in journal.execute("select sink, state, count, bytes from queue_total where count <> 0 or bytes <> 0")}
        real = {row[:2]: row[2:] for row in journal.execute(
            "select sink, state, count(*), sum(bytes) from delivery where ended_at is null or state = 'dead' group by sink, state")}
        if kept != real:
            self.wrong("the totals of the queues are %r, the rows say %r", kept, real)

    def check_messages(self):
        posts, known = self.world.receivers.posts, set()
        for id, message, source, sink, rule, event, state, reason, ended, *_ in self.messages:
            if message in known:
                self.wrong("two messages have the id %s", message)
            known.add(message)
            post = posts.get(message)
            if state == "sent" and not (post and post["answered"]):
                self.wrong("lost: message %s of rule %s is 'sent' to %s, which never said so", message, rule, sink)
            elif state in ("dead", "suppressed") and not reason:
                self.wrong("message %s is %s without a reason", message, state)
            elif state in PENDING and ended is not None:
                self.wrong("message %s is %s and has ended", message, state)
            elif state not in PENDING + ("sent", "dead", "suppressed"):
                self.wrong("message %s is '%s'", message, state)
            if post and post["sink"] != sink:
                self.wrong("message %s for %s came to %s", message, sink, post["sink"])
        for message in posts:
            if message not in known:
                self.wrong("invented: message %s was delivered and never committed", message)
        for message in self.world.receivers.unequal:
            self.wrong("message %s came with two bodies", message)

    def check_coverage(self):
        """Rules of which each event must have exactly one message for each of their sinks."""
        rule_of = {"io.vedette.item.changed": "changed", "io.vedette.item.appeared": "new", "io.vedette.item.disappeared": "gone"}
        told = Counter((event, rule, sink) for _, _, _, sink, rule, event, *_ in self.messages)
        for seq, id, kind, _, key, _ in self.events:
            for sink in self.world.SURE if kind in rule_of else ():
                count = told[seq, rule_of[kind], sink]
                if count != 1:
                    self.wrong("event %d (%s of %s) has %d messages for %s", seq, kind, key, count, sink)

    def check_history(self):
        lists, now = self.world.lists, self.world.lists.now()
        seqs = [event[0] for event in self.events]
        if seqs != list(range(1, len(seqs) + 1)):
            self.wrong("the numbers of the events have a gap")
        if len({event[1] for event in self.events}) != len(seqs):
            self.wrong("two events have one id")
        known = {}  # key -> number; None: gone
        for seq, _, kind, _, key, body in self.events:
            if not kind.startswith("io.vedette.item."):
                continue
            data = body["data"]
            value = int(data["item"]["fields"]["v"])
            if kind.endswith("changed"):
                change = next(change for change in data["changes"] if change["field"] == "v")
                before, value = int(change["from"]), int(change["to"])
                if known.get(key, 0) != before:
                    self.wrong("event %d: %s changes from %s, the event before it left %s", seq, key, before, known.get(key, 0))
                if value <= before:
                    self.wrong("event %d: %s goes back from %s to %s", seq, key, before, value)
            elif kind.endswith(".appeared"):
                if key in known:
                    self.wrong("event %d: %s appears a second time", seq, key)
            if value not in lists.served.get(key, ()):
                self.wrong("event %d: %s with %s was never served", seq, key, value)
            known[key] = None if kind.endswith("disappeared") else value
        if not self.world.is_settled:  # what it had no time to poll is not lost
            return
        for key, value in now.items():
            if known.get(key, 0 if self.world.is_first(key) else None) != value:
                self.wrong("lost: %s is %s, its last event says %s", key, value, known.get(key))
        for key in lists.removed:
            if key in known and known[key] is not None:
                self.wrong("lost: %s is gone, its last event says %s", key, known[key])
            elif key not in known and self.world.is_first(key):
                self.wrong("lost: %s is gone, no event says so", key)

    def check_order(self):
        lanes, posts = defaultdict(list), self.world.receivers.posts
        for id, message, source, sink, rule, *_, priority, subject in self.messages:
            first = posts[message]["first"] if message in posts else 0
            if first:
                lanes["source %s, priority %s" % (source, priority), sink].append((first, id, rule))
                if subject:  # a digest of several has none
                    lanes["rule %s, subject %s" % (rule, subject), sink].append((first, id, rule))
        for (lane, sink), messages in lanes.items():
            for (first, id, rule), (later, next_id, next_rule) in zip(messages, messages[1:]):
                if first > later and id not in self.world.revived:
                    self.wrong("messages of %s came to %s out of order: %d of rule %s as number %d, %d of rule %s as number %d",
                               lane, sink, id, rule, first, next_id, next_rule, later)
                    break

    def check_log(self):
        for line in self.world.log_text().splitlines():
            if "Fatal error" in line or "Precondition failed" in line or "Assertion failed" in line:
                self.wrong("the log: %s", line[:200])

    def summary(self):
        states = Counter(message[6] for message in self.messages)
        transports = Counter(self.world.lists.transport(int(event[4].split("-")[0])) for event in self.events if event[4])
        return {"events": len(self.events), "transports": dict(transports), "messages": len(self.messages), "accepted": self.world.receivers.accepted,
                "duplicates": self.world.receivers.duplicates, "states": dict(states), "violations": self.violations}
