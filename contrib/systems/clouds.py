# SPDX-License-Identifier: Apache-2.0
"""Clouds: OpenStack's Keystone."""
from __future__ import annotations

import json
import os

from processes import free_port, request, until

# Keystone's application on loopback, by the server of Python's standard library.
SERVE = """
import os
from wsgiref.simple_server import make_server
from keystone.server import wsgi
make_server("127.0.0.1", int(os.environ["PORT"]), wsgi.initialize_public_application()).serve_forever()
"""


class Keystone:
    name, kind, preset = "OpenStack Keystone", "json", "openstack-keystone"

    def start(self, box):
        port = free_port()
        self.url = "http://127.0.0.1:%d" % port
        box.file("keystone.conf", text="""[DEFAULT]
log_file =
[database]
connection = sqlite:///{0}/keystone.db
[token]
provider = fernet
[fernet_tokens]
key_repository = {0}/fernet
[fernet_receipts]
key_repository = {0}/fernet
[credential]
key_repository = {0}/credentials
[cache]
enabled = false
""".format(box.path))
        environment = {"OS_KEYSTONE_CONFIG_DIR": box.path, "PORT": str(port)}
        manage = ["keystone-manage", "--config-file", box.path + "/keystone.conf"]
        box.run(*manage, "db_sync", seconds=180)
        for keys in ("fernet_setup", "credential_setup"):
            box.run(*manage, keys, "--keystone-user", str(os.getuid()), "--keystone-group", str(os.getgid()))
        box.run(*manage, "bootstrap", "--bootstrap-password", "lab", "--bootstrap-public-url", self.url + "/v3/")
        box.start("/usr/bin/python3", "-c", SERVE, environment=environment)
        until("Keystone is ready", lambda: "v3" in request(self.url + "/v3/"), 60)
        # The system's administrator may read the users of every domain; the preset logs in as that user, too.
        user = {"name": "admin", "password": "lab", "domain": {"id": "default"}}
        login = {"auth": {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": {"system": {"all": True}}}}
        self.headers = {"X-Auth-Token": request(self.url + "/v3/auth/tokens", login, header="X-Subject-Token")}
        self.anna = self.call("users", {"user": {"name": "anna", "domain_id": "default"}})["user"]["id"]
        self.environment = {"OS_PASSWORD": "lab"}
        self.replacements = {"https://identity.example.com:5000": self.url, "name: vedette": "name: admin"}

    def call(self, path, body, method=None):
        return json.loads(request(self.url + "/v3/" + path, body, method, self.headers))

    def changes(self, box, watcher):
        self.call("users", {"user": {"name": "deploy", "domain_id": "default"}})
        yield "a user is made", lambda: watcher.expect("keystone-user-new", "New user deploy")
        self.call("users/" + self.anna, {"user": {"enabled": False}}, "PATCH")
        yield "one is disabled", lambda: watcher.expect("keystone-switched", "anna: enabled → disabled")
        request(self.url + "/v3/users/" + self.anna, method="DELETE", headers=self.headers)
        yield "one is deleted", lambda: watcher.expect("keystone-gone", "anna is gone")
