"""`python -m abel`: what commands there are."""

COMMANDS = {
    "train_ppo": "train an agent",
    "evaluate": "decode with a trained agent, solve single equations, write reports",
    "abel.playground": "a page to watch the agent think, and to steer it",
    "abel.answers": "count how rational roots of stored results are printed",
    "abel.trace": "replay a stored solution and prove its root again",
    "abel.certificate": "a solution as a script that the kernel of Coq checks",
    "abel.datasets": "generate and check the datasets",
    "abel.wild": "the families of open_wild and who solves them",
    "abel.picov": "train and evaluate the paper's generator of substitutions",
    "abel.cohort": "a table of runs from one file",
    "abel.analysis.controls": "what A* finds with as many transitions as a training had",
    "abel.analysis.derivations": "what the seeds of a cohort derived, and when",
    "abel.stats": "compare two results with an exact test",
    "abel.paper.criterion": "a training under the paper's check: its claims, and its roots",
    "abel.soundness": "the paper's published traces, replayed",
    "abel.report": "stored reports as one page",
    "abel.charts": "a figure from training runs",
    "abel.diagram": "the network, or the module graph, as a figure",
    "abel.bench": "speed, and the audit of the solving criterion",
}


def main() -> None:
    width = max(map(len, COMMANDS))
    print("python -m COMMAND [--help], where COMMAND is one of\n")
    print("\n".join(f"    {name:{width}}  {about}" for name, about in COMMANDS.items()))


if __name__ == "__main__":
    main()
