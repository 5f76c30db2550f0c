# SPDX-License-Identifier: Apache-2.0
"""One watcher over 200 sources and five sinks for many minutes, with outages and reloads: memory, descriptors and threads must be
flat over the second half, and the journal must not grow faster than what it stores. Then the oracle. `contrib/soak` starts it."""
from __future__ import annotations

import argparse
import glob
import os
import signal
import sqlite3
import sys
import time
from contextlib import closing

from crash import Scenario, events_of, prepare, report
from world import Trouble

# By how much the line through the samples of the second half may rise.
LIMITS = {"resident": 8 << 20, "descriptors": 12, "threads": 4, "children": 4}
HANG = 130  # seconds, 10 more than a command may run


class Soak(Scenario):
    def __init__(self, options):
        super().__init__(options, "soak", options.seed, options.minutes * 60, sources=200, items=8, sinks=("a", "b", "c", "d", "e"),
                         every="2s")
        self.samples, self.interval = [], options.interval

    def live(self):
        self.start()
        lists, sample_at, reload_at = self.world.lists, time.monotonic() + self.interval, time.monotonic() + 15
        hangs = self.seconds >= 300
        if hangs:
            lists.outages.begin(self.dice.choice(lists.numbers("command")), "hang", HANG)
            reload_at += HANG  # a reload cancels the polls of a source that it changes
            self.faults += 1
        while self.time_left > 0 and self.world.alive:
            for n in self.dice.sample(range(lists.count), 4):
                lists.advance(n, self.dice)
            if self.dice.random() < 0.3:
                self.outage(longest=3)
            if time.monotonic() > reload_at:
                self.world.configure(self.dice.randrange(4))
                self.world.process.send_signal(signal.SIGHUP)
                self.faults, reload_at = self.faults + 1, reload_at + 15
            if time.monotonic() > sample_at:
                self.sample()
                sample_at += self.interval
            time.sleep(0.5)
        if not self.world.alive:
            self.world.odd.append("the watcher ended with %s" % self.world.collect())
        if hangs and "did not end within" not in self.world.log_text():
            self.world.odd.append("a command that hung for %d s was not ended" % HANG)
        self.notes.update(samples=self.samples, growth=self.growth())

    def sample(self):
        """Adds a sample, unless the watcher has ended."""
        pid = self.world.process.pid
        with open("/proc/%d/status" % pid) as file:
            status = dict(line.split(":", 1) for line in file)
        if "VmRSS" not in status:
            return
        with closing(sqlite3.connect("file:%s?mode=ro" % self.world.journal, uri=True, timeout=10)) as journal:
            rows = journal.execute("select (select count(*) from event) + (select count(*) from delivery)").fetchone()[0]
            pages = journal.execute("select page_count * page_size from pragma_page_count, pragma_page_size").fetchone()[0]
        wal = self.world.journal + "-wal"
        self.samples.append({
            "at": round(time.monotonic() - self.begin), "resident": int(status["VmRSS"].split()[0]) * 1024,
            "descriptors": len(os.listdir("/proc/%d/fd" % pid)), "threads": int(status["Threads"]), "children": children_of(pid),
            "journal": pages, "log": os.path.getsize(wal) if os.path.exists(wal) else 0, "rows": rows})

    def growth(self):
        """By how much each figure rose over the second half, by the line of least squares; and bytes of the journal per row, at the
        half and at the end. What is too much is odd."""
        half = self.samples[len(self.samples) // 2:]
        growth = {}
        for name, limit in LIMITS.items():
            growth[name] = round(rise([sample["at"] for sample in half], [sample[name] for sample in half]))
            if growth[name] > limit:
                self.world.odd.append("%s grew by %d over the second half" % (name, growth[name]))
        if len(half) > 1:
            growth["bytes_per_row"] = [round(sample["journal"] / max(1, sample["rows"])) for sample in (half[0], half[-1])]
            if growth["bytes_per_row"][1] > 1.2 * growth["bytes_per_row"][0]:
                self.world.odd.append("a row of the journal takes %d bytes, at the half it took %d" % tuple(growth["bytes_per_row"][::-1]))
        if max((sample["log"] for sample in self.samples), default=0) > 64 << 20:
            self.world.odd.append("the journal's log grew over 64 MiB")
        return growth


def children_of(pid):
    """How many children a process has, those included that it does not reap."""
    count = 0
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(stat) as file:
                count += int(file.read().rpartition(")")[2].split()[1]) == pid
        except OSError:  # it has ended
            pass
    return count


def rise(xs, ys):
    """The slope of the line of least squares, times the width of the samples."""
    count = len(xs)
    if count < 3:
        return 0.0
    x, y = sum(xs) / count, sum(ys) / count
    slope = sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)
    return slope * (xs[-1] - xs[0])


def main():
    parser = argparse.ArgumentParser(prog="contrib/soak", description=__doc__)
    parser.add_argument("minutes", type=float)
    parser.add_argument("--vedette", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the changes and faults (the time)")
    parser.add_argument("--interval", type=float, default=10, help="seconds between two samples (10)")
    parser.add_argument("--json", metavar="FILE", help="where the result is appended, with every sample")
    options = parser.parse_args()
    prepare(options)
    print("seed %d" % options.seed, flush=True)
    result = Soak(options).run()
    last, growth = (result["samples"] or [{}])[-1], result["growth"]
    print("soak: %.0f s, %d faults, %s, %d messages, %d accepted, %d twice; resident %.1f MB (%+.1f), descriptors %s (%+d), "
          "threads %s (%+d), children %s (%+d), journal %.1f MB, %s bytes a row: %s" % (
              result["seconds"], result["faults"], events_of(result), result["messages"], result["accepted"], result["duplicates"],
              last.get("resident", 0) / 1e6, growth["resident"] / 1e6, last.get("descriptors"), growth["descriptors"],
              last.get("threads"), growth["threads"], last.get("children"), growth["children"],
              last.get("journal", 0) / 1e6, growth.get("bytes_per_row"),
              "flat" if not result["violations"] else "%d VIOLATIONS" % len(result["violations"])), flush=True)
    report(result, options)
    return 1 if result["violations"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Trouble as trouble:
        print("soak: %s" % trouble, file=sys.stderr)
        sys.exit(69)
