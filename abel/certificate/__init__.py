"""Proved roots as scripts for Coq, so that a kernel that is not ours checks them."""

from abel.certificate.command import main
from abel.certificate.kernel import check, find_coqc
from abel.certificate.reader import NotCovered
from abel.certificate.script import Script, export
from abel.certificate.statement import Claim, Denied

__all__ = ["Claim", "Denied", "NotCovered", "Script", "check", "export", "find_coqc", "main"]
