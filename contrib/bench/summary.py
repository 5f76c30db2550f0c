# SPDX-License-Identifier: Apache-2.0
"""One table of all that was measured, the same as JSON, and a comparison with the JSON of an earlier run."""
from __future__ import annotations

import json
import sys

ROWS = []


def add(row, unit, value, against, ratio, target, met):
    """Figures in the unit of the row; `against` and `ratio` may be None."""
    ROWS.append({"row": row, "unit": unit, "value": value, "against": against, "ratio": ratio, "target": target, "met": met})


def print_table(earlier):
    """`earlier` is a table by row, or empty. Only ratios of two runs compare: the machine may be another one."""
    if not ROWS:
        return
    width = max(len(row["row"]) for row in ROWS)
    print("\n%-*s %12s %12s %8s %9s  %-12s %s" % (width, "row", "value", "against", "ratio", "before" if earlier else "", "target", "met"))
    for row in ROWS:
        before = earlier.get(row["row"], {}).get("ratio")
        print("%-*s %12s %12s %8s %9s  %-12s %s" % (
            width, row["row"], figure(row["value"]), figure(row["against"]), figure(row["ratio"]), figure(before) if earlier else "",
            row["target"], "yes" if row["met"] else "NO"))
    sys.stdout.flush()


def figure(value):
    if value is None:
        return "-"
    return "%.2f" % value if abs(value) < 1000 else "%.0f" % value


def write(path):
    with open(path, "w") as file:
        json.dump(ROWS, file, indent=1)
        file.write("\n")


def read(path):
    with open(path) as file:
        return {row["row"]: row for row in json.load(file)}
