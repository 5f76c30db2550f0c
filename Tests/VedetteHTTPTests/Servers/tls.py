# SPDX-License-Identifier: Apache-2.0
"""An HTTPS server on loopback that says in JSON how it was spoken to. It ends with its standard input."""

import argparse
import contextlib
import http.server
import json
import random
import socket
import ssl
import sys
import threading

VERSIONS = {"1.0": ssl.TLSVersion.TLSv1, "1.1": ssl.TLSVersion.TLSv1_1, "1.2": ssl.TLSVersion.TLSv1_2,
            "1.3": ssl.TLSVersion.TLSv1_3}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    steps = threading.Semaphore(0)
    drops_next = False

    def do_GET(self):
        if self.drops_next:
            self.close_connection = True
            return None
        if self.path.startswith("/stream/"):
            return self.stream(self.path.rpartition("/")[2])
        if self.path == "/step":
            Handler.steps.release()
        peer = self.connection.getpeercert()
        name = dict(pair[0] for pair in peer["subject"])["commonName"] if peer else None
        Handler.served += 1
        body = json.dumps({"version": self.connection.version(), "client": name, "path": self.path,
                           "served": Handler.served, "port": self.client_address[1],
                           "resumed": self.connection.session_reused}).encode()
        target = self.path.partition("?to=")[2]
        self.send_response(302 if target else 200)
        if target:
            self.send_header("Location", target)
        if self.path == "/close":
            self.send_header("Connection", "close")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if self.path == "/fickle":
            # Without a word: at once, or in the place of its next answer.
            self.close_connection, self.drops_next = random.choice([(False, False), (True, False), (False, True)])
        return None

    def stream(self, end):
        """Pushes lines, each part when /step is asked for: `orderly` ends with a close_notify, `cut` without one, and `flood`
        sends 8 MB at once before its orderly end."""
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Connection", "close")
        self.end_headers()
        if end == "flood":
            self.wfile.write((b"y" * 999 + b"\n") * 8000)
        else:
            for part in (b"one\ntw", b"o\n"):
                self.wfile.write(part)
                Handler.steps.acquire()
        if end != "cut":
            self.connection.settimeout(2)
            with contextlib.suppress(OSError):
                self.connection.unwrap()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass

    def shutdown_request(self, request):
        """Reads what still comes: else the kernel resets the connection, and the client may never see our alert."""
        try:
            request.shutdown(socket.SHUT_WR)
            request.settimeout(2)
            while request.recv(65536):
                pass
        except OSError:
            pass
        self.close_request(request)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--certificate", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--client-ca")
    parser.add_argument("--version", choices=VERSIONS)
    options = parser.parse_args()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if options.version:
        if options.version in ("1.0", "1.1"):
            context.set_ciphers("DEFAULT:@SECLEVEL=0")
        context.minimum_version = context.maximum_version = VERSIONS[options.version]
    context.load_cert_chain(options.certificate, options.key)
    if options.client_ca:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(options.client_ca)
    Handler.served = 0
    server = Server(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_port}), flush=True)
    sys.stdin.read()


main()
