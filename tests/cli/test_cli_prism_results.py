"""Results in the files that PRISM writes with ``-exportresults``."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from galton.cli import app

MODEL = """
dtmc
const int N;
module walk
  x : [0..3];
  [] x<N -> 0.5 : (x'=x+1) + 0.5 : (x'=0);
  [] x>=N -> true;
endmodule
"""
PROPERTIES = """
const int k;
"certain": P>=1 [ F x=N ];
P=? [ F<=k x=1 & N>0 ];
"""
WANTED = {
    "": '"certain": P>=1 [ F x=N ]:\nN\tResult\n1\ttrue\n2\ttrue\n\n'
    "P=? [ F<=k x=1&N>0 ]:\nN\tk\tResult\n1\t0\t0\n1\t1\t0.5\n2\t0\t0\n2\t1\t0.5\n",
    ":csv": '"""certain"": P>=1 [ F x=N ]"\nN,Result\n1,true\n2,true\n\n'
    '"P=? [ F<=k x=1&N>0 ]"\nN,k,Result\n1,0,0\n1,1,0.5\n2,0,0\n2,1,0.5\n',
    ":matrix": '"certain": P>=1 [ F x=N ]:\nN:\n1\t2\ntrue\ttrue\n\n'
    "P=? [ F<=k x=1&N>0 ]:\nN\\k:\n\t0\t1\n1\t0\t0.5\n2\t0\t0.5\n",
    ":comment": '// RESULT (N=1): true\n// RESULT (N=2): true\n"certain": P>=1 [ F x=N ]\n\n'
    "// RESULT (N=1,k=0): 0\n// RESULT (N=1,k=1): 0.5\n// RESULT (N=2,k=0): 0\n// RESULT (N=2,k=1): 0.5\n"
    "P=? [ F<=k x=1&N>0 ]\n",
    ":dataframe": "Property,N,k,Result\ncertain,1,,true\ncertain,2,,true\n"
    "Property_2,1,0,0\nProperty_2,1,1,0.5\nProperty_2,2,0,0\nProperty_2,2,1,0.5\n",
}


@pytest.mark.parametrize("options", WANTED)
def test_results_are_written_as_prism_does(options: str, tmp_path: Path) -> None:
    model, properties, target = tmp_path / "walk.pm", tmp_path / "walk.props", tmp_path / "results.txt"
    model.write_text(MODEL)
    properties.write_text(PROPERTIES)
    line = ["prism", str(model), str(properties), "-const", "k=0:1,N=1:2", "-exportresults", f"{target}{options}"]
    found = CliRunner().invoke(app, line)
    assert found.exit_code == 0, found.output
    assert target.read_text() == WANTED[options]
