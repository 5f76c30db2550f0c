# SPDX-License-Identifier: Apache-2.0
"""Systems that watch others: Prometheus, Alertmanager, Icinga 2, systemd and supervisord."""
from __future__ import annotations

import json
import os
import shutil
import signal
import time

from processes import Skipped, basic, free_port, request, until


class Prometheus:
    name, kind, preset = "Prometheus", "json", "prometheus"

    def start(self, box):
        self.port, self.target = free_port(), free_port()
        jobs = "".join(
            '- {job_name: %s, static_configs: [{targets: ["127.0.0.1:%d"]}]}\n' % job
            for job in (("prometheus", self.port), ("node", self.target)))
        box.file("prometheus.yml", text="global: {scrape_interval: 1s}\nscrape_configs:\n" + jobs)
        box.start(
            "prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
            "--web.listen-address=127.0.0.1:%d" % self.port)
        self.url = "http://127.0.0.1:%d" % self.port
        until("both targets scraped", lambda: self.healths() == ["down", "up"])
        self.replacements = {"https://prometheus.example.com": self.url}

    def healths(self):
        targets = json.loads(request(self.url + "/api/v1/targets?state=active"))["data"]["activeTargets"]
        return sorted(target["health"] for target in targets)

    def changes(self, box, watcher):
        metrics = box.file("www", "metrics", text="up 1\n")
        server = box.start(
            "python3", "-m", "http.server", "--bind", "127.0.0.1", str(self.target), directory=os.path.dirname(metrics))
        until("the target is up", lambda: self.healths() == ["up", "up"])
        yield "a target comes up", lambda: until("up in vedette", lambda: watcher.state("prometheus-targets", "node") == "up")
        box.end(server)
        yield "a target goes down", lambda: watcher.expect("prometheus-target-down", "node")
        box.start("python3", "-m", "http.server", "--bind", "127.0.0.1", str(self.target), directory=os.path.dirname(metrics))
        yield "it is up again", lambda: watcher.expect("prometheus-target-down", kind="resolved")


class AlertmanagerServer:
    def start(self, box):
        self.url = "http://127.0.0.1:%d" % free_port()
        box.file("alertmanager.yml", text="route: {receiver: none}\nreceivers: [{name: none}]\n")
        # An empty cluster address: no peers, no gossip.
        box.start(
            "prometheus-alertmanager", "--config.file=alertmanager.yml", "--storage.path=data",
            "--web.listen-address=" + self.url.removeprefix("http://"), "--cluster.listen-address=")
        until("Alertmanager is ready", lambda: request(self.url + "/-/ready"))
        self.replacements = {"https://alertmanager.example.com": self.url}

    def alerts(self):
        return json.loads(request(self.url + "/api/v2/alerts"))


class Alertmanager(AlertmanagerServer):
    name, kind, preset = "Alertmanager (its alerts)", "json", "alertmanager"

    def post(self, **more):
        labels = {"alertname": "InstanceDown", "instance": "web-1:9100", "job": "node", "severity": "critical"}
        request(self.url + "/api/v2/alerts", [{"labels": labels, "annotations": {"summary": "web-1 is down"}, **more}])

    def changes(self, box, watcher):
        self.post()
        yield "an alert fires", lambda: watcher.expect("alertmanager-critical", "web-1 is down")
        self.post(endsAt=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        yield "it ends", lambda: (
            watcher.expect("alertmanager-ended", "web-1 is down"), watcher.expect("alertmanager-critical", kind="resolved"))


class AlertmanagerReceiver(AlertmanagerServer):
    name, kind, preset = "Alertmanager (alerts to it)", "webhook", "alertmanager-post"
    kept = ("alert-firing", "alert-resolved")

    def start(self, box):
        super().start(box)
        self.port = free_port()
        self.site = self.serve(box)
        self.replacements["https://www.example.com/"] = "http://127.0.0.1:%d/" % self.port

    def serve(self, box):
        return box.start("python3", "-m", "http.server", "--bind", "127.0.0.1", str(self.port))

    def changes(self, box, watcher):
        box.end(self.site)
        yield "a site goes down: the alert is in Alertmanager", lambda: until(
            "the alert", lambda: [row["labels"]["alertname"] for row in self.alerts()] == ["SiteDown"])
        self.serve(box)
        yield "it is up: the alert is resolved", lambda: until("no alert", lambda: self.alerts() == [])


class Icinga:
    name, kind, preset = "Icinga 2", "json", "icinga2"
    environment = {"ICINGA_PASSWORD": "secret-of-the-lab"}

    def start(self, box):
        port = free_port()
        certificate, key = box.file("lib", "certs", "lab.crt"), box.file("lib", "certs", "lab.key")
        box.run(
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=lab", "-addext",
            "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate)
        shutil.copy(certificate, box.file("lib", "certs", "ca.crt"))
        for name in ("etc", "log", "cache", "spool", "run", "zones"):
            os.makedirs(box.file(name))
        check = 'check_command = "passive"; enable_active_checks = false; max_check_attempts = 1'
        box.file("icinga2.conf", text="""
            const NodeName = "lab"
            const ZoneName = "lab"
            include <itl>
            object Endpoint "lab" {}
            object Zone "lab" { endpoints = [ "lab" ] }
            object ApiListener "api" { bind_host = "127.0.0.1"; bind_port = %d }
            object ApiUser "vedette" { password = "secret-of-the-lab"; permissions = [ "*" ] }
            object CheckerComponent "checker" {}
            object Host "web-1" { display_name = "Web 1"; %s }
            object Service "http" { host_name = "web-1"; %s }
            """ % (port, check, check))
        places = {
            "DataDir": "lib", "LogDir": "log", "CacheDir": "cache", "SpoolDir": "spool", "InitRunDir": "run", "ConfigDir": "etc",
            "ZonesDir": "zones", "PidPath": "run/pid", "StatePath": "lib/state", "ModAttrPath": "lib/modified.conf",
            "ObjectsPath": "cache/objects", "VarsPath": "cache/vars"}
        constants = ["-D%s=%s/%s" % (name, box.path, place) for name, place in places.items()]
        box.start("icinga2", "daemon", "-c", "icinga2.conf", "-DRunAsUser=root", "-DRunAsGroup=root", *constants)
        self.url = "https://127.0.0.1:%d" % port
        self.headers = {**basic("vedette", "secret-of-the-lab"), "Accept": "application/json"}
        until("Icinga is ready", lambda: request(self.url + "/v1/status/IcingaApplication", headers=self.headers))
        for service in (False, True):
            self.result(service, 0, "OK")
        self.replacements = {
            "https://icinga.example.com:5665": self.url, "# tls: {pin: \"sha256//…=\"}": "tls: {ca: %s}" % certificate}

    def result(self, service, status, output):
        names = {"type": "Service", "service": "web-1!http"} if service else {"type": "Host", "host": "web-1"}
        request(
            self.url + "/v1/actions/process-check-result", {**names, "exit_status": status, "plugin_output": output},
            headers=self.headers)

    def changes(self, box, watcher):
        self.result(True, 2, "HTTP CRITICAL: 500 Internal Server Error")
        yield "a service is critical", lambda: watcher.expect("icinga-problem", "Web 1 http is CRITICAL")
        self.result(True, 0, "HTTP OK")
        yield "it is repaired", lambda: watcher.expect("icinga-repaired", "Web 1 http")
        self.result(False, 1, "PING CRITICAL")
        yield "a host is down", lambda: watcher.expect("icinga-problem", "Web 1 is DOWN")


class Supervisor:
    name, kind, preset = "supervisord", "xml", "supervisor"
    environment = {"SUPERVISOR_PASSWORD": "secret-of-the-lab"}

    def start(self, box):
        port = free_port()
        box.file("supervisord.conf", text="""[supervisord]
nodaemon = true
logfile = supervisord.log
pidfile = supervisord.pid
childlogdir = %s
[inet_http_server]
port = 127.0.0.1:%d
username = vedette
password = secret-of-the-lab
[rpcinterface:supervisor]
supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface
[program:web]
command = sleep 1000
autorestart = false
[program:worker]
command = sleep 1000
autostart = false
""" % (box.path, port))
        box.start("supervisord", "-c", "supervisord.conf")
        self.url = "http://127.0.0.1:%d" % port
        until("web runs", lambda: "RUNNING" in self.call("getProcessInfo", "web"))
        self.replacements = {"http://127.0.0.1:9001": self.url}

    def call(self, method, *names):
        parameters = "".join("<param><value><string>%s</string></value></param>" % name for name in names)
        body = "<?xml version='1.0'?><methodCall><methodName>supervisor.%s</methodName><params>%s</params></methodCall>"
        return request(
            self.url + "/RPC2", body % (method, parameters),
            headers={**basic("vedette", "secret-of-the-lab"), "Content-Type": "text/xml"})

    def changes(self, box, watcher):
        self.call("startProcess", "worker")
        yield "a program starts", lambda: watcher.expect("supervisor-program-running", "worker")
        number = self.call("getProcessInfo", "web").split("<name>pid</name>\n<value><int>")[1].split("<")[0]
        os.kill(int(number), signal.SIGKILL)
        yield "a program is killed", lambda: watcher.expect("supervisor-program-failed", "web: RUNNING → EXITED")


class Systemd:
    name, kind, preset = "systemd", "json by a command", "systemd"

    def start(self, box):
        if not os.path.isdir("/run/systemd/system"):
            raise Skipped("systemd does not run on this machine")
        self.unit = "vedette-systems-%d" % os.getpid()
        self.replacements = {}

    def changes(self, box, watcher):
        box.run("systemd-run", "--unit", self.unit, "false")
        yield "a service fails", lambda: watcher.expect("systemd-service-failed", self.unit)
        box.run("systemctl", "reset-failed", self.unit)
