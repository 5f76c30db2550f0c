# SPDX-License-Identifier: Apache-2.0
"""Systems that others run on: EC2 (moto's server), RabbitMQ, etcd and a registry of container images."""
from __future__ import annotations

import base64
import hashlib
import json
import os
import re

from processes import PYTHON, basic, free_port, request, until


class EC2:
    name, kind, preset = "Amazon EC2 (moto)", "xml, Signature V4", "ec2"
    environment = {"AWS_SECRET_ACCESS_KEY": "secret-of-the-lab"}

    def start(self, box):
        self.url = "http://127.0.0.1:%d" % free_port()
        box.start(os.path.join(PYTHON, "moto_server"), "-H", "127.0.0.1", "-p", self.url.rsplit(":", 1)[1])
        until("moto is ready", lambda: request(self.url + "/moto-api/"))
        self.first = self.launch("web-1")
        # moto writes the namespace without the last slash, which EC2 has.
        self.replacements = {"https://ec2.eu-central-1.amazonaws.com": self.url, "2016-11-15/": "2016-11-15"}

    def call(self, query):
        # moto looks into the signature for region and service, but does not verify it.
        scope = "AKIDEXAMPLE/20260101/eu-central-1/ec2/aws4_request"
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Authorization": "AWS4-HMAC-SHA256 Credential=%s, SignedHeaders=host, Signature=0" % scope}
        return request(self.url + "/", query + "&Version=2016-11-15", headers=headers)

    def launch(self, name):
        tag = "TagSpecification.1.ResourceType=instance&TagSpecification.1.Tag.1.Key=Name&TagSpecification.1.Tag.1.Value="
        answer = self.call("Action=RunInstances&ImageId=ami-12c6146b&MinCount=1&MaxCount=1&" + tag + name)
        return re.search("<instanceId>([^<]*)", answer).group(1)

    def changes(self, box, watcher):
        self.launch("web-2")
        yield "an instance is launched", lambda: watcher.expect("ec2-instance-running", "web-2 is running")
        self.call("Action=StopInstances&InstanceId.1=" + self.first)
        yield "an instance is stopped", lambda: watcher.expect("ec2-instance-ended", "web-1: running → stopp")


class RabbitMQ:
    name, kind, preset = "RabbitMQ", "json", "rabbitmq"
    environment = {"RABBITMQ_PASSWORD": "guest"}

    def start(self, box):
        management, messages, nodes = free_port(), free_port(), free_port()
        box.file("rabbitmq.conf", text="""listeners.tcp.1 = 127.0.0.1:%d
management.tcp.ip = 127.0.0.1
management.tcp.port = %d
collect_statistics_interval = 1000
""" % (messages, management))
        box.file("plugins", text="[rabbitmq_management].\n")
        box.start("/usr/lib/rabbitmq/bin/rabbitmq-server", environment={
            "RABBITMQ_CONFIG_FILE": box.path + "/rabbitmq", "RABBITMQ_ENABLED_PLUGINS_FILE": box.path + "/plugins",
            "RABBITMQ_MNESIA_BASE": box.path + "/mnesia", "RABBITMQ_LOG_BASE": box.path + "/log",
            "RABBITMQ_PID_FILE": box.path + "/pid", "RABBITMQ_NODENAME": "lab@localhost", "RABBITMQ_DIST_PORT": str(nodes),
            "ERL_EPMD_PORT": str(free_port()), "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}"})
        self.url, self.headers = "http://127.0.0.1:%d" % management, basic("guest", "guest")
        until("RabbitMQ is ready", lambda: request(self.url + "/api/overview", headers=self.headers), 90)
        self.declare("orders")
        until("statistics of the queue", lambda: '"messages":0' in request(self.url + "/api/queues", headers=self.headers))
        self.replacements = {
            "https://rabbitmq.example.com:15672": self.url, "user: vedette": "user: guest", "above: 1000": "above: 10",
            "[900, 1100]": "[9, 11]", "for: 1m": "for: 1s", "lasts: 30s": "lasts: 0s"}

    def declare(self, name, method="PUT"):
        request(self.url + "/api/queues/%2f/" + name, {"durable": True}, method, headers=self.headers)

    def changes(self, box, watcher):
        message = {"properties": {}, "routing_key": "orders", "payload": "x", "payload_encoding": "string"}
        for _ in range(12):
            request(self.url + "/api/exchanges/%2f/amq.default/publish", message, headers=self.headers)
        yield "a queue grows", lambda: watcher.expect("rabbitmq-backlog", "orders holds")
        self.declare("orders", "DELETE")
        yield "a queue is deleted", lambda: watcher.expect("rabbitmq-queue-gone", "orders")


class Etcd:
    name, kind, preset = "etcd", "http, json", "etcd"

    def start(self, box):
        self.url, peers = "http://127.0.0.1:%d" % free_port(), "http://127.0.0.1:%d" % free_port()
        box.start(
            "etcd", "--data-dir", "data", "--listen-client-urls", self.url, "--advertise-client-urls", self.url,
            "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default=" + peers)
        until("etcd is healthy", lambda: "true" in request(self.url + "/health"))
        self.replacements = {"https://etcd-1.example.com:2379": self.url}

    def alarm(self, action):
        request(self.url + "/v3/maintenance/alarm", {"action": action, "alarm": "NOSPACE", "memberID": "0"})

    def changes(self, box, watcher):
        self.alarm("ACTIVATE")
        yield "the alarm NOSPACE is on", lambda: watcher.expect("etcd-unhealthy", "etcd is down")
        self.alarm("DEACTIVATE")
        yield "it is off", lambda: watcher.expect("etcd-unhealthy", kind="resolved")
        peer = "http://127.0.0.1:%d" % free_port()
        request(self.url + "/v3/cluster/member/add", {"peerURLs": [peer], "isLearner": True})
        yield "a member is added", lambda: watcher.expect("etcd-member-added")


class Registry:
    name, kind, preset = "docker-registry", "json, http", "docker-registry"

    def start(self, box):
        self.url = "http://127.0.0.1:%d" % free_port()
        box.file("registry.yml", text='version: 0.1\nstorage: {filesystem: {rootdirectory: "%s/images"}}\nhttp: {addr: "%s"}\n' % (
            box.path, self.url.removeprefix("http://")))
        box.start("docker-registry", "serve", "registry.yml")
        until("the registry is ready", lambda: request(self.url + "/v2/"))
        self.push("team/app", "latest", b"one")
        self.replacements = {"https://registry.example.com": self.url}

    def upload(self, repository, content):
        """Uploads a blob and returns how a manifest names it."""
        digest = "sha256:" + hashlib.sha256(content).hexdigest()
        place = request(self.url + "/v2/%s/blobs/uploads/" % repository, "", "POST", header="Location")
        request(place + "&digest=" + digest, content, "PUT", headers={"Content-Type": "application/octet-stream"})
        return {"size": len(content), "digest": digest}

    def push(self, repository, tag, layer):
        kind = "application/vnd.docker.distribution.manifest.v2+json"
        image = "application/vnd.docker.container.image.v1+json"
        manifest = {
            "schemaVersion": 2, "mediaType": kind, "config": {"mediaType": image, **self.upload(repository, b"{}")},
            "layers": [{"mediaType": "application/vnd.docker.image.rootfs.diff.tar.gzip", **self.upload(repository, layer)}]}
        request(self.url + "/v2/%s/manifests/%s" % (repository, tag), json.dumps(manifest), "PUT", headers={"Content-Type": kind})

    def changes(self, box, watcher):
        self.push("team/app", "1.2", b"two")
        yield "a tag is pushed", lambda: watcher.expect("registry-new-tag", "team/app:1.2")
        self.push("team/app", "latest", b"two")
        yield "'latest' points to another image", lambda: watcher.expect("registry-latest-moved")
        self.push("team/tool", "latest", b"three")
        yield "a repository is new", lambda: watcher.expect("registry-new-repository", "team/tool")
