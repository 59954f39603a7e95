"""The page: what it shows is what the agent thinks, limits end a question, clients do not mix."""

import io
import json
import os
import re
import sys
import time
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from urllib.request import Request, urlopen

import numpy as np
import pytest

from abel import Env, ParseError, Trace, parse
from abel.derive import rules, take
from abel.encode import ROLES, TOKENS
from abel.equation import has_x
from abel.learner.records import RunError
from abel.operations import OPERATIONS, Action
from abel.playground import Child, Limits, Pool, Refused, Stopped, Thinker, main
from abel.playground.agents import REFERENCE, find_runs
from abel.playground.pictures import browser, missing, open_page, press, settled, wait
from abel.playground.shown import solution_data
from abel.playground.thinking import MOST_STEPS, UNTRAINED, positions
from abel.search import greedy
from abel.trace import Step
from abel.transitions import start_of

bottle = pytest.importorskip("bottle", reason="the extra `playground` is not installed")
from abel.playground.server import LOOPBACK, make_app, make_loopback_server  # noqa: E402

ROOT = Path(__file__).parent.parent
RUNS = {REFERENCE: ROOT / REFERENCE}
QUADRATIC, CUBIC = "a*x^2 + b*x + c = 0", "x^3 + p*x + q = 0"
HOSTILE = (
    "", "a*x + = 0", "x = " + "(" * 3000, "9**9**9**9*x = 1", "__import__('os')", "x = 1 = 2",
    "<img src=x onerror=alert(1)>", "x = \x00", "\ud800 = x", "x" * 100_000,
)  # fmt: skip


@pytest.fixture(scope="module")
def thinker():
    return Thinker(RUNS, limit=20)


@pytest.fixture(scope="module")
def ask(thinker):
    def ask(what, equation=QUADRATIC, path=(), run=REFERENCE, decoder="greedy"):
        question = {"run": run, "equation": equation, "path": [*path], "decoder": decoder}
        return thinker.answer({"ask": what, **question})

    return ask


def action(found, words):
    """The index of the action that is told in these words."""
    return next(each["index"] for each in found["actions"] if each["words"] == words)


# ---- What the agent thinks ----


def test_the_actions_are_the_legal_ones_with_the_policy_s_probabilities(thinker, ask):
    found, mind = ask("look"), thinker.mind(REFERENCE)
    env = Env([QUADRATIC], mind.config)
    observation, _ = env.reset()
    (log_probs,), (value,) = mind.policy([observation])
    shown = {each["index"]: each["probability"] for each in found["actions"]}
    assert [shown[i] for i in range(len(env.actions))] == np.exp(log_probs).tolist()
    assert sum(shown.values()) == pytest.approx(1, abs=1e-5) and found["value"] == value
    assert [*shown.values()] == sorted(shown.values(), reverse=True)
    assert [each["node"] for each in sorted(found["actions"], key=lambda each: each["index"])] == (
        observation.action_nodes.tolist()
    )


def test_the_tree_is_the_one_that_the_network_sees(thinker, ask):
    env = Env([QUADRATIC], thinker.mind(REFERENCE).config)
    seen, _ = env.reset()
    tree = ask("look")["tree"]
    assert tree["tokens"] == [TOKENS[token] for token in seen.tokens]
    assert tree["roles"] == [ROLES[role] for role in seen.roles]
    assert tree["parents"] == seen.parents.tolist() and len(set(zip(tree["x"], tree["y"]))) == len(
        tree["x"]
    )


def test_parents_stand_above_the_middle_of_their_children():
    places = positions(np.array([-1, 0, 1, 1, 0]))  # a root, its child with two leaves, a leaf
    x, y = places[:, 0], places[:, 1]
    assert x[2] < x[3] < x[4]  # leaves in reading order
    assert x[1] == (x[2] + x[3]) / 2 and x[0] == (x[1] + x[4]) / 2
    assert y[0] < y[1] == y[4] < y[2] == y[3]


def test_another_action_leads_where_the_environment_says(thinker, ask):
    first = ask("look")
    chosen = action(first, "subtract c")
    assert chosen != first["actions"][0]["index"]  # it is not what the agent would do
    found = ask("look", path=[chosen])
    env = Env([QUADRATIC], thinker.mind(REFERENCE).config)
    env.reset()
    env.step(chosen)
    assert found["text"] == str(env.form).replace("**", "^") and found["path"] == [chosen]
    (step,), (line,) = found["steps"], found["lines"]
    before = next(each for each in first["actions"] if each["index"] == chosen)
    assert (line["step"], line["words"]) == (1, "subtract c")
    assert step["probability"] == pytest.approx(before["probability"], rel=1e-3)
    assert ask("look") == first  # going back


def test_the_agent_finishes_as_it_does_by_itself(thinker, ask):
    mind = thinker.mind(REFERENCE)
    (solution,) = greedy(mind.policy, [CUBIC], mind.config, mind.config.new_cache())
    found = ask("finish", CUBIC)
    assert found["path"] == [index for _, index, *_ in solution.path] and found["solved"]
    assert found["verdict"]["root"] == str(solution.root) and found["verdict"]["status"] == "proved"
    assert found["actions"] == [] and found["value"] is None


@pytest.mark.parametrize("decoder", ["greedy", "beam"])
def test_the_agent_goes_on_from_a_step_that_it_would_not_take(ask, decoder):
    chosen = action(ask("look"), "subtract c")
    found = ask("finish", path=[chosen], decoder=decoder)
    assert found["path"][0] == chosen and found["solved"] and len(found["path"]) > 1


def test_an_agent_before_its_training_is_another_one(ask):
    trained, before = ask("look"), ask("look", run=REFERENCE + UNTRAINED)
    assert trained["actions"][0]["probability"] > 0.9 > 0.3 > before["actions"][0]["probability"]
    found = ask("finish", run=REFERENCE + UNTRAINED)
    assert not found["solved"] and found["gave_up"]
    assert not ask("finish")["gave_up"]


def test_a_refuted_root_is_shown_and_does_not_end_it(ask):
    chosen = action(ask("look", "sqrt(x) = -2"), "square both sides")
    found = ask("look", "sqrt(x) = -2", [chosen])
    assert found["text"] == "x = 4" and found["verdict"]["status"] == "refuted"
    assert not found["solved"] and not found["ended"] and found["actions"]


def test_what_is_solved_as_it_was_typed_needs_no_step(ask):
    found = ask("look", "x = a/b")
    assert found["solved"] and found["ended"] and found["steps"] == []
    assert ask("finish", "x = a/b")["path"] == []


def test_a_path_that_is_not_there_is_refused(ask):
    for path in ([999], [-1], [0, 999]):
        with pytest.raises(Refused, match=f"step {len(path)}: there is no action {path[-1]}"):
            ask("look", path=path)
    solved = ask("finish")["path"]
    with pytest.raises(Refused, match=f"step {len(solved) + 1}: "):
        ask("look", path=[*solved, 0])


@pytest.mark.slow
def test_a_path_ends_at_the_page_s_own_number_of_steps(ask):
    negate = action(ask("look"), "multiply by -1")
    path = [negate] * (MOST_STEPS - 1)
    assert not ask("look", path=path)["ended"]  # training had ended it at the second
    assert ask("look", path=[*path, negate])["ended"]
    assert len(ask("finish", path=path)["path"]) == MOST_STEPS


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_gets_the_parser_s_message(ask, text):
    with pytest.raises(ParseError) as refused:
        parse(text)
    with pytest.raises(Refused) as shown:
        ask("look", text)
    assert str(shown.value) == str(refused.value)


def test_a_run_that_cannot_be_loaded_is_refused(tmp_path):
    (tmp_path / "best.pt").write_bytes(b"no checkpoint")
    question = {"ask": "look", "equation": QUADRATIC, "path": []}
    with pytest.raises(Refused, match="best.pt"):
        Thinker({"bad": tmp_path}, 1).answer({**question, "run": "bad"})
    with pytest.raises(Refused, match="no agent 'none'"):
        Thinker({"bad": tmp_path}, 1).answer({**question, "run": "none"})


# ---- Letters, words, answers ----


def words(found):
    """What the lines say, with the equation after it, in LaTeX's place as text of MathML."""
    return [each["words"] for each in found["lines"]]


def plain(markup):
    """The characters of a formula."""
    text = "".join("".join(ET.fromstring(piece).itertext()) for piece in markup)
    return text.replace("\u2062", "")


def test_substitutions_bring_new_letters_and_values_are_put_back(ask):
    found = ask("finish", CUBIC)
    said = words(found)
    assert said[0] == "put x = t + h/t, with h such that the term in t vanishes"
    assert said[3] == "so put x = t - p/(3*t): the term in t vanishes" and said[4] == "let u = t^3"
    assert "as u = t^3" in said and said[-1] == "as x = t - p/(3*t)"
    assert [each["step"] for each in found["lines"] if each["step"]] == [*range(1, 11)]
    first = ask("look", CUBIC, found["path"][:3])
    assert plain(first["lines"][3]["markup"]).count("t") == 2  # t^6 + q*t^3 - p^3/27 = 0
    assert any("t^3" in each["words"] for each in first["actions"])


def test_the_page_solves_for_the_letter_that_is_asked_for(thinker):
    question = {"run": REFERENCE, "equation": "s = v*t + x", "path": [], "decoder": "greedy"}
    found = thinker.answer({"ask": "finish", "unknown": "t", **question})
    assert found["solved"] and found["unknown"] == "t" and found["equation"] == "s = v*t + x"
    assert found["verdict"]["root"] == "(s - x)/v" and found["text"] == "t = (s - x)/v"
    assert plain(found["verdict"]["markup"]) == "t=s−xv"
    alone = thinker.answer({"ask": "look", **question, "equation": "3y + 2 = 5"})
    assert alone["unknown"] == "y" and action(alone, "subtract 2") >= 0
    with pytest.raises(Refused, match="has no q"):
        thinker.answer({"ask": "look", "unknown": "q", **question})


def test_every_step_has_a_line_even_where_letters_get_other_letters():
    cache = rules()
    state = start_of(parse("d*x + b = 0"), cache)
    after, transform = take(Action("relabel"), None, state, cache)
    trace = Trace("d*x + b = 0", (Step("relabel", None, str(after.form), transform),))
    found = solution_data(trace, [])
    (line,) = found["lines"]
    assert line["step"] == 1 and line["words"] == OPERATIONS["relabel"].text
    assert plain(line["markup"]) == plain(found["start"]) == "dx+b=0"
    constant = next(term for term in after.lhs.args if not has_x(term))
    subtract = Action("sub", constant)
    there, _ = take(subtract, None, after, cache)
    step = Step("sub", str(subtract.term), str(there.form))
    lines = solution_data(Trace(trace.equation, (*trace.steps, step)), [])["lines"]
    assert [(each["step"], each["words"]) for each in lines] == [
        (1, OPERATIONS["relabel"].text), (2, "subtract b"),
    ]  # fmt: skip


def test_the_answer_is_in_its_simplest_form_with_the_number_beside_it(ask):
    found = ask("finish", "2^x = 8")
    assert plain(found["verdict"]["markup"]) == "x=3" and "log" in found["verdict"]["root"]
    root = ask("finish", "x^2 = 2")["verdict"]
    assert root["beside"] == "about 1.414214" and root["more"].startswith("2 roots")
    path = ask("finish", "2^x = 8")["path"]
    documents = ask("export", "2^x = 8", path)
    assert documents["text"].endswith("x = 3   (proved)") and "x = 3" in documents["latex"]
    assert Trace.from_json(documents["json"]).root == "log(8)/log(2)"


# ---- Roots, documents, formulas ----


@pytest.mark.slow
def test_all_roots_follow_from_the_steps_shown(ask):
    path = ask("finish", "x^3 = a")["path"]
    found = ask("roots", "x^3 = a", path)
    assert len(found["roots"]) == 3 and all(root["proved"] for root in found["roots"])
    assert found["count"] == "3 roots" and found["check"].startswith("complete")
    data = json.loads(found["json"])
    assert len(data["roots"]) == 3 and [step["op"] for step in data["trace"]["steps"]] == [
        "undo-power"
    ]
    again = ask("roots", "x^3 = a")  # from the agent's own steps, where none are shown
    assert again == found


@pytest.mark.slow
def test_an_equation_without_roots_says_why(ask):
    found = ask("roots", "exp(x) = 0")
    assert found["roots"] == [] and "exp" in found["why"]


def test_what_is_exported_can_be_replayed(ask):
    path = ask("finish", CUBIC)["path"]
    found = ask("export", CUBIC, path)
    trace = Trace.from_json(found["json"])
    assert len(trace.steps) == len(path) and trace.compare()
    assert found["latex"].startswith(r"\begin{align*}") and found["text"].endswith("(proved)")


WORDY = ("exp(x)*pi = a", "sqrt(x + a) = b", "sin(2*x) = a", "x^(1/3) + I = a", "a_1*x = lambda",
         "abs(x) = a", "E^x = x", "2^x = a*acos(b)", "sqrt(x) - 3 = -2")  # fmt: skip


@pytest.mark.parametrize("equation", WORDY)
def test_formulas_are_mathml_without_entities(ask, equation):
    found = ask("finish", equation)
    parts = [part for line in found["lines"] for part in (*line["said"], *line["where"])]
    lists = [found["start"], *(each["markup"] for each in (*found["lines"], *parts))]
    lists += [found["verdict"]["markup"]] if found["verdict"] else []
    assert len(lists) > 1
    for markup in [piece for pieces in lists for piece in pieces]:
        assert ET.fromstring(markup).tag.endswith("}math"), markup
        assert "&" not in markup.replace("&lt;", "").replace("&gt;", "")
        assert ">-" not in markup  # a hyphen


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


# ---- The command ----


def test_agents_are_those_named_or_those_that_are_here(tmp_path, monkeypatch):
    assert [*find_runs([])][0] == REFERENCE
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "mine").mkdir(parents=True)
    (tmp_path / "runs" / "mine" / "best.pt").touch()
    (tmp_path / "runs" / "unfinished").mkdir()
    assert [*find_runs([])] == [REFERENCE, "runs/mine"]
    assert find_runs(["runs/mine/"]) == {"runs/mine": tmp_path / "runs" / "mine"}
    with pytest.raises(RunError, match="no run 'runs/none'"):
        find_runs(["runs/none"])


@pytest.mark.parametrize("flags, why", [
    (["--run", "runs/none"], "no run"), (["--workers", "0"], "positive"),
    (["--port", "70000"], "a port"), (["--limit", "0"], "positive"),
])  # fmt: skip
def test_flags_that_make_no_sense_are_refused(flags, why, capsys):
    assert main(flags) == 2
    said = capsys.readouterr().err
    assert why in said and said.count("\n") == 1


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
