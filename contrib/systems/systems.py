# SPDX-License-Identifier: Apache-2.0
"""Runs real systems on loopback, one after the other, with the real `vedette` and the preset of each, changes something in the
system, and waits until the message about it comes."""
from __future__ import annotations

import argparse
import os
import shutil
import sys
import time

from clouds import Keystone
from development import Buildbot, Gitweb, Pelican
from home import HomeAssistant
from infrastructure import EC2, Etcd, RabbitMQ, Registry
from monitoring import Alertmanager, AlertmanagerReceiver, Icinga, Prometheus, Supervisor, Systemd
from personal import Aria2, Calendar, Radicale, Synapse, Syncthing, Transmission
from processes import Box, Failure, Skipped
from watcher import Watcher

SYSTEMS = [
    EC2, Keystone, Prometheus, Alertmanager, AlertmanagerReceiver, Icinga, RabbitMQ, Registry, Etcd, Supervisor, Systemd, Buildbot, Gitweb,
    Pelican, HomeAssistant, Transmission, Aria2, Syncthing, Radicale, Calendar, Synapse,
]


def run(vedette, system):
    """Prints a line for the system and each of its changes; returns whether all was seen, and None where it was skipped."""
    begun, box = time.monotonic(), Box(system.preset.rsplit("/", 1)[-1])
    try:
        system.start(box)
        watcher = Watcher(
            vedette, box, system.preset, system.replacements, getattr(system, "kept", ()), getattr(system, "environment", {}))
        items = watcher.ready()
        print("%-28s %s; started in %.1f s, %d items" % (system.name, system.kind, time.monotonic() - begun, items), flush=True)
        for change, seen in system.changes(box, watcher):
            changed = time.monotonic()
            seen()
            print("%-28s   %s: seen after %.1f s" % ("", change, time.monotonic() - changed), flush=True)
        watcher.stop()
        return True
    except Skipped as reason:
        print("%-28s skipped: %s" % (system.name, reason), flush=True)
        return None
    except (Failure, OSError, LookupError, ValueError) as failure:
        print("%-28s FAILED: %s" % (system.name, failure), flush=True)
        return False
    finally:
        box.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vedette", default=shutil.which("vedette"), help="the program")
    parser.add_argument("--only", help="names of presets, separated by commas")
    options = parser.parse_args()
    chosen = [system() for system in SYSTEMS if not options.only or system.preset.rsplit("/", 1)[-1] in options.only.split(",")]
    seen = [run(os.path.abspath(options.vedette), system) for system in chosen]
    print("%d as expected, %d failed, %d skipped" % (seen.count(True), seen.count(False), seen.count(None)))
    return 1 if False in seen or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
