#!/usr/bin/env bash
# Two libraries read a `WWW-Authenticate` field with two challenges (RFC 9110 §11.6.1) as one challenge.
#
# Seen with Werkzeug 3.1.3 and the MCP SDK 2.3.0 for Python:
# - Werkzeug's `WWWAuthenticate.from_header` takes the first scheme. The scheme of the second challenge becomes a part of
#   a parameter's name: `Bearer error`. So a Flask client that looks for `error` finds no step-up (RFC 9470).
# - The MCP SDK looks for `name=` anywhere in the field: it finds the scope of another scheme, and of a parameter whose
#   name only ends with `scope`.
# So a server that offers Basic beside Bearer is safe only with clients that read the grammar.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check werkzeug==3.1.3 mcp==2.3.0 httpx==0.28.1

cat > program.py <<'PY'
import httpx
from mcp.client.auth.utils import extract_field_from_www_auth
from werkzeug.datastructures import WWWAuthenticate

field = 'Basic realm="notes", Bearer error="insufficient_user_authentication", max_age="300"'
read = WWWAuthenticate.from_header(field)
print("werkzeug:", read.type, dict(read.parameters))
for field in ('Newauth scope="a", Bearer scope="b"', 'Bearer former_scope="a", scope="b"'):
    response = httpx.Response(401, headers={"WWW-Authenticate": field})
    print("mcp:", extract_field_from_www_auth(response, "scope"))
PY
venv/bin/python program.py | tee seen
diff seen - << 'SEEN'
werkzeug: basic {'realm': 'notes', 'Bearer error': 'insufficient_user_authentication', 'max_age': '300'}
mcp: a
mcp: a
SEEN
