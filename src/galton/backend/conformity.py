"""That the modules of backends meet the protocols: for mypy, which compares every signature. Nobody imports this."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import protocol
    from .cpu import equations as cpu_equations
    from .cpu import explorer as cpu_explorer
    from .cpu import graph as cpu_graph
    from .cpu import long_run as cpu_long_run
    from .cpu import lumping as cpu_lumping
    from .cpu import regions as cpu_regions
    from .cpu import rows as cpu_rows
    from .cpu import steps as cpu_steps
    from .cuda import equations as cuda_equations
    from .cuda import explorer as cuda_explorer
    from .cuda import graph as cuda_graph
    from .cuda import long_run as cuda_long_run
    from .cuda import lumping as cuda_lumping
    from .cuda import regions as cuda_regions
    from .cuda import rows as cuda_rows
    from .cuda import steps as cuda_steps
    from .cuda.split import equations as split_equations
    from .cuda.split import long_run as split_long_run
    from .cuda.split import steps as split_steps
    from .reference import equations as reference_equations
    from .reference import explorer as reference_explorer
    from .reference import graph as reference_graph
    from .reference import long_run as reference_long_run
    from .reference import lumping as reference_lumping
    from .reference import regions as reference_regions
    from .reference import rows as reference_rows
    from .reference import steps as reference_steps

    cpu_explorer_meets: protocol.Explorer = cpu_explorer
    cuda_explorer_meets: protocol.Explorer = cuda_explorer
    reference_explorer_meets: protocol.Explorer = reference_explorer
    cpu_graph_meets: protocol.Graph = cpu_graph
    cuda_graph_meets: protocol.Graph = cuda_graph
    reference_graph_meets: protocol.Graph = reference_graph
    cpu_rows_meets: protocol.Rows = cpu_rows
    cuda_rows_meets: protocol.Rows = cuda_rows
    reference_rows_meets: protocol.Rows = reference_rows
    cpu_lumping_meets: protocol.Lumping = cpu_lumping
    cuda_lumping_meets: protocol.Lumping = cuda_lumping
    reference_lumping_meets: protocol.Lumping = reference_lumping
    cpu_equations_meets: protocol.Equations = cpu_equations
    cuda_equations_meets: protocol.Equations = cuda_equations
    split_equations_meets: protocol.Equations = split_equations
    reference_equations_meets: protocol.Equations = reference_equations
    cpu_steps_meets: protocol.Steps = cpu_steps
    cuda_steps_meets: protocol.Steps = cuda_steps
    split_steps_meets: protocol.Steps = split_steps
    reference_steps_meets: protocol.Steps = reference_steps
    cpu_long_run_meets: protocol.LongRun = cpu_long_run
    cuda_long_run_meets: protocol.LongRun = cuda_long_run
    split_long_run_meets: protocol.LongRun = split_long_run
    reference_long_run_meets: protocol.LongRun = reference_long_run
    cpu_regions_meets: protocol.Regions = cpu_regions
    cuda_regions_meets: protocol.Regions = cuda_regions
    reference_regions_meets: protocol.Regions = reference_regions
