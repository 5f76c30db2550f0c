# SPDX-License-Identifier: Apache-2.0
"""Other programs that follow feeds, each where it is installed: how it is told to read a list of URLs once."""
from __future__ import annotations

import os
import shutil

from parts import FLIGHT, run


def installed(urls, work):
    """Pairs of a name and a function that lets the program read every feed once and returns its CPU and wall seconds."""
    return [(name, prepare(urls, home(work, name))) for name, prepare in PREPARE.items() if shutil.which(PROGRAM[name])]


def home(work, name):
    path = os.path.join(work, name)
    os.makedirs(path)
    return path


def newsboat(urls, directory):
    write(directory, "urls", "".join(url + "\n" for url in urls))
    write(directory, "config", "reload-threads %d\n" % FLIGHT)
    command = ["newsboat", "-u", "urls", "-c", "cache.db", "-C", "config", "-x", "reload"]
    return lambda: once(command, directory)


def sfeed(urls, directory):
    feeds = "".join("  feed f%d '%s'\n" % (i, url) for i, url in enumerate(urls))
    write(directory, "sfeedrc", "sfeedpath='%s/feeds'\nmaxjobs=%d\nfeeds() {\n%s}\n" % (directory, FLIGHT, feeds))
    return lambda: once(["sfeed_update", os.path.join(directory, "sfeedrc")], directory)


def urlwatch(urls, directory):
    write(directory, "urls.yaml", "---\n".join("name: f%d\nurl: %s\n" % (i, url) for i, url in enumerate(urls)))
    write(directory, "config.yaml", "report: {stdout: {enabled: false}}\n")
    return lambda: once(["urlwatch", "--urls", "urls.yaml", "--config", "config.yaml", "--cache", "cache.db"], directory)


PREPARE = {"newsboat": newsboat, "sfeed": sfeed, "urlwatch": urlwatch}
PROGRAM = {"newsboat": "newsboat", "sfeed": "sfeed_update", "urlwatch": "urlwatch"}


def write(directory, name, text):
    with open(os.path.join(directory, name), "w") as file:
        file.write(text)


def once(command, directory):
    # Nobody's own configuration is read or changed.
    environment = dict(os.environ, HOME=directory, XDG_CONFIG_HOME=directory, XDG_DATA_HOME=directory, XDG_CACHE_HOME=directory)
    _, cpu, wall = run(command, 90, environment=environment, directory=directory)
    return cpu, wall
