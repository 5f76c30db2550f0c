# SPDX-License-Identifier: Apache-2.0
"""Stand-in for an IBM WebSphere CloudBurst appliance: the REST resources, their behaviour, and faults on request."""
from __future__ import annotations

import base64
import gzip
import json
import re
import secrets
import threading

from systems import LANGUAGES
from wire import Recorder, Reply, head, json_reply

LIST = "/resources/virtualSystems"
KNOWN_BROWSER = re.compile(r"Mozilla/\d.*(Firefox|Chrome|Safari|MSIE|Trident)")
PAGE = "<html><head><title>%s</title></head><body><h1>%s</h1><p>%s</p></body></html>\n"
LOGIN = ('<!DOCTYPE html>\n<html lang="en"><head><title>Sign in</title></head><body><form method="post" '
         'action="/login"><input name="user"/><input type="password" name="password"/></form></body></html>\n')
PATTERNS = {1: "Single server", 7: "Training", 12: "Cluster", 43: "WAS lab"}
PEOPLE = {4: ("tomas", "Tomás Varga"), 6: ("nina", "Nina Ruiz"), 15: ("mira", "Mira Okafor"), 22: ("lena", "Lena Björk")}
FAULTS = ("empty", "login", "500", "503", "401", "404", "cut-length", "cut-gzip", "cut-json", "cut-chunked", "big", "hang",
          "close", "empty-list", "garbage")


class Appliance:
    """`served` holds every list answer given (also the broken ones), `requests` every request, both in order."""

    def __init__(self, systems, story, user, password):
        self.systems, self.story, self.user, self.password = systems, story, user, password
        # version: the header that every request must carry, as {"name": …, "value": …}; null asks for none.
        self.settings = {"etag": False, "gzip": False, "chunked": False, "version": None}
        self.served, self.requests, self.sessions = Recorder(), Recorder(10_000), {}
        self.faults, self.lock, self.cached = [], threading.Lock(), (None, None)
        self.counts = dict.fromkeys(("requests", "sessions", "lists", "not_modified", "unauthorized"), 0)

    def __call__(self, request, connection):
        self.requests.add(request.as_json())
        self.count("requests")
        fault = self.take_fault() if (request.method, request.path) == ("GET", LIST) else None
        if fault:
            self.served.add({"fault": fault["kind"], "systems": None})
            return self.misbehave(fault, request, connection)
        if not self.admits(request):
            return self.unauthorized(request)
        version = self.settings["version"]
        if version and request.header(version["name"]) != version["value"]:
            return pretty({"message": "The version of the API is missing or not supported.", "status": 400}, 400)
        cookies = self.session(request)
        # The appliance knows some browsers only, and has nothing to say to anybody else.
        if not KNOWN_BROWSER.match(request.header("User-Agent")):
            return Reply(200, b"", "text/html", cookies)
        reply = self.resource(request)
        reply.headers += cookies
        reply.chunked = self.settings["chunked"]
        if self.settings["gzip"] and request.wants_gzip and reply.status == 200:
            reply.compressed()
        return reply

    def admits(self, request):
        """A password if one was sent, else a session's cookie."""
        sent = request.header("Authorization")
        if sent:
            return sent == "Basic " + base64.b64encode(("%s:%s" % (self.user, self.password)).encode()).decode()
        return session_id(request) in self.sessions

    def unauthorized(self, request):
        self.count("unauthorized")
        body = PAGE % ("Error 401", "401 Unauthorized", "Authentication is required for %s." % request.path)
        return Reply(401, body, "text/html", [("WWW-Authenticate", 'Basic realm="IBM WebSphere CloudBurst"')])

    def session(self, request):
        """The cookies to set: none for a known session; else a new one is opened, which costs the appliance."""
        with self.lock:
            if session_id(request) in self.sessions:
                return []
            id, token = secrets.token_hex(12), secrets.token_hex(16)
            self.sessions[id] = token
            self.counts["sessions"] += 1
        return [("Set-Cookie", "zsessionid=%s; Path=/; Secure; HttpOnly" % id),
                ("Set-Cookie", "SimpleToken=%s; Path=/; Secure" % token)]

    def resource(self, request):
        language = preferred(request.header("Accept-Language"))
        parts = request.path.strip("/").split("/")
        if request.path == LIST and request.method == "GET":
            return self.list(request, language)
        if parts[:2] == ["resources", "virtualSystems"] and len(parts) in (3, 4):
            return self.system(request, parts[2], parts[3:], language)
        if parts[:2] == ["resources", "users"] and len(parts) == 3 and parts[2].isdigit() and int(parts[2]) in PEOPLE:
            return pretty(person(int(parts[2])))
        if parts[:2] == ["resources", "patterns"] and len(parts) == 3 and parts[2].isdigit() and int(parts[2]) in PATTERNS:
            return pretty({"id": int(parts[2]), "name": PATTERNS[int(parts[2])], "description": None,
                           "created": 1768204800000, "updated": 1768204800000})
        return missing("resource")

    def list(self, request, language):
        version, body, rows = self.rendered(language)
        tag = '"systems-%d-%s"' % (version, language)
        headers = [("ETag", tag)] if self.settings["etag"] else []
        unchanged = self.settings["etag"] and request.header("If-None-Match") == tag
        self.served.add({"fault": None, "status": 304 if unchanged else 200, "language": language, "version": version,
                         "systems": rows})
        self.count("not_modified" if unchanged else "lists")
        return Reply(304, headers=headers) if unchanged else Reply(200, body, headers=headers)

    def rendered(self, language):
        """(version, body, rows), rendered once per version, so that long lists cost the lab little."""
        with self.lock:
            key = (self.systems.version, language)
            if self.cached[0] != key:
                version, systems, rows = self.systems.snapshot(language)
                self.cached = ((version, language), (version, render(systems), rows))
            return self.cached[1]

    def system(self, request, id, rest, language):
        system = self.systems.get(id)
        if system is None or rest not in ([], ["virtualMachines"]):
            return missing("virtual system")
        if request.method == "PUT" and not rest:
            wish = json.loads(request.body or b"{}").get("desiredstatus")
            if wish not in ("RM01006", "RM01011"):
                return pretty({"message": "The desired status is not valid.", "status": 400}, 400)
            self.story.desire(id, wish)
        elif request.method != "GET":
            return pretty({"message": "The method is not allowed.", "status": 405}, 405)
        return pretty([machine(system, language)] if rest else system.as_json(language))

    # Faults

    def take_fault(self):
        with self.lock:
            if not self.faults:
                return None
            fault = self.faults[0]
            fault["times"] -= 1
            if fault["times"] == 0:
                self.faults.pop(0)
            return fault

    def fault(self, kind=None, times=1, bytes=20_000_000, seconds=None, retry_after=None):
        """Queues a fault for the next list answers; times -1 lasts until `kind` null clears the queue."""
        if kind not in FAULTS + (None,):
            raise ValueError("no fault %s; there are %s" % (kind, ", ".join(FAULTS)))
        with self.lock:
            if kind is None:
                self.faults = []
            else:
                self.faults.append({"kind": kind, "times": int(times), "bytes": int(bytes), "seconds": seconds,
                                    "retry_after": retry_after})
            return self.faults

    def misbehave(self, fault, request, connection):
        kind = fault["kind"]
        again = [("Retry-After", str(fault["retry_after"]))] if fault["retry_after"] is not None else []
        if kind == "401":
            return self.unauthorized(request)
        if kind == "404":
            return missing("resource")
        if kind in ("500", "503"):
            text = "The appliance hit an internal error while handling the request."
            return Reply(int(kind), PAGE % ("Error " + kind, kind, text), "text/html", again)
        if kind == "hang":
            connection.hold(fault["seconds"])
        elif kind.startswith("cut") or kind == "big":
            return self.spoiled(kind, fault["bytes"], preferred(request.header("Accept-Language")), connection)
        elif kind != "close":
            return {"empty": Reply(200, b""), "login": Reply(200, LOGIN, "text/html;charset=UTF-8"),
                    "empty-list": Reply(200, b"[]"), "garbage": Reply(200, b'[{"id": 1, "name": tru]')}[kind]
        return None

    def spoiled(self, kind, size, language, connection):
        body = self.rendered(language)[1]
        plain = [("Content-Type", "application/json")]
        if kind == "cut-json":
            # Cut behind a whole system, where a lenient reader would see a shorter list.
            return Reply(200, body[:body.rfind(b"\n  },") + 4])
        if kind == "big":
            return Reply(200, b"[" + b" " * size + body[1:])
        if kind == "cut-gzip":
            whole = gzip.compress(body)
            return Reply(200, whole[:len(whole) * 3 // 4], headers=[("Content-Encoding", "gzip")])
        if kind == "cut-length":
            connection.write(head(200, plain + [("Content-Length", str(len(body)))]) + body[:len(body) // 2])
        else:
            half = body[:len(body) // 2]
            connection.write(head(200, plain + [("Transfer-Encoding", "chunked")]) + b"%x\r\n%s\r\n" % (len(half), half))
        return None

    # Control

    def set(self, **settings):
        unknown = set(settings) - set(self.settings)
        if unknown:
            raise TypeError("no setting %s" % ", ".join(sorted(unknown)))
        self.settings.update(settings)
        return self.settings

    def change_password(self, password):
        """A new password; sessions opened with the old one end."""
        self.password = password
        return self.expire()

    def expire(self):
        with self.lock:
            self.sessions.clear()
        return {"sessions": 0}

    def count(self, name):
        with self.lock:
            self.counts[name] += 1


def session_id(request):
    found = re.search(r"\bzsessionid=([0-9a-f]+)", request.header("Cookie"))
    return found.group(1) if found else None


def preferred(accepted):
    """The first language of Accept-Language that the appliance speaks, by its q; else English."""
    wishes = []
    for at, part in enumerate(accepted.split(",")):
        name, _, q = part.strip().lower().partition(";q=")
        wishes.append((-float(q or 1), at, name[:2]))
    return next((name for _, _, name in sorted(wishes) if name in LANGUAGES), "en")


def render(value):
    return json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n"


def pretty(value, status=200):
    return Reply(status, render(value))


def missing(what):
    return pretty({"message": "The requested %s does not exist." % what, "status": 404}, 404)


def person(id):
    username, fullname = PEOPLE[id]
    return {"id": id, "username": username, "fullname": fullname, "email": username + "@example.org",
            "created": 1768204800000, "updated": 1793520000000, "currentstatus": None, "currentstatus_text": None,
            "currentmessage": None, "currentmessage_text": None, "isdeleted": "F"}


def machine(system, language):
    state = system.as_json(language)
    copied = ("created", "updated", "currentstatus", "currentstatus_text", "currentmessage", "currentmessage_text")
    nics = [{"ip_hostname": "vm%d.example.org" % system.id, "ip_address": "192.0.2.%d" % (system.id % 250), "type": "public"}]
    return dict({"id": system.id + 37, "identifier": "node-1", "name": system.name + " node 1", "cpucount": 2},
                **{name: state[name] for name in copied}, virtualsystem=LIST + "/%d" % system.id, nics=nics)
