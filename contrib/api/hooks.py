# SPDX-License-Identifier: Apache-2.0
"""What schemathesis cannot know of the API: how lists are written, and what the watcher of `run` watches."""

import json

import schemathesis

LIST = "application/x-ndjson"
# The source and the items of the configuration in `run`: invented names would get nothing but 404.
KNOWN = {"source": "rows", "picture": "1.svg"}


@schemathesis.deserializer(LIST)
def lines(_, response):
    return [json.loads(line) for line in response.content.splitlines()]


@schemathesis.hook
def before_load_schema(_, document):
    """The document has the schema of one line; the body is a list of them."""
    for operations in document["paths"].values():
        for operation in operations.values():
            for response in operation["responses"].values():
                media = response.get("content", {}).get(LIST)
                if media:
                    media["schema"] = {"type": "array", "items": media["schema"]}


@schemathesis.hook
def map_query(context, query):
    return known(query)


@schemathesis.hook
def map_path_parameters(context, parameters):
    return known(parameters)


@schemathesis.hook
def before_call(_context, case, _kwargs):
    """A GET with a body is refused before its path is read (RFC 9110 section 9.3.1), so it shows nothing of the path's methods."""
    if case.method.upper() in ("GET", "HEAD"):
        case.body = schemathesis.core.NOT_SET


def known(values):
    """Replaces about half of the names; the others stay as they were made."""
    for name, value in (values or {}).items():
        if name in KNOWN and isinstance(value, str) and sum(value.encode(errors="replace")) % 2 == 0:
            values[name] = KNOWN[name]
    return values
