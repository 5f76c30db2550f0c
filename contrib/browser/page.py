#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the page in chromium: contrib/browser/README.md."""
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")
PATIENCE = 20
TOKEN = "token-of-the-page-0123"

# Returns what is wrong with the document, a sentence each.
AUDIT = r"""
const problems = [];
const channel = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
const parse = (text) => { const n = text.match(/[\d.]+/g).map(Number); return { rgb: n.slice(0, 3), alpha: n[3] ?? 1 }; };
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const behind = (node) => {
  for (let n = node; n; n = n.parentElement) {
    const color = parse(getComputedStyle(n).backgroundColor);
    if (color.alpha > 0.99) return color.rgb;
  }
  return [255, 255, 255];
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let text = walker.nextNode(); text; text = walker.nextNode()) {
  const node = text.parentElement;
  if (!text.data.trim() || !node.checkVisibility() || node.closest('svg, script, noscript')) continue;
  const [a, b] = [light(parse(getComputedStyle(node).color).rgb), light(behind(node))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) problems.push(`contrast ${ratio.toFixed(2)} of '${text.data.trim().slice(0, 40)}'`);
}
for (const node of document.querySelectorAll('button, a, summary, input:not([type=hidden]), textarea, select')) {
  const name = (node.labels && node.labels[0]?.textContent) || node.textContent.trim() || node.getAttribute('aria-label');
  if (!name) problems.push(`no name: ${node.outerHTML.slice(0, 60)}`);
}
for (const node of document.querySelectorAll('svg')) {
  if (node.getAttribute('role') !== 'img' || !node.getAttribute('aria-label')) problems.push('a picture without a label');
}
for (const table of document.querySelectorAll('table')) {
  if (!table.querySelector('th')) problems.push('a table without headings');
}
if (!document.documentElement.lang) problems.push('no language');
if (document.querySelectorAll('h1').length !== 1) problems.push(`${document.querySelectorAll('h1').length} first headings`);
let level = 0;
for (const node of document.querySelectorAll('h1, h2, h3, h4')) {
  const next = Number(node.tagName[1]);
  if (next > level + 1) problems.push(`a heading of level ${next} after ${level}`);
  level = next;
}
const ids = [...document.querySelectorAll('[id]')].map((node) => node.id);
if (new Set(ids).size !== ids.length) problems.push('an id that occurs twice');
if (document.documentElement.scrollWidth > innerWidth) {
  problems.push(`${document.documentElement.scrollWidth} pixels wide in a window of ${innerWidth}`);
}
return [...new Set(problems)];
"""

# Returns what axe-core finds, a sentence each.
AXE = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ['violations']}).then(
  (results) => done(results.violations.map((rule) => `${rule.id}: ${rule.help}: ${rule.nodes.map((node) => node.html.slice(0, 120)).slice(0, 3).join(' ')}`)),
  (error) => done([String(error)]));
"""


class Failure(Exception):
    pass


def expect(condition: object, what: str) -> None:
    if not condition:
        raise Failure(what)
    print(f"  ok  {what}", flush=True)


def wait(what: str, condition) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise Failure(f"not within {PATIENCE} s: {what}")
        time.sleep(0.05)
    print(f"  ok  {what}", flush=True)


class Site(BaseHTTPRequestHandler):
    """Rows for a trial, one with a hostile name."""

    def do_GET(self) -> None:
        rows = [{"id": n, "name": f"job-{n}" if n > 1 else "<img src=x onerror=alert(1)>" + "y" * 300, "state": "Ready"} for n in range(1, 31)]
        body = json.dumps(rows).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class World:
    """A watcher of one file and one site, with a receiver that is not there."""

    def __init__(self, program: str, folder: Path) -> None:
        self.rows = folder / "rows.json"
        self.write("Starting")
        site = ThreadingHTTPServer(("127.0.0.1", 0), Site)
        threading.Thread(target=site.serve_forever, daemon=True).start()
        self.site = f"http://127.0.0.1:{site.server_port}"
        (folder / "token").touch(0o600)
        (folder / "token").write_text(TOKEN)
        (folder / "config").mkdir()
        (folder / "config" / "vedette.yaml").write_text(f"""
sources:
  systems: {{kind: json, url: "file://{self.rows}", key: id, title: name, state: state, every: 200ms}}
  site: {{kind: json, url: "{self.site}/rows.json", key: id, every: 1h}}
  absent: {{kind: json, url: "http://127.0.0.1:1/", every: 1h, fails: 1}}
sinks: {{hook: {{kind: webhook, url: "http://127.0.0.1:1/"}}}}
rules:
  - {{name: ready, when: {{field: state, to: Ready}}, notify: [hook]}}
  - {{name: stuck, when: {{stays: Starting}}, for: 1h, notify: [hook]}}
settings: {{listen: {{address: "127.0.0.1:0", token: {{file: "{folder}/token"}}}}}}
""")
        self.log = folder / "log"
        with self.log.open("w") as log:
            places = ["--config", str(folder / "config"), "--state", str(folder / "state")]
            self.process = subprocess.Popen([program, "run", *places], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        wait("the page is offered", lambda: self.address is not None)

    @property
    def address(self) -> str | None:
        found = re.search(r"the page is at (http://\S+)/", self.log.read_text())
        return found.group(1) if found else None

    def write(self, state: str) -> None:
        """Ten systems, the first with this state, and one with a hostile name."""
        rows = [{"id": 1, "name": "prod-1", "state": state}]
        rows += [{"id": n, "name": f"test-{n}", "state": ["Ready", "Starting", "Failed"][n % 3], "load": n} for n in range(2, 11)]
        rows.append({"id": 11, "name": "<img src=//evil.example/x onerror=alert(1)>" + "x" * 200, "state": "Ready"})
        fresh = self.rows.with_suffix(".new")
        fresh.write_text(json.dumps(rows))
        os.replace(fresh, self.rows)

    def end(self) -> None:
        self.process.terminate()
        expect(self.process.wait(timeout=15) == 0, "the watcher ends with 0 while a browser is open")


def browser(folder: Path, script: bool = True) -> webdriver.Chrome:
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-background-networking", f"--user-data-dir={folder / f'profile-{script}'}"):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    if not script:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    driver.set_page_load_timeout(PATIENCE)
    return driver


def text(driver: webdriver.Chrome) -> str:
    """The text of the page; nothing while the next one is being loaded."""
    try:
        return driver.find_element(By.TAG_NAME, "main").text
    except (NoSuchElementException, StaleElementReferenceException):
        return ""


def press(driver: webdriver.Chrome, label: str) -> None:
    next(node for node in driver.find_elements(By.TAG_NAME, "button") if node.text == label).click()


def login(driver: webdriver.Chrome, world: World) -> None:
    driver.get(world.address + "/")
    driver.find_element(By.ID, "token").send_keys(TOKEN)
    press(driver, "Open")
    wait("the token opens the page", lambda: "systems" in text(driver))
    # That the token is asked for is an error for the browser's log, and for nobody else.
    driver.get_log("browser")


def trial_of_address(driver: webdriver.Chrome, world: World) -> None:
    driver.get(world.address + "/try")
    driver.find_element(By.ID, "address").send_keys(world.site + "/rows.json")
    press(driver, "Try the address")
    wait("an address is tried", lambda: "How to watch it" in text(driver))


def trial_of_rule(driver: webdriver.Chrome, world: World) -> None:
    driver.get(world.address + "/try")
    rule = driver.find_element(By.ID, "rule")
    rule.clear()
    rule.send_keys("name: any\nwhen: {source: systems, field: state}\nnotify: [hook]")
    press(driver, "Try the rule")
    wait("a rule is tried", lambda: re.search(r"any to hook: \d+ sent", text(driver)))


def trials(driver: webdriver.Chrome, world: World, script: bool) -> None:
    trial_of_address(driver, world)
    yaml = driver.find_element(By.ID, "yaml").text
    expect("kind: json" in yaml and "and 10 more" in text(driver), "the page shows the YAML and the first items")
    button = driver.find_element(By.CSS_SELECTOR, "[data-copy]")
    expect(button.is_displayed() == script, "the button that copies is there with a script alone")
    if script:
        button.click()
        wait("it copies", lambda: button.text == "Copied")
        expect(driver.execute_script("return getSelection().toString()").strip() == yaml.strip(), "what it copies is the YAML")
    trial_of_rule(driver, world)
    driver.get(world.address + "/try")
    driver.find_element(By.ID, "address").send_keys("http://127.0.0.1:1/")
    press(driver, "Try the address")
    wait("why an address cannot be tried is told", lambda: "private address" in text(driver))


def live(driver: webdriver.Chrome, world: World) -> None:
    driver.get(world.address + "/")
    wait("the page is live", lambda: driver.find_element(By.ID, "live").text == "live")
    driver.execute_script("window.isSame = true")
    world.write("Ready")
    wait("a changed item appears without a reload", lambda: "prod-1 Starting → Ready" in text(driver))
    expect(driver.execute_script("return window.isSame"), "the document is the same")
    driver.get(world.address + "/sources/systems")
    world.write("Failed")
    wait("so does it in the page of its source", lambda: re.search(r"prod-1\s+Failed", text(driver)))


def buttons(driver: webdriver.Chrome, world: World) -> None:
    driver.get(world.address + "/sources/systems")
    press(driver, "Snooze 1 h")
    wait("a button acts, and the page tells the outcome", lambda: "Silenced." in text(driver))
    driver.get(world.address + "/silences")
    expect("systems" in text(driver), "the silence is listed")
    press(driver, "End")
    wait("the silence is ended", lambda: "The silence is ended." in text(driver))


def safety(driver: webdriver.Chrome, world: World) -> None:
    bad = [entry for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    expect(not bad, f"no error in the console {bad or ''}")
    hosts = set()
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = urlsplit(message["params"]["request"]["url"])
            if url.scheme not in ("data", "chrome", "about", "blob"):
                hosts.add(url.netloc)
    expect(hosts == {urlsplit(world.address).netloc}, f"no request leaves the origin: {hosts}")


def looks(driver: webdriver.Chrome, world: World, axe: str, pictures: Path | None) -> None:
    pages = {"overview": "/", "source": "/sources/systems", "item": "/sources/systems/item?key=1", "events": "/events",
             "event": "/events/1", "rules": "/rules", "silences": "/silences", "outbox": "/outbox", "try": "/try",
             "tried address": trial_of_address, "tried rule": trial_of_rule, "missing": "/sources/none"}
    problems = []
    for name, path in pages.items():
        for width in WIDTHS:
            for scheme in SCHEMES:
                driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                       {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
                driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                       {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
                if callable(path):
                    path(driver, world)
                else:
                    driver.get(world.address + path)
                problems += [f"{name}, {width}, {scheme}: {problem}" for problem in driver.execute_script(AUDIT)]
                driver.execute_script(axe)
                problems += [f"{name}, {width}, {scheme}: axe-core: {problem}" for problem in driver.execute_async_script(AXE)]
                if pictures:
                    driver.save_screenshot(str(pictures / f"{name}-{width}-{scheme}.png"))
    # A page that is not there is an error for the browser's log, and for nobody else.
    driver.get_log("browser")
    expect(not problems, "every page is legible, labelled and as wide as the window" + "".join(f"\n      {p}" for p in problems))


def main() -> None:
    program, axe, *rest = sys.argv[1:]
    pictures = Path(rest[1]) if rest[:1] == ["--screenshots"] and len(rest) == 2 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        world = World(program, folder)
        drivers = []
        try:
            driver = browser(folder)
            drivers.append(driver)
            login(driver, world)
            live(driver, world)
            buttons(driver, world)
            trials(driver, world, script=True)
            safety(driver, world)
            looks(driver, world, Path(axe).read_text(), pictures)
            plain = browser(folder, script=False)
            drivers.append(plain)
            login(plain, world)
            expect("systems" in text(plain), "without JavaScript the page shows the same")
            buttons(plain, world)
            trials(plain, world, script=False)
            world.end()
        finally:
            for driver in drivers:
                driver.quit()
            if world.process.poll() is None:
                world.process.kill()
                world.process.wait()


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")
