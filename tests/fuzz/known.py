"""Cases and campaigns that are known to fail until other work is merged; empty in the end."""

from __future__ import annotations

CASES: frozenset[str] = frozenset(
    """
    a_birth_death_process
    a_long_component_of_an_mdp_that_is_hard_to_leave
    a_long_component_that_is_hard_to_leave_1000
    a_long_component_that_is_hard_to_leave_120
    a_long_component_that_is_hard_to_leave_170
    a_long_component_that_is_hard_to_leave_200
    a_long_component_that_is_hard_to_leave_5000
    an_easy_mdp_that_was_refused
    long_run_averages_that_underflow
    one_minus_a_number_close_to_one
    rates_whose_product_overflows
    rates_whose_sum_overflows
    rows_that_do_not_sum_to_one
    steps_that_underflow
    steps_without_an_end
    strategies_that_have_to_wait
    strategies_where_the_graph_knows_the_value
    words_that_are_no_expressions
    """.split()  # noqa: SIM905
)
CAMPAIGNS: frozenset[str] = frozenset(
    ["bounded", "chains", "files", "language", "long-run", "mdps", "metastable", "misuse", "processes"]
)
