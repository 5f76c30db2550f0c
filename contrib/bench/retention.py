# SPDX-License-Identifier: Apache-2.0
"""Row 18: old events and messages are deleted from PostgreSQL while 1,000 events a second are written."""
from __future__ import annotations

import os
import time

import flood
from parts import Trouble, end, start_notified, wait_until
from stores import Postgres

LISTS = 10  # all 100 rows of each change every second
OLD, RATE = 250_000, 1000
SECONDS = 60
# The advice of the documentation, and the launcher wakes often enough to be seen within a minute.
OPTIONS = ["-c", "autovacuum_naptime=5s"]
VACUUM = """
    alter table {0}.event set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
    alter table {0}.delivery set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
    alter table {0}.item set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
    alter table {0}.journal set (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);
    alter table {0}.queue_total set (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);
"""
# Events of forty days ago, each with a message that was sent; the texts are as long as a real one's.
FILL = """
    insert into {0}.event (seq, id, source, type, key, time, body)
      select n, 'old-' || n, 'l0' || n % 10, 'io.vedette.item.changed', n % 100, {1} + n, repeat('x', 600)
      from generate_series(1, {2}) as n;
    insert into {0}.delivery (id, message, source, sink, rule, event, title, text, priority, state, created, due, attempts,
        ended_at, tags, suppressed, bytes)
      select n, 'old-message-' || n, 'l0' || n % 10, 'out', 'any', n, 'row ' || n % 100, repeat('x', 60), 'normal', 'sent',
        {1} + n, {1} + n, 1, {1} + n, '[]', 0, 200
      from generate_series(1, {2}) as n;
    update {0}.journal set last_seq = {2}, last_delivery = {2}, bytes = {2}::bigint * 800;
    analyze {0}.event, {0}.delivery;
"""
# n_tup_del counts what was deleted, without a look at the rows.
STATE = """
    select coalesce(sum(n_tup_del) filter (where relname = 'event'), 0), coalesce(sum(n_tup_del) filter (where relname = 'delivery'), 0),
      sum(n_dead_tup), sum(pg_total_relation_size(relid)), (select last_seq from {0}.journal)
    from pg_stat_user_tables where schemaname = '{0}' and relname in ('event', 'delivery')
"""


class State:
    def __init__(self, store, name):
        self.at = time.monotonic()
        events, messages, self.dead, self.bytes, self.last = map(int, store.ask(STATE.format(name)).split("|"))
        # Messages go first. Both count in a watcher that is not done within the minute.
        self.pruned = (events + messages) / 2


class Retention:
    """The states of a run, from the start of the watcher to its end."""

    def __init__(self, states):
        self.first, self.last = states[0], states[-1]
        until = next((one for one in states if one.pruned >= OLD), self.last)
        seconds, after = until.at - self.first.at, self.last.at - until.at
        self.deleted = (until.pruned - self.first.pruned) / seconds
        self.written = (until.last - self.first.last) / seconds
        self.afterwards = (self.last.last - until.last) / after if after > 5 else self.written
        self.most_dead, self.most_bytes = max(one.dead for one in states), max(one.bytes for one in states)


def configuration(server):
    host, port = server.server_address
    return "settings: {watcher: w0}\nsources:\n" + "".join(
        "  l%02d: {kind: json, url: \"http://%s:%d/%d\", key: id, title: title, state: state, every: 1s}\n" % (n, host, port, n)
        for n in range(LISTS)) + (
        "sinks:\n  out: {kind: stdout, watcher: w0}\nrules:\n  - {name: any, when: {field: state}, notify: [out]}\n")


def measure(vedette, work):
    """A watcher prunes when it starts, and each hour."""
    server, name = flood.Server(), "retention"
    store = Postgres(work, OPTIONS)
    try:
        process, ready = start_notified(vedette, work, name, "settings: {watcher: w0}\nsources: {}\n", store.state(name))
        ready(30)
        end(process)
        for text in (VACUUM, FILL):
            store.ask(text.format(name, int(time.time() - 40 * 86_400) * 1000, OLD))
        process, ready = start_notified(vedette, work, name, configuration(server), store.state(name))
        try:
            states = [State(store, name)]
            ready(30)
            while states[-1].at - states[0].at < SECONDS:
                if process.poll() is not None:
                    raise Trouble("the watcher ended with %d" % process.returncode)
                time.sleep(1)
                states.append(State(store, name))
        finally:
            end(process)
    finally:
        store.close()
        server.close()
    return Retention(states)
