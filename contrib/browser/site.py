#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the pages of the documentation in chromium, read from the disk: contrib/browser/README.md."""
from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from page import AUDIT, AXE, SCHEMES, WIDTHS, Failure, browser, expect


def schemes_of_requests(driver) -> set[str]:
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    requests = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    return {urlsplit(url).scheme for url in requests}


def audit(driver, pages: list[Path], axe: str, width: int, scheme: str) -> list[str]:
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    problems = []
    for page in pages:
        driver.get(page.as_uri())
        found = driver.execute_script(AUDIT)
        driver.execute_script(axe)
        found += driver.execute_async_script(AXE)
        problems += [f"{page.name}, {scheme}, {width}: {problem}" for problem in found]
    return problems


def main() -> None:
    directory, axe = sys.argv[1:]
    pages = sorted(Path(directory).resolve().rglob("*.html"))
    expect(len(pages) > 40, f"{len(pages)} pages of documentation are there")
    with tempfile.TemporaryDirectory() as name:
        driver = browser(Path(name))
        try:
            driver.set_script_timeout(60)
            problems = []
            # Colours depend on the scheme alone, and the layout on the width alone: two passes see all of both.
            for scheme, width in zip(SCHEMES, WIDTHS):
                problems += audit(driver, pages, Path(axe).read_text(), width, scheme)
            # The browser's own first page is one of chrome:.
            schemes = schemes_of_requests(driver) - {"about", "blob", "chrome", "data"}
            expect(schemes == {"file"}, f"they need nothing but files: {', '.join(sorted(schemes))}")
        finally:
            driver.quit()
    expect(
        not problems,
        "every page of documentation is legible, labelled and as wide as the window" + "".join(f"\n      {p}" for p in problems),
    )


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")
