"""``galton check``: answers about a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import telling
from .options import AsJson, Constants, Device, FixDeadlocks, MaxStates, Memory, ModelFile, Threads, at_least_one
from .workers import Workers, device_for_workers, opened


def check(
    context: typer.Context,
    model: ModelFile,
    properties: Annotated[
        Path | None,
        typer.Argument(metavar="[PROPERTIES]", help="A file of properties, as --props.", show_default=False),
    ] = None,
    const: Constants = None,
    prop: Annotated[
        list[str] | None,
        typer.Option("--prop", "-p", metavar="PROPERTY", help="A property, e.g. 'P=? [ F d=6 ]'.", show_default=False),
    ] = None,
    props: Annotated[
        Path | None, typer.Option("--props", metavar="FILE", help="A file of properties.", show_default=False)
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="Of the file, check only the property of this name, or of this number, counted from 1.",
            show_default=False,
        ),
    ] = None,
    automaton: Annotated[
        list[Path] | None,
        typer.Option(
            "--automaton",
            metavar="FILE",
            help="How likely is it that a deterministic automaton in the Hanoi format accepts? Its propositions are "
            'labels, or expressions such as "x>3".',
            show_default=False,
        ),
    ] = None,
    eps: Annotated[
        float,
        typer.Option(
            "--eps",
            help="How far the value may be from the truth: half the width of the bounds. At least 1e-13, if relative.",
        ),
    ] = 1e-6,
    relative: Annotated[
        bool, typer.Option("--relative/--absolute", help="Whether eps is a part of the value, or a number of its own.")
    ] = True,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="NAME",
            help="For unbounded paths, rewards and long-run averages, a method chosen by hand; most give no guarantee. "
            "Chains, their long-run averages included: jacobi, jor, gauss-seidel, backward-gauss-seidel, sor, power, "
            "bicgstab, gmres, direct. Unbounded questions about chains and MDPs: gauss-seidel, "
            "value-iteration, policy-iteration, and with a guarantee interval, optimistic, sound. Component by "
            "component: topological:NAME. For time bounds of CTMCs, with a guarantee: uniformisation (all states), "
            "adaptive-uniformisation (from the initial one) and rational-krylov (for stiff chains).",
            show_default=False,
        ),
    ] = None,
    omega: Annotated[
        float | None, typer.Option("--omega", help="The relaxation of JOR and SOR.", show_default=False)
    ] = None,
    max_iterations: Annotated[
        float | None,
        typer.Option(
            "--max-iterations",
            callback=at_least_one,
            help="Sweeps after which a method chosen by hand, or a long-run average, gives up.",
            show_default=False,
        ),
    ] = None,
    fair: Annotated[
        bool,
        typer.Option(
            "--fair",
            help="For MDPs, only strategies that take every choice of a state again and again, for as long as they "
            "come back to it.",
        ),
    ] = False,
    strategy: Annotated[
        Path | None,
        typer.Option(
            "--strategy",
            metavar="FILE",
            help="Write the best strategy of an MDP as JSON; for multi(…), a mixture of strategies with memory.",
            show_default=False,
        ),
    ] = None,
    apply: Annotated[
        Path | None,
        typer.Option(
            "--apply",
            metavar="FILE",
            help="Check the chain that a strategy makes of an MDP; FILE:2 is the second of several.",
            show_default=False,
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            "--certificate", metavar="FILE", help="Write what proves the answer, for galton verify.", show_default=False
        ),
    ] = None,
    counterexample: Annotated[
        bool,
        typer.Option(
            "--counterexample",
            help="Show why a bound on a probability is false, by the likeliest paths, or why A is false or E true.",
        ),
    ] = False,
    counterexample_file: Annotated[
        Path | None,
        typer.Option(
            "--counterexample-file",
            metavar="FILE",
            help="Write all paths of the counterexample to a file: .json, .csv.",
            show_default=False,
        ),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv",
            metavar="FILE",
            help="Write a table of all results; of a Pareto set, all corners.",
            show_default=False,
        ),
    ] = None,
    prism_results: Annotated[
        str | None,
        typer.Option(
            "--prism-results",
            metavar="FILE[:OPTIONS]",
            help="Write results, without bounds, as PRISM does: list, matrix, comment or dataframe, and csv.",
            show_default=False,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw results over a range, or a Pareto set of two or three objectives: .png, .pdf, .svg to print, "
            ".html to explore.",
            show_default=False,
        ),
    ] = None,
    plot_x: Annotated[
        str | None,
        typer.Option(
            "--plot-x",
            metavar="NAME",
            help="The constant to draw over; the first with a range if not given.",
            show_default=False,
        ),
    ] = None,
    plot_log: Annotated[
        str | None,
        typer.Option(
            "--plot-log",
            metavar="AXES",
            help="Logarithmic scales: y for the results, x for the constant, xy for both.",
            show_default=False,
        ),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Print what was done, and what each step cost.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Explore the whole model, also where the properties need less.")
    ] = False,
    slice: Annotated[
        bool,
        typer.Option(
            "--slice/--no-slice",
            help="Leave out variables and commands that no property depends on. Answers are the same.",
        ),
    ] = True,
    symmetry: Annotated[
        bool,
        typer.Option(
            "--symmetry/--no-symmetry",
            help="Explore one state of several that are alike, where processes can be exchanged or stand in a ring and "
            "no property is about one of them. Answers are the same.",
        ),
    ] = True,
    lump: Annotated[
        bool | None,
        typer.Option(
            "--lump/--no-lump",
            help="Make one state of those that behave alike, as far as the properties look. Without either it is done "
            "where it is likely to save time. Answers are the same.",
            show_default=False,
        ),
    ] = None,
    matrix_free: Annotated[
        bool | None,
        typer.Option(
            "--matrix-free/--no-matrix-free",
            help="On a device, keep states and no matrix: rows are computed anew in each sweep. For P [ F … ], "
            "P [ … U … ] and R [ F … ] of DTMCs and MDPs that are larger than its memory. Without either it is done "
            "where a model has more than 2147483647 states.",
            show_default=False,
        ),
    ] = None,
    device: Device = "auto",
    petsc_options: Annotated[
        str | None,
        typer.Option(
            "--petsc-options",
            metavar="OPTIONS",
            help="With --device mpi, options for PETSc, e.g. '-ksp_type gmres -pc_type asm'.",
            show_default=False,
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="DIRECTORY",
            help="With --device mpi, keep the model that was explored here, for --resume.",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume",
            metavar="DIRECTORY",
            help="With --device mpi, go on with what --checkpoint kept, with any number of ranks.",
            show_default=False,
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="On a device, the format of the matrix, where the one that suits it is not wanted: csr, csr-vector, "
            "ell, sliced, half-sliced, and for unbounded paths and rewards segmented. Not for long-run averages.",
            show_default=False,
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            "--order",
            metavar="NAME",
            help="On a device, how unknowns and states are numbered: canonical (by the values of variables, the "
            "default), bfs, rcm.",
            show_default=False,
        ),
    ] = None,
    single: Annotated[
        bool,
        typer.Option(
            "--single",
            help="On a device, sweep with vectors in single precision first, for unbounded paths and rewards: fewer "
            "bytes to move. Bounds are proved in double precision all the same. Step and time bounds make all steps in "
            "single precision; their bounds are proved, and wider. With jacobi, jor, sor and both ways of gauss-seidel "
            "all sweeps are in single precision.",
        ),
    ] = False,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Answer in fractions: those of the text, not of doubles. For models of up to some hundred thousand "
            "states; without bounds on time. No choice about methods, eps or devices goes with it.",
        ),
    ] = False,
    sim: Annotated[
        bool,
        typer.Option(
            "--sim",
            help="Answer by random paths: an estimate with a confidence, not a proof. Models need not be built, so "
            "they may be of any size.",
        ),
    ] = False,
    confidence: Annotated[
        float, typer.Option("--confidence", help="With --sim, how likely the answer has to be right.")
    ] = 0.95,
    width: Annotated[
        float | None,
        typer.Option(
            "--width",
            help="With --sim, how wide the interval may be: 0.01 if nothing is said, or a hundredth of the mean of a "
            "reward. For a threshold, how far around it either answer will do.",
            show_default=False,
        ),
    ] = None,
    paths: Annotated[
        int | None,
        typer.Option(
            "--paths", help="With --sim, how many paths, instead of what the width needs.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="With --sim, the seed: the same gives the same.")] = 0,
    path_length: Annotated[
        int,
        typer.Option(
            "--path-length",
            min=1,
            help="With --sim, steps after which a path is cut where nothing else ends it: it then counts for both ends "
            "of the interval.",
        ),
    ] = 10_000,
    threads: Threads = None,
    workers: Workers = None,
    max_states: MaxStates = None,
    memory: Memory = None,
    fix_deadlocks: FixDeadlocks = True,
    as_json: AsJson = False,
) -> None:
    """Check properties of a model. The exit code is 1 when one is false, undecided or could not be checked.

    A constant may run through a range, low:high or low:step:high: then there is a result for each of its values.

    \b
    Examples:
      galton check models/die.prism --prop 'P=? [ F d=6 ]'
      galton check models/die.prism --props models/die.props --const k=1:6 --csv dice.csv
      galton check models/consensus.prism -c N=2,K=2 -p 'Pmax=? [ F "finished" & "all_heads" ]' --strategy best.json
      galton check models/consensus.prism -c N=2,K=2 -p 'P=? [ F "finished" & "all_heads" ]' --apply best.json
      galton check models/consensus.prism -c N=2,K=2 -p 'Smax=? [ "all_heads" ]'
      galton check models/consensus.prism -c N=2,K=2 -p 'multi(Pmax=? [ F heads=2 ], R{"steps"}min=? [ F "finished" ])'
      galton check models/die.prism -p 'R{"tosses"}=? [ F "done" ]' --explain
      galton check models/consensus.prism -c N=2,K=2 -p 'Pmax=? [ (G F "all_heads") | (F G "finished") ]'
      galton check models/die.prism -p 'const int b; P=? [ F{"tosses"}<=b "done" ]' -c b=0:20
      galton check models/die.prism -p 'quantile(min b, P>=0.99 [ F{"tosses"}<=b "done" ])'
      galton check models/die.prism -p 'P=? [ F d=6 || F d>=4 ]'
      galton check models/die.prism -p 'P=? [ F d=6 ]' --certificate six.json
      galton check models/die.prism -p 'P=? [ F d=6 ]' --exact
      galton check models/die.prism -p 'P<=0.16 [ F d=6 ]' --counterexample
      galton check models/die.prism -p 'P=? [ F d=6 ]' --sim --confidence 0.99 --width 0.01
      galton check models/herman.prism -c N=3:2:11 -p 'R=? [ F "stable" ]' --workers processes:2
    """
    from .setting_up import set_up

    device = device_for_workers(workers, device)
    set_up(device)
    from ..lang import GaltonError
    from ..solve.settings import Settings
    from .run import Outputs, Run

    if sim or confidence != 0.95 or width or paths or seed or path_length != 10_000:
        from .estimates import refuse_beside_sim

        refuse_beside_sim(context, sim)
    if matrix_free is not False:
        from .beside import unfit_beside_matrix_free

        if option := unfit_beside_matrix_free(context):
            if matrix_free:
                raise GaltonError(f"--matrix-free has no use for {option}")
            matrix_free = False
    if not 0 < eps < 1:
        raise GaltonError(f"--eps must lie between 0 and 1, and this is {eps:g}")
    from .ranks import on_all_ranks, threads_of_rank

    threads = threads_of_rank(device, threads) if workers is None else threads or 1
    settings = Settings(
        eps=eps,
        relative=relative,
        method=method,
        omega=omega,
        max_iterations=None if max_iterations is None else int(min(max_iterations, 2**62)),
        threads=threads,
        format=format,
        order=order,
        single=single,
        fair=fair,
    )
    settings.check_eps()
    if plot_log not in (None, "x", "y", "xy"):
        raise GaltonError(f"--plot-log is x, y or xy, and not {plot_log}")
    if plot is None and (plot_x or plot_log):
        raise GaltonError(f"{'--plot-x' if plot_x else '--plot-log'} is about a picture; name its file with --plot")
    if exact:
        from dataclasses import replace

        from ..checking.exact.choices import device_for_exact, refuse_beside_exact

        sources = [context.get_parameter_source(name) for name in ("eps", "relative")]
        given = any(source is not None and source.name != "DEFAULT" for source in sources)
        device = device_for_exact(device, eps if given else None)
        refuse_beside_exact(
            settings,
            strategy=strategy is not None,
            certificate=certificate is not None,
            apply=apply is not None,
            counterexample=counterexample or counterexample_file is not None,
        )
        settings = replace(settings, exact=True)
    building = {
        "device": device,
        "threads": threads,
        "max_states": max_states,
        "memory": memory,
        "fix_deadlocks": fix_deadlocks,
    }
    outputs = Outputs(
        as_json=as_json,
        explain=explain or telling.verbose(),
        csv=csv,
        prism_results=prism_results,
        plot=plot,
        plot_x=plot_x,
        plot_log=plot_log,
        strategy=strategy,
        certificate=certificate,
        counterexample=counterexample,
        counterexample_file=counterexample_file,
    )
    if properties is not None and props is not None:
        raise GaltonError(f"properties come from one file, and here are two: {properties} and {props}")
    whole = full or certificate is not None
    run = Run(
        model,
        settings,
        building,
        outputs,
        full=whole,
        apply=apply,
        slice=slice,
        symmetry=symmetry,
        lump=lump,
        matrix_free=matrix_free,
    )
    if sim:
        from .estimates import estimating

        run = estimating(run, confidence, width, paths, seed, path_length)
    refused = {
        "--method": method,
        "--max-iterations": max_iterations,
        "--format": format,
        "--order": order,
        "--single": single,
        "--fair": fair,
        "--exact": exact,
        "--sim": sim,
        "--strategy": strategy,
        "--apply": apply,
        "--certificate": certificate,
        "--counterexample": counterexample or counterexample_file,
        "--automaton": automaton,
        "--lump": lump,
        "--no-fix-deadlocks": not fix_deadlocks,
    }
    with on_all_ranks(device, petsc_options=petsc_options, checkpoint=checkpoint, resume=resume, refused=refused):
        run.read(const or [], prop or [], props or properties, name or [], automaton or [])
        if workers is not None:
            run.check_shareable()
        with opened(workers) as run.executor:
            run.all()
    if run.code:
        raise typer.Exit(run.code)
