# SPDX-License-Identifier: Apache-2.0
"""What is started for a measurement: nginx, the watcher, other clients. Each is ended by its id, and dies with this process."""
from __future__ import annotations

import http.server
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
import urllib.request

ADDRESSES = ["127.0.0.%d" % n for n in range(1, 9)]  # eight origins: a client keeps at most eight requests in flight to each
FLIGHT = 64


class Trouble(Exception):
    """Said in one line; the measurement ends."""


def bound(command, sign):
    """The command, so that it gets the signal when this process ends, however it ends."""
    return ["setpriv", "--pdeathsig", sign] + command if shutil.which("setpriv") else command


def wait_until(condition, seconds, what, pause=0.02):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Trouble("%s: not within %d s" % (what, seconds))
        time.sleep(pause)


def end(process, seconds=15):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class JSONHandler(http.server.BaseHTTPRequestHandler):
    """Answers a GET with what the server has at that path."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one segment

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(self.server.body(self.path))

    def answer(self, body):
        self.send_response(200 if body else 204)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


class JSONServer(http.server.ThreadingHTTPServer):
    """Serves JSON on loopback from a thread of its own. A subclass has `body(path)`, and its state before it calls this one's init."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, handler=JSONHandler):
        super().__init__(("127.0.0.1", 0), handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """A watcher that was ended lets go of its connections."""

    def close(self):
        self.shutdown()
        self.server_close()


class Nginx:
    """Serves a directory on every address: on one port with ETag and Last-Modified, on a second without, on a third with a log."""

    def __init__(self, work):
        self.port, self.bare_port, self.logged_port, self.asked = free_port(), free_port(), free_port(), 0
        self.access_log = os.path.join(work, "access.log")
        path, self.log = os.path.join(work, "nginx.conf"), os.path.join(work, "nginx.log")
        with open(path, "w") as file:
            file.write(self.configuration(work))
        self.process = subprocess.Popen(
            bound([find_nginx(), "-c", path, "-p", work, "-e", self.log, "-g", "daemon off;"], "TERM"),
            stdin=subprocess.DEVNULL)
        wait_until(self.answers, 10, "nginx starts (its log: %s)" % self.log)

    def configuration(self, work):
        listen = lambda port: " ".join("listen %s:%d;" % (address, port) for address in ADDRESSES)
        temporary = "".join("  %s_temp_path %s/nginx-%s;\n" % (kind, work, kind)
                            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        return ("%sworker_processes 1;\npid %s/nginx.pid;\nevents { worker_connections 8192; }\nhttp {\n%s"
                "  log_format when '$msec $request_uri';\n  access_log off;\n  error_log %s warn;\n  sendfile on;\n  tcp_nopush on;\n"
                "  keepalive_timeout 600s;\n  keepalive_requests 1000000000;\n  types { application/xml xml; }\n  root %s;\n"
                "  server { %s location = /requests { stub_status; } }\n"
                "  server { %s access_log %s/access.log when; location = /hook { return 204; } }\n"
                "  server { %s etag off; if_modified_since off; add_header Last-Modified \"\"; }\n}\n") % (
            # Else root's workers are nobody, who may not read the directory.
            "user root root;\n" if os.geteuid() == 0 else "", work, temporary, self.log, work,
            listen(self.port), listen(self.logged_port), work, listen(self.bare_port))

    def urls(self, kind, feeds, validators=True, copies=1):
        port = self.port if validators else self.bare_port
        return ["http://%s:%d/%s/%d.xml?%d" % (ADDRESSES[i % len(ADDRESSES)], port, kind, i % feeds, i // feeds)
                for i in range(feeds * copies)]

    def logged(self, kind, feeds):
        return [url.replace(":%d/" % self.port, ":%d/" % self.logged_port) for url in self.urls(kind, feeds)]

    def hook(self):
        """An address that takes whatever is posted, and logs it."""
        return "http://%s:%d/hook" % (ADDRESSES[0], self.logged_port)

    def log_size(self):
        return os.path.getsize(self.access_log)

    def times(self, offset):
        """When each address was asked since the log had that size, in seconds."""
        times = {}
        with open(self.access_log) as file:
            file.seek(offset)
            for line in file:
                when, address = line.split()
                times.setdefault(address, []).append(float(when))
        return times

    def answers(self):
        if self.process.poll() is not None:
            raise Trouble("nginx ended with code %d" % self.process.returncode)
        try:
            self.requests()
            return True
        except OSError:
            return False

    def requests(self):
        """How many it has answered, this question left out."""
        with urllib.request.urlopen("http://%s:%d/requests" % (ADDRESSES[0], self.port), timeout=5) as reply:
            words = reply.read().decode().split()
        self.asked += 1
        return int(words[words.index("Reading:") - 1]) - self.asked

    def close(self):
        end(self.process)


class Watcher:
    """`vedette run` on a state of its own. Between two measurements it is stopped (SIGSTOP): meanwhile every source comes due,
    so that the next cycle begins at once and whole, like a run of curl."""

    def __init__(self, vedette, work, name, urls, every):
        self.every, self.count, self.stopped_at = every, len(urls), 0
        directory = os.path.join(work, "watcher-" + name)
        os.makedirs(os.path.join(directory, "config"))
        with open(os.path.join(directory, "config", "bench.yaml"), "w") as file:
            file.write("sources:\n")
            file.writelines("  f%05d: {kind: feed, url: \"%s\", every: %dms}\n" % (i, url, every * 1000)
                            for i, url in enumerate(urls))
            file.write("sinks:\n  out: {kind: stdout}\nrules:\n  - {name: new, when: {appears: true}, notify: [out]}\n")
        self.journal = os.path.join(directory, "state", "journal.db")
        self.log = open(os.path.join(directory, "log"), "w+")
        # SIGKILL: a stopped process hears no other signal.
        command = [vedette, "run", "--config", os.path.join(directory, "config"), "--state", os.path.join(directory, "state")]
        self.process = subprocess.Popen(
            bound(command, "KILL"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log)
        self.database = None
        self.wait_until(lambda: self.polled_since(0) >= self.count, 120, "the baseline of %d feeds" % self.count)
        if self.failing():
            raise Trouble("%d of %d feeds failed" % (self.failing(), self.count))

    def read(self, query, *values):
        try:
            if self.database is None:
                self.database = sqlite3.connect("file:%s?mode=ro" % self.journal, uri=True, isolation_level=None)
            return (self.database.execute(query, values).fetchone() or [0])[0]
        except sqlite3.Error:  # there is no journal yet, or no table in it
            self.database = None
            return 0

    def polled_since(self, milliseconds):
        return self.read("select count(*) from source where good_at >= ?", milliseconds)

    def failing(self):
        return self.read("select count(*) from source where record ->> '$.health.failures' > 0")

    def last_event(self):
        return self.read("select seq from sqlite_sequence where name = 'event'")

    def wait_until(self, condition, seconds, what, pause=0.02):
        def is_true():
            if self.process.poll() is not None:
                raise Trouble("vedette ended with code %d: %s" % (self.process.returncode, self.last_words()))
            return condition()
        wait_until(is_true, seconds, what, pause)

    def last_words(self):
        self.log.seek(0)
        return (self.log.read().strip().splitlines() or ["it said nothing"])[-1]

    def cpu(self):
        return cpu_clock(self.process.pid)

    def stop(self):
        os.kill(self.process.pid, signal.SIGSTOP)
        self.stopped_at = time.monotonic()

    def go_on(self):
        os.kill(self.process.pid, signal.SIGCONT)

    def all_due(self):
        """Returns once every source is due: intervals are jittered by 10 %."""
        time.sleep(max(0, self.stopped_at + 1.1 * self.every + 0.5 - time.monotonic()))

    def close(self):
        if self.process.poll() is None:
            self.go_on()
        if self.database:
            self.database.close()
        end(self.process)
        self.log.close()


def start_notified(vedette, work, name, text, state=None, output=subprocess.DEVNULL):
    """`vedette run` on these sources, and a function that waits until it says READY=1 (sd_notify(3)). A second start of that name goes
    on with the state of the first, which `state` puts in another place. Its standard output goes to `output`."""
    directory = os.path.join(work, name)
    os.makedirs(os.path.join(directory, "config"), exist_ok=True)
    with open(os.path.join(directory, "config", "bench.yaml"), "w") as file:
        file.write(text)
    address = os.path.join(directory, "notify")
    if os.path.exists(address):
        os.unlink(address)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind(address)
    process = subprocess.Popen(
        bound([vedette, "run", "--config", os.path.join(directory, "config"), "--state", state or os.path.join(directory, "state")], "KILL"),
        stdin=subprocess.DEVNULL, stdout=output, stderr=open(os.path.join(directory, "log"), "a"),
        env=dict(os.environ, NOTIFY_SOCKET=address))

    def ready(seconds):
        listener.settimeout(seconds)
        try:
            while b"READY=1" not in listener.recv(4096):
                pass
        except TimeoutError:
            raise Trouble("%s: not ready within %d s" % (name, seconds)) from None
        finally:
            listener.close()
    return process, ready


def lateness(times, every):
    """By how many seconds each poll came later than the jitter of 10 % allows, sorted."""
    late = sorted(max(0.0, b - a - 1.1 * every) for asked in times.values() for a, b in zip(asked, asked[1:]))
    if not late:
        raise Trouble("no source was asked twice")
    return late


def resident(pid, line_of="RssAnon:"):
    """Bytes of memory: RssAnon without files such as libraries, VmRSS with them."""
    with open("/proc/%d/status" % pid) as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(line_of))


def cpu_clock(pid):
    """User + system seconds of all threads of a process, ended ones too (clock_getcpuclockid(3))."""
    return time.clock_gettime((~pid << 3) | 2)


def run(command, seconds, source=None, environment=None, directory=None):
    """Runs a program whose standard input is a file; returns its output, and its CPU and wall seconds, its children's included."""
    with open(source or os.devnull) as file, tempfile.TemporaryFile("w+") as output:
        begin = time.monotonic()
        process = subprocess.Popen(command, stdin=file, stdout=output, stderr=subprocess.STDOUT, env=environment,
                                   cwd=directory)
        limit = threading.Timer(seconds, process.kill)
        limit.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            limit.cancel()
            end(process)
        wall = time.monotonic() - begin
        output.seek(0)
        text = output.read()
    if process.returncode != 0:
        raise Trouble("%s ended with code %d: %s" % (command[0], process.returncode, (text.strip().splitlines() or ["-"])[-1]))
    return text, usage.ru_utime + usage.ru_stime, wall


def free_port():
    """A port that is free on every address."""
    for _ in range(50):
        sockets = [socket.socket() for _ in ADDRESSES]
        try:
            port = 0
            for address, one in zip(ADDRESSES, sockets):
                one.bind((address, port))
                port = one.getsockname()[1]
            return port
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    raise Trouble("no port is free on all of %s to %s" % (ADDRESSES[0], ADDRESSES[-1]))


def find_nginx():
    # Not everybody has /usr/sbin in $PATH.
    found = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if not found:
        raise Trouble("there is no nginx; on Debian and Ubuntu it is the package nginx-light")
    return found
