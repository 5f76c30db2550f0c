# SPDX-License-Identifier: Apache-2.0
"""Network namespaces on this machine: one for each name, joined by a veth pair to the namespace of this process, which must be one
of its own, as contrib/oracle gives it. They end with this process."""
from __future__ import annotations

import os
import subprocess

from world import Trouble, wait_until

ADDRESS = "10.77.0.1"  # of this process, as every namespace reaches it


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Trouble("%s: %s" % (" ".join(command), done.stderr.strip()))
    return done.stdout


def own(pid):
    return os.readlink("/proc/%s/ns/net" % pid)


def raise_loopback():
    """Brings up the loopback of a new network namespace. Returns whether this process has one of its own."""
    try:
        if "state DOWN" not in run("ip", "-o", "link", "show", "lo"):
            return False
        run("ip", "link", "set", "lo", "up")
        return True
    except (Trouble, OSError):
        return False


class Network:
    """A namespace for each of the names."""

    is_possible = False  # until `raise_loopback` found a namespace of this process

    def __init__(self, names):
        run("ip", "address", "replace", ADDRESS + "/32", "dev", "lo")
        self.holders = {}
        try:
            for number, name in enumerate(names, 1):
                self.add(name, number)
        except Exception:
            self.close()
            raise

    def add(self, name, number):
        holder = self.holders[name] = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "sleep", "infinity"])
        if not wait_until(lambda: own(holder.pid) != own("self"), 10):
            raise Trouble("no network namespace for %s" % name)
        near, far = "vdt%d" % number, "far%d" % number
        run("ip", "link", "add", near, "type", "veth", "peer", "name", far, "netns", str(holder.pid))
        run("ip", "address", "add", "10.77.%d.1/30" % number, "dev", near)
        run("ip", "link", "set", near, "up")
        run(*self.inside(name), "ip", "link", "set", "lo", "up")
        run(*self.inside(name), "ip", "address", "add", "10.77.%d.2/30" % number, "dev", far)
        run(*self.inside(name), "ip", "link", "set", far, "up")
        run(*self.inside(name), "ip", "route", "add", "default", "via", "10.77.%d.1" % number)

    def inside(self, name):
        """The words before a command that runs in the namespace, with its process id."""
        return ["nsenter", "--net=/proc/%d/ns/net" % self.holders[name].pid]

    def connect(self, name, is_connected):
        number = list(self.holders).index(name) + 1
        run("ip", "link", "set", "vdt%d" % number, "up" if is_connected else "down")

    def close(self):
        for number, holder in enumerate(self.holders.values(), 1):
            # The end of the namespace would do it later.
            subprocess.run(["ip", "link", "delete", "vdt%d" % number], capture_output=True)
            holder.kill()
            holder.wait()
