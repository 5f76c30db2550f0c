# SPDX-License-Identifier: Apache-2.0
"""Measures the rows of the table in the design's "How fast" and prints ratios. `run` beside it prepares what it needs."""
from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time

import calendars
import flood
import hostile
import https
import readers
import retention
import sources
import stores
import streams
import summary
from commands import Commands
from pages import Pages
from parts import FLIGHT, Nginx, Trouble, Watcher, end, find_nginx, lateness, resident, run, start_notified

LAB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Tests", "lab")
sys.path.insert(0, LAB)
import feeds  # noqa: E402
from outward import Outward  # noqa: E402
READERS = 20  # seconds for the refreshes of one other program
STEADY = 5.0  # seconds of steady polling per measurement: the watcher writes due times once in that time


class Figures:
    """What was measured of several things, round by round."""

    def __init__(self, title, unit, factor):
        self.title, self.unit, self.factor, self.series, self.notes = title, unit, factor, {}, []

    def add(self, name, value):
        self.series.setdefault(name, []).append(value * self.factor)

    def print(self, first, second, target, least=False):
        """The table, and the ratio of the medians of two of its lines."""
        print("\n%s\n  %-34s %10s %10s %10s" % (self.title, self.unit, "median", "min", "max"))
        for name, values in self.series.items():
            print("  %-34s %10.1f %10.1f %10.1f" % (name, statistics.median(values), min(values), max(values)))
        ours, theirs = statistics.median(self.series[first]), statistics.median(self.series[second])
        ratio = ours / theirs
        met = ratio >= target if least else ratio <= target
        print("  %-34s %10.2f   target %s %.1f: %s" % (
            "ratio: %s / %s" % (first, second), ratio, ">=" if least else "<=", target, "met" if met else "MISSED"))
        for note in self.notes:
            print("  " + note)
        summary.add(self.title, self.unit, ours, theirs, ratio, "%s %.1f" % (">=" if least else "<=", target), met)
        sys.stdout.flush()


class Bench:
    def __init__(self, options):
        self.vedette, self.work, self.feeds, self.cycles = options.vedette, options.work, options.feeds, options.cycles
        self.every = 10 * max(1, options.feeds / 1000)  # longer than the first cycle takes
        self.generation, self.running = 0, []
        self.nginx = self.keep(Nginx(self.work))

    def keep(self, part):
        self.running.append(part)
        return part

    def close(self):
        for part in reversed(self.running):
            part.close()

    def watcher(self, name, urls, every):
        watcher = self.keep(Watcher(self.vedette, self.work, name, urls, every))
        watcher.stop()
        return watcher

    def drop(self, watcher):
        self.running.remove(watcher)
        watcher.close()

    # Rows 1 and 2: one cycle of a running watcher against one run of `curl -Z`.

    def cycles_of(self, rows):
        if "1" in rows:
            for name, validators in (("ETag and Last-Modified", True), ("no validators", False)):
                urls = self.nginx.urls("still", self.feeds, validators)
                figures = Figures("Row 1  a cycle over %d unchanged feeds, %s" % (self.feeds, name), "CPU, ms", 1000)
                self.rounds(self.unchanged, "still-%d" % validators, urls, figures, 1.0)
                if validators:
                    ours = figures.series["vedette"]
            self.compare_readers(ours)
        if "2" in rows:
            urls = self.nginx.urls("moving", self.feeds)
            figures = Figures("Row 2  a cycle over %d feeds, each with a new entry" % self.feeds, "wall, ms", 1000)
            self.rounds(self.changed, "moving", urls, figures, 4.0)

    def rounds(self, measure, name, urls, figures, target):
        """One watcher at a time: one that stood still for long would take itself for woken from a suspend, and spread its polls."""
        watcher = self.watcher(name, urls, self.every)
        for _ in range(self.cycles):
            watcher.all_due()
            served = self.nginx.requests()
            measure(watcher, figures)
            watcher.stop()
            served = self.nginx.requests() - served
            if served != len(urls):
                figures.notes.append("warning: a cycle made %d requests for %d feeds" % (served, len(urls)))
            _, cpu, wall = run(self.curl(urls), 120)
            figures.add("curl -Z", wall if measure == self.changed else cpu)
        figures.print("vedette", "curl -Z", target)
        self.drop(watcher)

    def curl(self, urls):
        path = os.path.join(self.work, "curl.conf")
        with open(path, "w") as file:
            file.writelines("url = \"%s\"\noutput = \"/dev/null\"\n" % url for url in urls)
        return ["curl", "--silent", "--show-error", "--fail", "--parallel", "--parallel-max", str(FLIGHT), "--config", path]

    def unchanged(self, watcher, figures):
        """To the moment when the due times of all are written, up to five seconds late by design."""
        since, before = int(time.time() * 1000), watcher.cpu()
        watcher.go_on()
        watcher.wait_until(lambda: watcher.polled_since(since) >= watcher.count, 60, "a cycle over unchanged feeds", 0.05)
        figures.add("vedette", watcher.cpu() - before)

    def changed(self, watcher, figures):
        """From the first request to the commit of the last event."""
        self.generation += 1
        subprocess.run([sys.executable, os.path.join(LAB, "feeds.py"), "--write", os.path.join(self.work, "moving"),
                        "--count", str(self.feeds), "--bytes", "20000", "--generation", str(self.generation)], check=True)
        last, before, begin = watcher.last_event(), watcher.cpu(), time.monotonic()
        watcher.go_on()
        watcher.wait_until(lambda: watcher.last_event() >= last + watcher.count, 120, "an event of every feed", 0.002)
        figures.add("vedette", time.monotonic() - begin)
        # Deliveries are attempted meanwhile and after it.
        time.sleep(1)
        figures.add("(CPU of vedette, deliveries too)", watcher.cpu() - before)

    def compare_readers(self, ours):
        """Against other programs that follow feeds, start-up and all: a refresh of what they read before."""
        urls = self.nginx.urls("still", self.feeds)
        for name, refresh in readers.installed(urls, self.work):
            figures = Figures("Row 1  the same with ETag and Last-Modified by %s" % name, "CPU, ms", 1000)
            figures.series["vedette"] = ours
            try:
                refresh()
                walls = []
                while len(walls) < self.cycles and sum(walls) < READERS:
                    served = self.nginx.requests()
                    cpu, wall = refresh()
                    served = self.nginx.requests() - served
                    if served < len(urls):
                        raise Trouble("it made %d requests for %d feeds" % (served, len(urls)))
                    figures.add(name, cpu)
                    walls.append(wall)
            except Trouble as trouble:
                print("\n%s\n  left out: %s" % (figures.title, trouble))
                continue
            figures.notes.append("%s took %.1f s" % (name, statistics.median(walls)))
            figures.print(name, "vedette", 50.0, least=True)

    # Row 3: steady polling against a plain loop in C.

    def steady(self):
        copies = max(1, 2000 // self.feeds)
        for name, validators, status in (("304 to ETag and Last-Modified", True, "304"), ("200 with 20 KB", False, "200")):
            urls = self.nginx.urls("still", self.feeds, validators, copies)
            figures = Figures("Row 3  steady polling of %d sources, %s" % (len(urls), name), "CPU per poll, us", 1e6)
            watcher = self.watcher("steady-" + status, urls, 0.1)
            path = os.path.join(self.work, "urls")
            with open(path, "w") as file:
                file.writelines(url + "\n" for url in urls)
            rates = []
            for _ in range(self.cycles):
                count = self.steady_watcher(watcher, figures, rates)
                output, _, _ = run([os.path.join(self.work, "loop"), str(FLIGHT), str(count), status], 120, source=path)
                cpu, wall = map(float, output.split())
                figures.add("C loop", cpu / count)
                rates[-1] += (count / wall,)
            if watcher.failing():
                figures.notes.append("warning: %d sources failed" % watcher.failing())
            figures.notes.append("polls per second: vedette %.0f of %.0f asked for, C loop %.0f" % (
                statistics.median(rate[0] for rate in rates), len(urls) / 0.1, statistics.median(rate[1] for rate in rates)))
            figures.print("vedette", "C loop", 1.3)
            self.drop(watcher)

    def steady_watcher(self, watcher, figures, rates):
        watcher.go_on()
        time.sleep(1)
        begin, before, served = time.monotonic(), watcher.cpu(), self.nginx.requests()
        time.sleep(STEADY)
        served, cpu, wall = self.nginx.requests() - served, watcher.cpu() - before, time.monotonic() - begin
        watcher.stop()
        if not served:
            raise Trouble("the watcher polled nothing")
        figures.add("vedette", cpu / served)
        rates.append((served / wall,))
        return served


class Many:
    """Row 5: many sources, and hosts that never answer beside some that do."""

    HANGING, HEALTHY, SECONDS = 200, 50, 30

    def __init__(self, options, bench):
        self.vedette, self.work, self.bench = options.vedette, options.work, bench

    def starting(self, count, limit):
        """To the moment when the program says that it is ready, and what memory it has a second later."""
        urls = ["http://127.0.0.1:9/%d.xml" % n for n in range(count)]
        begin = time.monotonic()
        process, ready = start_notified(self.vedette, self.work, "many-%d" % count, feed_sources(urls, "1h"))
        try:
            ready(120)
            took = time.monotonic() - begin
            time.sleep(1)
            memory = resident(process.pid)
        finally:
            end(process)
        figures = Figures("Row 5  start with %d sources" % count, "s", 1)
        figures.add("vedette", took)
        figures.series["(target)"] = [limit]
        figures.print("vedette", "(target)", 1.0)
        return memory

    def measure(self):
        few, many = self.starting(100, 1.5), self.starting(10_000, 1.5)
        print("  resident: %.1f MB with 100 sources, %.1f MB with 10,000: %.1f KB for each more, its configuration included" % (
            few / 1e6, many / 1e6, (many - few) / 9900 / 1000))
        self.lateness()

    def lateness(self):
        """How late healthy sources are asked while 200 hosts accept and never answer: by nginx's log, every 1 s and 10 % of jitter."""
        deaf = []
        for n in range(self.HANGING):
            one = socket.socket()
            one.bind(("127.1.%d.%d" % (n // 250, n % 250 + 1), 0))
            one.listen(64)
            deaf.append(one)
        urls = ["http://%s:%d/" % one.getsockname() for one in deaf]
        healthy = self.bench.nginx.logged("still", self.HEALTHY)
        process, ready = start_notified(self.vedette, self.work, "hanging", feed_sources(urls + healthy, "1s"))
        try:
            ready(60)
            time.sleep(5)
            begin = self.bench.nginx.log_size()
            time.sleep(self.SECONDS)
            times = self.bench.nginx.times(begin)
        finally:
            end(process)
            for one in deaf:
                one.close()
        late = lateness(times, 1.0)
        figures = Figures("Row 5  lateness of %d healthy sources beside %d hosts that never answer" % (self.HEALTHY, self.HANGING),
                          "ms, p99 of %d polls" % len(late), 1000)
        figures.add("vedette", late[int(len(late) * 0.99)])
        figures.series["(target)"] = [1000.0]
        figures.print("vedette", "(target)", 1.0)


def feed_sources(urls, every):
    return "sources:\n" + "".join("  f%05d: {kind: feed, url: \"%s\", every: %s}\n" % (i, url, every) for i, url in enumerate(urls)) + (
        "sinks:\n  out: {kind: stdout}\nrules:\n  - {name: new, when: {appears: true}, notify: [out]}\n")


class Inside:
    """Rows 4, 6 and 7: parts of Vedette in one process, against the same work in C and C++ on the same bytes."""

    def __init__(self, options):
        self.parts, self.parse, self.work, self.cycles = options.parts, os.path.join(options.work, "parse"), options.work, options.cycles

    def measure(self, program, *arguments):
        output, _, _ = run([program, *map(str, arguments)], 60)
        return float(output)

    def reading(self):
        atom, rows = os.path.join(self.work, "atom.xml"), os.path.join(self.work, "rows.json")
        with open(atom, "wb") as file:
            file.write(feeds.feed(0, 0, 200_000))
        with open(rows, "w") as file:
            json.dump([{"id": n, "title": "Row %d of the list" % n, "status": "ACTIVE", "owner": {"id": n % 7, "name": "somebody"},
                        "updated_at": "2026-11-21T12:00:00Z", "note": "nobody asks for this text, and it is not short"}
                       for n in range(1000)], file)
        for what, name, path, other, rival, target in (
                ("atom", "Atom, 200 KB", atom, "atom", "C SAX2 loop", 0.6), ("json", "a JSON list of 1,000", rows, "json", "simdjson in C++", 0.5),
                ("unchanged", "a known body of 200 KB", atom, "copy", "memcpy", 0.5)):
            figures = Figures("Row 4  bytes to items: %s" % name, "MB per second", 1e-6)
            for _ in range(self.cycles):
                figures.add("vedette", self.measure(self.parts, what, path))
                figures.add(rival, self.measure(self.parse, other, path))
            figures.print("vedette", rival, target, least=True)

    def comparing(self):
        figures = Figures("Row 6  a list of 100,000 items compared, ten of them changed", "ms", 1000)
        figures.series["(target)"] = [100.0]
        for _ in range(self.cycles):
            figures.add("vedette", self.measure(self.parts, "diff", 100_000))
        figures.print("vedette", "(target)", 1.0)

    def routing(self):
        figures = Figures("Row 7  an event routed by rules of which two match", "us per event", 1e6)
        for _ in range(self.cycles):
            figures.add("10,000 rules", self.measure(self.parts, "route", 10_000))
            figures.add("100 rules", self.measure(self.parts, "route", 100))
        figures.print("10,000 rules", "100 rules", 2.0)


def outward(options, bench, rows):
    parts, bodies = Outward(options, bench.nginx), []
    if set(rows) & {"8", "9"}:
        figures = Figures("Row 8  from a response's last byte to the call of the webhook, 400 events", "ms", 1000)
        figures.series["(target)"] = [20.0]
        for _ in range(options.cycles):
            bodies = parts.latency(figures)
        figures.print("vedette, p99", "(target)", 1.0)
    if "9" in rows:
        figures = Figures("Row 9  deliveries of 64 sources to one receiver", "per second", 1)
        for _ in range(options.cycles):
            parts.deliveries(figures, bodies)
        figures.print("vedette", "curl -Z", 0.6, least=True)
    if "11" in rows:
        drain(parts)
    if "10" in rows:
        used, memory, own = parts.idle()
        met = used < 0.001 and memory < 40e6 and own < 10e6
        print("\nRow 10  idle with 100 sources\n  %.2f %% of a core (target < 0.1), %.1f MB resident (target < 40), %.1f of it its own "
              "(target < 10): %s" % (used * 100, memory / 1e6, own / 1e6, "met" if met else "MISSED"))
        summary.add("Row 10  idle with 100 sources: CPU", "% of a core", used * 100, None, None, "< 0.1", used < 0.001)
        summary.add("Row 10  idle with 100 sources: memory", "MB", memory / 1e6, None, None, "< 40", memory < 40e6)
        summary.add("Row 10  idle with 100 sources: of it its own", "MB", own / 1e6, None, None, "< 10", own < 10e6)


def besieged(options):
    growth = hostile.measure(options.vedette, options.work)
    met = growth.most - growth.before <= 256 << 20
    summary.add("Row 12  72 hostile servers at once", "MB", growth.most / 1e6, growth.before / 1e6, None, "<= 268 more", met)
    print("\nRow 12  72 hostile servers at once, %d answers\n  resident: %.1f MB before, at most %.1f MB with them (target: 256 MiB more), "
          "%.1f MB when they are gone: %s" % (growth.polls, growth.before / 1e6, growth.most / 1e6, growth.after / 1e6,
                                              "met" if met else "MISSED"))


def expanded(options):
    """The calendars are few bytes; without a bound each holds a processor, or a lock, for minutes."""
    for kind in (calendars.One, calendars.Two):
        store = kind(options.work)
        try:
            seen = calendars.measure(options.vedette, store)
        finally:
            store.close()
        ends = ", ".join("not within %d s" % calendars.PATIENCE if s is None else "%.1f s" % s for s in seen.ending) or "-"
        print("\nRow 12  three calendars that take long to expand, %s\n  latest poll of %d other sources: %.1f s late (target < 1)\n"
              "  %d messages on stdout in %d s, longest pause %.1f s\n  ended by SIGTERM in: %s (target < 10 s); ended by themselves: %s\n%s\n  %s" % (
                  store.name, len(seen.late), seen.latest, seen.messages, calendars.SECONDS, seen.pause, ends,
                  ", ".join(map(str, seen.ended)) or "none", "\n".join("  %s: %s" % pair for pair in seen.reasons.items()),
                  "met" if seen.is_met else "MISSED"))
        sys.stdout.flush()
        summary.add("Row 12  calendars, %s" % store.name, "s late", seen.latest, None, None, "< 1", seen.is_met)


def flooded(options):
    seen = flood.measure(options.vedette, options.work)
    times = ", ".join("%s %.0f ms (at most %.0f)" % (command, statistics.median(values) * 1000, max(values) * 1000)
                      for command, values in seen.commands.items())
    print("\nRow 13  a flood of changes for a sink that is down\n  %.0f changes per second, at most %d pending (bound: %d), at most %.1f MB "
          "resident\n  beside it: %s (target: < 100 ms): %s" % (seen.changes, max(seen.pending), flood.BOUND,
                                                                 seen.most / 1e6, times, "met" if seen.is_met else "MISSED"))
    summary.add("Row 13  a flood for a sink that is down", "pending", max(seen.pending), flood.BOUND, None, "<= %d" % flood.BOUND,
                seen.is_met)


def drain(parts):
    drained = parts.drain()
    figures = Figures("Row 11  %d pending deliveries go out beside 50 sources polled every second" % drained.count,
                      "ms of lateness, p99 of %d polls" % len(drained.late), 1000)
    figures.add("vedette, draining", drained.late[int(len(drained.late) * 0.99)])
    figures.add("vedette, nothing pending", drained.calm[int(len(drained.calm) * 0.99)])
    figures.series["(target)"] = [1000.0]
    figures.notes = ["%.0f deliveries per second; resident: %.1f MB afterwards, at most %.1f MB meanwhile; ready after %.2f s" % (
        drained.count / drained.seconds, drained.after / 1e6, drained.most / 1e6, drained.start)]
    figures.print("vedette, draining", "(target)", 1.0)


def commands(options, bench):
    """What a person waits for: each command with a cold process and a warm file system."""
    measured = Commands(options, bench.nginx)
    try:
        for title, limit, command in measured.all():
            figures = Figures("Row 14  " + title, "ms", 1000)
            figures.series["(target)"] = [limit]
            for _ in range(max(5, options.cycles)):
                figures.add("vedette", command())
            figures.print("vedette", "(target)", 1.0)
    finally:
        measured.close()


def page(options):
    """Each page after a pause that is longer than what the page keeps."""
    measured = Pages(options)
    try:
        for path, get in measured.all():
            figures = Figures("Row 16  page %s over %d events" % (path, measured.events), "ms", 1000)
            figures.series["(target)"] = [100.0]
            for _ in range(max(5, options.cycles)):
                time.sleep(1.1)
                figures.add("vedette", get())
            figures.print("vedette", "(target)", 1.0)
    finally:
        measured.close()


def streams_of_events(options, bench):
    seen = streams.measure(options, bench.nginx)
    p99 = [values[int(len(values) * 0.99)] * 1000 for values in (seen.calm, seen.late, seen.crowded)]
    print("\nRow 17  the page beside %.0f events per second\n  %d readers: %d complete, %d cut off, %d with a gap or behind; the last was complete after "
          "%.1f s\n  %d connections: %d kept, %d refused in words, %d closed without an answer\n  lateness of polls, p99: %.0f ms without readers, "
          "%.0f ms with them, %.0f ms with the connections\n  memory: %.1f MB without readers, %.1f MB with them, %.1f MB with the connections" % (
              seen.events, streams.READERS, seen.complete, seen.cut, seen.wrong, seen.behind, streams.CONNECTIONS, seen.open, seen.refused,
              seen.unanswered, *p99, *(bytes / 1e6 for bytes in seen.memory)))
    summary.add("Row 17  readers with a gap or behind", "readers", seen.wrong, None, None, "0", seen.wrong == 0)
    summary.add("Row 17  connections without an answer", "connections", seen.unanswered, None, None, "0", seen.unanswered == 0)
    for what, value in (("readers", p99[1]), ("connections", p99[2])):
        summary.add("Row 17  lateness with %s, p99" % what, "ms", value, p99[0], None, "< 1000", value < 1000)


def both_stores(options, bench):
    """The same load with the journal in SQLite, and on PostgreSQL with one and with three watchers, in turn."""
    urls = bench.nginx.urls("still", options.feeds, True, max(1, stores.SOURCES // options.feeds))
    load = {
        "changes committed": lambda store: stores.changes(options.vedette, store),
        "polls of %d feeds that did not change" % len(urls): lambda store: stores.polls(options.vedette, store, bench.nginx, urls),
    }
    for what, measure in load.items():
        figures, used = Figures("Row 15  " + what, "per second", 1), {}
        for cycle in range(options.cycles):
            for kind in (stores.Postgres, stores.SharedPostgres, stores.SQLite):
                store = kind(os.path.join(options.work, "%s-%s-%d" % (kind.__name__, what.split()[0], cycle)))
                try:
                    rates = measure(store)
                finally:
                    store.close()
                figures.add(store.name, rates.rate)
                used.setdefault(store.name, []).append(rates.cpu)
        for name, values in used.items():
            figures.notes.append("%s: %.0f us of CPU of the watchers for one" % (name, statistics.median(values) * 1e6))
        if what.startswith("changes"):
            figures.series["(target)"] = [1000.0]
            figures.print("PostgreSQL", "(target)", 1.0, least=True)
        else:
            figures.print("PostgreSQL", "SQLite", 0.8, least=True)


def pruned(options):
    """Old rows are deleted while new ones are written: the deletion must be faster, or the journal grows for ever."""
    seen = retention.measure(options.vedette, options.work)
    met = seen.deleted >= retention.RATE
    print("\nRow 18  pruning of %d events and their messages from PostgreSQL beside %d new events a second\n"
          "  %.0f events with their messages deleted per second (target: >= %d): %s\n"
          "  %.0f new events per second meanwhile, %.0f afterwards\n"
          "  tables with indexes: %.0f MB before, at most %.0f MB, %.0f MB at the end; dead rows: at most %d, %d at the end" % (
              retention.OLD, retention.RATE, seen.deleted, retention.RATE, "met" if met else "MISSED", seen.written, seen.afterwards,
              seen.first.bytes / 1e6, seen.most_bytes / 1e6, seen.last.bytes / 1e6, seen.most_dead, seen.last.dead))
    summary.add("Row 18  events pruned beside %d new ones a second" % retention.RATE, "per second", seen.deleted, seen.written, None,
                ">= %d" % retention.RATE, met)


def costs(options, bench):
    """The cost of a source is what a line has more than the one above it, by the sources that it has more."""
    print("\nRow 19  sources of one item each, polled %d times a second in all\n  %-12s %8s %9s %9s %9s %8s %8s %12s %8s" % (
        sources.RATE, "journal", "sources", "ready, s", "CPU, s", "polled, s", "MB", "polls/s", "CPU/poll, us", "disk, MB"))
    for kind in (stores.SQLite, stores.Postgres):
        for count in sources.COUNTS:
            store = kind(options.work)
            try:
                cost = sources.measure(options.vedette, bench.nginx, store, count)
            finally:
                store.close()
            print("  %-12s %8d %9.1f %9.1f %9.1f %9.1f %8.0f %12.0f %8.1f" % (
                store.name, count, cost.ready, cost.starting, cost.polled, cost.memory / 1e6, cost.polls, cost.cpu / cost.polls * 1e6,
                cost.bytes / 1e6))
            sys.stdout.flush()
            summary.add("Row 19  %s, start with %d sources" % (store.name, count), "s", cost.ready, None, None,
                        "< %.1f" % max(1.5, count * 15e-5), cost.ready < max(1.5, count * 15e-5))


def secure(options, rows):
    """What a poll costs over HTTPS, where few come in a second."""
    targets = {"20": ("loop", 2.0), "21": ("loop", 2.0), "22": ("curl", 0.7)}
    for shape in https.SHAPES:
        if shape.row not in rows:
            continue
        costs = [https.measure(options, shape, max(20, shape.every)) for _ in range(options.cycles)]
        ours, loop, curl = (statistics.median(getattr(cost, name) for cost in costs) * 1e6 for name in ("ours", "loop", "curl"))
        against, target = targets[shape.row]
        ratio = ours / (loop if against == "loop" else curl)
        print("\nRow %s  %s\n  CPU of a poll, us: %.0f; the loop in C %.0f; `curl -Z` with a handshake each %.0f; %.0f MB\n"
              "  ratio to %s: %.2f   target <= %.1f: %s" % (
                  shape.row, shape, ours, loop, curl, costs[-1].memory / 1e6, against, ratio, target, "met" if ratio <= target else "MISSED"))
        sys.stdout.flush()
        summary.add("Row %s  %s" % (shape.row, shape), "CPU, us", ours, loop if against == "loop" else curl, ratio,
                    "<= %.1f" % target, ratio <= target)


def first_line(command):
    text = subprocess.run(command, capture_output=True, text=True, check=False)
    return ((text.stdout + text.stderr).splitlines() or ["?"])[0]


def describe(options):
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "unknown model")
    print("%s  %s  Linux %s  %d cores of %s" % (
        time.strftime("%Y-%m-%d %H:%M"), platform.machine(), platform.release(), len(os.sched_getaffinity(0)), model))
    print("load %.2f  state on %s" % (os.getloadavg()[0], first_line(["stat", "-f", "-c", "%T", options.work])))
    print("%s  %s" % (first_line([find_nginx(), "-v"]), first_line(["curl", "--version"])))
    print("%d feeds of 20 KB, rounds: %d, in flight: %d; ratios are of medians" % (
        options.feeds, options.cycles, FLIGHT))
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--vedette", "--parts", "--work", "--rows"):
        parser.add_argument(name, required=True)
    for name in ("--feeds", "--cycles"):
        parser.add_argument(name, type=int, required=True)
    for name in ("--json", "--compare"):
        parser.add_argument(name, default="")
    options = parser.parse_args()
    # Raised as an exception: what was started is ended on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    rows = options.rows.split(",")
    try:
        earlier = summary.read(options.compare) if options.compare else {}
    except (OSError, ValueError, KeyError, TypeError) as trouble:
        print("bench: --compare %s is not what --json writes: %s" % (options.compare, trouble), file=sys.stderr)
        return 65
    describe(options)
    bench = None
    try:
        inside = Inside(options)
        for row, measure in (("4", inside.reading), ("6", inside.comparing), ("7", inside.routing)):
            if row in rows:
                measure()
        if set(rows) - {"4", "6", "7", "16", "18", "20", "21", "22"}:
            bench = Bench(options)
        if "1" in rows or "2" in rows:
            bench.cycles_of(rows)
        if "3" in rows:
            bench.steady()
        if "5" in rows:
            Many(options, bench).measure()
        if set(rows) & {"8", "9", "10", "11"}:
            outward(options, bench, rows)
        if "12" in rows:
            besieged(options)
            expanded(options)
        if "13" in rows:
            flooded(options)
        if "14" in rows:
            commands(options, bench)
        if "15" in rows:
            both_stores(options, bench)
        if "16" in rows:
            page(options)
        if "17" in rows:
            streams_of_events(options, bench)
        if "18" in rows:
            pruned(options)
        if "19" in rows:
            costs(options, bench)
        secure(options, rows)
        summary.print_table(earlier)
        if options.json:
            summary.write(options.json)
    except Trouble as trouble:
        print("bench: %s" % trouble, file=sys.stderr)
        return 69
    finally:
        if bench:
            bench.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
