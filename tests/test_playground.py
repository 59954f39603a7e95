"""What the page shows is what the agent thinks, in letters and words for people."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from abel import Env, ParseError, Trace, parse
from abel.derive import rules, take
from abel.encode import ROLES, TOKENS
from abel.equation import has_x
from abel.learner.records import RunError
from abel.operations import OPERATIONS, Action
from abel.playground import Refused, Thinker, main
from abel.playground.agents import REFERENCE, find_runs
from abel.playground.shown import solution_data
from abel.playground.thinking import MOST_STEPS, UNTRAINED, positions
from abel.search import greedy
from abel.trace import Step
from abel.transitions import start_of
from tests.playing import CUBIC, HOSTILE, QUADRATIC, fixture_ask, fixture_thinker  # noqa: F401


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
