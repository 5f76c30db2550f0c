#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts stand-in servers on loopback, prints where they are as one line of JSON, and ends with its stdin."""
from __future__ import annotations

import argparse
import json
import os
import resource
import select
import shutil
import signal
import socket
import stat
import sys
import tempfile
import threading
import time

from appliance import Appliance
from certs import Certificate
from connections import Connections
from control import control
from faults import Faults
from feeds import Feeds
from receiver import Receiver
from stories import Stories
from story import Story
from systems import CAST, Systems
from wire import Server

NAMES = ("appliance", "connections", "receiver", "faults", "feeds")
PORTS = NAMES + ("control", "faults_tls")


def main():
    options = parse()
    directory = tempfile.mkdtemp(prefix="vedette-lab.")
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    status = 0
    try:
        print(json.dumps(start(options, directory, stopped)), flush=True)
        wait(options.seconds)
    except SystemExit:
        pass
    except (OSError, RuntimeError) as error:
        print("lab: %s" % error, file=sys.stderr, flush=True)
        status = 1
    stopped.set()
    shutil.rmtree(directory, ignore_errors=True)
    # Handler threads may sit in a hang for an hour: they must not outlive the lab.
    os._exit(status)


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="NAMES", default=",".join(NAMES), help="of %s (default: all)" % ",".join(NAMES))
    parser.add_argument("--port", metavar="NAME=PORT", action="append", default=[],
                        help="a fixed port for one of %s (default: any free one)" % ", ".join(PORTS))
    parser.add_argument("--seconds", type=float, help="end after so long (default: when stdin closes, or after 600 s "
                        "where stdin is neither a pipe nor a terminal)")
    parser.add_argument("--pace", type=float, metavar="SECONDS", help="let systems and updates live, one step per SECONDS")
    parser.add_argument("--seed", type=int, default=1, help="of the story that the systems live")
    parser.add_argument("--systems", type=int, default=len(CAST), help="how many virtual systems there are at first")
    parser.add_argument("--stories", type=int, default=27, help="how many updates there are at first")
    parser.add_argument("--feeds", type=int, default=1000, metavar="N", help="feeds 0 to N-1")
    parser.add_argument("--feed-bytes", type=int, default=20_000)
    parser.add_argument("--user", default="lamato")
    parser.add_argument("--password", default="s3cret-lab")
    parser.add_argument("--expired", action="store_true", help="with an expired certificate")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    options.only = options.only.split(",")
    options.port = dict(pair.split("=") for pair in options.port)
    for name in options.only + list(options.port):
        if name not in PORTS:
            parser.error("no server %s; there are %s" % (name, ", ".join(PORTS)))
    return options


def start(options, directory, stopped):
    """Starts what was asked for. Returns the line that says where it is."""
    # A server holds a thread and a descriptor per connection; tests open many.
    threading.stack_size(256 * 1024)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    servers, line, steps = {}, {}, []

    def serve(name, app, tls=None):
        servers[name] = Server(name, app, int(options.port.get(name, 0)), tls, options.verbose)
        line[name] = servers[name].url

    needs_tls = {"appliance", "faults"} & set(options.only)
    certificate = Certificate(directory, options.expired) if needs_tls else None
    appliance = connections = story = None
    if "appliance" in options.only:
        systems = Systems(options.systems)
        story = Story(systems, births=options.pace is not None, seed=options.seed)
        appliance = Appliance(systems, story, options.user, options.password)
        serve("appliance", appliance, certificate.context)
        steps.append(story.step)
    if "connections" in options.only:
        connections = Connections(Stories(options.stories))
        serve("connections", connections)
        steps.append(connections.step)
    if "receiver" in options.only:
        serve("receiver", Receiver())
    if "faults" in options.only:
        faults = Faults()
        serve("faults", faults)
        serve("faults_tls", faults, certificate.context)
        # The kernel accepts here and nobody serves: a TLS handshake with it never gets an answer.
        servers["silent"] = socket.create_server(("127.0.0.1", 0), backlog=1024)
        line["silent"] = "http://127.0.0.1:%d" % servers["silent"].getsockname()[1]
        # Held by what lives as long as the lab: a socket that nobody holds is closed.
        faults.silent = servers["silent"]
    if "feeds" in options.only:
        serve("feeds", Feeds(options.feeds, options.feed_bytes))
    if appliance or connections:
        serve("control", control(appliance, connections, story, servers))
    if certificate:
        line.update(certificate=certificate.path, pin=certificate.pin)
    if options.pace:
        threading.Thread(target=keep_pace, args=(options.pace, steps, stopped), daemon=True).start()
    return line


def keep_pace(seconds, steps, stopped):
    while not stopped.wait(seconds):
        for step in steps:
            step()


def wait(seconds):
    """Until stdin ends or the time is over."""
    mode = os.fstat(0).st_mode
    # /dev/null is at its end from the start, which says nothing about whoever started the lab.
    watched = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(0)
    deadline = time.monotonic() + (seconds if seconds is not None else float("inf") if watched else 600)
    while True:
        left = min(deadline - time.monotonic(), 86_400)
        if left <= 0:
            return
        if select.select([0] if watched else [], [], [], left)[0] and not os.read(0, 4096):
            return


if __name__ == "__main__":
    main()
