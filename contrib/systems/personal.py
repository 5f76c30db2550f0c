# SPDX-License-Identifier: Apache-2.0
"""Systems that people run at home: Transmission, aria2, Syncthing, Radicale; and Synapse as a receiver."""
from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import time

from processes import PYTHON, basic, free_port, request, until


class Transmission:
    name, kind, preset = "Transmission", "json, session", "transmission"

    def start(self, box):
        port, peers = free_port(), free_port()
        off = ["dht-enabled", "lpd-enabled", "pex-enabled", "utp-enabled", "port-forwarding-enabled", "blocklist-enabled"]
        box.file("settings.json", text=json.dumps({
            **{name: False for name in off}, "rpc-bind-address": "127.0.0.1", "rpc-port": port, "bind-address-ipv4": "127.0.0.1",
            "bind-address-ipv6": "::1", "peer-port": peers, "download-dir": box.path, "rpc-authentication-required": False}))
        box.start("transmission-daemon", "--foreground", "--config-dir", box.path)
        self.url = "http://127.0.0.1:%d/transmission/rpc" % port
        self.headers = {"X-Transmission-Session-Id": until("Transmission is ready", self.session)}
        self.replacements = {"http://127.0.0.1:9091": "http://127.0.0.1:%d" % port}

    def session(self):
        try:
            request(self.url, {})
        except OSError as refusal:
            found = re.search("X-Transmission-Session-Id: ([A-Za-z0-9]+)", str(refusal))
            return found and found.group(1)

    def call(self, method, **arguments):
        return json.loads(request(self.url, {"method": method, "arguments": arguments}, headers=self.headers))["arguments"]

    def changes(self, box, watcher):
        data = b"x" * 100000
        with open(box.file("data.bin"), "wb") as file:
            file.write(data)
        pieces = b"".join(hashlib.sha1(data[at:at + 32768]).digest() for at in range(0, len(data), 32768))
        torrent = b"d4:infod6:lengthi100000e4:name8:data.bin12:piece lengthi32768e6:pieces%d:%see" % (len(pieces), pieces)
        self.call("torrent-add", paused=True, metainfo=base64.b64encode(torrent).decode(), **{"download-dir": box.path})
        yield "a torrent is added", lambda: until(
            "the torrent", lambda: watcher.state("transmission-torrents", "data.bin") in ("stopped", "verifying"))
        os.rename(box.file("data.bin"), box.file("elsewhere.bin"))
        self.call("torrent-start", ids=[1])
        yield "its file is gone", lambda: watcher.expect("transmission-error", "data.bin")


class Aria2:
    name, kind, preset = "aria2", "json, jq", "aria2"

    def start(self, box):
        port, web = free_port(), free_port()
        self.file = "http://127.0.0.1:%d/" % web
        box.file("www", "good.bin", text="x" * 300000)
        box.start("python3", "-m", "http.server", "--bind", "127.0.0.1", str(web), directory=box.path + "/www")
        box.start(
            "aria2c", "--no-conf", "--enable-rpc", "--rpc-listen-port=%d" % port, "--rpc-secret=SECRET", "--enable-dht=false",
            "--enable-dht6=false", "--bt-enable-lpd=false", "--dir=" + box.path, "--max-overall-download-limit=100K")
        self.url = "http://127.0.0.1:%d" % port
        until("the files are served", lambda: request(self.file))
        until("aria2 is ready", lambda: self.call("getVersion"))
        self.replacements = {"http://127.0.0.1:6800": self.url}

    def call(self, method, *parameters):
        body = {"jsonrpc": "2.0", "id": "lab", "method": "aria2." + method, "params": ["token:SECRET", *parameters]}
        return request(self.url + "/jsonrpc", body)

    def changes(self, box, watcher):
        self.call("addUri", [self.file + "good.bin"])
        yield "a download is complete", lambda: watcher.expect("aria2-complete", "good.bin")
        self.call("addUri", [self.file + "missing.bin"])
        yield "a download fails", lambda: watcher.expect("aria2-failed", "missing.bin")


class Syncthing:
    name, kind, preset = "Syncthing", "json", "syncthing"

    def start(self, box):
        port, environment = free_port(), {"STNORESTART": "1", "STNOUPGRADE": "1", "STNODEFAULTFOLDER": "1"}
        box.run("syncthing", "generate", "--home", box.path, "--no-default-folder", environment=environment)
        with open(box.file("config.xml"), encoding="utf-8") as file:
            text = file.read()
        key = re.search("<apikey>([^<]*)", text).group(1)
        # No discovery, relays, port mapping, reports or upgrades; it listens for no other device.
        off = ["globalAnnounceEnabled", "localAnnounceEnabled", "relaysEnabled", "natEnabled", "crashReportingEnabled"]
        values = {**{name: "false" for name in off}, "urAccepted": "-1", "autoUpgradeIntervalH": "0", "listenAddress": "tcp://127.0.0.1:0"}
        for name, value in values.items():
            text = re.sub("<%s>[^<]*</%s>" % (name, name), "<%s>%s</%s>" % (name, value, name), text)
        text = re.sub("(<gui [^>]*>\\s*<address>)[^<]*", "\\g<1>127.0.0.1:%d" % port, text)
        box.file("config.xml", text=text)
        box.start("syncthing", "serve", "--home", box.path, "--no-browser", "--no-restart", "--no-upgrade", environment=environment)
        self.url, self.headers = "http://127.0.0.1:%d/rest/" % port, {"X-API-Key": key}
        until("Syncthing is ready", lambda: request(self.url + "system/ping", headers=self.headers))
        os.makedirs(box.file("docs"))
        self.call("config/folders", {"id": "FOLDER", "label": "Documents", "path": box.path + "/docs"})
        until("the folder is scanned", lambda: '"idle"' in self.call("db/status?folder=FOLDER"))
        self.environment = {"SYNCTHING_KEY": key}
        self.replacements = {"http://127.0.0.1:8384": "http://127.0.0.1:%d" % port, "for: 1m": "for: 0s", "lasts: 30s, expect: held": "expect: syncthing-log"}

    def call(self, path, body=None):
        return request(self.url + path, body, headers=self.headers)

    def changes(self, box, watcher):
        self.call("system/error", "a message of an operator")
        yield "an error is recorded", lambda: watcher.expect("syncthing-error", "a message of an operator")
        os.rmdir(box.file("docs", ".stfolder"))
        try:
            self.call("db/scan?folder=FOLDER", "")
        except OSError:
            pass  # The scan fails, as it must.
        yield "a folder's marker is gone", lambda: watcher.expect("syncthing-folder-error", "cannot be synchronized")


class Radicale:
    name, kind, preset = "Radicale (CalDAV)", "xml, PROPFIND, REPORT", "radicale"
    environment = {"CALDAV_PASSWORD": "secret-of-the-lab"}

    def start(self, box):
        port = free_port()
        box.file("users", text="me:secret-of-the-lab\n")
        box.file("radicale.conf", text="""[server]
hosts = 127.0.0.1:%d
[auth]
type = htpasswd
htpasswd_filename = users
htpasswd_encryption = plain
[storage]
filesystem_folder = calendars
""" % port)
        box.start("radicale", "--config", "radicale.conf")
        self.url, self.headers = "http://127.0.0.1:%d/me/calendar/" % port, basic("me", "secret-of-the-lab")
        until("Radicale is ready", lambda: request(self.url, method="MKCALENDAR", headers=self.headers) == "")
        self.write("Stand-up", 10)
        self.replacements = {"https://dav.example.com": "http://127.0.0.1:%d" % port}

    def write(self, summary, hour, status="CONFIRMED"):
        """Stores an appointment at an hour of tomorrow."""
        name, tomorrow = summary.lower(), time.strftime("%Y%m%d", time.gmtime(time.time() + 86400))
        lines = [
            "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:lab", "BEGIN:VEVENT", "UID:" + name, "DTSTAMP:20261122T080000Z",
            "DTSTART:%sT%02d0000Z" % (tomorrow, hour), "SUMMARY:" + summary, "STATUS:" + status, "END:VEVENT", "END:VCALENDAR", ""]
        request(self.url + name + ".ics", "\r\n".join(lines), "PUT", {**self.headers, "Content-Type": "text/calendar"})

    def changes(self, box, watcher):
        self.write("Review", 14)
        yield "an appointment is made", lambda: watcher.expect("caldav-new", "Review")
        self.write("Stand-up", 11)
        yield "one is moved", lambda: watcher.expect("caldav-changed", "Stand-up")
        request(self.url + "review.ics", method="DELETE", headers=self.headers)
        yield "one is cancelled", lambda: watcher.expect("caldav-cancelled", "Review")
        request(self.url.replace("/calendar/", "/team/"), method="MKCALENDAR", headers=self.headers)
        yield "a calendar is new", lambda: watcher.expect("caldav-new-calendar", "team")


class Calendar(Radicale):
    name, kind, preset = "Radicale (the calendar)", "calendar", "../calendar"

    def start(self, box):
        super().start(box)
        page = "    url: https://dav.example.com/team/calendar.ics\n"
        login = "servers: {dav: {url: \"%s\", user: me, password: {env: CALDAV_PASSWORD}}}\nsources:" % self.url
        self.replacements = {"sources:": login, page: "    server: dav\n"}

    def changes(self, box, watcher):
        self.write("Review", 14)
        yield "an appointment is made", lambda: watcher.expect("new-event", "Review")
        self.write("Stand-up", 11)
        yield "one is moved", lambda: watcher.expect("event-moved", "Stand-up")
        self.write("Review", 14, "CANCELLED")
        yield "one is cancelled", lambda: watcher.expect("event-cancelled", "Review")


class Synapse:
    name, kind, preset = "Synapse (a receiver)", "matrix", "../matrix"
    kept = ("matrix-room",)

    def start(self, box):
        port = free_port()
        self.url = "http://127.0.0.1:%d" % port
        # No federation, no keys of others, no statistics.
        box.file("homeserver.yaml", text="""
server_name: lab.invalid
report_stats: false
federation_domain_whitelist: []
trusted_key_servers: []
listeners: [{port: %d, bind_addresses: [127.0.0.1], type: http, tls: false, resources: [{names: [client]}]}]
database: {name: sqlite3, args: {database: "%s/homeserver.db"}}
media_store_path: "%s/media"
signing_key_path: "%s/signing.key"
log_config: "%s/log.yaml"
registration_shared_secret: lab
macaroon_secret_key: lab
form_secret: lab
""" % (port, box.path, box.path, box.path, box.path))
        box.file("log.yaml", text="{version: 1, root: {level: WARNING, handlers: [out]}, handlers: {out: {class: logging.StreamHandler}}}\n")
        synapse = [os.path.join(PYTHON, "python3"), "-m", "synapse.app.homeserver", "--config-path", "homeserver.yaml"]
        box.run(*synapse, "--generate-keys")
        box.start(*synapse)
        until("Synapse is ready", lambda: request(self.url + "/health"), 60)
        for name in ("reader", "vedette"):
            box.run(os.path.join(PYTHON, "register_new_matrix_user"), "-u", name, "-p", "lab-" + name, "--no-admin", "-k", "lab", self.url)
        self.reader, writer = self.login("reader"), self.login("vedette")
        room = self.call("createRoom", self.reader, {"preset": "private_chat", "invite": ["@vedette:lab.invalid"]})["room_id"]
        self.call("rooms/%s/join" % room, writer, {})
        self.environment = {"MATRIX_TOKEN": writer}
        self.list = box.file("list.json", text='[{"id": 1, "name": "prod-1", "state": "Starting"}]')
        source = "sources: {systems: {kind: json, url: \"file://%s\", every: 1s, state: state}}\nsinks:" % self.list
        self.replacements = {"sinks:": source, "https://matrix.example.org": self.url, "!abc:example.org": room}
        self.room = room

    def login(self, name):
        identity = {"type": "m.id.user", "user": name}
        return self.call("login", None, {"type": "m.login.password", "identifier": identity, "password": "lab-" + name})["access_token"]

    def call(self, path, token, body=None):
        headers = {"Authorization": "Bearer " + token} if token else {}
        return json.loads(request(self.url + "/_matrix/client/v3/" + path, body, headers=headers))

    def messages(self):
        rows = self.call("rooms/%s/messages?dir=b&limit=20" % self.room, self.reader)["chunk"]
        return [row["content"].get("body", "") for row in rows if row["type"] == "m.room.message"]

    def changes(self, box, watcher):
        for state in ("Ready for use", "Stopped"):
            box.file("list.json", text='[{"id": 1, "name": "prod-1", "state": "%s"}]' % state)
            yield "a system is '%s'" % state, lambda: until(
                "the message in the room", lambda: any("prod-1" in text and state in text for text in self.messages()))
        if len(self.messages()) != 2:
            raise OSError("the room has other messages: %s" % self.messages())
