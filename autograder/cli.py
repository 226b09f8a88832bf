"""The ``course`` command."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column, Table

from autograder.errors import CourseError
from autograder.texts import printable

FINE, LOOK, FAILED = 0, 1, 2
CORES = os.cpu_count() or 1

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Build, solve and grade the course. Ends with 0 when all is fine, 1 when "
    "something needs a look, 2 when it could not run.",
)
out = Console(highlight=False, emoji=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)

Class = Annotated[Path, typer.Option("--class", help="The class folder.")]
Assignment = Annotated[
    str | None,
    typer.Option(help="The assignment, if the class has more than one."),
]
Students = Annotated[
    Path | None, typer.Option(help="A roster: a CSV file with ids and names.")
]
Mine = Annotated[
    Path | None,
    typer.Option("--with", help="Your own pieces, collected by `course mine`."),
]
Workers = Annotated[int, typer.Option(min=1, help="How many grade at the same time.")]
Database = Annotated[
    str | None,
    typer.Option(
        "--db",
        help="Keep the gradebook in PostgreSQL: postgresql://user@host/name. "
        "The class remembers it.",
    ),
]


@app.command()
def book() -> None:
    """Build the web book into _build/html, warnings as errors."""
    from autograder.project import build_book

    with spinner("Building the book") as say:
        page = build_book(on_line=say)
    out.print(f"The book: {page}")


@app.command()
def release(
    exercise: Annotated[str, typer.Argument(help="Such as 01-self-attention.")],
    folder: Class,
    due: Annotated[datetime | None, typer.Option(help="When it is due, UTC.")] = None,
    db: Database = None,
) -> None:
    """Release an exercise into a class folder, which is made if it is not there."""
    from autograder.classroom import Classroom
    from autograder.exercise import find_exercise

    found = find_exercise(exercise)
    with spinner(f"Releasing {exercise}"):
        path = Classroom.create(folder, db).release(found, due)
    out.print(f"For your students: {path}")
    out.print(f"They hand in to: {folder}/submitted/STUDENT/{exercise}/{path.name}")


@app.command()
def collect(
    source: Annotated[
        Path, typer.Argument(help="A folder, a zip, or what Canvas or Moodle gives.")
    ],
    folder: Class,
    assignment: Assignment = None,
    students: Students = None,
) -> None:
    """Put each student's newest attempt into submitted/; list what is refused."""
    from autograder.classroom import Classroom
    from autograder.collect import collect as collect_all
    from autograder.roster import read_roster
    from autograder.texts import printable

    classroom = Classroom.open(folder)
    name = classroom.one_assignment(assignment)
    roster = read_roster(students) if students else None
    with spinner(f"Collecting {source}"):
        report = collect_all(classroom, name, source, roster)
    if report.around:
        around = "/".join(report.around)
        out.print(printable(f"around all submissions: {around}/"), markup=False)
    for student, called in sorted(report.derived.items()):
        out.print(printable(f"{called} is {student}"), markup=False)
    for one in report.refused:
        out.print(printable(f"refused: {one.what}: {one.why}"), markup=False)
    if report.older:
        out.print(f"left out, of older attempts: {len(report.older)}")
    out.print(
        f"{len(report.new)} collected, {len(report.unchanged)} unchanged, "
        f"{len(report.refused)} refused: {classroom.root / 'submitted'}"
    )
    raise typer.Exit(LOOK if report.refused else FINE)


@app.command()
def check(
    notebook: Annotated[Path, typer.Argument(help="Your notebook.")],
    seconds: Annotated[int, typer.Option(help="The time limit of a cell.")] = 120,
    mine: Mine = None,
) -> None:
    """Run the visible checks of your notebook, and show the points of each."""
    from autograder.check import check_notebook

    with spinner(f"Running {notebook.name}"):
        verdicts = check_notebook(notebook, seconds, mine)
    for verdict in verdicts:
        mark = "[green]yes[/]" if verdict.passed else "[red]NO [/]"
        out.print(f"{mark} {verdict.points:4g}  {verdict.name}")
        if not verdict.passed:
            out.print(indented(verdict.report), markup=False)
    reached = sum(v.points for v in verdicts if v.passed)
    out.print(f"{reached:g} of {sum(v.points for v in verdicts):g} points so far.")
    out.print("Hidden checks and your written answer count when you hand in.")
    raise typer.Exit(FINE if all(v.passed for v in verdicts) else LOOK)


@app.command()
def mine(
    notebooks: Annotated[
        list[Path], typer.Argument(help="Your notebooks, or folders of them.")
    ],
    to: Annotated[Path, typer.Option(help="Where to put your pieces.")] = Path("mine"),
) -> None:
    """Collect your solved pieces into a package, to build and train models with it."""
    from autograder.mine import harvest

    pieces = harvest(notebooks, to)
    for piece in pieces:
        origin = f"yours, from {piece.notebook}" if piece.notebook else "the reference"
        out.print(f"{piece.module}.{piece.name}: {origin}", markup=False)
    own = sum(piece.notebook is not None for piece in pieces)
    out.print(f"{own} of {len(pieces)} pieces are yours: {to}")


@app.command()
def train(
    model: Annotated[str, typer.Argument(help="What to train; `list` names all.")],
    mine: Mine = None,
    steps: Annotated[
        int, typer.Option(min=1, help="Steps of training of the translator.")
    ] = 300,
    preset: Annotated[str, typer.Option(help="How large: cpu or gpu.")] = "cpu",
    seed: Annotated[int, typer.Option(help="Where chance begins.")] = 0,
    control: Annotated[
        bool, typer.Option(help="Leave out what the training is about.")
    ] = False,
    sharded: Annotated[
        bool, typer.Option(help="Share out the weights among torchrun's processes.")
    ] = False,
    folder: Annotated[
        Path | None,
        typer.Option(help="Where checkpoints are kept. [trained/MODEL-...]"),
    ] = None,
) -> None:
    """Train a model of the course; a stopped run goes on where it was."""
    if model == "list":
        list_models()
    elif model == "translator":
        show_translator(mine, steps)
    else:
        place = folder or run_folder(
            Path("trained"), model, preset, seed, control, mine
        )
        show_training(model, preset, place, seed, control, sharded, mine)


def run_folder(base, model, preset, seed, control, mine=None) -> Path:
    """Name the folder of a training, so that no two share one."""
    words = [model, preset, str(seed), *["control"] * control]
    return base / "-".join([*words, *([mine.name] if mine else [])])


def list_models() -> None:
    """Print what can be trained, and what is measured."""
    from solutions.recipes import RECIPES

    out.print("translator  Chapter 09: numbers, from English into Korean")
    for name, recipe in RECIPES.items():
        low, high = recipe.band
        out.print(
            f"{name:11} {recipe.title}; {recipe.metric} {low:g} to {high:g}",
            markup=False,
        )


def show_training(
    model, preset, folder: Path, seed, control, sharded, mine=None
) -> None:
    """Train a model of chapters 11 to 14 with a progress bar, and say what came."""
    from autograder.train import is_first, train_model
    from solutions.recipes import RECIPES

    with grading_bar() as bar:
        recipe = RECIPES.get(model)
        sizes = recipe.presets.get(preset) if recipe else None
        task = bar.add_task(f"Training {model}", total=sizes.steps if sizes else None)

        def on_step(step: int, loss: float) -> None:
            bar.update(task, completed=step, description=f"{model}: loss {loss:.3f}")

        result = train_model(
            model, preset, folder, seed, control, sharded, on_step, mine
        )
    if not is_first():
        return
    for asked, said in result.samples:
        out.print(f"{asked} -> {said}", markup=False)
    low, high = recipe.control_band if control else recipe.band
    out.print(f"{recipe.metric}: {result.value:.4g} (expected {low:g} to {high:g})")
    out.print(f"{result.seconds:.0f} s; all of it is in {folder}", markup=False)


def show_translator(mine: Path | None, steps: int) -> None:
    """Train chapter 09's translator with a progress bar, and say what came of it."""
    from autograder.train import train_translator

    with grading_bar() as bar:
        task = bar.add_task("Training the translator", total=steps)
        found = train_translator(
            mine, steps, lambda step: bar.update(task, completed=step)
        )
    for asked, said in found.samples:
        out.print(f"{asked} = {said}", markup=False)
    out.print(f"{found.exact_match:.1%} of unseen numbers without a mistake")
    if mine:
        out.print(f"This model is yours: {len(found.own)} of its pieces are your own.")
        borrowed = ", ".join(found.borrowed)
        out.print(f"From the reference: {borrowed or 'nothing'}", markup=False)


@app.command()
def showcase(
    mine: Annotated[
        Path, typer.Option("--with", help="Your own pieces, from `course mine`.")
    ],
    models: Annotated[
        list[str] | None, typer.Argument(help="Which; bert, gpt2 and t5 without.")
    ] = None,
    folder: Annotated[Path, typer.Option(help="Where the page goes.")] = Path(
        "my-models"
    ),
) -> None:
    """Train models from your own pieces, check them, and write a page to show."""
    from autograder.showcase import MODELS, write_showcase

    with spinner("Your models") as say:
        path = write_showcase(mine, tuple(models or MODELS), folder, say)
    out.print(f"{path}: your models, to show", markup=False)


@app.command()
def load(
    folder: Annotated[Path, typer.Argument(help="config.json and .safetensors files.")],
) -> None:
    """Load a published model into the course's own, and count its parameters."""
    from solutions.model_card import parameters
    from solutions.pretrained import load_model

    try:
        with spinner(f"Loading {folder}"):
            model = load_model(folder)
    except ValueError as error:
        raise CourseError(str(error)) from error
    for part, count in parameters(model.config).items():
        out.print(f"{part:14} {count:15,}")
    out.print("Every weight has its place, and none is left over.")


@app.command()
def grade(
    folder: Class,
    assignment: Assignment = None,
    student: Annotated[
        list[str] | None, typer.Option(help="Grade this student; may be repeated.")
    ] = None,
    workers: Workers = CORES,
    again: Annotated[bool, typer.Option(help="Grade unchanged work too.")] = False,
    trust: Annotated[
        bool, typer.Option(help="Grade even where answers cannot be walled in.")
    ] = False,
    db: Database = None,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Grade on a Dask cluster: tcp://host:8786."),
    ] = None,
) -> None:
    """Grade what lies in submitted/; write grades.csv and a status line for each."""
    from autograder.classroom import Classroom
    from autograder.doctor import require_jail

    classroom = Classroom.open(folder, db)
    name = classroom.one_assignment(assignment)
    if scheduler:
        from autograder.cluster import Cluster

        with Cluster(scheduler, classroom, trust) as crew:
            results = run_grading(classroom, name, student, workers, again, crew)
    else:
        with spinner("Starting the fork server"):
            require_jail(trust)
        results = run_grading(classroom, name, student, workers, again)
    raise typer.Exit(LOOK if any(r.status != "graded" for r in results) else FINE)


@app.command()
def feedback(folder: Class, assignment: Assignment = None) -> None:
    """Write one page for each submission into feedback/."""
    from autograder.classroom import Classroom
    from autograder.feedback import write_feedback

    classroom = Classroom.open(folder)
    pages = write_feedback(classroom, classroom.one_assignment(assignment))
    out.print(f"{len(pages)} pages of feedback: {classroom.root / 'feedback'}")


@app.command()
def report(folder: Class, assignment: Assignment = None) -> None:
    """Write a page about the class: scores, hard checks, what it gets wrong."""
    from autograder.classroom import Classroom
    from autograder.report import write_report

    classroom = Classroom.open(folder)
    page = write_report(classroom, classroom.one_assignment(assignment))
    out.print(f"The class report: {page}")


@app.command()
def export(
    lms: Annotated[
        Literal["canvas", "moodle"], typer.Argument(help="Whose import it is for.")
    ],
    folder: Class,
    assignment: Assignment = None,
    students: Students = None,
) -> None:
    """Write a CSV file of the marks that the import of Canvas or Moodle accepts."""
    from autograder.classroom import Classroom
    from autograder.export import export as export_all
    from autograder.roster import read_roster

    classroom = Classroom.open(folder)
    roster = read_roster(students) if students else None
    made = export_all(classroom, classroom.one_assignment(assignment), lms, roster)
    for note in made.notes:
        out.print(note, markup=False)
    out.print(f"{made.count} marks: {made.path}")
    raise typer.Exit(LOOK if made.notes else FINE)


@app.command()
def demo(
    folder: Annotated[
        Path, typer.Option("--class", help="Where to make the class.")
    ] = Path("_build/demo-class"),
    exercise: Annotated[str, typer.Option(help="The exercise.")] = "01-self-attention",
    students: Annotated[
        int | None,
        typer.Option(min=1, max=10_000, help="How many learners; else about forty."),
    ] = None,
    workers: Workers = CORES,
    db: Database = None,
) -> None:
    """Make a class of learners of every kind, and grade it."""
    from autograder.classroom import Classroom
    from autograder.demo import DUE, make_class
    from autograder.exercise import find_exercise
    from autograder.feedback import write_feedback
    from autograder.report import write_report

    found = find_exercise(exercise)
    classroom = Classroom.create(folder, db)
    with spinner("Making the class"):
        classroom.release(found, DUE)
        learners = make_class(classroom, found, students)
    out.print(f"{len(learners)} learners hand in: {classroom.root / 'submitted'}")
    run_grading(classroom, exercise, None, workers, again=False)
    with spinner("Writing feedback and the report"):
        write_feedback(classroom, exercise)
        page = write_report(classroom, exercise)
    out.print(f"Feedback: {classroom.root / 'feedback'}")
    out.print(f"The class report: {page}")


@app.command()
def doctor() -> None:
    """Say which protections hold on this machine, and what each means."""
    from autograder.doctor import examine

    with spinner("Starting a jail and looking out of it"):
        findings = examine()
    for finding in findings:
        mark = "[green]yes[/]" if finding.holds else "[red]NO [/]"
        reason = f" ({finding.reason})" if finding.reason else ""
        out.print(f"{mark}  {finding.meaning}{reason}")
    raise typer.Exit(FINE if all(finding.holds for finding in findings) else LOOK)


@app.command()
def cases(
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only cases whose id begins so; may be repeated."),
    ] = None,
) -> None:
    """Grade hostile and broken submissions, and say whether each comes out right."""
    from autograder.cases import run_cases

    with spinner("Running the tests") as say:
        found = run_cases(only or [], on_case=say)
    first = Column("id", no_wrap=True, overflow="fold")
    table = Table(first, "what is handed in", "what is right", "held", box=SIMPLE)
    for one in found:
        held = "yes" if one.held else f"NO: {one.why}"
        table.add_row(*map(escape, (one.id, one.handed_in, one.right, held)))
    out.print(table, soft_wrap=False)
    failed = sum(not one.held for one in found)
    out.print(f"{len(found) - failed} of {len(found)} cases hold.")
    raise typer.Exit(LOOK if failed else FINE)


bench = typer.Typer(no_args_is_help=True, help="Measure, against something else.")
app.add_typer(bench, name="bench")


@bench.command("grade")
def bench_grade(
    students: Annotated[int, typer.Option(min=1, help="How many submissions.")] = 8,
    workers: Workers = CORES,
) -> None:
    """Measure grading against stock nbgrader, on the same submissions."""
    from autograder.bench import bench as measure

    with spinner("Grading the same class again and again"):
        stock, *ours = measure(students, workers)
    out.print(f"{students} submissions of 01-self-attention")
    for one in (stock, *ours):
        each, ratio = one.seconds / students, stock.seconds / one.seconds
        out.print(
            f"{one.name:24} {each:5.2f} s each, {ratio:4.1f} x stock; once started "
            f"{one.running:5.2f} s, {stock.running / one.running:4.1f} x"
        )
    for one in ours:
        share = one.computing / one.median
        gain = ours[0].running / one.running / one.workers
        out.print(
            f"{one.name:24} {one.median:5.2f} s by itself (median), "
            f"{one.computing:.2f} of it the answers' own computing ({share:.0%}); "
            f"efficiency {gain:.0%}"
        )
    same = all(one.marks == stock.marks for one in ours)
    out.print(f"marks equal, cell by cell: {'yes' if same else 'NO'}")
    raise typer.Exit(FINE if same else LOOK)


@bench.command("speed")
def bench_speed() -> None:
    """Time GPT-2 beside transformers and a plain loop, doing the same."""
    from solutions.speed import peak_flops, speed_rows, written

    with spinner("Doing the same three ways, by turns"):
        rows, peak = speed_rows(), peak_flops()
    out.print(written(rows, peak), markup=False)


@bench.command("train")
def bench_train(
    models: Annotated[
        list[str] | None, typer.Argument(help="Which; all of them without.")
    ] = None,
    preset: Annotated[str, typer.Option(help="How large: cpu or gpu.")] = "cpu",
    seeds: Annotated[int, typer.Option(help="How often, from seed 0 on.", min=1)] = 1,
    folder: Annotated[Path, typer.Option(help="Where checkpoints are kept.")] = Path(
        "trained"
    ),
) -> None:
    """Train every model and its control; print what was measured beside what must be.

    What has been trained in the folder is not trained again. With several seeds the
    least and the most are shown.
    """
    from solutions.recipes import RECIPES

    fine = True
    for model, control in product(models or RECIPES, (False, True)):
        results = train_seeds(model, preset, seeds, folder, control)
        recipe = RECIPES[model]
        low, high = recipe.control_band if control else recipe.band
        values = sorted(result.value for result in results)
        held = low <= values[0] and values[-1] <= high
        fine = fine and held
        label = f"without: {recipe.control}" if control else recipe.metric
        ends = sorted({values[0], values[-1]})
        shown = " to ".join(f"{value:.3g}" for value in ends)
        seconds = sum(result.seconds for result in results) / seeds
        out.print(
            f"{model:11} {shown:>16}  {low:g} to {high:g} "
            f"{'held  ' if held else 'NOT HELD'} {seconds:5.0f} s  {label}",
            markup=False,
        )
    raise typer.Exit(FINE if fine else LOOK)


def train_seeds(model: str, preset: str, seeds: int, folder: Path, control: bool):
    """Train a model, or its control, once for each seed, and give the results."""
    from autograder.train import train_model

    results = []
    for seed in range(seeds):
        place = run_folder(folder, model, preset, seed, control)
        with spinner(f"Training {model}{' (control)' * control}, seed {seed}") as say:
            told = lambda step, loss, say=say: say(f"step {step}, {loss:.3f}")
            results.append(
                train_model(model, preset, place, seed, control, on_step=told)
            )
    return results


@bench.command("parity")
def bench_parity() -> None:
    """Hold every family of models against transformers, on the same weights."""
    from solutions.parity import LIMIT, parity_rows

    table = Table("family", "held against", box=SIMPLE)
    for name in ("logits", "hidden states", "gradients"):
        table.add_column(name, justify="right")
    worst = 0.0
    with spinner("Running every family beside its reference"):
        for row in parity_rows():
            gaps = row.logits, row.states, row.gradients
            worst = max(worst, *(gap for gap in gaps if gap is not None))
            shown = ("-" if gap is None else f"{gap:.1e}" for gap in gaps)
            table.add_row(row.family, row.kind, *shown)
    out.print(table, soft_wrap=False)
    verdict = "below" if worst < LIMIT else "NOT below"
    out.print(f"The largest difference is {worst:.1e}, {verdict} {LIMIT:.0e}.")
    raise typer.Exit(FINE if worst < LIMIT else LOOK)


def run_grading(
    classroom, assignment: str, students, workers: int, again: bool, crew=None
):
    """Grade with a progress bar, say what came of it, and give the results."""
    from autograder.grade import grade as grade_all

    count = len(students or classroom.students(assignment))
    with grading_bar() as bar:
        task = bar.add_task(f"Grading {assignment}", total=count)
        results = grade_all(
            classroom,
            assignment,
            students=students,
            workers=workers,
            again=again,
            on_done=lambda result: bar.advance(task),
            crew=crew,
        )
        bar.update(task, completed=count)
    for result in results:
        if result.status != "graded":
            why = " ".join((result.why or "; ".join(result.notes)).split("\n"))
            told = printable(f"{result.student}: {result.status}: {why}")
            out.print(told, markup=False)
    out.print(f"{len(results)} graded: {classroom.root / 'grades.csv'}")
    return results


def grading_bar() -> Progress:
    """Make a progress bar with an estimate of what is left."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    return Progress(*columns, TimeRemainingColumn(), console=err)


@contextmanager
def spinner(text: str) -> Iterator:
    """Show that something is going on; give a function that shows a line beside it."""
    columns = SpinnerColumn(), TextColumn("{task.description}")
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(text)
        yield lambda line: bar.update(task, description=f"{text}: {line[:60]}")


def indented(text: str) -> str:
    """Move a text four places to the right."""
    return "\n".join(f"    {line}" for line in text.splitlines())


def main() -> None:
    """Run the command; a mistake of the user's ends in one line and exit code 2."""
    try:
        app()
    except CourseError as error:
        err.print(f"course: {error}", markup=False)
        sys.exit(FAILED)
    except KeyboardInterrupt:
        err.print("course: stopped. Run it again to go on.")
        sys.exit(FAILED)
    except OSError as error:
        if os.environ.get("COURSE_DEBUG"):
            raise
        err.print(f"course: {error}. Mend that, and run it again.", markup=False)
        sys.exit(FAILED)


if __name__ == "__main__":
    main()
