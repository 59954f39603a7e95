"""Pictures of the page for the documents, taken by Chromium without a window."""

from __future__ import annotations

import shutil
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlencode
from wsgiref.simple_server import WSGIServer

from abel.learner.records import RunError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
DRIVER = "chromedriver"
SWITCHES = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--disable-dev-shm-usage",
)  # fmt: skip
WAIT = 120  # seconds for an answer to be shown
CUBIC = "x^3 + p*x + q = 0"
EXPONENTIAL = "exp(2*x) + a*exp(x) + b = 0"
STEERED = 2  # places down the list, of the action that is taken instead of the agent's


def missing() -> str:
    """What is not there of what a browser needs; nothing if all of it is."""
    if not any(map(shutil.which, BROWSERS)):
        return "there is no Chromium"
    return "" if shutil.which(DRIVER) else f"there is no {DRIVER}"


@contextmanager
def browser(width: int = 1280, height: int = 900) -> Iterator[Any]:
    """Chromium, driven by Selenium; RunError where it cannot be had."""
    from selenium import webdriver

    if reason := missing():
        raise RunError(f"{reason} (Debian: apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = next(path for path in map(shutil.which, BROWSERS) if path)
    for switch in (*SWITCHES, f"--window-size={width},{height}"):
        options.add_argument(switch)
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which(DRIVER)))
    try:
        yield driver
    finally:
        driver.quit()


def wait(driver: Any, script: str) -> Any:
    """The first value of an expression in JavaScript that is true."""
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(driver, WAIT).until(lambda d: d.execute_script(f"return {script}"))


def settled(driver: Any, panels: int = 1) -> None:
    """Wait until so many panels show something, and none is thinking."""
    shown = (
        "[...document.querySelectorAll('.panel')].filter(each => each.ariaBusy === 'false'"
        " && (each.querySelector('.steps li') || each.querySelector('.error').textContent)).length"
    )
    wait(driver, f"{shown} === {panels}")


def press(driver: Any, css: str, panels: int = 1) -> None:
    """Click the first that fits, and wait for the answer."""
    driver.execute_script("document.querySelector(arguments[0]).click()", css)
    settled(driver, panels)


def open_page(driver: Any, address: str, equation: str, agents: list[str]) -> None:
    where = urlencode([("equation", equation), *(("agent", f":{name}") for name in agents)])
    driver.get("about:blank")  # an address that differs in its end alone is not loaded anew
    driver.get(f"{address}#{where}")
    settled(driver, max(len(agents), 1))


def whole_page(driver: Any, path: Path, most: int = 2000, top: int = 0) -> None:
    """The page from `top` on in one picture, or what of it is not too long for a document."""
    driver.execute_script(
        "document.activeElement.matches('input') && document.activeElement.blur()"
    )
    root = "document.documentElement"
    width, height = driver.execute_script(f"return [{root}.clientWidth, {root}.scrollHeight]")
    length = min(height - top, most)
    area = {"x": 0, "y": top, "width": width, "height": length, "scale": 1}
    shot = {"format": "png", "captureBeyondViewport": True, "clip": area}
    path.write_bytes(b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", shot)["data"]))


# ---- The pictures ----


def steered(driver: Any, address: str, agents: list[str], out: Path) -> None:
    """A step of a person's choice, and what the agent thinks of it."""
    open_page(driver, address, CUBIC, agents[:1])
    press(driver, '[data-do="step"]')
    press(driver, f".actions li:nth-child({STEERED}) button")
    driver.execute_script(
        "const all = [...document.querySelectorAll('.actions button')];"
        "all.find(each => each.textContent.includes('subtract'))?.focus()"
    )
    whole_page(driver, out / "playground.png")


def finished(driver: Any, address: str, agents: list[str], out: Path) -> None:
    """The agent's own solution, and all roots."""
    open_page(driver, address, CUBIC, agents[:1])
    press(driver, '[data-do="beam"]')
    press(driver, '[data-do="roots"]')
    whole_page(driver, out / "playground_roots.png")


def compared(driver: Any, address: str, agents: list[str], out: Path) -> None:
    """Two agents on one equation."""
    open_page(driver, address, EXPONENTIAL, agents[:2])
    for panel in (1, 2):
        press(driver, f'.panel:nth-child({panel}) [data-do="greedy"]', 2)
    whole_page(driver, out / "playground_compare.png", most=1500)


def reported(driver: Any, page: Path, out: Path) -> None:
    """A page of reports, from its solutions on."""
    driver.get(page.resolve().as_uri())
    top = driver.execute_script("return document.getElementById('traces')?.offsetTop ?? 0")
    whole_page(driver, out / "report.png", 1400, top)


PICTURES: tuple[Callable[[Any, str, list[str], Path], None], ...] = (steered, finished, compared)


def take_pictures(server: WSGIServer, address: str, out: Path, report: Path | None) -> None:
    """Serve the page, and photograph it; a page of reports as well, if there is one."""
    if report is not None and not report.is_file():
        raise RunError(f"there is no page '{report}'")
    out.mkdir(parents=True, exist_ok=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with browser() as driver:
            driver.get(address)
            settled(driver)
            agents = driver.execute_script(
                "return [...document.querySelector('select').options].map(each => each.value)"
            )
            for picture in PICTURES:
                picture(driver, address, agents, out)
            if report is not None:
                reported(driver, report, out)
    finally:
        server.shutdown()
        thread.join()
    print(f"written to {out}")
