# SPDX-License-Identifier: Apache-2.0
"""Drives one watcher after another into faults, lets each settle, and asks the oracle. `contrib/oracle` starts it."""
from __future__ import annotations

import argparse
import atexit
import errno
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter

import faulty
import watchers
from namespaces import Network, raise_loopback
from oracle import Verdict
from world import SINK_OUTAGES, SOURCE_OUTAGES, Trouble, World, wait_until

FRESH_WITHIN = 60  # seconds in which a fresh event must arrive when nothing is wrong any more


class Scenario:
    """One state under one kind of fault. `faults` counts what was done to it."""

    def __init__(self, options, name, seed, seconds, **world):
        self.name, self.seed, self.dice = name, seed, random.Random("%s %d" % (name, seed))
        self.work = tempfile.mkdtemp(prefix="%s." % name, dir=options.work)
        self.injected = faulty.Faults(self.work, options.preload)
        kind = {"watchers": watchers.SharedWorld, "failover": watchers.FailoverWorld}.get(name, World)
        self.world = kind(options.vedette, self.work, faults=self.injected, **world)
        self.world.may_end = name in MAY_END
        self.begin, self.seconds, self.lives, self.faults, self.notes = time.monotonic(), seconds, 0, 0, {}

    @property
    def time_left(self):
        return self.begin + self.seconds - time.monotonic()

    # Steps that scenarios share.

    def baseline(self):
        if self.world.command("run --once") != 0:
            raise Trouble(self.world.odd[-1])

    def start(self):
        """Returns when the watcher is at work, or has ended."""
        if self.world.variant == 3:
            self.world.configure()  # with the broken one it would rightly end
        self.lives += 1
        polls = self.world.lists.polls
        self.world.start()
        wait_until(lambda: self.world.lists.polls > polls or not self.world.alive, 20, pause=0.005)

    def ensure_alive(self):
        if not self.world.alive:
            self.world.collect()
            self.start()

    def advance(self, every=False, keeps_items=False):
        for n in range(self.world.lists.count):
            if every or self.dice.random() < 0.7:
                self.world.lists.advance(n, self.dice, keeps_items=keeps_items)

    def arrived(self):
        """Whether the newest number of every item reached each receiver that gets every change."""
        values = {key: value for key, value in self.world.lists.now().items()
                  if value > 0 or not self.world.is_first(key)}
        return self.world.receivers.has(self.world.SURE, values)

    def outage(self, longest=1.5):
        if self.dice.random() < 0.5:
            n = self.dice.randrange(self.world.lists.count)
            kind = self.dice.choice(SOURCE_OUTAGES[self.world.lists.transport(n)])
            self.world.lists.outages.begin(n, kind, self.dice.uniform(0.1, longest))
        else:
            sink = self.dice.choice(self.world.sinks)
            self.world.receivers.outages.begin(sink, self.dice.choice(SINK_OUTAGES), self.dice.uniform(0.1, longest))
        self.faults += 1

    def must_recover(self, what, seconds=FRESH_WITHIN, keeps_items=False):
        """The watcher that met a fault and lives must deliver fresh events by itself."""
        self.advance(every=True, keeps_items=keeps_items)
        if not wait_until(lambda: self.arrived() or not self.world.alive, seconds):
            self.world.odd.append("no fresh event within %d s after %s" % (seconds, what))

    # The end of every scenario.

    def must_recover_for_good(self, what, keeps_items=False):
        """As `must_recover`. A watcher that ends late, for the last fault, starts anew."""
        self.must_recover(what, keeps_items=keeps_items)
        for _ in range(self.world.LATE_ENDS):
            if not self.world.alive:
                self.ensure_alive()
                self.must_recover(what, keeps_items=keeps_items)

    def settle(self):
        """All faults stop; then fresh events must pass, and SIGTERM must end the watcher with 0."""
        self.injected.reset()
        self.injected.step_clock(0)
        self.world.lists.outages.end()
        self.world.receivers.outages.end()
        self.world.configure()
        self.ensure_alive()
        self.world.process.send_signal(signal.SIGCONT)
        wait_until(lambda: "reloaded" in self.world.log_text()[-2000:], 1)
        for sink in self.world.sinks:  # what waits for the end of a long delay need not be waited for
            self.world.retry(sink)
        begin = time.monotonic()
        self.must_recover_for_good("all faults stopped")
        if not self.world.alive:
            self.world.odd.append("the watcher ended with %s after all faults had stopped" % self.world.collect())
            self.world.is_settled = False
            self.world.stop()
            return
        self.notes["fresh_after"] = round(time.monotonic() - begin, 2)
        for _ in range(2):  # two more polls of each list: what is gone is gone after the second
            self.must_recover_for_good("a fresh event", keeps_items=True)
        code = self.world.stop()
        if code != 0:
            self.world.odd.append("SIGTERM ended the watcher with %s" % code)

    def live(self):
        SCENARIOS[self.name][0](self)

    def run(self):
        """Returns the result, as it is written to JSON."""
        try:
            self.baseline()
            self.live()
            self.settle()
        finally:
            self.world.close()
            self.injected.close()
        verdict = Verdict(self.world)
        result = {"scenario": self.name, "seed": self.seed, "seconds": round(time.monotonic() - self.begin, 1), "lives": self.lives,
                  "faults": self.faults, **self.notes, **verdict.summary()}
        if os.path.ismount(self.world.state):  # it would go with the name space
            kept = self.world.state + ".kept"
            shutil.copytree(self.world.state, kept)
            subprocess.run(["umount", self.world.state], check=True)
            shutil.rmtree(self.world.state)  # what was there before the mount
            os.rename(kept, self.world.state)
        if verdict.violations:
            result["kept"] = self.work
        else:
            shutil.rmtree(self.work)
        return result


# Scenarios: each goes on until its time is over or its plan is done.

def kills(run):
    """kill -9 at random, while sources and sinks fail."""
    while run.time_left > 0:
        run.start()
        for _ in range(run.dice.randrange(4)):
            run.advance()
            if run.dice.random() < 0.4:
                run.outage()
            time.sleep(run.dice.uniform(0, 0.25))
        time.sleep(run.dice.uniform(0, 0.2))
        run.world.kill()
        run.faults += 1


def short_life(run):
    """From the start to the end by SIGTERM, with changes in every list that reach their receivers on the way. Returns early when the
    watcher dies."""
    run.advance(every=True)
    run.start()
    wait_until(lambda: run.arrived() or not run.world.alive, 20, pause=0.005)
    if run.world.alive:
        run.world.terminate()
        wait_until(lambda: not run.world.alive, 12, pause=0.005)
        if run.world.alive:
            return run.world.stop(0)
    return run.world.collect()


def measured_calls(run, kinds):
    """How many calls of each kind a short life makes: the largest of three."""
    counts = dict.fromkeys(kinds, 0)
    for _ in range(3):
        run.injected.reset()
        short_life(run)
        for kind in kinds:
            counts[kind] = max(counts[kind], run.injected.count(kind))
    return counts


def calls(run):
    """The process dies at the Nth write, sync, truncate or send of a short life: before it, and in the middle of it, for every N."""
    counts = measured_calls(run, faulty.CALLS)
    plan = [(kind, n, action) for kind in faulty.CALLS for n in range(1, counts[kind] + 1) for action in (faulty.KILL, faulty.TEAR)]
    run.dice.shuffle(plan)
    done = 0
    for kind, n, action in plan:
        if run.time_left <= 0:
            break
        run.injected.reset()
        run.injected.set(kind, n, action)
        code = short_life(run)
        run.faults += code == -signal.SIGKILL
        done += 1
    run.notes.update(calls=counts, instants=len(plan), tried=done)


def errors(run):
    """The Nth write, sync or truncate of a short life fails with ENOSPC or EIO, alone or with the next 20: the watcher goes on by
    itself when it is over, or ends and starts anew."""
    kinds = ("write", "sync", "truncate")
    counts = measured_calls(run, kinds)
    plan = [(kind, n, error, more) for kind in kinds for n in range(1, counts[kind] + 1) for error in (errno.ENOSPC, errno.EIO)
            for more in (0, 20)]
    run.dice.shuffle(plan)
    done, ended, slowest = 0, 0, 0.0
    for kind, n, error, more in plan:
        if run.time_left <= 0:
            break
        run.injected.reset()
        run.injected.fail(kind, n, error, n + more)
        run.advance(every=True)
        run.start()
        wait_until(lambda: run.injected.count(kind) >= n + more or not run.world.alive, 1.5, pause=0.005)
        run.faults += run.injected.count(kind) >= n
        run.injected.reset()
        if run.world.alive:
            begin = time.monotonic()
            run.must_recover("%s at %s %d of %d" % (errno.errorcode[error], kind, n, n + more))
            slowest = max(slowest, time.monotonic() - begin)
        ended += not run.world.alive
        run.world.stop()
        done += 1
    run.notes.update(calls=counts, instants=len(plan), tried=done, ended_by_fault=ended, slowest_recovery=round(slowest, 2))


def disk(run):
    """The file system of the journal is full for a while, again and again."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "none", run.world.state], check=True)
    run.baseline()
    ballast, slowest = os.path.join(run.world.state, "ballast"), 0.0
    while run.time_left > 0:
        run.ensure_alive()
        run.advance()
        time.sleep(run.dice.uniform(0, 0.5))
        with open(ballast, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 16 if run.dice.random() < 0.99 else 1 << 10))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
        run.faults += 1
        for _ in range(run.dice.randrange(1, 6)):
            run.advance()
            time.sleep(run.dice.uniform(0, 0.4))
        os.unlink(ballast)
        begin = time.monotonic()
        if run.world.alive:
            run.must_recover("the disk was full")
            slowest = max(slowest, time.monotonic() - begin)
    run.notes["slowest_recovery"] = round(slowest, 2)


def stops(run):
    """SIGSTOP and SIGCONT, while lists change and receivers wait."""
    run.start()
    while run.time_left > 0:
        run.ensure_alive()
        run.advance()
        time.sleep(run.dice.uniform(0, 0.4))
        run.world.process.send_signal(signal.SIGSTOP)
        run.faults += 1
        for _ in range(run.dice.randrange(4)):
            run.advance()
            time.sleep(run.dice.uniform(0, 1))
        run.world.process.send_signal(signal.SIGCONT)


def outages(run):
    """Sources and sinks fail in every way, none of them for long."""
    run.start()
    while run.time_left > 0:
        run.ensure_alive()
        run.advance()
        run.outage()
        time.sleep(run.dice.uniform(0, 0.5))


def reloads(run):
    """Another configuration every two seconds, a broken one among them; a source and a sink come and go."""
    run.start()
    while run.time_left > 0:
        run.ensure_alive()
        run.world.configure(run.dice.randrange(4))
        run.world.process.send_signal(signal.SIGHUP)
        run.faults += 1
        for _ in range(4):
            run.advance()
            time.sleep(0.5)


def clock(run):
    """The wall clock of the watcher jumps, while it runs or while it is away."""
    run.start()
    slowest = 0.0
    while run.time_left > 0:
        seconds = run.dice.choice((10 * 86400, -7200, 3600, -86400 * 365, 40 * 86400, 0))
        is_away = run.dice.random() < 0.3
        if is_away:
            run.world.stop()
        run.injected.step_clock(seconds)
        run.faults += 1
        begin = time.monotonic()
        if is_away:
            run.start()
        run.must_recover("the clock was set to %+d s" % seconds)
        slowest = max(slowest, time.monotonic() - begin)
        run.ensure_alive()
    run.notes["slowest_recovery"] = round(slowest, 2)


def mix(run):
    """Everything at once, at random."""
    while run.time_left > 0:
        run.injected.reset()
        for kind in faulty.CALLS:
            if run.dice.random() < 0.25:
                first = run.dice.randrange(1, 200)
                if run.dice.random() < 0.5 or kind == "send":
                    run.injected.set(kind, first, run.dice.choice((faulty.KILL, faulty.TEAR)))
                else:
                    run.injected.fail(kind, first, run.dice.choice((errno.ENOSPC, errno.EIO)), first + run.dice.randrange(30))
        run.ensure_alive()
        for _ in range(run.dice.randrange(1, 8)):
            run.advance()
            deed = run.dice.randrange(6)
            if deed == 0:
                run.world.configure(run.dice.randrange(4))
            elif deed == 1 and run.world.alive:
                run.world.process.send_signal(signal.SIGSTOP)
                time.sleep(run.dice.uniform(0, 0.6))
                run.world.process.send_signal(signal.SIGCONT)
            elif deed == 2:
                run.injected.step_clock(run.dice.choice((0, 3600, -3600, 86400)))
            else:
                run.outage()
            run.faults += 1
            time.sleep(run.dice.uniform(0, 0.3))
        if run.dice.random() < 0.5:
            run.world.kill()


# Whose faults may end a watcher: then it says so with a code of sysexits.h, and starts anew.
MAY_END = ("calls", "errors", "disk", "mix", "watchers", "failover")

# With the share of the time that each gets.
SCENARIOS = {"kills": (kills, 2), "calls": (calls, 6), "errors": (errors, 6), "disk": (disk, 1), "stops": (stops, 1),
             "outages": (outages, 1), "reloads": (reloads, 2), "clock": (clock, 1), "mix": (mix, 4),
             "watchers": (watchers.live, 4), "failover": (watchers.fail_over, 2)}


def can_mount(directory):
    """Whether a file system may be mounted here; contrib/oracle tries to give this process a name space of its own for it."""
    probe = os.path.join(directory, "probe")
    os.mkdir(probe)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", probe], capture_output=True)
    if done.returncode == 0:
        subprocess.run(["umount", probe], check=True)
    os.rmdir(probe)
    return done.returncode == 0


def prepare(options):
    """What every run needs: a directory of its own, and the library that is preloaded."""
    # A signal ends the run as an exit does, so that what was started here is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options.work, options.keeps = tempfile.mkdtemp(prefix="vedette-oracle."), False
    atexit.register(clean_up, options)
    Network.is_possible = raise_loopback()
    options.preload = faulty.compile_library(options.work)


def clean_up(options):
    """Removes the directory of a run, unless it is evidence."""
    if not options.keeps:
        for state in filter(os.path.ismount, glob.glob(os.path.join(options.work, "*", "state"))):
            subprocess.run(["umount", state])
        shutil.rmtree(options.work, ignore_errors=True)


def report(result, options):
    """Prints what was violated, and where the evidence is."""
    for violation, times in list(Counter(result["violations"]).items())[:10]:
        print("    %s%s" % (violation, ", %d times" % times if times > 1 else ""), flush=True)
    if result["violations"]:
        options.keeps = True
        print("    state, log and configuration: %s" % result["kept"], flush=True)
    if options.json:
        with open(options.json, "a") as file:
            file.write(json.dumps(result) + "\n")


def parse():
    parser = argparse.ArgumentParser(prog="contrib/oracle", description=__doc__)
    parser.add_argument("--vedette", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=1, help="how often all scenarios are run, each time with another seed (1)")
    parser.add_argument("--seconds", type=float, default=120, help="the time of one round, shared by its scenarios (120)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="the first seed (the time)")
    parser.add_argument("--only", default=",".join(SCENARIOS), help="of " + ",".join(SCENARIOS))
    parser.add_argument("--json", metavar="FILE", help="where results are appended, one object per scenario and line")
    options = parser.parse_args()
    options.only = options.only.split(",")
    for name in options.only:
        if name not in SCENARIOS:
            parser.error("no scenario %s; there are %s" % (name, ", ".join(SCENARIOS)))
    return options


def events_of(result):
    """The number of events, and of how the lists of their items are read."""
    return "%d events (%s)" % (result["events"], ", ".join("%s %d" % pair for pair in sorted(result["transports"].items())))


def line_of(result):
    extra = " ".join("%s=%s" % (name, result[name]) for name in ("instants", "tried", "ended_by_fault", "slowest_recovery", "rounds", "partitions", "fresh_after")
                     if name in result)
    return "%-8s %4d lives %5d faults  %s %6d messages %6d accepted %4d twice  %s  %s" % (
        result["scenario"], result["lives"], result["faults"], events_of(result), result["messages"], result["accepted"],
        result["duplicates"], extra, "ok" if not result["violations"] else "%d VIOLATIONS" % len(result["violations"]))


def main():
    options = parse()
    prepare(options)
    names = list(options.only)
    if "disk" in names and not can_mount(options.work):
        print("disk: skipped, no file system can be mounted here", flush=True)
        names.remove("disk")
    share = options.seconds / max(1, sum(SCENARIOS[name][1] for name in names))
    failed, rounds, takeovers = False, 0, []
    for seed in range(options.seed, options.seed + options.rounds):
        print("seed %d" % seed, flush=True)
        for name in names:
            result = Scenario(options, name, seed, share * SCENARIOS[name][1]).run()
            print(line_of(result), flush=True)
            report(result, options)
            failed = failed or bool(result["violations"])
            rounds += result.get("rounds", 0)
            takeovers += result.get("takeovers", [])
    if rounds:
        print("several watchers: %d rounds, %s" % (rounds, watchers.summary_of(takeovers)), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Trouble as trouble:
        print("oracle: %s" % trouble, file=sys.stderr)
        sys.exit(69)
