#!/usr/bin/env bash
# MCP SDK 2.3.0: the revocation of a public client is refused, unless it sends a secret that it does not have.
#
# Seen with fastmcp 4.2.3 and its provider in memory, by Starlette's own test client:
# - A client that was registered with `token_endpoint_auth_method` `none` gets tokens without a secret.
# - Its revocation (RFC 7009 §2.1) is a 400 `invalid_request`, "client_secret: Field required". The tokens live.
# - With an empty `client_secret` the same request is a 200, and the tokens are dead.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0

cat > program.py <<'PY'
import base64
import hashlib
from urllib.parse import parse_qs, urlparse

from fastmcp import FastMCP
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from starlette.testclient import TestClient

base = "http://127.0.0.1:8000"
provider = InMemoryOAuthProvider(
    base_url=base, client_registration_options=ClientRegistrationOptions(enabled=True),
    revocation_options=RevocationOptions(enabled=True))
server = TestClient(FastMCP("x", auth=provider).http_app(), base_url=base, follow_redirects=False)
back, verifier = "http://127.0.0.1/back", "v" * 50
client = server.post("/register", json={
    "redirect_uris": [back], "token_endpoint_auth_method": "none",
    "grant_types": ["authorization_code", "refresh_token"]}).json()
challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
page = server.get("/authorize", params={
    "client_id": client["client_id"], "redirect_uri": back, "response_type": "code",
    "code_challenge": challenge, "code_challenge_method": "S256"})
code = parse_qs(urlparse(page.headers["location"]).query)["code"][0]
own = {"client_id": client["client_id"]}
tokens = server.post("/token", data={
    **own, "grant_type": "authorization_code", "code": code, "redirect_uri": back,
    "code_verifier": verifier}).json()
assert not client.get("client_secret") and tokens["refresh_token"]


def revoke(token, **more):
    answer = server.post("/revoke", data={**own, "token": token, **more})
    print("revocation", more, answer.status_code, answer.text)
    return answer


def refresh(token):
    return server.post("/token", data={**own, "grant_type": "refresh_token", "refresh_token": token})


refused = revoke(tokens["refresh_token"])
alive = refresh(tokens["refresh_token"])
taken = revoke(alive.json()["refresh_token"], client_secret="")
dead = refresh(alive.json()["refresh_token"])
print("refresh after the first:", alive.status_code, "after the second:", dead.status_code, dead.text)
assert refused.status_code == 400 and "client_secret" in refused.text, "a public client can revoke now"
assert alive.status_code == 200 and taken.status_code == 200
assert dead.status_code == 401 and dead.json()["error"] == "invalid_grant"
PY
venv/bin/python program.py 2> program.log || { tail -n 5 program.log; exit 1; }
