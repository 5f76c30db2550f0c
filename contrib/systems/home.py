# SPDX-License-Identifier: Apache-2.0
"""Systems at home: Home Assistant."""
from __future__ import annotations

import json
import os
from urllib.parse import urlencode

from processes import Skipped, free_port, request, until

# Home Assistant pins what it needs, so it has a Python of its own.
PYTHON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".build", "systems-home", "bin")


class HomeAssistant:
    name, kind, preset = "Home Assistant", "json, jq", "home-assistant"

    def start(self, box):
        hass = os.path.join(PYTHON, "hass")
        if not os.path.exists(hass):
            raise Skipped("the packages of Home Assistant are for Python 3.11 on x86-64")
        port = free_port()
        self.url = "http://127.0.0.1:%d" % port
        # No analytics, cloud, discovery, recorder or default_config; nothing is installed at run time.
        box.file("home", "configuration.yaml", text="""
homeassistant: {name: Lab, latitude: 0, longitude: 0, elevation: 0, unit_system: metric, time_zone: UTC, currency: EUR, country: AT}
http: {server_host: 127.0.0.1, server_port: %d}
api:
onboarding:
""" % port)
        box.start(hass, "--config", box.path + "/home", "--skip-pip", "--log-file", box.path + "/hass.log")
        until("Home Assistant is ready", lambda: request(self.url + "/api/onboarding"), 60)
        user = {"client_id": self.url + "/", "name": "Anna", "username": "anna", "password": "lab", "language": "en"}
        code = json.loads(request(self.url + "/api/onboarding/users", user))["auth_code"]
        form = urlencode({"client_id": self.url + "/", "grant_type": "authorization_code", "code": code})
        token = json.loads(request(
            self.url + "/auth/token", form, headers={"Content-Type": "application/x-www-form-urlencoded"}))["access_token"]
        self.headers, self.environment = {"Authorization": "Bearer " + token}, {"HOME_ASSISTANT_TOKEN": token}
        self.set("binary_sensor.front_door", "off", {"friendly_name": "Front door", "device_class": "door"})
        self.set("update.core", "off", {"friendly_name": "Core update", "installed_version": "1.0", "latest_version": "1.0"})
        self.set("sensor.power", "12", {"friendly_name": "Power"})
        self.replacements = {"http://homeassistant.local:8123": self.url}

    def set(self, entity, state, attributes):
        request(self.url + "/api/states/" + entity, {"state": state, "attributes": attributes}, headers=self.headers)

    def changes(self, box, watcher):
        self.set("binary_sensor.front_door", "on", {"friendly_name": "Front door", "device_class": "door"})
        yield "a door opens", lambda: watcher.expect("home-opened", "Front door: off → on")
        self.set("update.core", "on", {"friendly_name": "Core update", "installed_version": "1.0", "latest_version": "1.1"})
        yield "an update is there", lambda: watcher.expect("home-update", "Core update: 1.0 → 1.1")
