# SPDX-License-Identifier: Apache-2.0
"""The updates ("stories") of the Connections server: what there is, newest `updated` first."""
from __future__ import annotations

import threading
import time
import uuid
from datetime import datetime, timedelta, timezone

# application: (type, event, sentence)
SOURCES = {
    "activities": ("activity", "activity.created", "{0} created an activity named {1}."),
    "blogs": ("entry", "blog.entry.created", "{0} created a blog entry named {1}."),
    "bookmarks": ("bookmark", "dogear.bookmark.added", "{0} bookmarked {1}."),
    "communities": ("community", "community.created", "{0} created a community named {1}."),
    "files": ("file", "files.file.created", "{0} uploaded the file {1}."),
    "forums": ("entry", "forum.topic.created", "{0} opened the topic {1}."),
    "profiles": ("status", "profiles.status.updated", "{0}: {1}"),
    "wikis": ("entry", "wiki.page.updated", "{0} updated the wiki page {1}."),
}
PEOPLE = ["Mira Okafor", "Tomás Varga", "Lena Björk", "Otto O'Leary", "Nina <Ruiz>"]
TOPICS = ["Migrating the build farm", "back from leave, catching up on tickets", "Release checklist", "rack-7.jpg",
          "R&D \"budget\" <2027>", "Ready for use! 🎉", "Observability Guild"]
NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")


class Story:
    def __init__(self, number, updated, source, title, author, tag=None):
        self.number, self.source, self.updated, self.published = number, source, updated, updated
        self.type, self.event, sentence = SOURCES[source]
        self.author, self.tag = author, tag
        self.userid = str(uuid.uuid5(NAMESPACE, author))
        self.email = "".join(c if c.isascii() and c.isalpha() else "." for c in author.lower()).strip(".") + "@example.org"
        self.title = sentence.format(author, title)
        self.content = "<p>%s</p>" % title.replace("&", "&amp;").replace("<", "&lt;")
        self.object = str(uuid.uuid5(NAMESPACE, "object-%d" % number))
        self.container = str(uuid.uuid5(NAMESPACE, "container-" + source))
        self.id = "urn:lsid:ibm.com:news:story-%s" % uuid.uuid5(NAMESPACE, "story-%d" % number)

    def summary(self):
        return {"id": self.id, "title": self.title, "updated": stamp(self.updated), "source": self.source}


class Stories:
    def __init__(self, count=27):
        self.lock, self.all, self.made = threading.RLock(), [], 0
        begin = datetime.now(timezone.utc) - timedelta(hours=2)
        for number in range(count):
            self.add(at=stamp(begin + timedelta(minutes=4 * number)))

    def add(self, n=1, title=None, source=None, author=None, at=None, tag=None):
        """n new stories, each later than all others unless `at` says when. Without a title: the next of a fixed round."""
        with self.lock:
            return [self._add(title, source, author, at, tag) for _ in range(int(n))]

    def _add(self, title, source, author, at, tag):
        number, self.made = self.made, self.made + 1
        source = (source or list(SOURCES)[number % len(SOURCES)]).lower()
        updated = parse(at) if at else self.now()
        story = Story(number, updated, source, title or "%s (%d)" % (TOPICS[number % len(TOPICS)], number),
                      author or PEOPLE[number % len(PEOPLE)], tag)
        self.all.append(story)
        self._sort()
        return story.summary()

    def edit(self, id, title=None, content=None):
        """Edited in place: the id stays, `updated` grows, and so the story moves to the top."""
        with self.lock:
            story = self._get(id)
            story.title = title or story.title + " (edited)"
            story.content = content or story.content
            story.updated = self.now()
            self._sort()
            return story.summary()

    def delete(self, id):
        with self.lock:
            story = self._get(id)
            self.all.remove(story)
            return story.summary()

    def list(self):
        with self.lock:
            return [story.summary() for story in self.all]

    def select(self, source=None, since=None, before=None, userid=None, email=None, container=None):
        """Newest first. A `source` that is no application is ignored, and `container` with it; userid wins over email."""
        with self.lock:
            found = list(self.all)
        source = (source or "").lower()
        if source in SOURCES:
            found = [s for s in found if s.source == source and container in (None, "", s.container)]
        if userid:
            found = [s for s in found if s.userid == userid]
        elif email:
            found = [s for s in found if s.email == email]
        return [s for s in found if (not since or s.updated > since) and (not before or s.updated < before)]

    def now(self):
        """The present, but later than every story: order never depends on the clock's grain."""
        present = datetime.now(timezone.utc)
        present = present.replace(microsecond=present.microsecond // 1000 * 1000)
        newest = self.all[0].updated if self.all else present - timedelta(milliseconds=1)
        return max(present, newest + timedelta(milliseconds=1))

    def _get(self, id):
        """By id, or by position from the top (0 = newest)."""
        if isinstance(id, int):
            return self.all[id]
        found = next((story for story in self.all if story.id == id), None)
        if found is None:
            raise KeyError("no story %s" % id)
        return found

    def _sort(self):
        self.all.sort(key=lambda story: (story.updated, story.number), reverse=True)


def stamp(when):
    return when.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (when.microsecond // 1000)


def parse(text):
    """RFC 3339 with zone; ValueError for anything else."""
    # Before Python 3.11 fromisoformat knows no Z and no fraction of other than 3 or 6 digits.
    when = datetime.fromisoformat(text.upper().replace("Z", "+00:00"))
    if when.tzinfo is None:
        raise ValueError("a time needs a zone")
    return when.astimezone(timezone.utc)
