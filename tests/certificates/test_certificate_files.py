"""Files that nobody vouches for, and the command line."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from pathlib import Path

import pytest

import galton
from galton.verifier import Certificate, CertificateError, RefusedError, read_certificate

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
from command_line import DIE
from command_line import galton as command

PROP = "P=? [ F d=6 ]"


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    found = galton.check(DIE, PROP, certificate=True).certificate
    assert found is not None
    return found


def changed(certificate: Certificate, **parts: object) -> bytes:
    return json.dumps({**json.loads(certificate.encoded()), **parts}).encode()


def archive(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as found:
        for name, raw in members.items():
            found.writestr(name, raw)
    return packed.getvalue()


def test_what_is_written_is_read_again(certificate: Certificate, tmp_path: Path) -> None:
    file = tmp_path / "six.json"
    certificate.write(file)
    assert read_certificate(file, certificate.states).encoded() == certificate.encoded()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{}",
        b"[" * 200_000,
        b"\x80",
        b'{"format": NaN}',
        b"PK\x03\x04 and no more",
        b'{"version": ' + b"9" * 5000 + b"}",
        archive(),
        archive(**{"certificate.json": b"{}"}),
        archive(**{"certificate.json": b" " * (1 << 25)}),  # an archive of 30 kB
    ],
    ids=["empty", "object", "deep", "encoding", "nan", "no archive", "digits", "empty archive", "no format", "bomb"],
)
def test_a_file_that_is_no_certificate_is_told_as_such(raw: bytes, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(raw)
    with pytest.raises(CertificateError, match="is no certificate"):
        galton.verify(DIE, PROP, file)


def test_an_array_is_read_no_further_than_the_model_needs(certificate: Certificate, tmp_path: Path) -> None:
    data = json.loads(certificate.encoded())
    data["bounds"]["lower"]["values"] = "array"
    file = tmp_path / "bomb"
    for raw, message in ((b"\0" * (1 << 26), "more than 104 bytes"), (b"\0" * 8, "8 bytes for 13 states")):
        file.write_bytes(archive(**{"certificate.json": json.dumps(data).encode(), "lower.values.bin": raw}))
        with pytest.raises(CertificateError, match=message):
            galton.verify(DIE, PROP, file)


@pytest.mark.parametrize(
    "number", ["0x1p-99999999", "0x1p+2000000", "1e5", "nan", "-inf", 0.5, None, "0x" + "f" * 600_000 + "p0"]
)
def test_a_number_that_is_none_is_told_as_such(number: object, certificate: Certificate, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(changed(certificate, lower=number))
    with pytest.raises(CertificateError):
        galton.verify(DIE, PROP, file)


@pytest.mark.parametrize("part", ["values", "ranks"])
@pytest.mark.parametrize(
    "junk", [[], None, "array", {"0": 0}, [0] * 14, ["x"] * 13, [True] * 13, [-1] * 13, [10**30] * 13]
)
def test_lists_that_are_none_are_told_as_such(
    part: str, junk: object, certificate: Certificate, tmp_path: Path
) -> None:
    bounds = json.loads(certificate.encoded())["bounds"]
    bounds["lower"][part] = junk
    file = tmp_path / "file"
    file.write_bytes(changed(certificate, bounds=bounds))
    with pytest.raises(CertificateError):
        galton.verify(DIE, PROP, file)


def test_a_certificate_without_a_side_is_refused(certificate: Certificate, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(changed(certificate, bounds={}))
    with pytest.raises(RefusedError, match="no lower bounds"):
        galton.verify(DIE, PROP, file)


def test_the_command_line_verifies(tmp_path: Path) -> None:
    file = tmp_path / "six.json"
    assert command("check", DIE, "-p", PROP, "--certificate", file).code == 0
    found = command("verify", DIE, PROP, file)
    assert found.code == 0
    assert "verified: the value in the initial states lies in [0.1666" in found.out
    data = json.loads(file.read_text())
    data["lower"] = "0x3p-2"
    file.write_text(json.dumps(data))
    found = command("verify", DIE, PROP, file)
    assert found.code == 1
    assert "refused: initial state 0: the lower bound is 0.1666" in found.err
    data["bounds"]["lower"]["values"][0] = "0x3p-2"
    file.write_text(json.dumps(data))
    found = command("verify", DIE, PROP, file)
    assert found.code == 1
    assert (
        "refused: state 0 (node=0, d=0): lower bound: the drift of the bounds under choice 0 is not >= 0" in found.err
    )
    file.write_text("nothing")
    assert command("verify", DIE, PROP, file).code == 2
    assert command("verify", DIE, PROP, tmp_path / "none").code == 2
    assert command("verify", DIE, "P=? [ F", file).code == 2


def test_the_command_line_certifies_one_property(tmp_path: Path) -> None:
    file = tmp_path / "six.json"
    found = command("check", DIE, "-p", PROP, "-p", "P=? [ F d=5 ]", "--certificate", file)
    assert found.code == 2
    assert "a certificate belongs to one property" in found.err
    found = command("check", DIE, "-p", "filter(max, P=? [ F d=5 ])", "--certificate", file)
    assert found.code == 1
    assert "about one operator" in found.err
    assert not file.exists()


def test_constants_on_the_command_line(tmp_path: Path) -> None:
    file, model = tmp_path / "c.json", tmp_path / "m.prism"
    model.write_text("dtmc const double p; module m s : [0..2]; [] s=0 -> p:(s'=1) + 1-p:(s'=2); endmodule")
    asked = "const int k; P=? [ F s=k ]"
    assert command("check", model, "-c", "p=0.25,k=1", "-p", asked, "--certificate", file).code == 0
    assert command("verify", model, "-c", "p=0.25,k=1", asked, file).code == 0
    found = command("verify", model, "-c", "p=0.25,k=2", asked, file)
    assert found.code == 1
    assert "k=1" in found.err
    assert command("verify", model, "-c", "p=0.5,k=1", asked, file).code == 1


def test_the_example_of_the_docs_is_a_certificate(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "certificates.md").read_text()
    example = text.split("```json\n")[1].split("```")[0]
    file = tmp_path / "example.json"
    file.write_text(example)
    coin = "dtmc const double p = 0.25; module coin s : [0..2]; [] s=0 -> p:(s'=1) + 1-p:(s'=2); endmodule"
    found = galton.verify(galton.parse(coin), "P=? [ F s=2 ]", file)
    assert (found.lower, found.upper) == (0.75, 0.75)
