# SPDX-License-Identifier: Apache-2.0
"""Rows 20 to 22: what a poll over HTTPS costs at a low rate, beside a loop in C at the same pace and one run of curl. nginx serves
each host by its name below bench.localhost, which libcurl itself resolves to loopback (RFC 6761 §6.3)."""
from __future__ import annotations

import os
import socket
import subprocess
import time

from parts import FLIGHT, Nginx, Trouble, cpu_clock, end, free_port, resident, run, start_notified

AGENT = ["User-Agent: vedette-bench", "Accept: application/atom+xml, application/rss+xml", "Accept-Encoding: gzip, deflate"]


# What a Debian system trusts; libcurl's default file.
SYSTEM = "/etc/ssl/certs/ca-certificates.crt"


class Shape:
    """So many feeds on so many hosts, each polled after so many seconds. The certificates are verified by their authority `alone`,
    by it among those of the `system`, or by a `pin`."""

    def __init__(self, row, feeds, hosts, every, http2=False, rsa=False, trust="alone"):
        self.row, self.feeds, self.hosts, self.every, self.http2, self.rsa, self.trust = row, feeds, hosts, every, http2, rsa, trust

    def __str__(self):
        return "%d feeds on %d hosts every %d s, HTTP/%s, %s%s" % (
            self.feeds, self.hosts, self.every, "2" if self.http2 else "1.1", "RSA" if self.rsa else "ECDSA",
            {"alone": "", "system": ", the system's authorities", "pin": ", a pin"}[self.trust])


SHAPES = [
    Shape("20", 400, 8, 1), Shape("20", 400, 8, 1, http2=True),
    Shape("21", 200, 200, 10), Shape("21", 200, 200, 10, rsa=True), Shape("21", 200, 200, 10, trust="system"),
    Shape("21", 200, 200, 10, trust="pin"),
    Shape("22", 2000, 2000, 30), Shape("22", 4000, 4000, 30), Shape("22", 2000, 2000, 30, trust="system"),
]


class Cost:
    """CPU seconds of one poll: ours, the loop's, curl's with a handshake for each request. Bytes of our memory."""

    def __init__(self):
        self.ours = self.loop = self.curl = self.memory = 0.0


class TLSNginx(Nginx):
    """nginx with TLS on loopback alone, whose certificate an authority of its own has signed."""

    def __init__(self, work, shape):
        self.directory, self.shape, self.secure = os.path.join(work, "https"), shape, free_port()
        os.makedirs(self.directory, exist_ok=True)
        self.authority = os.path.join(self.directory, "ca.pem")
        self.certify()
        super().__init__(work)

    def certify(self):
        def openssl(*arguments):
            subprocess.run(["openssl", *arguments], cwd=self.directory, check=True, capture_output=True)
        key = ["-newkey", "rsa:2048"] if self.shape.rsa else ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        openssl("req", "-x509", "-days", "2", "-subj", "/CN=Bench", *key, "-nodes", "-keyout", "ca.key", "-out", "ca.pem")
        openssl("req", "-subj", "/CN=bench", *key, "-nodes", "-keyout", "server.key", "-out", "server.csr")
        with open(os.path.join(self.directory, "names"), "w") as file:
            file.write("subjectAltName=DNS:*.bench.localhost")
        openssl("x509", "-req", "-days", "2", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-extfile", "names", "-out", "server.pem")
        if self.shape.trust == "system":
            with open(os.path.join(self.directory, "system.pem"), "w") as file:
                for path in (self.authority, SYSTEM):
                    with open(path) as part:
                        file.write(part.read())
            self.authority = file.name

    def policy(self):
        """`tls` of the configuration."""
        if self.shape.trust != "pin":
            return "{ca: %s}" % self.authority
        key = subprocess.run("openssl x509 -in server.pem -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary"
                             " | openssl base64", shell=True, cwd=self.directory, check=True, capture_output=True, text=True).stdout
        return "{pin: \"sha256//%s\"}" % key.strip()

    def configuration(self, work):
        listen = ["127.0.0.1:%d" % self.secure] + (["[::1]:%d" % self.secure] if has_ipv6() else [])
        server = "  server { %s ssl_certificate %s/server.pem; ssl_certificate_key %s/server.key; ssl_protocols TLSv1.3; }\n}\n" % (
            " ".join("listen %s ssl%s;" % (address, " http2" if self.shape.http2 else "") for address in listen),
            self.directory, self.directory)
        return super().configuration(work)[:-2] + server

    def addresses(self):
        return ["https://h%d.bench.localhost:%d/still/%d.xml" % (i % self.shape.hosts, self.secure, i % self.feeds_there())
                for i in range(self.shape.feeds)]

    def feeds_there(self):
        return len(os.listdir(os.path.join(os.path.dirname(self.access_log), "still")))


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as listener:
            listener.bind(("::1", 0))
        return True
    except OSError:
        return False


def measure(options, shape, seconds):
    """One watcher, then the loop, then curl, over the same addresses."""
    nginx, cost = TLSNginx(options.work, shape), Cost()
    try:
        addresses = nginx.addresses()
        cost.ours, cost.memory = watcher(options, shape, nginx, addresses, seconds)
        count = int(seconds * shape.feeds / shape.every)
        path = os.path.join(options.work, "https-urls")
        with open(path, "w") as file:
            file.writelines(address + "\n" for address in addresses)
        text, _, _ = run([os.path.join(options.work, "loop"), str(FLIGHT if shape.feeds >= FLIGHT else 1), str(count), "304",
                          str(int(1e6 * shape.every / shape.feeds)), nginx.authority, *AGENT], seconds + 120, path)
        cost.loop = float(text.split()[0]) / count
        cost.curl = curl(options, nginx, addresses)
        return cost
    finally:
        nginx.close()


def configuration(shape, nginx, addresses):
    """A server of the configuration for each host."""
    lines, policy = ["servers:\n"], nginx.policy()
    for number in range(shape.hosts):
        lines.append("  h%d: {url: \"https://h%d.bench.localhost:%d\", tls: %s}\n" % (number, number, nginx.secure, policy))
    lines.append("sources:\n")
    for number, address in enumerate(addresses):
        path = address.split("/", 3)[3]
        lines.append("  f%05d: {kind: feed, server: h%d, path: /%s, every: %ds}\n" % (number, number % shape.hosts, path, shape.every))
    return "".join(lines) + "sinks:\n  out: {kind: stdout}\nrules:\n  - {name: new, when: {appears: true}, notify: [out]}\n"


def watcher(options, shape, nginx, addresses, seconds):
    process, ready = start_notified(
        options.vedette, options.work, "https-%d" % time.monotonic_ns(), configuration(shape, nginx, addresses))
    try:
        ready(60)
        # The second round learns when the next one comes; what is measured is the steady state after it.
        time.sleep(2.5 * shape.every + 2)
        served, used = nginx.requests(), cpu_clock(process.pid)
        time.sleep(seconds)
        polls, used = nginx.requests() - served, cpu_clock(process.pid) - used
        if polls < 0.8 * seconds * shape.feeds / shape.every:
            raise Trouble("%s: only %d polls in %d s" % (shape, polls, seconds))
        return used / polls, resident(process.pid)
    finally:
        end(process, 30)


def curl(options, nginx, addresses):
    """A full handshake for each request, since no two are of one connection."""
    path = os.path.join(options.work, "https-curl.conf")
    with open(path, "w") as file:
        file.writelines("url = \"%s\"\noutput = \"/dev/null\"\n" % address for address in addresses)
    _, used, _ = run(["curl", "--silent", "--show-error", "--fail", "--cacert", nginx.authority, "--parallel", "--parallel-max",
                      str(FLIGHT), "--config", path], 120)
    return used / len(addresses)
