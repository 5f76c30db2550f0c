# SPDX-License-Identifier: Apache-2.0
"""Systems of software development: Buildbot, gitweb and the site generator pelican."""
from __future__ import annotations

import json
import os

from processes import PYTHON, free_port, request, until


class Buildbot:
    name, kind, preset = "Buildbot", "json", "buildbot"

    def start(self, box):
        self.url = "http://127.0.0.1:%d" % free_port()
        buildbot = os.path.join(PYTHON, "buildbot")
        environment = {"PATH": PYTHON + ":" + os.environ["PATH"]}
        box.run(buildbot, "create-master", "master", environment=environment)
        # A worker inside the master; the usage report to buildbot.net is off.
        box.file("master", "master.cfg", text="""
from buildbot.plugins import *
steps = [steps.ShellCommand(command=["test", "-e", "%s/good"])]
c = BuildmasterConfig = {
    "workers": [worker.LocalWorker("local")],
    "builders": [util.BuilderConfig(name="linux", workernames=["local"], factory=util.BuildFactory(steps))],
    "schedulers": [schedulers.ForceScheduler(name="force", builderNames=["linux"])],
    "protocols": {"null": {}},
    "www": {"port": "tcp:%s:interface=127.0.0.1", "plugins": {}},
    "buildbotURL": "%s/",
    "db": {"db_url": "sqlite:///state.sqlite"},
    "buildbotNetUsageData": None,
}
""" % (box.path, self.url.rsplit(":", 1)[1], self.url))
        box.start(buildbot, "start", "--nodaemon", "master", environment=environment)
        until("Buildbot is ready", lambda: request(self.url + "/api/v2/builders"), 60)
        box.file("good", text="")
        self.build()
        until("the first build", lambda: '"complete": true' in request(self.url + "/api/v2/builds"))
        self.replacements = {"https://buildbot.example.com": self.url}

    def build(self):
        request(self.url + "/api/v2/forceschedulers/force", {
            "method": "force", "jsonrpc": "2.0", "id": 1, "params": {"builderNames": ["linux"], "owner": "lab"}})

    def changes(self, box, watcher):
        os.remove(box.file("good"))
        self.build()
        yield "a build fails", lambda: watcher.expect("buildbot-failed", "linux #2: failure")


# The two other sources of rules/feed.yaml are polled each half hour.
SOON = {"compare: []": "compare: []\n    every: 1s", "compare: [enclosure]": "compare: [enclosure]\n    every: 1s"}


class Gitweb:
    name, kind, preset = "gitweb", "feed", "../feed"

    def start(self, box):
        self.environment = {}
        cgi = box.file("www", "cgi-bin", "gitweb.cgi")
        os.symlink("/usr/lib/cgi-bin/gitweb.cgi", cgi)
        box.file("gitweb.conf", text='$projectroot = "%s";\n' % box.path, mode=0o644)
        self.git(box, "init", "--quiet", "--initial-branch", "main", "app")
        self.commit(box, "First commit")
        # Python's server runs a CGI program as nobody, where it may: that user reads the repository, which is another one's.
        os.chmod(box.path, 0o755)
        trust = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        port = free_port()
        box.start(
            "python3", "-m", "http.server", "--cgi", "--bind", "127.0.0.1", str(port), directory=box.path + "/www",
            environment={"GITWEB_CONFIG": box.path + "/gitweb.conf", **trust})
        page = "http://127.0.0.1:%d/cgi-bin/gitweb.cgi?p=app/.git;a=" % port
        until("gitweb is ready", lambda: "First commit" in request(page + "atom"))
        self.replacements = {
            "https://blog.example.com/feed.atom": page + "atom", "https://talk.example.com/latest.rss": page + "rss",
            "https://radio.example.com/podcast.xml": page + "atom;h=main", **SOON}

    def git(self, box, *arguments):
        identity = ["-c", "user.name=Lab", "-c", "user.email=lab@example.com"]
        box.run("git", *identity, *arguments)

    def commit(self, box, text):
        self.git(box, "-C", "app", "commit", "--quiet", "--allow-empty", "-m", text)

    def changes(self, box, watcher):
        self.commit(box, "Fix CVE-2026-0001: vector<int> & bounds")
        yield "a commit, in Atom", lambda: watcher.expect("entry-about-security", "CVE-2026-0001: vector<int> & bounds")
        yield "and in RSS", lambda: watcher.expect("new-topic-or-episode", "CVE-2026-0001: vector<int> & bounds")


class Pelican:
    name, kind, preset = "pelican, a static site", "feed", "../feed"

    def start(self, box):
        port = free_port()
        box.file("pelicanconf.py", text="""
AUTHOR, SITENAME, SITEURL, FEED_DOMAIN = "Lab", "Lab", "http://127.0.0.1:%d", "http://127.0.0.1:%d"
PATH, TIMEZONE, DEFAULT_LANG = "content", "UTC", "en"
FEED_ALL_ATOM, FEED_ALL_RSS, CATEGORY_FEED_ATOM = "all.atom.xml", "all.rss.xml", "{slug}.atom.xml"
""" % (port, port))
        self.write(box, "first", "First post")
        box.start("python3", "-m", "http.server", "--bind", "127.0.0.1", str(port), directory=box.path + "/out")
        site = "http://127.0.0.1:%d/" % port
        until("the site is ready", lambda: request(site + "all.atom.xml"))
        self.replacements = {
            "https://blog.example.com/feed.atom": site + "all.atom.xml", "https://talk.example.com/latest.rss": site + "all.rss.xml",
            "https://radio.example.com/podcast.xml": site + "news.atom.xml", **SOON}

    def write(self, box, name, title):
        box.file("content", name + ".md", text="Title: %s\nDate: 2026-11-20 10:00\nCategory: news\n\nText of %s.\n" % (title, name))
        box.run("pelican", "content", "-s", "pelicanconf.py", "-o", "out")

    def changes(self, box, watcher):
        self.write(box, "second", "A *second* post: \"R&D\"")
        yield "a post, in Atom", lambda: watcher.expect("new-entry", "\"R&D\"")
        yield "and in RSS", lambda: watcher.expect("new-topic-or-episode", "\"R&D\"")
