# SPDX-License-Identifier: Apache-2.0
"""Many feeds of a given size: served at /feed/I.xml, or written to a directory for a web server to serve.

    python3 feeds.py --write DIR --count 1000 --bytes 20000 [--generation K]

Even numbers are Atom, odd ones RSS 2.0. A feed is a function of (number, generation, size): generation K has K entries
more than generation 0, and as many of the oldest less, so its size stays.
"""
from __future__ import annotations

import argparse
import os
import threading
import time

from wire import Recorder, Reply, Routes, http_date

ENTRIES = 20
EPOCH = 1_793_491_200  # 2026-11-01T00:00:00Z, the time of entry 0; each later one is ten minutes younger
TEXT = ("The build farm moved over the weekend & nobody noticed, which is how it should be. Twelve agents run on the new "
        "hosts, the <old> ones are kept for a week, and the cache is warm. ")


def feed(number, generation=0, size=20_000):
    """The bytes of one feed."""
    text = TEXT.replace("&", "&amp;amp;").replace("<", "&amp;lt;").replace(">", "&amp;gt;")
    write = atom if number % 2 == 0 else rss
    # What stands around the text of an entry is about 310 bytes in Atom, 255 in RSS.
    room = max(20, size // ENTRIES - (310 if write is atom else 255))
    body = (text * (room // len(text) + 1))[:room].rsplit(" ", 1)[0]
    entries = range(generation + ENTRIES - 1, generation - 1, -1)
    return write(number, entries, body).encode()


def atom(number, entries, body):
    rows = [("<entry>\n<id>tag:lab.example.org,2026:%d/%d</id>\n<title>Feed %d, entry %d</title>\n<updated>%s</updated>\n"
             "<author><name>Lab</name></author>\n<link rel=\"alternate\" href=\"https://lab.example.org/%d/%d\"/>\n"
             "<content type=\"html\">&lt;p&gt;%s&lt;/p&gt;</content>\n</entry>\n")
            % (number, n, number, n, when(n), number, n, body) for n in entries]
    return ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n"
            "<id>tag:lab.example.org,2026:%d</id>\n<title>Feed %d</title>\n<updated>%s</updated>\n"
            % (number, number, when(entries[0]))) + "".join(rows) + "</feed>\n"


def rss(number, entries, body):
    rows = [("<item>\n<guid isPermaLink=\"false\">lab-%d-%d</guid>\n<title>Feed %d, entry %d</title>\n<pubDate>%s</pubDate>\n"
             "<link>https://lab.example.org/%d/%d</link>\n<description>&lt;p&gt;%s&lt;/p&gt;</description>\n</item>\n")
            % (number, n, number, n, http_date(EPOCH + 600 * n), number, n, body) for n in entries]
    return ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\">\n<channel>\n<title>Feed %d</title>\n"
            "<link>https://lab.example.org/%d</link>\n<description>Feed %d of the lab</description>\n"
            % (number, number, number)) + "".join(rows) + "</channel>\n</rss>\n"


def when(n):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(EPOCH + 600 * n))


class Feeds:
    def __init__(self, count=1000, size=20_000):
        self.count, self.size, self.generation = count, size, 0
        self.lock, self.cache, self.requests, self.answers = threading.Lock(), {}, Recorder(10_000), {200: 0, 304: 0}
        self.routes = Routes({"POST /change": self.change, "GET /stats": self.stats, "GET /requests": self.requests.wait})

    def __call__(self, request, connection):
        if not request.path.startswith("/feed/"):
            return self.routes(request, connection)
        name = request.path[len("/feed/"):-len(".xml")]
        if not (request.path.endswith(".xml") and name.isdigit() and int(name) < self.count):
            return Reply(404, "no such feed; there are 0 to %d\n" % (self.count - 1), "text/plain")
        self.requests.add(request.as_json())
        reply = self.answer(int(name), request)
        with self.lock:
            self.answers[reply.status] += 1
        return reply

    def answer(self, number, request):
        generation = self.generation
        headers = []
        if request.query.get("validators") != "0":
            headers = [("ETag", '"%d-%d"' % (number, generation)), ("Last-Modified", http_date(EPOCH + 600 * (generation + 19)))]
            # RFC 9110 13.2.2: If-Modified-Since counts only where there is no If-None-Match.
            tag = request.header("If-None-Match")
            if tag == headers[0][1] or (not tag and request.header("If-Modified-Since") == headers[1][1]):
                return Reply(304, headers=headers)
        type = "application/atom+xml" if number % 2 == 0 else "application/rss+xml"
        return Reply(200, self.body(number, generation), type, headers)

    def body(self, number, generation):
        with self.lock:
            if (number, generation) not in self.cache:
                self.cache[number, generation] = feed(number, generation, self.size)
            return self.cache[number, generation]

    def change(self, n=1):
        """Every feed gains n new entries."""
        with self.lock:
            self.generation += int(n)
            self.cache.clear()
            return {"generation": self.generation}

    def stats(self):
        with self.lock:
            return {"generation": self.generation, "count": self.count, "full": self.answers[200], "unchanged": self.answers[304]}


def main():
    parser = argparse.ArgumentParser(description="Write feeds to a directory, as DIR/I.xml.")
    parser.add_argument("--write", metavar="DIR", required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--bytes", type=int, default=20_000)
    parser.add_argument("--generation", type=int, default=0, metavar="K", help="K entries more than generation 0")
    options = parser.parse_args()
    os.makedirs(options.write, exist_ok=True)
    for number in range(options.count):
        # Written beside and renamed: a server may be reading, and a new inode and time change its ETag.
        path = os.path.join(options.write, "%d.xml" % number)
        with open(path + ".new", "wb") as file:
            file.write(feed(number, options.generation, options.bytes))
        os.replace(path + ".new", path)


if __name__ == "__main__":
    main()
