"""Writes the OpenAPI document to a file, of which the types of the console are made: `tools/openapi_file.py FILE`."""

from __future__ import annotations

import sys
from pathlib import Path

from layover.api.routes.document import encoded_document

if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(encoded_document())
