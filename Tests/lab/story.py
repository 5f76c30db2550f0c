# SPDX-License-Identifier: Apache-2.0
"""How virtual systems live: each life is a generator that makes one change per step. The same seed tells the same story."""
from __future__ import annotations

import random
import threading

SCRIPTS = ["05Lab Script", "Install fix pack", "Join cell", "Load data", "Create cluster", "Tune JVM & heap", "Città=test"]
NAMES = ["prod", "Nightly build cell", "Payments perf", "Search index rebuild", "Hotfix verify", "Mobile gateway"]
AT_MOST = 12


class Story:
    """`step()` advances every living system by one change; with `births`, every third step a new one is queued."""

    def __init__(self, systems, births=False, seed=1):
        self.systems, self.births, self.random = systems, births, random.Random(seed)
        self.lock, self.lives, self.steps, self.born = threading.Lock(), {}, 0, 0
        if systems.get(59):
            self.lives[59] = self.start(59)

    def step(self, times=1, births=None):
        with self.lock:
            for _ in range(int(times)):
                self._step(self.births if births is None else births)
            return {"steps": self.steps}

    def _step(self, births):
        for id, life in sorted(self.lives.items()):
            try:
                next(life)
            except (StopIteration, KeyError):  # KeyError: a control call deleted the system in mid-life
                del self.lives[id]
        if births and self.steps % 3 == 0 and len(self.systems.order) < AT_MOST:
            self._birth()
        self.steps += 1

    def _birth(self):
        self.born += 1
        name = "%s-%d" % (NAMES[self.born % len(NAMES)], self.born)
        id = self.systems.create(name=name, owner=6, pattern=12)["id"]
        self.lives[id] = self.life(id, fails=self.born % 3 == 2)

    def desire(self, id, status):
        """A wish by PUT: RM01006 starts the system, RM01011 stops it."""
        with self.lock:
            life = {"RM01006": self.start, "RM01011": self.stop}[status](int(id))
            self.systems.set(int(id), desiredstatus=status)
            next(life)
            self.lives[int(id)] = life

    def life(self, id, fails):
        yield from self.start(id, fails)
        if fails:
            yield from self.pause(4)
            self.systems.delete(id)
            return
        yield from self.pause(self.random.randint(3, 6))
        if self.random.random() < 0.3:
            self.systems.set(id, name=self.systems.get(id).name + " (renamed)")
            yield
        yield from self.stop(id)
        yield from self.pause(3)
        self.systems.delete(id)

    def start(self, id, fails=False):
        self.systems.set(id, state="starting")
        # A system of the cast stands at this point already: the first step then changes nothing that is compared.
        yield
        scripts = self.random.sample(SCRIPTS, 2)
        for script in scripts:
            self.systems.set(id, state="running", args=[script])
            yield
        if fails:
            self.systems.set(id, state="failed", args=[scripts[-1], "rc=1"])
        else:
            self.systems.set(id, state="ready", desiredstatus="")
        yield

    def stop(self, id):
        self.systems.set(id, state="stopping")
        yield
        self.systems.set(id, state="stopped", desiredstatus="")
        yield

    def pause(self, steps):
        for _ in range(steps):
            yield
