"""Limits end a question, clients do not mix, and in a browser all of it works together."""

import io
import json
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from urllib.request import Request, urlopen

import pytest

from abel import ParseError, Trace, parse
from abel.playground import Child, Limits, Pool, Refused, Stopped, main
from abel.playground.agents import REFERENCE
from abel.playground.pictures import browser, missing, open_page, press, settled, wait
from abel.playground.thinking import MOST_STEPS, UNTRAINED
from tests.playing import CUBIC, QUADRATIC, ROOT, RUNS, fixture_ask, fixture_thinker  # noqa: F401

bottle = pytest.importorskip("bottle", reason="the extra `playground` is not installed")
from abel.playground.server import LOOPBACK, make_app, make_loopback_server  # noqa: E402

# ---- Children: the limits ----

ECHO = """
import os, subprocess, sys, time
from abel.playground.child import answer_lines
sys.stdin.readline()
kept = []
def answer(question):
    print("this is not an answer")
    what = question["what"]
    if what == "loop":
        while True: pass
    if what == "start":
        kept.append(subprocess.Popen(["sleep", "1000"]))
        return {"pid": kept[-1].pid}
    if what == "hog":
        while True: kept.append(bytearray(1 << 22))
    if what == "grow":
        kept.append(b"x" * question["bytes"])
    if what == "sleep":
        time.sleep(question["seconds"])
    if what == "die":
        os._exit(3)
    return {"pid": os.getpid(), **question}
answer_lines(lambda question: None, answer, SECONDS)
"""


@pytest.fixture
def child():
    made = []

    def make(seconds=5.0, megabytes=64):
        code = ECHO.replace("SECONDS", str(seconds))
        made.append(Child({}, Limits(seconds, megabytes), code))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_a_child_answers_and_keeps_what_it_prints_to_itself(child, capfd):
    asked = child()
    first, second = asked.ask({"what": "a"}), asked.ask({"what": "b"})
    assert (first["what"], second["what"]) == ("a", "b") and first["pid"] == second["pid"]
    assert capfd.readouterr().err.count("this is not an answer") == 2


@pytest.mark.slow
@pytest.mark.parametrize("question, why", [
    ({"what": "loop"}, "more than 0.2 s"), ({"what": "hog"}, "more than 64 MB of memory"),
    ({"what": "sleep", "seconds": 100}, "more than 0.2 s"), ({"what": "die"}, r"ended \(code 3\)"),
])  # fmt: skip
def test_past_a_limit_a_question_ends_and_the_next_is_answered(child, question, why, monkeypatch):
    if question["what"] != "sleep":  # the clock, which ends what takes no CPU, ends none of these
        monkeypatch.setattr("abel.playground.child.PATIENCE", 200)
    asked = child(seconds=0.2)
    before = asked.ask({"what": "a"})["pid"]
    begun = time.monotonic()
    with pytest.raises(Stopped, match=why):
        asked.ask(question)
    assert time.monotonic() - begun < 30
    after = asked.ask({"what": "b"})
    assert after["what"] == "b" and after["pid"] != before


@pytest.mark.slow
def test_what_a_child_started_ends_with_it(child):
    asked = child(seconds=0.3, megabytes=512)  # two processes, for a moment with the same memory
    started = asked.ask({"what": "start"})["pid"]
    os.kill(started, 0)  # it is there
    with pytest.raises(Stopped):
        asked.ask({"what": "loop"})
    for _ in range(100):  # it has ended, whether or not somebody has taken note of that
        stat = Path(f"/proc/{started}/stat")
        if not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return
        time.sleep(0.05)
    raise AssertionError("it goes on")


@pytest.mark.slow
def test_a_child_that_remembers_much_is_replaced_and_each_question_has_the_whole_limit(child):
    asked = child(megabytes=64)
    pids = [asked.ask({"what": "grow", "bytes": 40 << 20})["pid"] for _ in range(3)]
    assert pids[0] == pids[1] != pids[2]  # 40, then 80 MB more than at first; 40 again


@pytest.mark.slow
def test_ten_clients_of_two_children_do_not_mix(child):
    pool = Pool([child(), child()])

    def client(name):
        questions = [{"what": "sleep", "seconds": 0.01, "name": name, "k": k} for k in range(5)]
        return [pool.ask(question) for question in questions]

    with ThreadPoolExecutor(10) as clients:
        answers = [*clients.map(client, range(10))]
    assert [[(each["name"], each["k"]) for each in row] for row in answers] == [
        [(name, k) for k in range(5)] for name in range(10)
    ]
    assert len({each["pid"] for row in answers for each in row}) == 2


@pytest.mark.slow
def test_one_client_s_endless_question_ends_nobody_else_s(child):
    pool = Pool([child(seconds=1.0), child(seconds=1.0)])
    with ThreadPoolExecutor(2) as clients:
        endless = clients.submit(pool.ask, {"what": "loop"})
        others = [pool.ask({"what": "sleep", "seconds": 0.01, "k": k})["k"] for k in range(20)]
        assert others == [*range(20)]
        with pytest.raises(Stopped, match="more than 1 s"):
            endless.result()


# ---- The server ----


class Here:
    """Asks the thinker at once, in the place of a pool."""

    def __init__(self, thinker):
        self.thinker = thinker

    def ask(self, question):
        if question["equation"] == "too long":
            raise Stopped("this takes more than 1 s")
        try:
            return {"answer": self.thinker.answer(question)}
        except Refused as reason:
            return {"refused": str(reason)}


@pytest.fixture(scope="module")
def app(thinker):
    return make_app(Here(thinker), RUNS)


GOOD = {"run": REFERENCE, "equation": QUADRATIC, "path": []}


def call(app, path, body=None, **changes):
    """Status, headers and body of a request."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    environ = {
        "REQUEST_METHOD": "GET" if body is None else "POST", "PATH_INFO": path,
        "HTTP_HOST": "127.0.0.1:8765", "SERVER_PORT": "8765", "SERVER_NAME": "127.0.0.1",
        "wsgi.input": io.BytesIO(raw), "wsgi.errors": sys.stderr, "wsgi.url_scheme": "http",
        "CONTENT_LENGTH": str(len(raw)), "CONTENT_TYPE": "application/json", **changes,
    }  # fmt: skip
    begun = []
    parts = app(environ, lambda status, headers, *_: begun.append((status, dict(headers))))
    ((status, headers),) = begun
    return int(status[:3]), headers, b"".join(parts)


def test_the_page_and_its_files_are_served_and_nothing_else(app):
    status, headers, page = call(app, "/")
    assert status == 200 and headers["Content-Type"].startswith("text/html")
    links = re.findall(rb'(?:src|href)="(/[^"]+)"', page)
    scripts = re.findall(r'from "\./(\w+\.js)"', call(app, "/static/page.js")[2].decode())
    assert len(links) == 2 and scripts
    for path in [*(link.decode() for link in links), *(f"/static/{name}" for name in scripts)]:
        assert call(app, path)[0] == 200, path
    for path in (
        "/static/server.py",
        "/static/..%2fserver.py",
        "/static/../server.py",
        "/static/..",
        "/etc",
    ):
        assert call(app, path)[0] in (404, 405)


def test_nothing_on_the_page_comes_from_elsewhere(app):
    for path in (ROOT / "abel/playground/static").iterdir():
        found = re.findall(r"https?://[^\s\"')]+|//[\w-]+\.\w+", path.read_text())
        assert set(found) <= {"http://www.w3.org/2000/svg"}, path  # a name, nothing is fetched
    policy = call(app, "/")[1]["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy


def test_a_question_is_answered_as_json(app):
    status, headers, body = call(app, "/look", GOOD)
    assert status == 200 and headers["Content-Type"] == "application/json"
    assert json.loads(body)["equation"] == QUADRATIC
    agents = json.loads(call(app, "/agents")[2])["agents"]
    assert agents == [REFERENCE, REFERENCE + UNTRAINED]


@pytest.mark.parametrize("changes", [
    {"HTTP_HOST": "evil.example:8765"}, {"HTTP_HOST": "127.0.0.1:80"}, {"HTTP_HOST": ""},
    {"HTTP_ORIGIN": "http://evil.example"}, {"HTTP_ORIGIN": "null"},
    {"HTTP_ORIGIN": "http://localhost:8765"},
])  # fmt: skip
def test_other_names_and_other_pages_are_refused(app, changes):
    assert call(app, "/look", GOOD, HTTP_ORIGIN="http://127.0.0.1:8765")[0] == 200
    for path, body in (("/", None), ("/look", GOOD)):
        assert call(app, path, body, **changes)[0] == 403


@pytest.mark.parametrize("body, why", [
    (b"{", "JSON"), (b"[" * 60_000, "JSON"), (b"\xff", "JSON"), ([], "object"),
    ({**GOOD, "run": "../secret"}, "agent"), ({**GOOD, "run": ["x"]}, "agent"),
    ({**GOOD, "equation": 1}, "text"), ({**GOOD, "path": "1"}, "path"),
    ({**GOOD, "path": [True]}, "path"), ({**GOOD, "path": [0.5]}, "path"),
    ({**GOOD, "path": [0] * (MOST_STEPS + 1)}, "path"), ({**GOOD, "decoder": "magic"}, "greedy"),
    (b" " * (1 << 17), "bytes"), ({**GOOD, "equation": "a*x + = 0"}, "column 7"),
    ({**GOOD, "path": [999]}, "no action 999"),
])  # fmt: skip
def test_questions_that_are_none_are_refused_with_a_reason(app, body, why):
    status, _, said = call(app, "/look", body)
    assert status == 400 and why in json.loads(said)["error"]


def test_a_form_of_another_page_is_no_question(app):
    assert call(app, "/look", GOOD, CONTENT_TYPE="text/plain")[0] == 400
    assert call(app, "/look", GOOD, CONTENT_LENGTH="")[0] == 400
    assert call(app, "/nothing", GOOD)[0] == 404


def test_a_question_past_its_limit_says_so(app):
    status, _, said = call(app, "/look", {**GOOD, "equation": "too long"})
    assert status == 503 and json.loads(said)["error"] == "this takes more than 1 s"


def test_the_server_listens_on_the_loopback_address_alone(app):
    server = make_loopback_server(app, 0)
    try:
        assert server.socket.getsockname()[0] == LOOPBACK == "127.0.0.1"
    finally:
        server.server_close()


def test_a_port_that_is_taken_and_a_library_that_is_missing_are_named(app, capsys, monkeypatch):
    server = make_loopback_server(app, 0)
    try:
        assert main(["--port", str(server.server_port)]) == 2
    finally:
        server.server_close()
    assert "in use" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "bottle", None)
    monkeypatch.delitem(sys.modules, "abel.playground.server")
    assert main([]) == 2
    assert "needs bottle: pip install" in capsys.readouterr().err


# ---- All of it together ----


@pytest.fixture(scope="module")
def address():
    """A page that is served, with two processes that think."""
    settings = {"runs": {name: str(path) for name, path in RUNS.items()}}
    pool = Pool([Child(settings, Limits(60, 1024)) for _ in range(2)])
    server = make_loopback_server(make_app(pool, RUNS), 0)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://{LOOPBACK}:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()
    pool.close()


def post(address, what, **question):
    body = json.dumps({**GOOD, **question}).encode()
    request = Request(address + what, body, {"Content-Type": "application/json"})
    with urlopen(request, timeout=300) as response:
        return json.loads(response.read())


@pytest.mark.slow
def test_ten_clients_at_once_get_what_each_would_get_alone(address, ask):
    equations = [f"{k}*x^2 + b*x + c = {k}" for k in range(2, 7)] + [
        "x^3 = a", CUBIC, "log(x) = a", "exp(2*x) + a*exp(x) + b = 0", "(a*x + b)/(c*x + d) = f",
    ]  # fmt: skip
    alone = [(ask("finish", text)["path"], ask("finish", text)["text"]) for text in equations]

    def client(text):
        seen = []
        for _ in range(3):
            found = post(address, "finish", equation=text)
            seen.append((found["path"], found["text"]))
            assert post(address, "look", equation=text)["equation"] == text
        return seen

    with ThreadPoolExecutor(10) as clients:
        answers = [*clients.map(client, equations)]
    assert answers == [[each] * 3 for each in alone]


needs_browser = pytest.mark.skipif(bool(missing()), reason=missing() or "a browser is there")


@pytest.fixture(scope="module")
def driver():
    pytest.importorskip("selenium", reason="the extra `test` is not installed")
    with browser() as found:
        yield found


def text(driver, css):
    return driver.execute_script(f"return document.querySelector('{css}')?.textContent", css)


def count(driver, css):
    return driver.execute_script("return document.querySelectorAll(arguments[0]).length", css)


def type_in(driver, equation):
    field = driver.find_element("id", "equation")
    field.clear()
    field.send_keys(equation + "\n")
    settled(driver)


@pytest.mark.slow
@needs_browser
def test_in_a_browser_a_person_steers_the_agent(driver, address):
    open_page(driver, address, QUADRATIC, [REFERENCE])
    type_in(driver, "a*x + b = c")
    assert count(driver, ".steps li") == 1 and count(driver, ".steps math") == 1
    press(driver, '[data-do="more"]')
    shown = driver.find_elements("css selector", ".actions button")
    chances = [each.find_element("css selector", "i").size["width"] for each in shown]
    assert chances == sorted(chances, reverse=True) and chances[0] > 10
    assert count(driver, ".tree g") == count(driver, ".tree line") + 1 > 5

    other = next(each for each in shown if "subtract c" == each.text.split("\n")[0])
    driver.execute_script("arguments[0].focus()", other)
    assert count(driver, ".tree .pointed") == 1
    other.click()
    wait(driver, "document.querySelectorAll('.steps li').length === 2")
    settled(driver)
    assert "subtract c" in text(driver, ".steps li:nth-child(2)")
    press(driver, '[data-do="greedy"]')
    assert text(driver, ".verdict b") == "proved" and count(driver, ".steps li") > 2
    assert not driver.find_element("css selector", ".actions").is_displayed()
    press(driver, ".steps li:nth-child(2) .number")  # back to the first step
    assert count(driver, ".steps li") == 2
    press(driver, '[data-do="back"]')
    assert count(driver, ".steps li") == 1
    # The address says where one stands: loaded anew it shows the same.
    press(driver, '[data-do="step"]')
    there = text(driver, ".steps")
    driver.refresh()
    settled(driver)
    assert text(driver, ".steps") == there and count(driver, ".steps li") == 2


@pytest.mark.slow
@needs_browser
def test_in_a_browser_all_roots_and_documents_are_shown(driver, address):
    open_page(driver, address, "x^3 = a", [REFERENCE])
    press(driver, '[data-do="roots"]')
    assert count(driver, ".roots li math") == 3 and "3 roots" in text(driver, ".document b")
    press(driver, '[data-do="greedy"]')
    press(driver, '[data-do="latex"]')
    assert text(driver, ".document pre").startswith(r"\begin{align*}")
    press(driver, '[data-do="json"]')
    assert Trace.from_json(text(driver, ".document pre")).compare()
    saved = driver.find_element("css selector", '[data-is="download"]')
    assert saved.get_attribute("download") == "solution.json"
    assert saved.get_attribute("href").startswith("blob:")


@pytest.mark.slow
@needs_browser
def test_in_a_browser_two_agents_are_compared(driver, address):
    open_page(driver, address, QUADRATIC, [REFERENCE])
    driver.find_element("id", "compare").click()
    settled(driver, 2)
    for panel in (1, 2):
        press(driver, f'.panel:nth-child({panel}) [data-do="greedy"]', 2)
    assert text(driver, ".panel:nth-child(1) .verdict b") == "proved"
    assert text(driver, ".panel:nth-child(2) .verdict b").startswith("not solved within")
    driver.find_element("id", "compare").click()
    assert count(driver, ".panel") == 1


@pytest.mark.slow
@needs_browser
def test_in_a_browser_hostile_text_stays_text_and_nothing_is_fetched_elsewhere(driver, address):
    open_page(driver, address, QUADRATIC, [REFERENCE])
    driver.get_log("browser")
    hostile = "<img src=x onerror=document.title=1> = x"
    type_in(driver, hostile)
    with pytest.raises(ParseError) as reason:
        parse(hostile)
    assert text(driver, ".error") == str(reason.value)
    assert count(driver, "img") == 0 and driver.title == "abel: playground"
    type_in(driver, "e^x = a")  # the page goes on, and says how it was read
    assert text(driver, ".error") == "" and count(driver, ".steps li") == 1
    loaded = driver.execute_script(
        "return performance.getEntriesByType('resource').map(e => e.name)"
    )
    assert len(loaded) > 4 and all(name.startswith((address, "data:")) for name in loaded)
    refused = [entry["message"] for entry in driver.get_log("browser")]
    assert all("400" in message for message in refused), refused  # the answer to the hostile text
