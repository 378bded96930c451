"""Certificates verified, by a program of its own: no code of the solvers takes part.

What a certificate must satisfy, and why that proves its claim, is in :mod:`.conditions`; the arithmetic is in
:mod:`.numbers`. Of the rest of Galton only the language and the explorer are used, to get from the text to the model.
"""

from __future__ import annotations

from .certificate import Bound, Certificate, CertificateError, read_certificate
from .conditions import RefusedError
from .question import UncertifiableError

__all__ = ["Bound", "Certificate", "CertificateError", "RefusedError", "UncertifiableError", "read_certificate"]
