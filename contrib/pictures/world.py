# SPDX-License-Identifier: Apache-2.0
"""What the pictures show: Tests/lab's stand-in servers, two small ones, and a watcher in a terminal."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "systems"))
from processes import Box, request, until  # noqa: E402

HOME = Path("/home/ann")
COLUMNS = 92
PAGE = "http://127.0.0.1:8420"

CONFIGURATION = """
servers:
  cloud:
    url: https://cloud.example.com
    user: ann
    password: {credential: cloud}
    tls: {pin: "%(pin)s"}

sources:
  cloud-systems:
    {kind: cloudburst, server: cloud, every: 5s, codes: {RM01901: Queued, RM01902: Failed, RM01903: Stopping}}
  ci-builds:
    {kind: json, url: "http://ci.example.com/builds", items: builds, key: id, title: name, state: status,
     fields: {branch: branch, author: author}, every: 5s}
  team-updates: {kind: feed, url: "http://connections.example.com:8080/news/atom/stories/public?ps=50", every: 10s}
  shop: {kind: http, url: "http://shop.example.com/", every: 10s}
  billing-api: {kind: json, url: "http://billing.example.com/invoices", every: 10s}

sinks:
  terminal: {kind: stdout, format: line}
  desktop: {kind: desktop}
  team: {kind: matrix, url: "%(chat)s", token: {credential: matrix}, room: "%(room)s"}

rules:
  - name: system-state
    when: {source: cloud-systems, field: state}
    notify: [terminal]
  - name: system-ready
    when: {source: cloud-systems, field: state, from: [Starting, Started], to: Ready for use}
    notify:
      - desktop: {title: "{{item.name}} is ready", text: "after {{change.lasted}}"}
      - team
  - name: system-failed
    when: {source: cloud-systems, field: state, to: Failed}
    priority: high
    resolved: true
    notify: [desktop, team]
  - name: build-broken
    when: {source: ci-builds, field: state, to: failed, item: {branch: main}}
    resolved: true
    notify: [team, terminal]
  - name: new-update
    when: {source: team-updates, appears: true}
    notify: [terminal, team]
  - name: source-health
    when: {source_state: [failing, recovered]}
    for: 5m
    notify: [desktop]

settings:
  listen: "127.0.0.1:8420"
"""

BUILDS = [
    {"id": 2214, "name": "portal", "status": "passed", "branch": "main", "author": "Lena Björk"},
    {"id": 2213, "name": "payments", "status": "passed", "branch": "main", "author": "Tomás Varga"},
    {"id": 2212, "name": "search-index", "status": "passed", "branch": "reindex", "author": "Mira Okafor"},
    {"id": 2211, "name": "mobile-gateway", "status": "failed", "branch": "retry-uploads", "author": "Otto Lindh"},
]
UPDATES = [
    ("wikis", "Mira Okafor", "Release checklist"), ("profiles", "Tomás Varga", "back from leave, catching up on tickets"),
    ("blogs", "Lena Björk", "Migrating the build farm"), ("files", "Otto Lindh", "capacity-plan.ods"),
]


class Web(BaseHTTPRequestHandler):
    """The servers of builds, of the shop and of invoices, told apart by the Host header."""

    builds = [dict(build) for build in BUILDS]

    def do_GET(self) -> None:
        host = self.headers.get("Host", "").split(":")[0]
        if host == "billing.example.com":
            self.answer(503, "text/plain", "maintenance")
        elif host == "ci.example.com":
            self.answer(200, "application/json", json.dumps({"builds": self.builds}))
        else:
            self.answer(200, "text/html", "<!doctype html><title>Shop</title><p>Welcome")

    def answer(self, status: int, kind: str, body: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *arguments: object) -> None:
        pass


class World:
    def __init__(self, program: str, chat: str, room: str, token: str, bus: str) -> None:
        self.box = Box("pictures")
        threading.Thread(target=ThreadingHTTPServer(("127.0.0.1", 80), Web).serve_forever, daemon=True).start()
        self.start_lab()
        self.write_files(program, chat, room, token)
        # Colours and box-drawing as in a terminal of today; nothing of the caller's environment.
        self.environment = {
            "HOME": str(HOME), "PATH": "%s/bin:/usr/bin:/bin" % HOME, "LANG": "C.UTF-8", "TZ": os.environ.get("TZ", "UTC"),
            "DBUS_SESSION_BUS_ADDRESS": bus, "TMUX_TMPDIR": self.box.path}
        self.tmux("-f", "/dev/null", "new-session", "-d", "-s", "run", "-x", str(COLUMNS), "-y", "60", "sh")
        self.tmux("new-session", "-d", "-s", "ask", "-x", str(COLUMNS), "-y", "60", "sh")
        for session in ("run", "ask"):
            self.type(session, "PS1='$ '; clear")

    def start_lab(self) -> None:
        lab = [sys.executable, str(HERE.parent.parent / "Tests" / "lab" / "lab.py"), "--only", "appliance,connections", "--stories", "0",
               "--port", "appliance=443", "--port", "connections=8080", "--user", "ann", "--password", "lab", "--seconds", "600"]
        ready = self.box.start(*lab)
        self.lab = json.loads(until("the lab is ready", lambda: self.box.output(ready).partition("\n")[0]))
        for number in (66, 67):
            self.control("delete", id=number)
        for id, name, state in ((68, "Payments perf", "ready"), (70, "Search index rebuild", "running")):
            self.control("create", id=id, name=name, state=state)
        began = datetime.now(timezone.utc) - timedelta(hours=3)
        for number, (source, author, title) in enumerate(UPDATES):
            self.control("connections/add", source=source, author=author, title=title,
                         at=(began + timedelta(minutes=37 * number)).isoformat())

    def write_files(self, program: str, chat: str, room: str, token: str) -> None:
        files = HOME / ".config" / "vedette"
        (files / "credentials").mkdir(parents=True, mode=0o700)
        (files / "vedette.yaml").write_text(CONFIGURATION % {"pin": self.lab["pin"], "chat": chat, "room": room})
        for name, secret in (("cloud", "lab"), ("matrix", token)):
            (files / "credentials" / name).write_text(secret)
        for path in files.rglob("*"):
            path.chmod(0o700 if path.is_dir() else 0o600)
        (HOME / "bin").mkdir()
        (HOME / "bin" / "vedette").symlink_to(program)
        # The icon and the entry, as contrib/install puts them.
        share = HOME / ".local" / "share"
        (share / "applications").mkdir(parents=True)
        subprocess.run(["cp", "-r", HERE.parent / "icons", share], check=True)
        subprocess.run(["cp", HERE.parent / "vedette.desktop", share / "applications"], check=True)

    def control(self, call: str, **arguments: object) -> None:
        request("%s/lab/%s" % (self.lab["control"], call), arguments, method="POST")

    def tmux(self, *arguments: str) -> str:
        done = subprocess.run(["tmux", "-u", *arguments], env={**self.environment, "TERM": "xterm-256color"}, check=True,
                              capture_output=True, encoding="utf-8", timeout=20)
        return done.stdout

    def type(self, session: str, command: str) -> None:
        self.tmux("send-keys", "-t", session, "-l", command)
        self.tmux("send-keys", "-t", session, "Enter")

    def screen(self, session: str, colored: bool = False) -> str:
        return self.tmux("capture-pane", "-p", *(["-e"] if colored else []), "-t", session)

    def awaits(self, words: str, seconds: float = 60) -> None:
        until("'%s' in the terminal" % words, lambda: words in self.screen("run"), seconds)

    def build(self, id: int, status: str) -> None:
        Web.builds = [{**build, "status": status} if build["id"] == id else build for build in Web.builds]

    def play(self) -> None:
        """A few minutes of a day; what is waited for is on the screen before the next thing happens."""
        self.type("run", "vedette run")
        self.awaits("cloud-systems: baseline")
        self.awaits("billing-api")
        time.sleep(10)
        self.control("create", id=71, name="Nightly build 215", state="queued")
        self.awaits("Nightly build 215  appeared")
        time.sleep(8)
        self.control("set", id=71, state="starting")
        Web.builds = [{"id": 2215, "name": "portal", "status": "running", "branch": "main", "author": "Lena Björk"}] + Web.builds
        self.awaits("Queued → Starting")
        time.sleep(14)
        self.control("set", id=59, state="ready")
        self.awaits("WAS lab clone 05  Starting → Ready for use")
        time.sleep(6)
        self.build(2215, "failed")
        self.awaits("portal")
        time.sleep(8)
        self.control("connections/add", source="profiles", author="Lena Björk", title="portal is red, I am on it")
        self.awaits("I am on it")
        time.sleep(9)
        self.build(2215, "passed")
        self.awaits("passed")
        time.sleep(7)
        self.control("set", id=70, state="failed", args=["Load data", "rc=1"])
        self.awaits("Search index rebuild")
        self.control("set", id=71, state="ready")
        self.awaits("Nightly build 215  Starting → Ready for use")

    def close(self) -> None:
        self.tmux("send-keys", "-t", "run", "C-c")
        until("the watcher ends", lambda: self.tmux("list-panes", "-t", "run", "-F", "#{pane_current_command}") == "sh\n", 20)
        self.tmux("kill-server")
        self.box.close()
