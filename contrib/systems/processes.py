# SPDX-License-Identifier: Apache-2.0
"""A temporary directory with the processes of one system: started on loopback, each ended by its own process group."""
from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request


# The programs of the Python packages, where contrib/systems/run has put them.
PYTHON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".build", "systems", "bin")


class Failure(Exception):
    """What a system did not do, in a sentence."""


class Skipped(Exception):
    """Why a system cannot be started on this machine."""


def until(what, check, seconds=30):
    """Returns the first true value of `check`, which may fail by an OSError before; raises a Failure after `seconds`."""
    end, cause = time.monotonic() + seconds, ""
    while time.monotonic() < end:
        try:
            value = check()
            if value:
                return value
            cause = ""
        except (OSError, ValueError) as error:
            cause = ": %s" % error
        time.sleep(0.1)
    raise Failure("%s: not within %d s%s" % (what, seconds, cause))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def basic(user, password):
    return {"Authorization": "Basic " + base64.b64encode(("%s:%s" % (user, password)).encode()).decode()}


def request(url, body=None, method=None, headers=(), header=None, timeout=60):
    """Returns the body of a 2xx response as text, or one header. A map or list is sent as JSON. Certificates are not checked."""
    headers = dict(headers)
    if isinstance(body, (dict, list)):
        body, headers = json.dumps(body), {"Content-Type": "application/json", **headers}
    asked = urllib.request.Request(url, body.encode() if isinstance(body, str) else body, headers, method=method)
    context = ssl._create_unverified_context() if url.startswith("https:") else None
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(asked, timeout=timeout) as reply:
            return reply.headers[header] if header else reply.read().decode("utf-8", "replace")
    except urllib.error.HTTPError as error:
        raise OSError("%s %s: %d %s" % (asked.get_method(), url, error.code, error.read(1000))) from None


class Box:
    """The directory and the processes of one system. `close` ends the processes in the reverse order of their start."""

    def __init__(self, name):
        self.path = tempfile.mkdtemp(prefix="vedette-%s-" % name)
        self.processes = []

    def file(self, *names, text=None, mode=0o600):
        """The path of a file in the directory, written where there is a text."""
        path = os.path.join(self.path, *names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if text is not None:
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
            os.chmod(path, mode)
        return path

    def start(self, *command, environment=None, directory=None, out=None):
        """Starts a program as the leader of a process group of its own; its output is a file of the directory."""
        clean = {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "HOME": self.path, "LANG": "C.UTF-8", "TMPDIR": self.path}
        log = self.file("output-%d.txt" % len(self.processes), text="")
        with open(log, "ab") as errors:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out or errors, stderr=errors, start_new_session=True,
                cwd=directory or self.path, env={**clean, **(environment or {})})
        process.log = log
        self.processes.append(process)
        return process

    def run(self, *command, environment=None, directory=None, seconds=60, ok=(0,)):
        """Runs a program to its end and returns its output; an exit status that is not in `ok` is a Failure."""
        process = self.start(*command, environment=environment, directory=directory)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure("%s takes more than %d s" % (command[0], seconds)) from None
        output = self.output(process)
        if ok is not None and code not in ok:
            raise Failure("%s ended with %d: %s" % (" ".join(command[:3]), code, output[-600:]))
        return output

    @staticmethod
    def output(process):
        with open(process.log, encoding="utf-8", errors="replace") as text:
            return text.read()

    def end(self, process, with_signal=signal.SIGTERM, seconds=10):
        """Ends the process group of a process: by the signal, and by SIGKILL where that is not enough."""
        for number in (with_signal, signal.SIGKILL):
            try:
                os.killpg(process.pid, number)
            except ProcessLookupError:
                break
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                continue
        if process in self.processes:
            self.processes.remove(process)
        return process.wait()

    def close(self):
        while self.processes:
            self.end(self.processes[-1], seconds=5)
        shutil.rmtree(self.path, ignore_errors=True)
