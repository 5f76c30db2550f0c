#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures: contrib/pictures/README.md."""
from __future__ import annotations

import base64
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from screens import Desktop, Room, until
from svg import drawing
from world import COLUMNS, PAGE, World

PAGE_WIDTH, EVENTS = 960, 7


def page(folder: Path, path: Path, scheme: str) -> None:
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-background-networking", "--user-data-dir=%s" % (folder / scheme)):
        options.add_argument(argument)
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    try:
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                               {"width": PAGE_WIDTH, "height": 1600, "deviceScaleFactor": 2, "mobile": False})
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        driver.get(PAGE + "/")
        time.sleep(1)
        row = "return [...document.querySelectorAll('table')].find((t) => t.textContent.includes('What happened')).rows[%d]"
        bottom = driver.execute_script(row % EVENTS + ".getBoundingClientRect().bottom")
        clip = {"x": 0, "y": 0, "width": PAGE_WIDTH, "height": bottom + 1, "scale": 1}
        path.write_bytes(base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "clip": clip})["data"]))
    finally:
        driver.quit()


def shrink(path: Path) -> None:
    subprocess.run(["pngquant", "--force", "--strip", "--speed", "1", "--output", path, "128", path], check=True)
    subprocess.run(["optipng", "-quiet", "-o2", path], check=True)
    print("%-20s %6d bytes" % (path.name, path.stat().st_size), flush=True)


def main() -> None:
    program, pictures = sys.argv[1], Path(sys.argv[2])
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        room, desktop = Room(), Desktop()
        for screen in (room, desktop):
            stack.callback(screen.box.close)
        world = World(program, room.url, room.room, room.token, desktop.address)
        stack.callback(world.close)
        world.play()
        time.sleep(2)
        desktop.take(folder / "notification.png")
        world.type("ask", "vedette status")
        page(folder, folder / "page.png", "light")
        page(folder, folder / "page~dark.png", "dark")
        for session, command in (("run", "run"), ("ask", "status")):
            text = drawing(world.screen(session, colored=True), COLUMNS, "vedette %s in a terminal" % command)
            (folder / (command + ".svg")).write_text(text, encoding="utf-8")
        # One message in five seconds is sent.
        until("six messages", lambda: len(room.messages()) == 6, 60)
        room.open()
        # The room alone, without the list of rooms.
        room.take(folder / "chat.png", left=444)
        for picture in sorted([*folder.glob("*.png"), *folder.glob("*.svg")]):
            if picture.suffix == ".png":
                shrink(picture)
            shutil.copyfile(picture, pictures / picture.name)


if __name__ == "__main__":
    main()
