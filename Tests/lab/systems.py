# SPDX-License-Identifier: Apache-2.0
"""The virtual systems of the appliance: what they are now. How they live is in story.py."""
from __future__ import annotations

import random
import threading
import time
from urllib.parse import quote_plus

# Codes of the 9xx block are invented (the real ones could not be confirmed), so that nobody takes them for IBM's.
STATUS = {
    "RM01005": ("Starting", "Avvio"), "RM01006": ("Started", "Avviato"), "RM01011": ("Stopped", "Arrestato"),
    "RM01901": ("Queued", "In coda"), "RM01902": ("Failed", "Non riuscito"), "RM01903": ("Stopping", "Arresto"),
}
MESSAGE = {
    "RM07045": ("Ready for use", "Pronto per l'uso"), "RM07054": ("Running", "In esecuzione"),
    "RM07153": ("Stopped", "Arrestato"), "RM07901": ("Queued", "In coda"),
    "RM07902": ("Starting virtual machines", "Avvio delle macchine virtuali"),
    "RM07903": ("Stopping virtual machines", "Arresto delle macchine virtuali"),
    "RM07904": ("Script package {0} failed, {1}", "Pacchetto di script {0} non riuscito, {1}"),
}
STATES = {
    "queued": ("RM01901", "RM07901"), "starting": ("RM01005", "RM07902"), "running": ("RM01005", "RM07054"),
    "started": ("RM01006", "RM07054"), "ready": ("RM01006", "RM07045"), "stopping": ("RM01903", "RM07903"),
    "stopped": ("RM01011", "RM07153"), "failed": ("RM01902", "RM07904"),
}
LANGUAGES = ("en", "it")
CAST = [(51, "Billing staging", "stopped"), (59, "WAS lab clone 05", "starting"), (56, "Portal QA", "ready"),
        (63, "Training room 4", "ready"), (66, "sandbox", "ready"), (67, "Résumé \"β\" <edge> & co", "ready")]


class System:
    def __init__(self, id, name):
        self.id, self.name = id, name
        self.status = self.message = None
        self.args = []
        self.desired = None
        self.owner, self.pattern = 6, 1
        self.created = self.updated = int(time.time() * 1000)

    def coded_message(self):
        """`RM07054("05Lab+Script")`: the code with its URL-encoded arguments."""
        if self.message is None or not self.args:
            return self.message
        return "%s(%s)" % (self.message, ",".join('"%s"' % quote_plus(arg) for arg in self.args))

    def as_json(self, language):
        at = LANGUAGES.index(language)
        message = MESSAGE.get(self.message, (self.message,) * 2)[at]
        if message and "{0}" in message:
            message = message.format(*(self.args + ["?", "?"])[:2])
        return {
            "desiredstatus_text": STATUS.get(self.desired, (None, None))[at],
            "currentstatus_text": STATUS.get(self.status, (self.status,) * 2)[at],
            "created": self.created, "name": self.name, "currentstatus": self.status, "desiredstatus": self.desired,
            "currentmessage": self.coded_message(), "pattern": "/resources/patterns/%d" % self.pattern,
            "owner": "/resources/users/%d" % self.owner, "updated": self.updated, "id": self.id,
            "currentmessage_text": message,
        }


class Systems:
    """All systems, in the order they are served. `version` grows with every change."""

    def __init__(self, count=len(CAST)):
        self.lock, self.order, self.version, self.next_id = threading.RLock(), [], 0, 1000
        for id, name, state in CAST[:count]:
            self.create(name=name, state=state, id=id)
        for number in range(len(CAST), count):
            self.create(name="system %d" % number, state="ready")

    def get(self, id):
        """None when there is no such system."""
        return next((system for system in self.order if str(system.id) == str(id)), None)

    def create(self, name, id=None, state="queued", **rest):
        with self.lock:
            if id is None:
                id, self.next_id = self.next_id, self.next_id + 1
            if self.get(id):
                raise ValueError("system %s exists" % id)
            self.order.append(System(id, name))
            return self.set(id=id, state=state, **rest)

    def set(self, id, **changes):
        """Changes what is named: name, state (a word of STATES), status, message, args, desiredstatus, owner, pattern."""
        with self.lock:
            system = self.get(id)
            if system is None:
                raise KeyError("no system %s" % id)
            if "state" in changes:
                system.status, system.message = STATES[changes.pop("state")]
                system.args = []
            for name, value in changes.items():
                attribute = {"desiredstatus": "desired"}.get(name, name)
                if name not in ("name", "status", "message", "args", "desiredstatus", "owner", "pattern"):
                    raise TypeError("a system has no %s" % name)
                setattr(system, attribute, value)
            system.updated = max(int(time.time() * 1000), system.updated + 1)
            self.version += 1
            return system.as_json("en")

    def delete(self, id):
        with self.lock:
            if self.get(id) is None:
                raise KeyError("no system %s" % id)
            self.order = [system for system in self.order if str(system.id) != str(id)]
            self.version += 1
            return {"deleted": id}

    def clear(self):
        with self.lock:
            self.order, self.version = [], self.version + 1
            return []

    def shuffle(self, seed=1):
        with self.lock:
            random.Random(seed).shuffle(self.order)
            self.version += 1
            return [system.id for system in self.order]

    def snapshot(self, language):
        """(version, the list as served, the same as rows of id, name, currentstatus, currentmessage)"""
        with self.lock:
            rows = [[s.id, s.name, s.status, s.coded_message()] for s in self.order]
            return self.version, [system.as_json(language) for system in self.order], rows
