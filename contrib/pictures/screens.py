# SPDX-License-Identifier: Apache-2.0
"""A desktop without a screen, with a notification daemon; and a room of Matrix in nheko, with Synapse behind it."""
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "systems"))
from personal import PYTHON  # noqa: E402
from processes import Box, free_port, request, until  # noqa: E402


class Screen:
    """An X server without a screen, of twice the resolution, and one program that fills it."""

    def __init__(self, name: str, width: int, height: int, backdrop: str) -> None:
        self.box = Box(name)
        names = self.box.file("display")
        with open(names, "w", encoding="utf-8") as out:
            self.box.start("Xvfb", "-displayfd", "1", "-screen", "0", "%dx%dx24" % (width, height), "-nolisten", "tcp", "-noreset", out=out)
        number = until("the X server is ready", lambda: Path(names).read_text(encoding="utf-8").strip())
        self.environment = {"DISPLAY": ":" + number, "XDG_RUNTIME_DIR": self.box.path, "LANG": "C.UTF-8", "FONTCONFIG_FILE": os.environ["FONTCONFIG_FILE"]}
        # ImageMagick 6.9 ends with 1 though it has drawn.
        self.run("display", "-window", "root", "-size", "%dx%d" % (width, height), backdrop, check=False)

    def run(self, *command: str, check: bool = True) -> str:
        clean = {"PATH": os.environ["PATH"], "HOME": self.box.path, **self.environment}
        return subprocess.run(command, env=clean, check=check, capture_output=True, encoding="utf-8", timeout=30).stdout

    def color(self, x: int, y: int) -> str:
        """The colour of one pixel, in hexadecimal digits."""
        pixel = self.run("import", "-window", "root", "-crop", "1x1+%d+%d" % (x, y), "-depth", "8", "txt:-")
        return re.search("#([0-9A-F]{6})", pixel).group(1)

    def click(self, x: int, y: int) -> None:
        self.run("xdotool", "mousemove", str(x), str(y), "click", "1")
        time.sleep(1)

    def take(self, path: Path, left: int = 0) -> None:
        """A picture of the screen, without so many pixels at its left."""
        self.run("import", "-window", "root", "-crop", "+%d+0" % left, "+repage", "png24:" + str(path))


class Desktop(Screen):
    """A session bus that starts MATE's notification daemon, which has buttons. It ends when it is idle, and is started again."""

    BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>%(address)s</listen><servicedir>%(path)s/services</servicedir>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
"""
    SERVICE = "[D-BUS Service]\nName=org.freedesktop.Notifications\nExec=/usr/lib/mate-notification-daemon/mate-notification-daemon\n"

    def __init__(self) -> None:
        super().__init__("desktop", 1160, 486, "gradient:#2c5364-#203a43")
        self.address = "unix:path=%s/bus" % self.box.path
        self.box.file("services", "notifications.service", text=self.SERVICE)
        self.box.file(".config", "glib-2.0", "settings", "keyfile", text="[org/mate/notification-daemon]\ntheme='coco'\n")
        settings = self.box.file("bus.conf", text=self.BUS % {"address": self.address, "path": self.box.path})
        self.box.start("dbus-daemon", "--config-file=" + settings, "--nofork", environment={
            **self.environment, "GDK_SCALE": "2", "NO_AT_BRIDGE": "1", "GSETTINGS_BACKEND": "keyfile",
            "XDG_DATA_DIRS": "/home/ann/.local/share:/usr/local/share:/usr/share"})
        until("the bus is ready", lambda: os.path.exists(self.box.path + "/bus"))


class Room(Screen):
    """A homeserver, a room with two users in it, and the client in which one of them reads it."""

    CONFIGURATION = """
server_name: example.com
report_stats: false
federation_domain_whitelist: []
trusted_key_servers: []
# nheko 0.11 reads rooms of this version.
default_room_version: "10"
listeners: [{port: %(port)d, bind_addresses: [127.0.0.1], type: http, tls: false, resources: [{names: [client]}]}]
database: {name: sqlite3, args: {database: "%(path)s/homeserver.db"}}
media_store_path: "%(path)s/media"
signing_key_path: "%(path)s/signing.key"
log_config: "%(path)s/log.yaml"
registration_shared_secret: lab
macaroon_secret_key: lab
form_secret: lab
"""
    LOG = "{version: 1, root: {level: WARNING, handlers: [out]}, handlers: {out: {class: logging.StreamHandler}}}\n"
    CLIENT = """
[General]
run_without_secure_secrets_service=true

[auth]
access_token=%s
device_id=%s
home_server=%s
user_id=@ann:example.com

[user]
theme=light
desktop_notifications=false
font_family=Inter
sidebar\\room_list_width=180
"""

    def __init__(self) -> None:
        super().__init__("room", 2132, 1200, "xc:gray")
        port = free_port()
        self.url = "http://127.0.0.1:%d" % port
        self.box.file("homeserver.yaml", text=self.CONFIGURATION % {"port": port, "path": self.box.path})
        self.box.file("log.yaml", text=self.LOG)
        synapse = [os.path.join(PYTHON, "python3"), "-m", "synapse.app.homeserver", "--config-path", "homeserver.yaml"]
        self.box.run(*synapse, "--generate-keys")
        self.box.start(*synapse)
        until("Synapse is ready", lambda: request(self.url + "/health"), 60)
        for name in ("ann", "vedette"):
            self.box.run(os.path.join(PYTHON, "register_new_matrix_user"), "-u", name, "-p", "lab", "--no-admin", "-k", "lab", self.url)
        self.reader, writer = self.login("ann"), self.login("vedette")
        self.token = writer["access_token"]
        ann = self.reader["access_token"]
        for user, token, name in (("ann", ann, "Ann"), ("vedette", self.token, "Vedette")):
            self.call("PUT", "profile/@%s:example.com/displayname" % user, token, {"displayname": name})
        self.room = self.call("POST", "createRoom", ann, {
            "preset": "private_chat", "name": "Platform team", "topic": "Builds, lab systems, who is on it",
            "invite": ["@vedette:example.com"]})["room_id"]
        self.call("POST", "rooms/%s/join" % self.room, self.token, {})
        # nheko need not show how the room came to be.
        hidden = ["m.room." + name for name in ("create", "member", "name", "topic", "power_levels", "join_rules",
                                                "history_visibility", "guest_access")]
        self.call("PUT", "user/@ann:example.com/account_data/im.nheko.hidden_events", ann, {"hidden_event_types": hidden})

    def login(self, name: str) -> dict:
        return self.call("POST", "login", None, {
            "type": "m.login.password", "identifier": {"type": "m.id.user", "user": name}, "password": "lab"})

    def call(self, method: str, path: str, token: str | None, body: dict | None) -> dict:
        headers = {"Authorization": "Bearer " + token} if token else {}
        return json.loads(request(self.url + "/_matrix/client/v3/" + path, body, method=method, headers=headers))

    def messages(self) -> list[str]:
        rows = self.call("GET", "rooms/%s/messages?dir=b&limit=50" % self.room, self.reader["access_token"], None)["chunk"]
        return [row["content"].get("body", "") for row in rows if row["type"] == "m.room.message"]

    def open(self) -> None:
        """Opens the client and, in it, the room."""
        self.box.file(".config", "nheko", "nheko.conf",
                      text=self.CLIENT % (self.reader["access_token"], self.reader["device_id"], self.url))
        self.box.start("dbus-run-session", "--", "nheko", environment={
            **self.environment, "QT_QUICK_BACKEND": "software", "QT_SCALE_FACTOR": "2", "QT_QPA_PLATFORM": "xcb"})
        until("nheko is ready", lambda: self.run("xdotool", "search", "--onlyvisible", "--name", "nheko", check=False))
        # It proposes to set up encryption, in a white dialog that leaves a grey margin and hides the dark sidebar, and does so again
        # with the first answers of the server; then in a line above the list of rooms, which moves up when that is closed.
        until("nheko's proposal", lambda: (self.color(1800, 20), self.color(60, 600)) == ("EDEDED", "FFFFFF"))
        time.sleep(8)
        until("its end", lambda: self.click(2000, 1122) or self.color(60, 600) == "233649")
        self.click(414, 133)
        self.click(240, 158)
        time.sleep(3)
        self.run("xdotool", "mousemove", "1300", "1190")
