#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts the lab and checks that every stand-in behaves, and misbehaves, as README.md says."""
from __future__ import annotations

import base64
import gzip
import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import xml.etree.ElementTree as ET
import zlib
from urllib.parse import urlsplit

HERE = os.path.dirname(os.path.abspath(__file__))
ATOM = "{http://www.w3.org/2005/Atom}"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Firefox/115.0"
LIST = "/resources/virtualSystems"
KEYS = {"id", "name", "currentstatus", "currentstatus_text", "currentmessage", "currentmessage_text", "desiredstatus",
        "desiredstatus_text", "created", "updated", "owner", "pattern"}
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


class Lab:
    def __init__(self, *options):
        begin = time.monotonic()
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "lab.py"), *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.line = json.loads(self.process.stdout.readline())
        self.started = time.monotonic() - begin

    def connect(self, name, timeout=5):
        parts = urlsplit(self.line[name])
        if parts.scheme == "http":
            return http.client.HTTPConnection("127.0.0.1", parts.port, timeout=timeout)
        trust = ssl.create_default_context(cafile=self.line["certificate"])
        return http.client.HTTPSConnection("127.0.0.1", parts.port, timeout=timeout, context=trust)

    def call(self, name, path, body=None, method=None, headers=None, timeout=5):
        """(status, headers, body) of one request over its own connection; http.client checks the framing."""
        connection = self.connect(name, timeout)
        data = None if body is None else json.dumps(body) if not isinstance(body, (str, bytes)) else body
        try:
            connection.request(method or ("GET" if body is None else "POST"), path, data, headers or {})
            reply = connection.getresponse()
            return reply.status, reply.headers, reply.read()
        finally:
            connection.close()

    def control(self, path, body=None, name="control"):
        status, _, answer = self.call(name, path, body, timeout=15)
        assert status == 200, "%s %s: %s" % (status, path, answer)
        return json.loads(answer)

    def raw(self, name, path, size=1 << 20, timeout=5):
        """Every byte of the answer, to the end or to `size`."""
        with socket.create_connection(("127.0.0.1", urlsplit(self.line[name]).port), timeout=timeout) as sock:
            sock.sendall(("GET %s HTTP/1.1\r\nHost: lab\r\n\r\n" % path).encode())
            sock.shutdown(socket.SHUT_WR)
            data = b""
            while len(data) < size:
                more = sock.recv(65536)
                if not more:
                    break
                data += more
            return data

    def list(self, **headers):
        """(status, headers, body) of the appliance's list, asked for as its client should."""
        sent = {"User-Agent": FIREFOX, "Authorization": basic("lamato", "s3cret-lab")}
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        return self.call("appliance", LIST, headers={k: v for k, v in sent.items() if v is not None}, timeout=2)

    def systems(self, **headers):
        return {system["id"]: system for system in json.loads(self.list(**headers)[2])}

    def end(self):
        self.process.stdin.close()
        return self.process.wait(5)


def basic(user, password):
    return "Basic " + base64.b64encode(("%s:%s" % (user, password)).encode()).decode()


def fails(kind, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except kind:
        return True
    raise AssertionError("no %s" % (kind,))


# Appliance


@check
def the_list_is_a_bare_array_of_twelve_keys(lab):
    status, headers, body = lab.list()
    systems = json.loads(body)
    assert status == 200 and headers["Content-Type"] == "application/json" and len(systems) == 6
    assert all(set(system) == KEYS for system in systems)
    assert systems[1]["currentstatus"] == "RM01005" and systems[1]["currentstatus_text"] == "Starting"


@check
def texts_come_in_the_language_asked_for(lab):
    assert lab.systems(Accept_Language="it")[59]["currentstatus_text"] == "Avvio"
    assert lab.systems(Accept_Language="de, it;q=0.5, en;q=0.9")[59]["currentstatus_text"] == "Starting"


@check
def a_wrong_or_missing_password_is_401(lab):
    for sent in (basic("lamato", "wrong"), None):
        status, headers, body = lab.list(Authorization=sent)
        assert status == 401 and "Basic" in headers["WWW-Authenticate"] and b"401 Unauthorized" in body
    lab.control("/lab/password", {"password": "other"})
    assert lab.list()[0] == 401 and lab.list(Authorization=basic("lamato", "other"))[0] == 200
    lab.control("/lab/password", {"password": "s3cret-lab"})


@check
def an_unknown_user_agent_gets_an_empty_200(lab):
    for agent in ("curl/7.88.1", None):
        status, _, body = lab.list(User_Agent=agent)
        assert (status, body) == (200, b"")


@check
def only_a_poll_without_cookies_opens_a_session(lab):
    before = lab.control("/lab/stats")["sessions"]
    cookies = lab.list()[1].get_all("Set-Cookie")
    assert [c.split("=")[0] for c in cookies] == ["zsessionid", "SimpleToken"]
    jar = "; ".join(cookie.split(";")[0] for cookie in cookies)
    assert lab.list(Cookie=jar)[1].get_all("Set-Cookie") is None
    assert lab.list(Cookie=jar, Authorization=None)[0] == 200
    assert lab.control("/lab/stats")["sessions"] == before + 1
    lab.control("/lab/expire", {})
    assert lab.list(Cookie=jar, Authorization=None)[0] == 401


@check
def linked_resources_and_errors(lab):
    sent = {"User-Agent": FIREFOX, "Authorization": basic("lamato", "s3cret-lab")}
    read = lambda path: lab.call("appliance", path, headers=sent)
    assert json.loads(read(LIST + "/59")[2])["name"] == "WAS lab clone 05"
    assert json.loads(read(LIST + "/59/virtualMachines")[2])[0]["virtualsystem"] == LIST + "/59"
    assert json.loads(read("/resources/users/6")[2])["username"] == "nina"
    assert json.loads(read("/resources/patterns/12")[2])["name"] == "Cluster"
    for path in (LIST + "/9", "/resources/users/9", "/nothing"):
        status, _, body = read(path)
        assert status == 404 and json.loads(body)["status"] == 404


@check
def control_calls_change_what_is_served(lab):
    made = lab.control("/lab/create", {"name": "made", "state": "starting"})["id"]
    lab.control("/lab/set", {"id": made, "message": "RM07054", "args": ["Città=1", "a b"], "desiredstatus": ""})
    system = lab.systems()[made]
    assert system["currentmessage"] == 'RM07054("Citt%C3%A0%3D1","a+b")' and system["desiredstatus"] == ""
    lab.control("/lab/set", {"id": made, "state": "failed", "args": ["Load", "rc=1"], "name": "renamed", "desiredstatus": None})
    system = lab.systems()[made]
    assert system["currentmessage_text"] == "Script package Load failed, rc=1" and system["name"] == "renamed"
    order = list(lab.systems())
    lab.control("/lab/shuffle", {"seed": 4})
    assert list(lab.systems()) != order and set(lab.systems()) == set(order)
    lab.control("/lab/delete", {"id": made})
    assert made not in lab.systems()
    assert lab.call("control", "/lab/set", {"id": 59, "sate": "ready"})[0] == 400
    assert lab.call("control", "/lab/set", {"id": 4711, "state": "ready"})[0] == 400


@check
def put_stops_and_starts_a_system_step_by_step(lab):
    sent = {"User-Agent": FIREFOX, "Authorization": basic("lamato", "s3cret-lab")}
    put = lambda status: lab.call("appliance", LIST + "/56", {"desiredstatus": status}, "PUT", sent)
    status, _, body = put("RM01011")
    assert status == 200 and json.loads(body)["currentstatus"] == "RM01903" and json.loads(body)["desiredstatus"] == "RM01011"
    lab.control("/lab/step", {})
    assert lab.systems()[56]["currentstatus"] == "RM01011"
    assert put("RM01006")[0] == 200 and put("RM09999")[0] == 400
    seen = []
    for _ in range(4):
        seen.append(lab.systems()[56]["currentmessage"][:7])
        lab.control("/lab/step", {})
    assert seen == ["RM07902", "RM07054", "RM07054", "RM07045"], seen


@check
def the_log_holds_every_state_served(lab):
    at = lab.control("/lab/log?min=1")[-1]["seq"]
    lab.list()
    entry = lab.control("/lab/log?min=1&after=%d" % at)[-1]
    assert entry["seq"] == at + 1 and entry["fault"] is None and entry["status"] == 200
    assert [51, "Billing staging", "RM01011", "RM07153"] in entry["systems"]
    waiting = threading.Timer(0.2, lab.list)
    waiting.start()
    assert len(lab.control("/lab/log?min=1&timeout=5&after=%d" % (at + 1))) == 1
    headers = dict(lab.control("/lab/requests")[-1]["headers"])
    assert headers["Authorization"] == basic("lamato", "s3cret-lab")


@check
def an_unchanged_list_is_304_when_switched_on(lab):
    lab.control("/lab/settings", {"etag": True})
    tag = lab.list()[1]["ETag"]
    status, _, body = lab.list(If_None_Match=tag)
    assert (status, body) == (304, b"") and lab.control("/lab/log")[-1]["status"] == 304
    lab.control("/lab/set", {"id": 66, "name": "sandbox 2"})
    assert lab.list(If_None_Match=tag)[0] == 200
    lab.control("/lab/settings", {"etag": False, "gzip": True, "chunked": True})
    assert len(json.loads(gzip.decompress(lab.list(Accept_Encoding="gzip")[2]))) == 6
    lab.control("/lab/settings", {"gzip": False, "chunked": False})
    assert lab.call("control", "/lab/settings", {"etga": True})[0] == 400


@check
def a_version_header_is_wanted_when_switched_on(lab):
    lab.control("/lab/settings", {"version": {"name": "X-IBM-Workload-Deployer-API-Version", "value": "3.0"}})
    assert lab.list()[0] == 400 and lab.list(X_IBM_Workload_Deployer_API_Version="2.0")[0] == 400
    assert lab.list(X_IBM_Workload_Deployer_API_Version="3.0")[0] == 200
    lab.control("/lab/settings", {"version": None})


@check
def each_fault_of_the_list(lab):
    def next_answer(kind, **more):
        lab.control("/lab/fault", dict({"kind": kind}, **more))
        return lab.list()
    assert next_answer("empty")[::2] == (200, b"")
    status, headers, body = next_answer("login")
    assert status == 200 and headers["Content-Type"].startswith("text/html") and b"password" in body
    for code in (500, 401, 404):
        assert next_answer(str(code))[0] == code
    status, headers, _ = next_answer("503", retry_after="7")
    assert status == 503 and headers["Retry-After"] == "7"
    assert next_answer("empty-list")[2] == b"[]"
    fails(json.JSONDecodeError, json.loads, next_answer("garbage")[2])
    cut = next_answer("cut-json")[2]
    fails(json.JSONDecodeError, json.loads, cut)
    assert len(json.loads(cut.rstrip(b"\n,") + b"]")) == 5
    status, headers, body = next_answer("cut-gzip")
    assert headers["Content-Encoding"] == "gzip" and fails(EOFError, gzip.decompress, body)
    fails(http.client.IncompleteRead, next_answer, "cut-length")
    fails(http.client.IncompleteRead, next_answer, "cut-chunked")
    assert len(json.loads(next_answer("big", bytes=300_000)[2])) == 6
    fails((http.client.RemoteDisconnected, ssl.SSLError), next_answer, "close")
    fails((http.client.RemoteDisconnected, ssl.SSLError), next_answer, "hang", seconds=0.2)
    fails(socket.timeout, next_answer, "hang")
    kinds = [entry["fault"] for entry in lab.control("/lab/log")]
    assert kinds[-3:] == ["close", "hang", "hang"]
    lab.control("/lab/fault", {"kind": "500", "times": -1})
    assert [lab.list()[0] for _ in range(3)] == [500] * 3
    lab.control("/lab/fault", {"kind": None})
    assert lab.list()[0] == 200
    assert lab.call("control", "/lab/fault", {"kind": "nonsense"})[0] == 400


@check
def the_same_connection_serves_many_requests(lab):
    connection, before = lab.connect("appliance"), lab.control("/lab/stats")["connections"]
    for _ in range(5):
        connection.request("GET", LIST, headers={"User-Agent": FIREFOX, "Authorization": basic("lamato", "s3cret-lab")})
        connection.getresponse().read()
    assert lab.control("/lab/stats")["connections"] == before + 1


@check
def the_pin_is_that_of_the_certificate_served(lab):
    port = urlsplit(lab.line["appliance"]).port
    pem = ssl.get_server_certificate(("127.0.0.1", port))
    assert pem.strip() == open(lab.line["certificate"]).read().strip()
    shell = ("openssl x509 -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary "
             "| openssl base64 -A")
    pin = subprocess.run(["sh", "-c", shell], input=pem.encode(), stdout=subprocess.PIPE).stdout.decode()
    assert lab.line["pin"] == "sha256//" + pin
    fails(ssl.SSLError, ssl.create_default_context().wrap_socket, socket.create_connection(("127.0.0.1", port)),
          server_hostname="127.0.0.1")


@check
def a_silent_client_does_not_stop_the_handshakes_of_others(lab):
    idle = [socket.create_connection(("127.0.0.1", urlsplit(lab.line["appliance"]).port)) for _ in range(20)]
    assert lab.list()[0] == 200
    for sock in idle:
        sock.close()


# Connections


def page(lab, query="", path="/news/atom/stories/public", **headers):
    status, _, body = lab.call("connections", path + query, headers=headers)
    assert status == 200, (status, body)
    root = ET.fromstring(body)
    links = {link.get("rel"): link.get("href") for link in root.findall(ATOM + "link")}
    return [entry.findtext(ATOM + "id") for entry in root.findall(ATOM + "entry")], links, root


@check
def pages_follow_each_other(lab):
    first, links, root = page(lab)
    assert len(first) == 20 and set(links) == {"self", "alternate", "first", "next", "last"}
    opensearch = "{http://a9.com/-/spec/opensearch/1.1/}"
    assert [root.findtext(opensearch + n) for n in ("totalResults", "startIndex", "itemsPerPage")] == ["27", "1", "20"]
    target = urlsplit(links["next"])
    second, links, _ = page(lab, "?" + target.query)
    assert len(second) == 7 and not set(first) & set(second) and "next" not in links and "previous" in links
    assert len(page(lab, "?ps=1000")[0]) == 27 and page(lab, "?ps=5&page=9")[0] == []
    times = [entry.findtext(ATOM + "updated") for entry in root.findall(ATOM + "entry")]
    assert times == sorted(times, reverse=True)


@check
def filters_of_the_updates(lab):
    stories = lab.control("/lab/connections/stories")
    newest, older = stories[0], stories[5]
    assert page(lab, "?since=" + older["updated"])[0] == [s["id"] for s in stories[:5]]
    assert page(lab, "?ps=100&before=" + older["updated"])[0] == [s["id"] for s in stories[6:]]
    assert page(lab, "?since=" + newest["updated"])[0] == []
    blogs = [s["id"] for s in stories if s["source"] == "blogs"]
    assert page(lab, "?source=Blogs")[0] == page(lab, "?source=blogs")[0] == blogs
    assert len(page(lab, "?ps=100&source=nonsense&container=x")[0]) == 27 and page(lab, "?source=blogs&container=x")[0] == []
    _, _, root = page(lab, "?ps=1")
    ids = {e.tag.split("}")[1]: e.text for e in root.find(ATOM + "entry/" + ATOM + "author")}
    mine = page(lab, "?ps=100&userid=%s&email=nobody@example.org" % ids["userid"])[0]
    assert 0 < len(mine) < 27 and mine == page(lab, "?ps=100&email=" + ids["email"])[0]
    status = page(lab, "?ps=100", "/news/atom/stories/statusupdates")[0]
    assert status == [s["id"] for s in stories if s["source"] == "profiles"]


@check
def a_status_is_published(lab):
    def put(body, type="application/atom+xml; charset=utf-8"):
        return lab.call("connections", "/profiles/atom/mv/theboard/entry/status.do", body, "PUT", {"Content-Type": type})[0]
    entry = ('<entry xmlns="http://www.w3.org/2005/Atom"><title type="text">x</title>'
             '<category term="entry" scheme="http://www.ibm.com/xmlns/prod/sn/type"/>'
             '<category term="status" scheme="http://www.ibm.com/xmlns/prod/sn/message-type"/>'
             '<content type="text">R&amp;D is &lt;ready&gt; \u00e9</content></entry>')
    before = lab.control("/lab/connections/stories")
    assert put(entry, "application/xml") == 415 and put(entry[:-1]) == put(entry.replace("message-type", "x")) == put("<x/>") == 400
    assert lab.control("/lab/connections/stories") == before
    assert put(entry.encode()) == 200
    newest, after = lab.control("/lab/connections/stories")[0], len(before) + 1
    assert newest["title"].endswith(": R&D is <ready> \u00e9") and newest["source"] == "profiles"
    lab.control("/lab/connections/delete", {"id": newest["id"]})
    assert len(lab.control("/lab/connections/stories")) == after - 1


@check
def a_status_is_posted(lab):
    def post(body, type="application/json"):
        return lab.call("connections", "/connections/opensocial/basic/rest/ublog/@me/@all", body, "POST", {"Content-Type": type})[0]
    before = lab.control("/lab/connections/stories")
    assert post(b'{"content": "x"}', "text/plain") == 415 and post(b"{") == post(b'{"content": " "}') == post(b"[]") == 400
    assert lab.control("/lab/connections/stories") == before
    assert post('{"content": "R&D is <ready> \u00e9"}'.encode()) == 200
    newest = lab.control("/lab/connections/stories")[0]
    assert newest["title"].endswith(": R&D is <ready> \u00e9") and newest["source"] == "profiles"
    lab.control("/lab/connections/delete", {"id": newest["id"]})


@check
def errors_of_the_updates(lab):
    for query in ("?ps=0", "?page=x", "?since=yesterday"):
        status, headers, body = lab.call("connections", "/news/atom/stories/public" + query)
        assert status == 400 and ET.fromstring(body).findtext("{http://www.ibm.com/xmlns/prod/sn}code") == "400"
    status, headers, _ = lab.call("connections", "/nothing")
    assert status == 404 and headers["Content-Type"].startswith("text/html")
    lab.control("/lab/connections/fail", {"status": 403, "page": 2})
    assert page(lab) and lab.call("connections", "/news/atom/stories/public?page=2")[0] == 403 and page(lab, "?page=2")
    lab.control("/lab/connections/settings", {"login": True})
    status, headers, body = lab.call("connections", "/news/atom/stories/public")
    assert status == 200 and headers["Content-Type"].startswith("text/html") and b"j_password" in body
    lab.control("/lab/connections/settings", {"login": False, "user": "u", "password": "p"})
    assert lab.call("connections", "/news/atom/stories/public")[0] == 401
    assert page(lab, Authorization=basic("u", "p"))
    lab.control("/lab/connections/settings", {"user": None})


@check
def stories_are_added_edited_and_deleted(lab):
    before = page(lab, "?ps=100")[0]
    title = 'R&D <b> "β" 🎉'
    made = lab.control("/lab/connections/add", {"title": title, "source": "profiles", "author": "Ann"})[0]
    ids, _, root = page(lab, "?ps=100")
    assert ids == [made["id"]] + before and root.find(ATOM + "entry").findtext(ATOM + "title") == "Ann: " + title
    lab.control("/lab/connections/edit", {"id": before[9]})
    ids, _, root = page(lab, "?ps=100")
    top = root.find(ATOM + "entry")
    assert ids[:2] == [before[9], made["id"]] and len(ids) == len(before) + 1
    assert top.findtext(ATOM + "updated") > top.findtext(ATOM + "published")
    lab.control("/lab/connections/delete", {"id": made["id"]})
    assert made["id"] not in page(lab, "?ps=100")[0]


@check
def the_page_boundary_drifts_on_request(lab):
    lab.control("/lab/connections/drift", {"n": 2})
    first, second = page(lab)[0], page(lab, "?page=2")[0]
    assert second[:2] == first[-2:]
    lab.control("/lab/connections/drift", {"n": 0, "delete": 1})
    whole = page(lab, "?ps=100")[0]
    lab.control("/lab/connections/drift", {"n": 0, "delete": 1})
    first, second = page(lab)[0], page(lab, "?page=2")[0]
    assert whole[1:][20] not in first + second
    assert [entry["page"] for entry in lab.control("/lab/connections/log")][-2:] == [1, 2]


@check
def quirks_of_the_updates(lab):
    lab.control("/lab/connections/settings", {"next_drops_ps": True, "padding": True, "gzip": True})
    _, links, _ = page(lab, "?ps=5")
    assert "ps=" not in links["next"] and "ps=5" in links["self"]
    body = lab.call("connections", "/news/atom/stories/public", headers={"Accept-Encoding": "gzip"})[2]
    assert b"\n\n\n\n" in gzip.decompress(body)
    lab.control("/lab/connections/settings", {"next_drops_ps": False, "padding": False, "gzip": False, "short_pages": True})
    whole = page(lab, "?ps=100")[0]
    parts = [page(lab, "?ps=10&page=%d" % n)[0] for n in (1, 2, 3)]
    assert [len(part) for part in parts] == [9, 9, 9] and sum(parts, []) == whole[:27]
    lab.control("/lab/connections/settings", {"short_pages": False, "no_links": True, "etag": True})
    assert set(page(lab)[1]) == {"self", "alternate"}
    tag = lab.call("connections", "/news/atom/stories/public")[1]["ETag"]
    assert lab.call("connections", "/news/atom/stories/public", headers={"If-None-Match": tag})[0] == 304
    lab.control("/lab/connections/settings", {"no_links": False, "etag": False})


@check
def the_json_stream_holds_the_same_stories(lab):
    path = "/connections/opensocial/basic/rest/activitystreams/@public/@all/@all"
    body = json.loads(lab.call("connections", path + "?count=5")[2])
    assert body["totalResults"] == -1 and len(body["list"]) == 5
    updated = [item["updated"] for item in body["list"]]
    assert updated == sorted(updated, reverse=True)
    since = json.loads(lab.call("connections", path + "?updatedSince=" + updated[2])[2])
    assert [item["id"] for item in since["list"]] == [item["id"] for item in body["list"][:2]]


# Receiver

@check
def each_view_of_the_updates_wants_its_parameters(lab):
    root = "/news/atom/stories/"
    person = lab.control("/lab/connections/add", {"author": "Zoe", "title": "tagged words", "tag": "ops & co"})[0]
    userid = re.search(r"userid>([0-9a-f-]+)<", lab.call("connections", root + "public")[2].decode()).group(1)
    for path in ("public/person", "saved"):
        assert lab.call("connections", root + path)[0] == 400
        assert page(lab, "?userid=" + userid, root + path)[0] == [person["id"]]
    assert lab.call("connections", root + "saved?email=zoe@example.org")[0] == 400
    for path in ("newsfeed", "top", "community"):
        assert page(lab, "?ps=3", root + path)[0] == page(lab, "?ps=3")[0]
    status = page(lab, "?ps=100", root + "statusupdates")[0]
    assert page(lab, "?ps=100&source=Network&comments=none", root + "statusupdates")[0] == status
    assert lab.call("connections", root + "statusupdates?comments=some")[0] == 400
    search = "/search/atom/search/results"
    assert lab.call("connections", search)[0] == 400
    assert page(lab, "?query=WORDS+tagged", search)[0] == page(lab, "?tag=ops+%26+co", search)[0] == [person["id"]]
    assert page(lab, "?query=words&component=dogear", search)[0] == []
    lab.control("/lab/connections/delete", {"id": person["id"]})


@check
def a_burst_is_read_whole_by_time_while_stories_go(lab):
    made = [story["id"] for story in lab.control("/lab/connections/add", {"n": 250})]
    lab.control("/lab/connections/drift", {"n": 1, "delete": 3, "at": 150, "times": 2})
    seen, before = [], ""
    while True:
        ids, links, root = page(lab, "?ps=100" + before)
        seen += ids
        if "next" not in links:
            break
        before = "&before=" + root.findall(ATOM + "entry")[-1].findtext(ATOM + "updated")
    left = {story["id"] for story in lab.control("/lab/connections/stories")}
    assert set(made) & left <= set(seen) and len(set(made) & left) == 244
    lab.control("/lab/connections/drift", {"n": 0, "delete": 100, "page": None})
    first = page(lab, "?ps=100&page=2")[0]
    assert page(lab, "?ps=100")[0] == first
    for id in set(made) & {story["id"] for story in lab.control("/lab/connections/stories")}:
        lab.control("/lab/connections/delete", {"id": id})


@check
def rows_repeat_bounds_are_ignored_and_links_lead_astray_on_request(lab):
    times = [story["updated"] for story in lab.control("/lab/connections/stories")]
    lab.control("/lab/connections/settings", {"repeat_rows": 2, "heeds_before": False, "link_base": "http://inside.example"})
    first, links, _ = page(lab, "?ps=5")
    assert page(lab, "?ps=5&page=2")[0][:2] == first[-2:] and links["next"].startswith("http://inside.example/news/")
    assert page(lab, "?ps=5&before=" + times[9])[0] == first
    lab.control("/lab/connections/settings", {"repeat_rows": 0, "heeds_before": True, "link_base": None})


@check
def the_stream_has_views_and_may_not_count(lab):
    root = "/connections/opensocial/basic/rest/activitystreams/"
    read = lambda rest: json.loads(lab.call("connections", root + rest)[2])
    for rest, source in (("@public/@all/@status", "profiles"), ("@me/@all/blogs", "blogs"), ("@public/@all/dogear", "bookmarks")):
        assert {story["generator"]["id"] for story in read(rest)["list"]} == {source}
    story = read("@public/@all/@all?count=1")["list"][0]
    userid = story["actor"]["id"].rpartition(":")[2].lower()
    mine = read("@public/@all/@all?count=100&filterBy=involved&filterOp=equals&filterValue=" + userid)["list"]
    assert mine and {s["actor"]["id"] for s in mine} == {story["actor"]["id"]}
    assert lab.call("connections", root + "@nobody/@all/@all")[0] == 404
    lab.control("/lab/connections/settings", {"stream_counts": False})
    assert read("@public/@all/@all?count=2&startIndex=2")["startIndex"] == 0
    lab.control("/lab/connections/settings", {"stream_counts": True})



@check
def the_receiver_remembers_and_waits(lab):
    call = lambda path, body=None: lab.control(path, body, "receiver")
    call("/clear", {})
    lab.call("receiver", "/a", b"\xff\x00", headers={"X-Test": "1"})
    threading.Timer(0.2, lab.call, ("receiver", "/b", {"n": 2})).start()
    got = call("/received?min=2&timeout=5")
    assert [(entry["path"], entry["seq"] - got[0]["seq"]) for entry in got] == [("/a", 0), ("/b", 1)]
    assert base64.b64decode(got[0]["body_base64"]) == b"\xff\x00" and ["X-Test", "1"] in got[0]["headers"]
    assert json.loads(got[1]["body"]) == {"n": 2} and len(call("/received?path=/b")) == 1
    assert len(call("/received?after=%d" % got[0]["seq"])) == 1


@check
def the_receiver_fails_when_told_to(lab):
    call = lambda path, body=None: lab.control(path, body, "receiver")
    post = lambda path: lab.call("receiver", path, "x", timeout=2)
    call("/clear", {})
    call("/fail", {"path": "/a", "times": 2, "status": 429, "retry_after": "2"})
    assert post("/b")[0] == 200
    assert [(s, h["Retry-After"]) for s, h, _ in (post("/a"), post("/a"), post("/a"))] == [(429, "2"), (429, "2"), (200, None)]
    assert [entry["answer"] for entry in call("/received?path=/a")] == [429, 429, 200]
    assert len(call("/received?accepted=1&min=2")) == 2 and call("/stats") == {"received": 4, "accepted": 2}
    call("/fail", {"close": True})
    fails(http.client.RemoteDisconnected, post, "/a")
    call("/fail", {"hang": 0.2})
    fails(http.client.RemoteDisconnected, post, "/a")
    call("/fail", {"hang": 60})
    fails(socket.timeout, lab.call, "receiver", "/a", "x", timeout=0.2)
    call("/fail", {"hang": 0.1, "status": 200})
    assert post("/a")[0] == 200
    call("/fail", {"huge": 3_000_000})
    assert len(post("/a")[2]) == 3_000_000
    call("/fail", {"status": 302, "location": "/b", "times": -1})
    assert post("/a")[1]["Location"] == "/b" and post("/a")[0] == 302
    call("/fail", {"times": 0})
    assert post("/a")[0] == 200 and call("/failures") == []


@check
def the_receiver_reads_chunked_bodies_and_expectations(lab):
    with socket.create_connection(("127.0.0.1", urlsplit(lab.line["receiver"]).port), timeout=5) as sock:
        sock.sendall(b"POST /c HTTP/1.1\r\nHost: lab\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert sock.recv(100).startswith(b"HTTP/1.1 100")
        sock.sendall(b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
        assert sock.recv(1000).startswith(b"HTTP/1.1 200")
    assert lab.control("/received?path=/c", None, "receiver")[-1]["body"] == "abcde"


# Faults


@check
def waiting_faults(lab):
    for name, path in (("faults", "/hang"), ("faults_tls", "/hang"), ("silent", "/")):
        fails(socket.timeout, lab.call, name, path, timeout=0.2)
    begin = time.monotonic()
    assert lab.call("faults", "/slow?first_byte=0.2&n=3")[0] == 200 and time.monotonic() - begin >= 0.2
    with socket.create_connection(("127.0.0.1", urlsplit(lab.line["faults"]).port), timeout=2) as sock:
        sock.sendall(b"GET /drip?bytes_per_s=50 HTTP/1.1\r\n\r\n")
        time.sleep(0.3)
        assert 0 < len(sock.recv(65536).partition(b"\r\n\r\n")[2]) < 40


@check
def oversized_faults(lab):
    assert len(lab.raw("faults", "/endless", 5_000_000)) >= 5_000_000
    assert len(lab.call("faults", "/big?bytes=1000000")[2]) == len(lab.call("faults", "/big?bytes=1000000&length=0")[2])
    status, headers, body = lab.call("faults", "/gzipbomb?mb=50")
    assert headers["Content-Encoding"] == "gzip" and len(body) < 100_000 and len(gzip.decompress(body)) == 50 << 20
    assert len(lab.raw("faults", "/headers?kb=400")) > 400_000
    assert lab.raw("faults", "/manyheaders?n=1000").count(b"\r\nX-") == 1000


@check
def framing_faults(lab):
    for path in ("/cut/length", "/cut/chunked"):
        fails(http.client.IncompleteRead, lab.call, "faults", path)
    whole = lab.call("faults", "/json")[2]
    for path in ("/cut/gzip", "/cut/gzip?bytes=4"):
        fails(EOFError, gzip.decompress, lab.call("faults", path)[2])
    fails(json.JSONDecodeError, json.loads, lab.call("faults", "/cut/close")[2])
    assert lab.raw("faults", "/two-lengths").count(b"Content-Length") == 2
    assert b"Transfer-Encoding" in lab.raw("faults", "/cl-te") and b"Content-Length" in lab.raw("faults", "/cl-te")
    assert lab.raw("faults", "/close") == b"" and lab.raw("faults", "/garbage").startswith(b"SSH")
    fails(ConnectionResetError, lab.raw, "faults", "/reset")
    assert lab.call("faults", "/chunked")[2] == whole == gzip.decompress(lab.call("faults", "/gzip?members=3")[2])
    assert zlib.decompress(lab.call("faults", "/deflate")[2]) == whole
    assert zlib.decompress(lab.call("faults", "/deflate?raw")[2], -15) == whole
    assert lab.call("faults", "/badgzip")[2] == whole and lab.call("faults", "/gzip?trailing")[2].endswith(b"garbage")


@check
def redirects_status_and_validators(lab):
    status, headers, _ = lab.call("faults", "/redirect?to=ftp%3A//x/%3Fa%3Db&status=308")
    assert (status, headers["Location"]) == (308, "ftp://x/?a=b")
    assert lab.call("faults", "/redirect/loop")[1]["Location"] == "/redirect/loop"
    path, hops = "/redirect/n?n=6", 0
    while lab.call("faults", path)[0] == 302:
        path, hops = lab.call("faults", path)[1]["Location"], hops + 1
    assert hops == 6
    status, headers, _ = lab.call("faults", "/status?code=429&retry_after=-5")
    assert (status, headers["Retry-After"]) == (429, "-5")
    for path, got, sent in (("/etag", "ETag", "If-None-Match"), ("/lastmodified", "Last-Modified", "If-Modified-Since")):
        validator = lab.call("faults", path + "?name=x")[1][got]
        assert lab.call("faults", path + "?name=x", headers={sent: validator})[0] == 304
        lab.control(path + "/change", {"name": "x"}, "faults")
        assert lab.call("faults", path + "?name=x", headers={sent: validator})[0] == 200
    assert lab.call("faults", "/304-always")[0] == 304
    assert lab.call("faults", "/auth")[0] == 401
    assert lab.call("faults", "/auth", headers={"Authorization": basic("lamato", "s3cret-lab")})[0] == 200


@check
def plain_bodies_and_the_log_of_raw_requests(lab):
    assert len(json.loads(lab.call("faults_tls", "/json?n=3")[2])) == 3
    assert lab.call("faults", "/empty")[::2] == (200, b"") and b"<form" in lab.call("faults", "/html")[2]
    echo = json.loads(lab.call("faults", "/echo?a=b", "body", "PUT", {"X-Odd": "a  b"})[2])
    assert (echo["method"], echo["target"], echo["body"]) == ("PUT", "/echo?a=b", "body") and ["X-Odd", "a  b"] in echo["headers"]
    assert "lab=1" in lab.call("faults", "/cookie")[1]["Set-Cookie"]
    log = lab.control("/raw-requests?min=2", None, "faults")
    assert any(entry["raw"].startswith("PUT /echo?a=b HTTP/1.1\r\n") and "X-Odd: a  b" in entry["raw"] for entry in log)
    assert lab.call("faults", "/nothing")[0] == 404


# Feeds


@check
def feeds_are_whole_and_change_together(lab):
    sizes = []
    for number, item in ((0, ATOM + "entry"), (1, "channel/item")):
        status, headers, body = lab.call("feeds", "/feed/%d.xml" % number)
        assert status == 200 and len(ET.fromstring(body).findall(item)) == 20
        sizes.append(len(body))
        for sent, got in (("If-None-Match", "ETag"), ("If-Modified-Since", "Last-Modified")):
            assert lab.call("feeds", "/feed/%d.xml" % number, headers={sent: headers[got]})[0] == 304
    assert all(18_000 < size < 22_000 for size in sizes), sizes
    before = ET.fromstring(lab.call("feeds", "/feed/0.xml")[2]).findall(ATOM + "entry")
    lab.control("/change", {}, "feeds")
    after = ET.fromstring(lab.call("feeds", "/feed/0.xml?validators=0")[2]).findall(ATOM + "entry")
    ids = lambda rows: [row.findtext(ATOM + "id") for row in rows]
    assert ids(after)[1:] == ids(before)[:-1] and ids(after)[0] not in ids(before)
    assert lab.call("feeds", "/feed/1.xml", headers={"If-None-Match": headers["ETag"]})[0] == 200
    assert lab.call("feeds", "/feed/0.xml?validators=0")[1]["ETag"] is None and lab.call("feeds", "/feed/1000.xml")[0] == 404
    assert lab.control("/stats", None, "feeds")["unchanged"] == 4


@check
def feeds_are_written_to_a_directory(lab):
    with tempfile.TemporaryDirectory() as directory:
        for generation in (0, 2):
            subprocess.run([sys.executable, os.path.join(HERE, "feeds.py"), "--write", directory, "--count", "3", "--bytes",
                            "20000", "--generation", str(generation)], check=True)
            with open(os.path.join(directory, "2.xml"), "rb") as file:
                ids = [entry.findtext(ATOM + "id") for entry in ET.parse(file).getroot().findall(ATOM + "entry")]
            assert ids[0].endswith("/%d" % (19 + generation)) and len(ids) == 20
        assert sorted(os.listdir(directory)) == ["0.xml", "1.xml", "2.xml"]


# The lab itself


@check
def a_paced_lab_lives(lab):
    paced = Lab("--pace", "0.02", "--only", "appliance,connections")
    seen, deadline = {}, time.monotonic() + 5
    statuses = {"RM01901", "RM01005", "RM01006", "RM01902", "RM01903", "RM01011"}
    while set().union(*seen.values(), set()) != statuses or len(seen) < 12:
        assert time.monotonic() < deadline, seen
        for id, system in paced.systems().items():
            seen.setdefault(id, set()).add(system["currentstatus"])
    assert {"RM01005", "RM01006"} <= seen[59]
    assert len(paced.control("/lab/connections/stories")) > 27
    paced.process.send_signal(signal.SIGTERM)
    assert paced.process.wait(5) == 0 and not os.path.exists(paced.line["certificate"])


@check
def options_choose_what_runs(lab):
    some = Lab("--only", "receiver,appliance", "--systems", "2000", "--user", "u", "--password", "p", "--expired")
    assert set(some.line) == {"receiver", "appliance", "control", "certificate", "pin"}
    dates = subprocess.run(["openssl", "x509", "-checkend", "0", "-noout", "-in", some.line["certificate"]],
                           stdout=subprocess.DEVNULL)
    assert dates.returncode == 1 and len(some.control("/lab/systems")) == 2000
    refusal = fails(ssl.SSLError, some.list)
    assert refusal and some.end() == 0
    begin = time.monotonic()
    timed = Lab("--only", "receiver", "--seconds", "0.2")
    assert timed.process.wait(5) == 0 and time.monotonic() - begin < 3
    port = urlsplit(lab.line["receiver"]).port
    taken = subprocess.run([sys.executable, os.path.join(HERE, "lab.py"), "--port", "receiver=%d" % port], stdin=subprocess.PIPE,
                           stderr=subprocess.PIPE)
    assert taken.returncode == 1 and taken.stderr.startswith(b"lab: ")


@check
def many_clients_at_once(lab):
    done = []

    def client():
        connection = lab.connect("faults")
        for _ in range(10):
            connection.request("GET", "/json?n=10")
            done.append(len(connection.getresponse().read()))
    threads = [threading.Thread(target=client) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 1000 and len(set(done)) == 1


def main():
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    begin, lab, failed = time.monotonic(), Lab(), 0
    chosen = [function for function in CHECKS if re.search(only, function.__name__)]
    for function in chosen:
        try:
            function(lab)
            print("ok   ", function.__name__.replace("_", " "))
        except Exception as error:
            failed += 1
            traceback.print_exc()
            print("FAIL ", function.__name__.replace("_", " "), repr(error))
    # A hang is open to the end: it must not keep the lab alive.
    held = lab.connect("faults")
    held.request("GET", "/hang")
    assert lab.end() == 0 and not os.path.exists(lab.line["certificate"])
    print("%d checks, %d failed, %.1f s; the lab was ready after %.2f s"
          % (len(chosen), failed, time.monotonic() - begin, lab.started))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
