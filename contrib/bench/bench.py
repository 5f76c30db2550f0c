# SPDX-License-Identifier: Apache-2.0
"""Measures rows 1 to 3 of the table in the design's "How fast" and prints ratios. `run` beside it prepares what it needs."""
from __future__ import annotations

import argparse
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import time

import readers
from parts import FLIGHT, Nginx, Trouble, Watcher, find_nginx, run

LAB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lab")
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
        ratio = statistics.median(self.series[first]) / statistics.median(self.series[second])
        met = ratio >= target if least else ratio <= target
        print("  %-34s %10.2f   target %s %.1f: %s" % (
            "ratio: %s / %s" % (first, second), ratio, ">=" if least else "<=", target, "met" if met else "MISSED"))
        for note in self.notes:
            print("  " + note)
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
        measures = []
        if "1" in rows:
            for name, validators in (("ETag and Last-Modified", True), ("no validators", False)):
                urls = self.nginx.urls("still", self.feeds, validators)
                figures = Figures("Row 1  a cycle over %d unchanged feeds, %s" % (self.feeds, name), "CPU, ms", 1000)
                measures.append((self.unchanged, self.watcher("still-%d" % validators, urls, self.every), urls, figures))
        if "2" in rows:
            urls = self.nginx.urls("moving", self.feeds)
            figures = Figures("Row 2  a cycle over %d feeds, each with a new entry" % self.feeds, "wall, ms", 1000)
            measures.append((self.changed, self.watcher("moving", urls, self.every), urls, figures))
        for _ in range(self.cycles):
            for measure, watcher, urls, figures in measures:
                watcher.all_due()
                served = self.nginx.requests()
                measure(watcher, figures)
                watcher.stop()
                served = self.nginx.requests() - served
                if served != len(urls):
                    figures.notes.append("warning: a cycle made %d requests for %d feeds" % (served, len(urls)))
                _, cpu, wall = run(self.curl(urls), 120)
                figures.add("curl -Z", wall if measure == self.changed else cpu)
        for measure, watcher, _, figures in measures:
            figures.print("vedette", "curl -Z", 4.0 if measure == self.changed else 1.0)
            self.drop(watcher)
        if "1" in rows:
            self.compare_readers(measures[0][3].series["vedette"])

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
    for name in ("--vedette", "--work", "--rows"):
        parser.add_argument(name, required=True)
    for name in ("--feeds", "--cycles"):
        parser.add_argument(name, type=int, required=True)
    options = parser.parse_args()
    # Raised as an exception: what was started is ended on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    rows = options.rows.split(",")
    describe(options)
    bench = None
    try:
        bench = Bench(options)
        if "1" in rows or "2" in rows:
            bench.cycles_of(rows)
        if "3" in rows:
            bench.steady()
    except Trouble as trouble:
        print("bench: %s" % trouble, file=sys.stderr)
        return 69
    finally:
        if bench:
            bench.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
