# SPDX-License-Identifier: Apache-2.0
"""Row 16: each page and each address of the API over a large journal."""
from __future__ import annotations

import http.client
import json
import os
import re
import sqlite3
import time

from parts import Trouble, end, start_notified, wait_until

SOURCES, ROWS, LONG = 9_998, 9, 10_018  # 100,000 items; one source has a tenth of them, and one more cannot be read
ROUNDS = 10                             # of 100,000 events each
RULES = 50                              # and one more
STATES = ("Ready", "Busy", "Failed")


def address_of_page(log, begin=0):
    """The port that the log names, from that byte on."""
    port = []

    def find():
        with open(log) as file:
            file.seek(begin)
            port.extend(re.findall(r"the page is at http://127\.0\.0\.1:(\d+)/", file.read()))
        return port
    wait_until(find, 30, "the address of the page is in the log", 0.1)
    return int(port[-1])


class Pages:
    """A watcher with 10,000 sources, 100,000 items and 1,000,000 events of a day, which polls nothing while its page is read."""

    def __init__(self, options):
        self.options, self.process = options, None
        self.home = os.path.join(options.work, "pages")
        os.makedirs(self.home)
        for name, count in (("short", ROWS), ("long", LONG)):
            rows = [{"id": "item-%d" % n, "title": "row %d" % n, "state": STATES[n % 3]} for n in range(count)]
            with open(os.path.join(self.home, name + ".json"), "w") as file:
                json.dump(rows, file)
        try:
            self.start(1)
            wait_until(lambda: self.count("event") >= ROWS + LONG and self.count("source where due is not null") == 3, 60, "the first poll of each source", 0.2)
            wait_until(lambda: self.count("delivery where ended_at is null") == 0, 60, "the messages are sent", 0.2)
            end(self.process)
            self.multiply()
            self.start(SOURCES)
        except BaseException:
            self.close()
            raise

    def configuration(self, count):
        line = "  %s: {kind: json, url: \"file://%s/%s.json\", key: id, title: title, state: state, first: announce, every: 24h}\n"
        names = [("s%05d" % n, "short") for n in range(count)] + [("long", "long"), ("missing", "missing")]
        sources = "".join(line % (name, self.home, file) for name, file in names)
        rules = "".join("  - {name: r%02d, when: {appears: true, source: s%05d}, notify: [out]}\n" % (n, n) for n in range(min(count, RULES)))
        return ("settings: {listen: \"127.0.0.1:0\"}\nsources:\n%ssinks:\n  out: {kind: file, path: /dev/null}\nrules:\n"
                "  - {name: failed, when: {field: state, to: Failed}, notify: [out]}\n%s" % (sources, rules))

    def start(self, count):
        log = os.path.join(self.home, "log")
        begin = os.path.getsize(log) if os.path.exists(log) else 0
        self.process, ready = start_notified(self.options.vedette, self.options.work, "pages", self.configuration(count))
        ready(60)
        self.port = address_of_page(log, begin)

    @property
    def path(self):
        return os.path.join(self.home, "state", "journal.db")

    def count(self, rows):
        with sqlite3.connect("file:%s?mode=ro" % self.path, uri=True, timeout=10) as journal:
            return journal.execute("select count(*) from " + rows).fetchone()[0]

    def multiply(self):
        """Copies one source 9,997 times with what it has, and then every event nine times, two hours apart, as changes of states."""
        hour = 3_600_000
        with sqlite3.connect(self.path) as journal:
            journal.execute("create temp table name as with recursive n (n) as (select 1 union all select n + 1 from n where n < ?) "
                            "select n, printf('s%05d', n) as name from n", (SOURCES - 1,))
            journal.execute("insert into source (name, due, polled_at, good_at, count, failing, record) select n.name, s.due, s.polled_at, "
                            "s.good_at, s.count, s.failing, s.record from temp.name n join source s on s.name = 's00000'")
            journal.execute("insert into item (source, key, digest, absent_since, state_since, body, shown) select s.id, i.key, i.digest, "
                            "i.absent_since, i.state_since, i.body, i.shown from temp.name n join source s on s.name = n.name "
                            "join item i on i.source = (select id from source where name = 's00000')")
            # An id is the number of its event, and so unique.
            columns = "printf('%08x', {seq}) || substr(e.id, 9), {source}, {type}, e.key, {time}, json_set(e.body, '$.id', " \
                "printf('%08x', {seq}) || substr(e.id, 9), '$.source', '/sources/' || {source}, '$.type', {type}, '$.time', " \
                "strftime('%Y-%m-%dT%H:%M:%fZ', ({time}) / 1000.0, 'unixepoch'), '$.data.seq', {seq}, '$.data.source', {source}{more})"
            first = journal.execute("select max(seq) from event").fetchone()[0]
            journal.execute("update event as e set (id, source, type, key, time, body) = (select %s)" % columns.format(
                seq="e.seq", source="e.source", type="e.type", time="e.time - %d" % (2 * ROUNDS * hour), more=""))
            journal.execute("insert into event (id, source, type, key, time, body) select %s from temp.name n join event e on e.source = "
                            "'s00000' order by n.n, e.seq" % columns.format(
                                seq="%d + row_number() over (order by n.n, e.seq)" % first, source="n.name", type="e.type", time="e.time", more=""))
            count = journal.execute("select max(seq) from event").fetchone()[0]
            for n in range(1, ROUNDS):
                changed = ", '$.data.item.state', '{1}', '$.data.changes', json_array(json_object('field', 'state', 'from', '{0}', 'to', '{1}'))"
                journal.execute("insert into event (id, source, type, key, time, body) select %s from event e where e.seq <= %d and e.key is not null order by e.seq" % (
                    columns.format(seq="e.seq + %d" % (count * n), source="e.source", type="'io.vedette.item.changed'",
                                   time="e.time + %d" % (2 * n * hour), more=changed.format(STATES[(n - 1) % 3], STATES[n % 3])), count))
        self.events = count * ROUNDS

    def all(self):
        """Titles and functions that return the seconds of one request."""
        seq = self.events // 2
        with sqlite3.connect("file:%s?mode=ro" % self.path, uri=True) as journal:
            source, key = journal.execute("select source, key from event where seq = ?", (seq,)).fetchone()
        for path in ("/", "/?page=50", "/sources/" + source, "/sources/long", "/sources/long?page=150", "/sources/%s/item?key=%s" % (source, key),
                     "/events", "/events?page=1000", "/events?source=long", "/events?source=long&page=1000", "/events/%d" % seq, "/rules", "/silences", "/outbox",
                     "/events.atom", "/metrics", "/api/v1/sources", "/api/v1/rules", "/api/v1/deliveries", "/api/v1/items?source=long",
                     "/api/v1/items?source=%s" % source, "/api/v1/events", "/api/v1/events?source=long&after=%d" % seq, "/badge/%s/%s.svg" % (source, key)):
            yield path, lambda path=path: self.get(path)

    def get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.connect()
        begin = time.monotonic()
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        seconds = time.monotonic() - begin
        connection.close()
        if response.status != 200:
            raise Trouble("%s: %d" % (path, response.status))
        return seconds

    def close(self):
        if self.process:
            end(self.process)
