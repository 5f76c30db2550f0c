# SPDX-License-Identifier: Apache-2.0
"""The control port: what tests do to the appliance and the Connections server, and ask them afterwards."""
from __future__ import annotations

from wire import Routes


def control(appliance=None, connections=None, story=None, servers=None):
    """The calls for the servers that run. README.md has them as a table."""
    table = {}
    if appliance:
        systems = appliance.systems
        table.update({
            "GET /lab/systems": lambda language="en": systems.snapshot(language)[1],
            "POST /lab/create": systems.create, "POST /lab/set": systems.set, "POST /lab/delete": systems.delete,
            "POST /lab/clear": systems.clear, "POST /lab/shuffle": systems.shuffle, "POST /lab/step": story.step,
            "POST /lab/fault": appliance.fault, "POST /lab/settings": appliance.set,
            "POST /lab/password": appliance.change_password, "POST /lab/expire": appliance.expire,
            "GET /lab/log": appliance.served.wait, "GET /lab/requests": appliance.requests.wait,
            "GET /lab/stats": lambda: dict(appliance.counts, connections=servers["appliance"].accepted),
        })
    if connections:
        stories = connections.stories
        table.update({
            "GET /lab/connections/stories": stories.list, "POST /lab/connections/add": stories.add,
            "POST /lab/connections/edit": stories.edit, "POST /lab/connections/delete": stories.delete,
            "POST /lab/connections/drift": connections.drift, "POST /lab/connections/fail": connections.fail,
            "POST /lab/connections/settings": connections.set, "GET /lab/connections/log": connections.served.wait,
            "GET /lab/connections/requests": connections.requests.wait,
        })
    return Routes(table)
