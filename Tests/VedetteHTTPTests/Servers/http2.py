# SPDX-License-Identifier: Apache-2.0
"""An HTTP/2 server on loopback (ALPN h2) whose paths misbehave. It ends with its standard input.

/ok            two small pieces of a body
/reset         half a body, then RST_STREAM INTERNAL_ERROR
/cut           half a body and the end of the connection, without a word
/goaway        half a body, then GOAWAY and the end of the connection
/calm          RST_STREAM ENHANCE_YOUR_CALM before an answer
/calm-goaway   GOAWAY ENHANCE_YOUR_CALM before an answer
/refuse?n=2    the first n times RST_STREAM REFUSED_STREAM, then an answer
/leave?n=1     the first n times GOAWAY before an answer, then an answer
/mute          no answer, to this request or any later one on the connection
/length        an answer shorter than its Content-Length
/seen          the paths that were asked for, with the number of their connection
"""

import json
import socket
import ssl
import sys
import threading

import h2.config
import h2.connection
import h2.errors
import h2.events

LOCK = threading.Lock()
SEEN = []
COUNTS = {}
CODES = h2.errors.ErrorCodes


class Connection:
    def __init__(self, sock, number):
        self.sock, self.number = sock, number
        config = h2.config.H2Configuration(client_side=False, header_encoding="utf-8", validate_outbound_headers=False,
                                           normalize_outbound_headers=False)
        self.h2 = h2.connection.H2Connection(config=config)
        self.open = True
        self.mute = False

    def run(self):
        self.h2.initiate_connection()
        self.flush()
        while self.open:
            data = self.sock.recv(65535)
            if not data:
                return
            for event in self.h2.receive_data(data):
                if isinstance(event, h2.events.RequestReceived) and not self.mute:
                    self.answer(event.stream_id, dict(event.headers)[":path"])
            self.flush()

    def flush(self):
        data = self.h2.data_to_send()
        if data:
            self.sock.sendall(data)

    def answer(self, stream, path):
        with LOCK:
            SEEN.append([path, self.number])
            COUNTS[path] = COUNTS.get(path, 0) + 1
            count = COUNTS[path]
        name, _, query = path.partition("?")
        left = int(query.partition("n=")[2] or 0) - count
        if name == "/seen":
            self.whole(stream, json.dumps(SEEN).encode())
        elif name == "/calm":
            self.h2.reset_stream(stream, CODES.ENHANCE_YOUR_CALM)
        elif name == "/calm-goaway":
            self.leave(0, CODES.ENHANCE_YOUR_CALM)
        elif name == "/refuse" and left >= 0:
            self.h2.reset_stream(stream, CODES.REFUSED_STREAM)
        elif name == "/leave" and left >= 0:
            self.leave(0, CODES.NO_ERROR)
        elif name == "/mute":
            self.mute = True
        elif name == "/length":
            self.head(stream, 100)
            self.h2.send_data(stream, b"short", end_stream=True)
        elif name in ("/reset", "/cut", "/goaway"):
            self.head(stream, 0)
            self.h2.send_data(stream, b"first half ")
            self.flush()
            if name == "/reset":
                self.h2.reset_stream(stream, CODES.INTERNAL_ERROR)
            elif name == "/goaway":
                self.leave(0, CODES.INTERNAL_ERROR)
            else:
                self.open = False
        else:
            self.whole(stream, b"all of it")

    def head(self, stream, length):
        lines = [(":status", "200"), ("content-type", "text/plain")]
        self.h2.send_headers(stream, lines + ([("content-length", str(length))] if length else []))

    def whole(self, stream, body):
        self.head(stream, len(body))
        self.h2.send_data(stream, body[:4])
        self.h2.send_data(stream, body[4:], end_stream=True)

    def leave(self, last, code):
        self.h2.close_connection(code, last_stream_id=last)
        self.open = False


def serve(sock, context, number):
    try:
        with context.wrap_socket(sock, server_side=True) as tls:
            tls.settimeout(30)
            Connection(tls, number).run()
            tls.unwrap()
    except (OSError, h2.exceptions.ProtocolError):
        pass


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["h2"])
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    listener = socket.create_server(("127.0.0.1", 0))

    def accept():
        number = 0
        while True:
            sock, _ = listener.accept()
            number += 1
            threading.Thread(target=serve, args=(sock, context, number), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
    sys.stdin.read()


main()
