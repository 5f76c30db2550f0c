# SPDX-License-Identifier: Apache-2.0
"""Stand-in for the Updates API of IBM Lotus / HCL Connections: Atom pages, the later JSON stream, and their quirks."""
from __future__ import annotations

import base64
import json
import re
import threading
import time
from html import escape
from urllib.parse import urlencode
from xml.etree import ElementTree

from stories import parse, stamp
from wire import Recorder, Reply

ATOM = {"/news/atom/stories/" + name: name for name in
        ("public", "public/person", "statusupdates", "newsfeed", "top", "community", "saved")}
ATOM.update({"/news/atomfba/stories/public": "public", "/search/atom/search/results": "search"})
SOCIAL = "/connections/opensocial/basic/rest/"
COMMUNITY = "urn:lsid:lconn.ibm.com:communities.community:"
STREAM = re.compile(SOCIAL + "activitystreams/(@public/@all|@me/@(?:all|saved|responses|actions|mentions)|" + COMMUNITY
                    + "([0-9a-z-]+)/@all)/([@a-z]+)")
# The Profiles API: a person's own status, which everybody's updates then show.
BOARD = "/profiles/atom/mv/theboard/entry/status.do"
# The same by the microblogging API.
MICROBLOG = SOCIAL + "ublog/@me/@all"
ENTRY_ATOM = "{http://www.w3.org/2005/Atom}"
STATUS = {("http://www.ibm.com/xmlns/prod/sn/type", "entry"), ("http://www.ibm.com/xmlns/prod/sn/message-type", "status")}
VIEWERS = ("all", "following", "network", "organization")
DOCTYPE = ('<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" '
           '"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">\n<html lang="en-us" dir="ltr">')
LOGIN = DOCTYPE + ('<head><title>Sign in</title></head><body><form method="post" action="/news/j_security_check"><input '
                   'name="j_username"/><input type="password" name="j_password"/></form></body></html>\n')
PAGE = DOCTYPE + "<head><title>%s</title></head><body><p>%s</p></body></html>\n"
ERROR = """<?xml version="1.0" encoding="utf-8"?>
<error xmlns="http://www.ibm.com/xmlns/prod/sn">
  <code>%d</code>
  <message>Identifier: LC0123456789ABCDEF
%s</message>
  <displaymessage></displaymessage>
  <errortype></errortype>
  <trace>java.lang.Exception: Identifier: LC0123456789ABCDEF</trace>
</error>
"""
NAMESPACES = ('xmlns="http://www.w3.org/2005/Atom" xmlns:snx="http://www.ibm.com/xmlns/prod/sn" '
              'xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:activity="http://activitystrea.ms/spec/1.0/"')
ENTRY = """  <entry>
    <id>{s.id}</id>
    <title type="text">{title}</title>
    <updated>{updated}</updated>
    <published>{published}</published>
    <author>
      <name>{author}</name>
      <email>{s.email}</email>
      <snx:userid>{s.userid}</snx:userid>
      <snx:userState>active</snx:userState>
    </author>
    <category scheme="http://www.ibm.com/xmlns/prod/sn/type" term="{s.type}"/>
    <category scheme="http://www.ibm.com/xmlns/prod/sn/component" term="{s.source}" label="{label}"/>
    <category scheme="http://www.ibm.com/xmlns/prod/sn/event" term="{s.event}"/>{tags}
    <link rel="alternate" type="text/html" href="{base}/{s.source}/html/item?id={s.object}&amp;from=news"/>
    <link rel="http://www.ibm.com/xmlns/prod/sn/container" type="text/html" href="{base}/{s.source}/html/container?id={s.container}"/>
    <content type="html">{content}</content>
    <activity:verb>http://activitystrea.ms/schema/1.0/post</activity:verb>
    <activity:object>
      <id>urn:lsid:ibm.com:{s.source}:{s.type}-{s.object}</id>
      <title type="text">{title}</title>
    </activity:object>
    <activity:target>
      <id>urn:lsid:ibm.com:{s.source}:container-{s.container}</id>
    </activity:target>
  </entry>
"""


class Connections:
    """`served` holds every page given, `requests` every request, both in order."""

    def __init__(self, stories):
        self.stories, self.lock = stories, threading.Lock()
        self.served, self.requests, self.pending_drift, self.failures, self.steps = Recorder(), Recorder(10_000), [], [], 0
        # user and password: basic auth. next_drops_ps: rel=next forgets ps. no_links: no paging links at all.
        # short_pages: each full page holds one story fewer than ps. padding: blank lines in front and behind.
        # repeat_rows: a later page begins with so many rows of the one before. heeds_before: else `before` is ignored.
        # stream_counts: else the stream begins at 0, whatever startIndex says. link_base: the origin that links name.
        self.settings = {"user": None, "password": None, "login": False, "chunked": True, "gzip": False, "etag": False,
                         "next_drops_ps": False, "no_links": False, "short_pages": False, "padding": False,
                         "since_inclusive": False, "repeat_rows": 0, "heeds_before": True, "stream_counts": True,
                         "link_base": None}

    def __call__(self, request, connection):
        self.requests.add(request.as_json())
        failure = self.take_failure(request.query.get("page", "1"))
        if failure:
            return refusal(failure["status"], failure["message"], failure["retry_after"])
        if not self.admits(request):
            return refusal(401, "Authentication is required.")
        if self.settings["login"]:
            return Reply(200, LOGIN, "text/html;charset=UTF-8")
        if (request.method, request.path) == ("PUT", BOARD):
            return self.publish(request)
        if (request.method, request.path) == ("POST", MICROBLOG):
            return self.microblog(request)
        stream = STREAM.fullmatch(request.path)
        if request.method != "GET" or not (stream or request.path in ATOM):
            return refusal(404, "There is nothing at this address.")
        try:
            reply = self.stream(request, stream.group(2), stream.group(3)) if stream else self.atom(request, ATOM[request.path])
        except ValueError as error:
            return refusal(400, str(error))
        reply.chunked = self.settings["chunked"]
        return reply.compressed() if self.settings["gzip"] and request.wants_gzip and reply.status == 200 else reply

    def admits(self, request):
        if self.settings["user"] is None:
            return True
        expected = "%s:%s" % (self.settings["user"], self.settings["password"])
        return request.header("Authorization") == "Basic " + base64.b64encode(expected.encode()).decode()

    def publish(self, request):
        """Takes an Atom entry with the two categories of a status; nothing is answered but the code."""
        if request.header("Content-Type").split(";")[0].strip() != "application/atom+xml":
            return refusal(415, "The content type is not supported.")
        try:
            root = ElementTree.fromstring(request.body)
        except ElementTree.ParseError:
            return refusal(400, "The entry is not well formed.")
        named = {(c.get("scheme"), c.get("term")) for c in root.findall(ENTRY_ATOM + "category")}
        content = root.find(ENTRY_ATOM + "content")
        text = "" if content is None or content.get("type", "text") != "text" else (content.text or "").strip()
        if root.tag != ENTRY_ATOM + "entry" or not STATUS <= named or not text:
            return refusal(400, "The entry is no status.")
        self.stories.add(source="profiles", title=text, author=self.settings["user"])
        return Reply(200)

    def microblog(self, request):
        """Takes an activity entry, of which only the content counts, and answers with the entry that it became."""
        if request.header("Content-Type").split(";")[0].strip() != "application/json":
            return refusal(415, "The content type is not supported.")
        try:
            text = json.loads(request.body)["content"].strip()
        except (ValueError, LookupError, TypeError, AttributeError):
            text = ""
        if not text:
            return refusal(400, "The entry has no content.")
        self.stories.add(source="profiles", title=text, author=self.settings["user"])
        entry = {"entry": {"id": "urn:lsid:lconn.ibm.com:profiles.note:%d" % len(self.stories.list()), "content": text}}
        return Reply(200, json.dumps(entry), "application/json;charset=UTF-8")

    def atom(self, request, resource):
        size, page = min(whole(request, "ps", 20), 100), whole(request, "page", 1)
        found = self.search(request) if resource == "search" else self.updates(request, resource)
        held = max(1, size - 1) if self.settings["short_pages"] else size
        pages = max(1, -(-len(found) // held))
        rows = found[max(0, (page - 1) * held - (int(self.settings["repeat_rows"]) if page > 1 else 0)):page * held]
        self.served.add({"path": request.path, "page": page, "stories": [[s.id, stamp(s.updated)] for s in rows]})
        body = self.feed(request, found, rows, page, size, pages).encode()
        tag = 'W/"%d-%s"' % (len(body), stamp(found[0].updated) if found else "none")
        self.drift_now(page)
        headers = [("Content-Language", "en"), ("X-APIVersion", "2.0"), ("X-ServerTime", str(int(time.time() * 1000))),
                   ("X-LConn-Auth", "false"), ("Cache-Control", "private, must-revalidate, max-age=0")]
        if self.settings["etag"]:
            headers.append(("ETag", tag))
            if request.header("If-None-Match") == tag:
                return Reply(304, headers=headers)
        return Reply(200, body, "application/atom+xml", headers)

    def updates(self, request, resource):
        query = request.query
        if resource == "public/person" and not (query.get("userid") or query.get("email")):
            raise ValueError("The userid or the email parameter is required.")
        if resource == "saved" and not query.get("userid"):
            raise ValueError("The userid parameter is required.")
        if resource != "statusupdates":
            return self.select(request, query.get("source"), "since")
        if query.get("comments", "all") not in ("all", "none"):
            raise ValueError("The value of the comments parameter is not known.")
        source = query.get("source", "all").lower()
        return self.select(request, "profiles" if source in VIEWERS else source, "since", "profiles")

    def search(self, request):
        query = request.query
        if not any(query.get(name) for name in ("query", "tag", "userid", "email")):
            raise ValueError("The query parameter is required.")
        component = query.get("component", "").replace("dogear", "bookmarks")
        found = self.stories.select(component, None, None, query.get("userid"), query.get("email"))
        words = query.get("query", "").lower().split()
        found = [s for s in found if all(word in s.title.lower() for word in words)]
        return [s for s in found if query.get("tag") in (None, "", s.tag)]

    def select(self, request, source, since, only=None):
        query = request.query
        after, before = when(query, since), when(query, "before") if self.settings["heeds_before"] else None
        found = self.stories.select(source, None, before, query.get("userid"), query.get("email"), query.get("container"))
        found = [s for s in found if only in (None, s.source)]
        if after is None:
            return found
        return [s for s in found if s.updated > after or (self.settings["since_inclusive"] and s.updated == after)]

    def feed(self, request, found, rows, page, size, last):
        base, language = request.base, request.query.get("lang", "en").replace("_", "-")
        updated = stamp(found[0].updated) if found else "2026-11-18T09:25:17.666Z"
        parts = ['<?xml version="1.0" encoding="UTF-8"?>\n', "\n" * 40 if self.settings["padding"] else "",
                 '<feed %s xml:lang="%s">\n' % (NAMESPACES, escape(language)),
                 '  <generator uri="http://www.ibm.com/xmlns/prod/sn" version="2.5">Lotus Connections - News Story service'
                 '</generator>\n  <id>urn:lsid:ibm.com:news:stories-public</id>\n  <title type="text">Public updates</title>\n'
                 '  <updated>%s</updated>\n  <author><name>Lotus Connections - News Story service</name></author>\n' % updated]
        pages = [("self", page)]
        if not self.settings["no_links"]:
            pages += [("first", 1)] + ([("previous", page - 1)] if page > 1 else []) \
                + ([("next", page + 1)] if page < last else []) + [("last", last)]
        parts += [self.link(request, base, relation, number, size) for relation, number in pages]
        parts.append('  <link rel="alternate" type="text/html" href="%s/homepage/web/updates/"/>\n' % base)
        for name, value in (("totalResults", len(found)), ("startIndex", (page - 1) * size + 1), ("itemsPerPage", size)):
            parts.append("  <opensearch:%s>%d</opensearch:%s>\n" % (name, value, name))
        parts += [entry(story, base) for story in rows]
        return "".join(parts) + "</feed>\n" + ("\n" * 40 if self.settings["padding"] else "")

    def link(self, request, base, relation, number, size):
        query = dict(request.query, page=number, ps=size)
        if relation == "next" and self.settings["next_drops_ps"]:
            del query["ps"]
        return '  <link rel="%s" type="application/atom+xml" href="%s"/>\n' % (
            relation, escape("%s%s?%s" % (self.settings["link_base"] or base, request.path, urlencode(query))))

    def stream(self, request, community, application):
        size = whole(request, "count", 20)
        start = request.count("startIndex", 0) if self.settings["stream_counts"] else 0
        source = {"@all": None, "@communities": None, "@status": "profiles", "dogear": "bookmarks"}.get(application, application)
        found = self.select(request, source, "updatedSince")
        if community:
            found = [s for s in found if s.container == community]
        if request.query.get("filterBy") == "involved":
            found = [s for s in found if s.userid == request.query.get("filterValue")]
        rows = found[start:start + size]
        self.served.add({"path": request.path, "page": start // size + 1, "stories": [[s.id, stamp(s.updated)] for s in rows]})
        body = {"startIndex": start, "totalResults": -1, "connections": {"snapshot": stamp(self.stories.now()),
                "isAdmin": "false"}, "filtered": True, "title": "IBM Connections - Public stories", "itemsPerPage": size,
                "sorted": True, "list": [activity(story, request.base) for story in rows]}
        self.drift_now(start // size + 1)
        return Reply(200, json.dumps(body, indent=2, ensure_ascii=False), "application/json;charset=UTF-8")

    # Control

    def set(self, **settings):
        unknown = set(settings) - set(self.settings)
        if unknown:
            raise TypeError("no setting %s" % ", ".join(sorted(unknown)))
        self.settings.update(settings)
        return self.settings

    def drift(self, n=1, delete=0, edit=None, at=0, page=1, times=1):
        """`times` times, right after the next page `page` (null: any) was read: from position `at` on `delete` stories
        gone, one edited (position or id), n new stories."""
        with self.lock:
            self.pending_drift += [(int(n), int(delete), edit, int(at), page)] * int(times)
            return {"armed": len(self.pending_drift)}

    def drift_now(self, page):
        with self.lock:
            drift = next((d for d in self.pending_drift if d[4] in (None, page)), None)
            if drift:
                self.pending_drift.remove(drift)
        if drift:
            n, delete, edit, at, _ = drift
            for _ in range(delete):
                self.stories.delete(at)
            if edit is not None:
                self.stories.edit(edit)
            self.stories.add(n)

    def fail(self, status=500, times=1, page=None, message="The request could not be handled.", retry_after=None):
        """The next `times` requests (for `page` only, if given) are answered with `status`; times 0 clears all."""
        with self.lock:
            failure = {"status": int(status), "times": int(times), "page": page, "message": message, "retry_after": retry_after}
            self.failures = self.failures + [failure] if int(times) else []
            return self.failures

    def take_failure(self, page):
        with self.lock:
            failure = next((f for f in self.failures if f["page"] is None or str(f["page"]) == page), None)
            if failure:
                failure["times"] -= 1
                if failure["times"] == 0:
                    self.failures.remove(failure)
            return failure

    def step(self):
        """One step of the demo: now and then a status update, more rarely something else or an edit."""
        self.steps += 1
        if self.steps % 3 == 0:
            self.stories.add(source="profiles", title="build %d is green" % (self.steps // 3))
        if self.steps % 8 == 0:
            self.stories.add(source="blogs")
        if self.steps % 10 == 0:
            self.stories.edit(2)
        return {"steps": self.steps}


def refusal(status, message, retry_after=None):
    """400 speaks XML, the others HTML, as the servers do."""
    headers = [("Retry-After", str(retry_after))] if retry_after is not None else []
    if status == 400:
        return Reply(400, ERROR % (400, escape(message)), "application/xml", headers)
    if status == 401:
        headers.append(("WWW-Authenticate", 'Basic realm="lconn"'))
    if status == 404:
        headers += [("$WSEP", ""), ("Pragma", "no-cache")]
    titles = {401: "Sign in", 403: "Access Denied", 404: "Not found"}
    return Reply(status, PAGE % (titles.get(status, "Error %d" % status), escape(message)), "text/html;charset=UTF-8", headers)


def whole(request, name, default):
    text = request.query.get(name, str(default))
    if not text.isdigit() or int(text) < 1:
        raise ValueError("The value of the %s parameter is not a positive number." % name)
    return int(text)


def when(query, name):
    try:
        return parse(query[name]) if query.get(name) else None
    except ValueError:
        raise ValueError("The value of the %s parameter is not a date." % name)


def entry(story, base):
    tags = '\n    <category term="%s"/>' % escape(story.tag) if story.tag else ""
    return ENTRY.format(s=story, base=base, title=escape(story.title), author=escape(story.author),
                        content=escape(story.content), label=story.source.capitalize(), tags=tags,
                        updated=stamp(story.updated), published=stamp(story.published))


def activity(story, base):
    id = story.id.replace("ibm.com:news:", "lconn.ibm.com:%s." % story.source).replace("story-", "story:")
    url = "%s/%s/html/item?id=%s" % (base, story.source, story.object)
    context = {"isPublic": "true", "eventType": story.event, "eventId": id, "numLikes": "0", "numComments": "0",
               "published": stamp(story.published), "itemUrl": url}
    return {"generator": {"id": story.source, "displayName": "IBM Connections - " + story.source.capitalize()},
            "actor": {"objectType": "person", "id": "urn:lsid:lconn.ibm.com:profiles.person:" + story.userid.upper(),
                      "displayName": story.author},
            "verb": "post",
            "connections": {"isPublic": "true", "containerId": story.container, "plainTitle": story.title},
            "openSocial": {"embed": {"context": context}},
            "title": '<span class="vcard">%s</span>' % escape(story.title), "id": id, "published": stamp(story.published),
            "updated": stamp(story.updated),
            "object": {"summary": "", "objectType": "note", "displayName": story.title, "url": url}}
