"""The second half of a script: the proof.

The proof goes through the parts of the root and the equation, the innermost first. Every radical,
function and divisor gets a variable v'1, v'2, ... and an equation K'i: v'i = N/D, where N is a
polynomial in letters and kernels, and D a product of what is known not to be 0. Coq's `field`
proves each of these equations with the rules of the kernels that are known so far.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import acb, fmpq, fmpq_mpoly

from abel.certificate.algebra import CONTEXT, GENS, POLY_ONE, Algebra, Atom, Form, Rule, raised
from abel.certificate.functions import angle, exponential, lambert, tangent
from abel.certificate.numbers import FUNCTIONS, ball
from abel.certificate.reader import NotCovered, Tree, tree
from abel.certificate.signs import Sign, add_sign, log_of_exponential, log_of_number, root_of_power
from abel.certificate.statement import ZERO, Statement, X, parts, sides_of

LEVELS = {"+": 50, "-": 50, "*": 40, "/": 40, "negate": 35, "power": 30}
Basis = tuple[str, tuple[int, ...], tuple[tuple[int, int], ...]]


class Prover:
    """One proof; `lines` is the script's text."""

    def __init__(self, statement: Statement, scales: dict[Basis, int]) -> None:
        self.statement = statement
        self.scales = scales  # into how many parts a summand in exp, sin or cos is divided
        self.algebra = Algebra()
        self.lines: list[str] = []
        self.counts: dict[str, int] = {}
        self.values: dict[Tree, Form] = {}
        self.cuts: dict[Tree, tuple[str, str]] = {}  # part: its variable, the equation for it
        self.kernels: dict[tuple, tuple] = {}
        self.inverses: dict[Tree, Form] = {}
        self.defined_by: dict[Tree, str] = {}  # the hypothesis v = sin(u) of a part
        self.signs: list[Sign] = []
        self.polys: dict[frozenset, fmpq_mpoly] = {}  # factors by their terms
        self.read: set[str] = set()  # hypotheses that signs have been taken from
        self.numbers: dict[int, acb] = {}  # kernels without letters: their values
        self.open: set[Tree] = set()  # parts that are worked on
        self.reading_signs = self.has_root = False
        self.exponents: dict[int, tuple[Form, str]] = {}  # of the kernels exp(t): t, and why
        self.nonzero = {
            condition.args[0]: f"H'{i}"
            for i, condition in enumerate(statement.hypotheses, 1)
            if condition.op == "!=" and condition.args[1] is ZERO
        }
        self.places = {"X'": set(parts(statement.root))} | {
            f"H'{i}": set(parts(*sides_of(condition)))
            for i, condition in enumerate(statement.hypotheses, 1)
        }
        for name in statement.letters:
            letter = tree("letter", value=name)
            self.values[letter] = Form(GENS[self.algebra.generator(letter_name(name))])

    # ---- Text ----

    def say(self, line: str) -> None:
        self.lines.append(line)

    def new(self, prefix: str) -> str:
        self.counts[prefix] = self.counts.get(prefix, 0) + 1
        return f"{prefix}'{self.counts[prefix]}"

    def text(self, node: Tree, whole: bool = False) -> str:
        """As Coq reads it; with `whole` nothing that has a variable is replaced by it."""
        return printed(node, {} if whole else {part: name for part, (name, _) in self.cuts.items()})

    def equations(self, *texts: str) -> list[str]:
        """The equations of the variables that stand in some texts."""
        words = set(" ".join(texts).replace("(", " ").replace(")", " ").split())
        return [fact for name, fact in self.cuts.values() if fact and name in words]

    def field(self) -> str:
        facts = [rule.name for rule in self.algebra.rules] + self.algebra.definitions
        return f"field [{' '.join(facts)}]; nonzero" if facts else "field; nonzero"

    def by_field(self, *texts: str, facts: tuple[str, ...] = ()) -> str:
        """A proof of an equation of expressions; `facts` are rewritten first."""
        facts = (*facts, *self.equations(*texts))
        return f"rewrite {', '.join(facts)}; {self.field()}" if facts else self.field()

    # ---- Values ----

    def value(self, node: Tree) -> Form:
        found = self.values.get(node)
        if found is None:
            self.open.add(node)
            found = self.values[node] = self.evaluate(node)
            self.open.remove(node)
        return found

    def evaluate(self, node: Tree) -> Form:
        algebra, op = self.algebra, node.op
        constant = node.rational
        if constant is not None:
            return algebra.constant(constant)
        if op == "root" or op in FUNCTIONS:
            return self.function(node)
        if op in ("I", "pi"):
            return self.named_constant(op)
        if op == "/":
            return algebra.times(self.value(node.args[0]), self.inverse(node.args[1]))
        if op == "power":
            exponent = int(node.value)  # type: ignore[arg-type]
            base = self.value(node.args[0]) if exponent > 0 else self.inverse(node.args[0])
            return algebra.power(base, abs(exponent))
        args = [self.value(arg) for arg in node.args]
        if op == "negate":
            return algebra.times(algebra.constant(-1), args[0])
        if op == "*":
            return algebra.times(*args)
        right = args[1] if op == "+" else algebra.times(algebra.constant(-1), args[1])
        return algebra.add(args[0], right)

    def named_constant(self, op: str) -> Form:
        i = self.algebra.generator(op)
        if op == "I":
            self.algebra.rules.append(Rule({i: 2}, CONTEXT.constant(-1), "I_law"))
        return Form(GENS[i])

    def cut(self, node: Tree, prefix: str) -> tuple[str, str, str]:
        """A variable for a part, the equation that defines it, and the part's text before."""
        text, name = self.text(node), self.new(prefix)
        definition = self.new("V")
        places = [place for place, inside in self.places.items() if node in inside]
        where = f" in {', '.join(places)} |- *" if places else ""
        self.say(f"remember ({text}) as {name} eqn:{definition}{where}.")
        self.cuts[node] = (name, "")
        self.defined_by[node] = definition
        return name, definition, text

    def name(self, prefix: str, text: str) -> tuple[str, str]:
        """A variable for something new, and the equation that defines it."""
        name, definition = self.new(prefix), self.new("V")
        self.say(f"call ({text}) {name} {definition}.")
        return name, definition

    def prove(self, goal: str, proof: str, prefix: str = "E") -> str:
        """An assertion; its name."""
        name = self.new(prefix)
        self.say(f"assert ({name} : {goal}) by ({proof}).")
        return name

    def known(self, node: Tree, name: str, form: Form, proof: str) -> Form:
        """The equation of a part's variable."""
        text = self.algebra.text(form)
        if text != name:
            self.cuts[node] = (name, self.prove(f"{name} = {text}", proof, "K"))
        return form

    # ---- Divisors ----

    def inverse(self, node: Tree) -> Form:
        """1 / node, which a hypothesis or a rule of numbers allows."""
        found = self.inverses.get(node)
        if found is not None:
            return found
        constant = node.rational
        if constant is not None:
            if not constant:
                raise NotCovered("a division by 0")
            return self.algebra.constant(1 / constant)
        form = self.value(node)
        if not form.num:
            raise NotCovered("a divisor is 0 for all letters")
        if node not in self.cuts and node.op != "letter":
            name, definition, text = self.cut(node, "q")
            self.known(node, name, form, f"rewrite {definition}; {self.by_field(text)}")
        if node in self.cuts:
            name, fact = self.cuts[node]
            equation = f"rewrite {fact}" if fact else "idtac"
            found = self.invert(form, f"apply {self.nonzero[node]}", equation)
            if len(form.num) > 1:
                proof = f"{equation}; {self.field()}"
                text = self.factored(form)
                self.cuts[node] = (name, self.prove(f"{name} = {text}", proof, "K"))
        else:
            found = self.invert(form, f"exact {self.nonzero[node]}", "")
        self.inverses[node] = found
        return found

    def factored(self, form: Form) -> str:
        """As a product of what is known not to be 0: `field` asks for no more than that."""
        content, factors = self.algebra.factors(form.num)
        atoms = [self.algebra.atom_of(poly) for poly, _ in factors]
        names = [raised(self.algebra.atoms[i].text, e) for i, (_, e) in zip(atoms, factors)]  # type: ignore[index]
        den = [raised(self.algebra.atoms[i].text, e) for i, e in form.den]
        num = " * ".join([f"({content.numerator})", *names])
        return f"{num} / ({' * '.join([str(content.denominator), *den])})"

    def invert(self, form: Form, zero: str, equation: str) -> Form:
        """1 / form; `zero` leads from False to a part = 0, and `equation` makes the form of it."""
        algebra = self.algebra
        content, factors = algebra.factors(form.num)
        den: dict[int, int] = {}
        for poly, e in factors:
            i = algebra.atom_of(poly)
            if i is None:
                i = self.atom(poly, form, zero, equation)
            den[i] = e
        num = algebra.product([algebra.atoms[i].poly ** e for i, e in form.den])
        return algebra.form(num / fmpq(content.numerator, content.denominator), den)

    def atom(self, poly: fmpq_mpoly, form: Form, zero: str, equation: str) -> int:
        """A factor of a divisor is not 0: else the divisor would be."""
        algebra = self.algebra
        name = text = algebra.poly_text(poly)
        if not equation:
            return self.not_0(poly, name, zero)
        if text not in algebra.names:
            name, definition = self.name("d", text)
            algebra.definitions.append(definition)
        rest = algebra.text(Form(divmod(form.num, poly)[0], form.den))
        proof = (f"intro Z; {zero}; transitivity (({rest}) * {name});"
                 f" [{equation}; {self.field()} | rewrite Z; {self.field()}]")  # fmt: skip
        return self.not_0(poly, name, proof)

    def not_0(self, poly: fmpq_mpoly, text: str, proof: str) -> int:
        fact = self.prove(f"{text} <> 0", proof, "Z")
        self.algebra.atoms.append(Atom(poly, text, fact))
        return len(self.algebra.atoms) - 1

    # ---- Functions ----

    def function(self, node: Tree) -> Form:
        value = self.value(node.args[0])
        if node.op in ("sin", "cos"):
            return angle(self, node, value)
        if node.op == "tan":
            return tangent(self, node)
        name, definition, text = self.cut(node, "v")
        if node.op == "root":
            form, proof = self.root(node, name, definition, value)
        elif node.op == "exp":
            form, proof = exponential(self, definition, node, value)
        else:
            form, proof = self.inverse_function(node, name, definition, value)
        return self.known(node, name, form, proof)

    def same_argument(self, key: tuple, definition: str, node: Tree) -> tuple[Form, str] | None:
        """What is known of the same function at an argument that is equal, but reads otherwise."""
        if key not in self.kernels:
            self.kernels[key] = (definition, node)
            return None
        first, other = self.kernels[key]
        name, fact = self.cuts[other]
        texts = [self.text(each.args[0]) for each in (node, other)]
        ways = [self.by_field(text) for text in texts]
        middle = self.algebra.text(self.values[node.args[0]])
        last = f"exact {fact}" if fact else "reflexivity"
        proof = (f"transitivity {name}; [rewrite {definition}, {first}; f_equal;"
                 f" (transitivity ({middle}); [{ways[0]} | symmetry; {ways[1]}]) |"
                 f" {last}]")  # fmt: skip
        return self.values[other], proof

    def root(self, node: Tree, name: str, definition: str, value: Form) -> tuple[Form, str]:
        order = int(node.value)  # type: ignore[arg-type]
        again = self.same_argument(("root", order, value.key), definition, node)
        if again is not None:
            return again
        if self.statement.real:
            found = root_of_power(self, node, order, name, definition, value)
            if found is not None:
                return found
        law = "sqrt" if order == 2 else "root"
        text = self.text(node.args[0])
        proof = (f"rewrite {definition}; transitivity ({text});"
                 f" [apply {law}_law; side | {self.by_field(text)}]")  # fmt: skip
        fact = self.prove(f"{name} ^ {order} = {self.algebra.text(value)}", proof, "P")
        form, proof = self.radical(name, order, value, fact)
        self.add_sign(form, name, f"rewrite {definition}; apply {law}_pos")
        if not node.names and not form.den:
            [c] = form.num.coeffs()
            self.numbers[len(self.algebra.names) - 1] = ball(node, {}) / c
        return form, proof

    def radical(self, name: str, order: int, value: Form, fact: str) -> tuple[Form, str]:
        """A variable of which a power is known: times what makes that power a polynomial.

        The form of the variable, and the proof of it.
        """
        algebra = self.algebra
        den = {i: -(-e // order) for i, e in value.den}
        scale = smallest_scale([int(c.q) for c in value.num.to_dict().values()], order)
        poly = algebra.over(value, {i: e * order for i, e in den.items()}) * scale**order
        if not den and scale == 1:
            self.algebra.rules.append(Rule({self.kernel(name): order}, poly, fact))
            return Form(GENS[len(algebra.names) - 1]), "reflexivity"
        unit = Form(POLY_ONE / scale, tuple(den.items()))
        powers = [f"{algebra.atoms[i].text} ^ {e}" for i, e in den.items()]
        factor = " * ".join([str(scale)] * (scale > 1) + powers)
        kernel, definition = self.name("w", f"{factor} * {name}")
        proof = (f"rewrite {definition}; transitivity (({factor}) ^ {order} * {name} ^ {order});"
                 f" [ring | rewrite {fact}; {self.field()}]")  # fmt: skip
        rule = self.prove(f"{kernel} ^ {order} = {algebra.poly_text(poly)}", proof, "R")
        i = self.kernel(kernel)
        algebra.rules.append(Rule({i: order}, poly, rule))
        return algebra.times(Form(GENS[i]), unit), f"rewrite {definition}; field; nonzero"

    def kernel(self, name: str) -> int:
        return self.algebra.generator(name)

    def inverse_function(
        self, node: Tree, name: str, definition: str, value: Form
    ) -> tuple[Form, str]:
        """log, asin, acos, atan, LambertW: what it undoes is looked up where it is needed."""
        again = self.same_argument((node.op, value.key), definition, node)
        if again is not None:
            return again
        if self.statement.real and node.op == "log":
            found = log_of_exponential(self, node, definition, value)
            found = found or log_of_number(self, node, definition)
            if found is not None:
                return found
        self.number_is_not_0(node)
        form = Form(GENS[self.kernel(name)])
        if node.op == "acos":
            self.add_sign(form, name, f"rewrite {definition}; apply acos_bound")
        self.kernels[("at", form.key)] = (node.op, definition, node)
        if node.op in ("lambert", "lower_lambert"):
            return lambert(self, node, name, definition, value)
        return form, "reflexivity"

    def number_is_not_0(self, node: Tree) -> None:
        """What must not be 0 for atan, log or lower_lambert, if it is a number: no hypothesis says
        so.
        """
        arg = node.args[0]
        if node.op == "atan":
            arg = tree("+", tree("number", value=Fraction(1)), tree("power", arg, value=2))
        value = arg.rational
        if value is None or node.op not in ("log", "atan", "lower_lambert") or self.statement.real:
            return
        text = self.text(arg)
        sign = "" if value > 0 else "- "
        proof = (f"intro Z; apply (characteristic_0 {abs(value.numerator)});"
                 f" transitivity ({sign}{value.denominator} * ({text}));"
                 f" [field | rewrite Z; ring]")  # fmt: skip
        self.prove(f"{text} <> 0 :> F", proof, "N")  # without the type it is about integers

    def add_sign(self, form: Form, text: str, proof: str) -> None:
        if self.statement.real:
            add_sign(self, form, text, proof)

    def conclusion(self, believe: bool) -> None:
        """The last step: both sides are the same."""
        lhs, rhs = (self.value(side) for side in self.statement.sides)
        algebra = self.algebra
        gap = algebra.add(lhs, algebra.times(algebra.constant(-1), rhs))
        if gap.num and not believe:
            raise NotCovered("the laws of the functions do not show that the sides are equal")
        texts = [self.text(side) for side in self.statement.sides]
        self.say(f"{self.by_field(*texts)}.")

    def write(self, believe: bool) -> str:
        root = self.value(self.statement.root)
        text = self.text(self.statement.root)
        self.values[X] = root
        fact = self.prove(f"x = {self.algebra.text(root)}",
                          f"rewrite X'; {self.by_field(text)}", "K")  # fmt: skip
        self.cuts[X] = ("x", fact)
        self.has_root = True
        self.conclusion(believe)
        return "\n".join(f"  {line}" for line in self.lines)


def smallest_scale(denominators: list[int], order: int) -> int:
    """A small number whose power is a multiple of all denominators."""
    left, scale, prime = math.lcm(1, *denominators), 1, 2
    while left > 1 and prime < 1000:
        exponent = 0
        while left % prime == 0:
            left, exponent = left // prime, exponent + 1
        scale *= prime ** -(-exponent // order)
        prime += 1
    return scale * left


# ---- Text ----

RESERVED = frozenset(
    """as at cofix else end exists exists2 fix for forall fun if IF in let match mod return then
    where with by using Prop Set SProp Type F zero one add mul sub opp div inv num sqrt root exp log
    sin cos tan asin acos atan lambert lower_lambert pi I ln PI R Z N""".split()
)


def letter_name(name: str) -> str:
    return f"letter'{name}" if name in RESERVED or name[0] == "_" else name


def printed(node: Tree, names: dict[Tree, str], level: int = 100) -> str:
    """A tree as Coq reads it, with variables for some of its parts."""
    if node in names:
        return names[node]
    op, args = node.op, node.args
    if op == "letter":
        return letter_name(str(node.value))
    if op == "number":
        value = Fraction(node.value)  # type: ignore[arg-type]
        text = str(value.numerator)
        return text if value.denominator == 1 else f"({text} / {value.denominator})"
    if op in ("I", "pi"):
        return op
    if op not in LEVELS:
        name = (
            "sqrt"
            if (op, node.value) == ("root", 2)
            else f"root {node.value}"
            if op == "root"
            else op
        )
        inner = printed(args[0], names, 9)
        return bracketed(f"{name} {inner}", level < 10)
    own = LEVELS[op]
    if op == "power":
        exponent = int(node.value)  # type: ignore[arg-type]
        text = f"{printed(args[0], names, own - 1)} ^ {abs(exponent)}"
        if exponent < 0:
            text, own = f"1 / {text}", 40
    elif op == "negate":
        text = f"- {printed(args[0], names, own)}"
    else:
        text = f"{printed(args[0], names, own)} {op} {printed(args[1], names, own - 1)}"
    return bracketed(text, level < own)


def bracketed(text: str, needed: bool) -> str:
    return f"({text})" if needed else text
