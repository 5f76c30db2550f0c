# SPDX-License-Identifier: Apache-2.0
"""Faults inside the watcher: faulty.c compiled, and the page of memory that both share."""
from __future__ import annotations

import mmap
import os
import shutil
import struct
import subprocess

CALLS = ("write", "sync", "truncate", "send")
KILL, TEAR = 1, 2
CALLS_AT = 16
SIZE = CALLS_AT + 32 * len(CALLS)


def compile_library(directory):
    """Compiles faulty.c with cc, or with the clang of the Swift toolchain. Returns the path of the library."""
    compiler = shutil.which(os.environ.get("CC", "cc")) or shutil.which("clang") or os.path.join(
        os.path.dirname(os.path.realpath(shutil.which("swift") or "swift")), "clang")
    source, library = os.path.join(os.path.dirname(os.path.abspath(__file__)), "faulty.c"), os.path.join(directory, "faulty.so")
    subprocess.run([compiler, "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


class Faults:
    """The page. `set` chooses the calls that fail; the counts go on over restarts of the watcher until `reset`."""

    def __init__(self, directory, library):
        self.path, self.preload = os.path.join(directory, "faults"), library
        with open(self.path, "wb") as file:
            file.write(bytes(SIZE))
        self.file = open(self.path, "r+b")
        self.page = mmap.mmap(self.file.fileno(), SIZE)

    @property
    def environment(self):
        return {"LD_PRELOAD": self.preload, "VEDETTE_FAULTS": self.path}

    def reset(self):
        """No fault, no call counted. The clock stays."""
        self.page[CALLS_AT:SIZE] = bytes(SIZE - CALLS_AT)

    def set(self, call, first, action, last=None):
        """From the `first` call of this kind since the last reset to the `last` one (default: that one alone)."""
        at = CALLS_AT + 8 + 32 * CALLS.index(call)
        self.page[at:at + 24] = struct.pack("=QQQ", first, last or first, action)

    def fail(self, call, first, error, last=None):
        self.set(call, first, error << 8, last)

    def count(self, call):
        at = CALLS_AT + 32 * CALLS.index(call)
        return struct.unpack("=Q", self.page[at:at + 8])[0]

    def take_death(self):
        """Whether a process died of a fault since the last call of this."""
        died = self.page[8:CALLS_AT] != bytes(8)
        self.page[8:CALLS_AT] = bytes(8)
        return died

    def step_clock(self, seconds):
        """Puts the watcher's wall clock so far ahead of this machine's."""
        self.page[0:8] = struct.pack("=q", int(seconds * 1e9))

    def close(self):
        self.page.close()
        self.file.close()
