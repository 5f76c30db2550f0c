# SPDX-License-Identifier: Apache-2.0
"""`vedette run` with the configuration of a preset whose addresses are filled in, and what its rules send."""
from __future__ import annotations

import json
import os
import re
import signal

from processes import Failure, until

RULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "rules", "presets")
# A line of a file for each message: rule, type, title, text.
LINE = (
    'text=$(printf %s "$VEDETTE_TEXT" | tr "\\n\\t" "  "); '
    'printf "%s\\t%s\\t%s\\t%s\\n" "$VEDETTE_RULE" "${VEDETTE_TYPE##*.}" "$VEDETTE_TITLE" "$text" >> "$0"')


def filled(preset, replacements, messages, kept):
    """The text of a preset as a person fills it in: addresses replaced, a poll each second, and every sink but those that
    are `kept` a command that appends to the file `messages`."""
    with open(os.path.join(RULES, preset + ".yaml"), encoding="utf-8") as source:
        text = source.read()
    for old, new in replacements.items():
        if old not in text:
            raise Failure("rules/presets/%s.yaml does not contain %s" % (preset, old))
        text = text.replace(old, new)
    sections = re.split(r"(?m)^(?=[a-z]+:)", text)
    for number, section in enumerate(sections):
        if section.startswith("sources:"):
            sections[number] = re.sub(r"\bevery: \w+", "every: 1s", section)
        if section.startswith("sinks:"):
            names = re.findall(r"(?m)^  ([\w-]+):", section)
            sink = json.dumps({"kind": "command", "command": ["sh", "-c", LINE, messages]})
            for name in set(names) - set(kept):
                section = re.sub(r"(?ms)^  %s:.*?(?=^  \S|\Z)" % name, lambda _: "  %s: %s\n" % (name, sink), section)
            sections[number] = section + "\n"
    return "".join(sections)


class Watcher:
    """A running `vedette` in the directory of a box."""

    def __init__(self, vedette, box, preset, replacements, kept=(), environment=None):
        self.vedette, self.box, self.environment = vedette, box, environment or {}
        self.messages = box.file("messages.txt", text="")
        box.file("config", os.path.basename(preset) + ".yaml", text=filled(preset, replacements, self.messages, kept))
        os.makedirs(os.path.join(box.path, "state"), exist_ok=True)
        self.places = ["--config", os.path.join(box.path, "config"), "--state", os.path.join(box.path, "state")]
        self.command("check")
        self.process = box.start(vedette, "run", *self.places, environment=self.environment)

    def command(self, *arguments):
        return self.box.run(self.vedette, *arguments, *self.places, environment=self.environment)

    def ready(self):
        """Waits until every source has a good poll, and returns the number of items."""
        def polled():
            if self.process.poll() is not None:
                raise Failure("vedette ended: " + self.box.output(self.process)[-600:])
            try:
                rows = self.rows()
            except Failure:
                return None  # The journal is being made.
            sources = [row for row in rows if "source" in row]
            return sources if sources and all(row.get("health") == "ok" for row in sources) else None
        try:
            sources = until("the first poll of every source", polled, 40)
        except Failure as failure:
            raise Failure("%s; %s" % (failure, self.box.output(self.process)[-800:])) from None
        return sum(row.get("items", 0) for row in sources)

    def rows(self):
        return [json.loads(line) for line in self.command("status", "--json").splitlines() if line.startswith("{")]

    def state(self, source, title):
        """The state of the first item whose title contains `title`."""
        for line in self.command("list", source, "--json").splitlines():
            item = json.loads(line)
            if title in item.get("title", ""):
                return item.get("state")
        return None

    def sent(self):
        with open(self.messages, encoding="utf-8") as lines:
            return [line.rstrip("\n").split("\t") for line in lines]

    def expect(self, rule, title="", kind="", seconds=30):
        """Waits for a message of a rule whose title contains `title`, of an event of this kind where one is given; returns it."""
        def found():
            return next((row for row in self.sent() if row[0] == rule and title in row[2] and kind in ("", row[1])), None)
        try:
            return until("a message of '%s' with '%s'" % (rule, title), found, seconds)
        except Failure as failure:
            log = self.box.output(self.process)[-600:]
            raise Failure("%s; sent: %s; log: %s" % (failure, self.sent(), log)) from None

    def stop(self):
        """Ends the watcher as a service manager does; it must end within 10 s, with nothing pending, and 0."""
        code = self.box.end(self.process, signal.SIGTERM, 10)
        if code != 0:
            raise Failure("vedette ended with %d: %s" % (code, self.box.output(self.process)[-600:]))
