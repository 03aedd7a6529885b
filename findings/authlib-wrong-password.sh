#!/usr/bin/env bash
# Authlib 1.9.10: a wrong password at the password grant is `invalid_request`, not `invalid_grant`.
#
# Seen with Flask 3.1.2, by Flask's own test client: 400 {"error": "invalid_request"}. RFC 6749 §5.2 says
# `invalid_grant` for invalid credentials of the resource owner, and `invalid_request` for a malformed request. So a
# client takes a mistyped password for a fault of the app. Canaille 0.3.6 answers in the same way.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check authlib==1.9.10 flask==3.1.2

cat > program.py <<'PY'
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import ClientMixin
from authlib.oauth2.rfc6749.grants import ResourceOwnerPasswordCredentialsGrant
from flask import Flask


class App(ClientMixin):
    def get_client_id(self): return "app"
    def get_allowed_scope(self, scope): return scope
    def check_endpoint_auth_method(self, method, endpoint): return method == "none"
    def check_grant_type(self, grant_type): return grant_type == "password"


class Password(ResourceOwnerPasswordCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none"]
    def authenticate_user(self, username, password): return "ada" if password == "right" else None


web = Flask("web")
server = AuthorizationServer(web, query_client=lambda name: App(), save_token=lambda token, request: None)
server.register_grant(Password)
web.post("/token")(lambda: server.create_token_response())


def ask(password):
    answer = web.test_client().post("/token", data={
        "grant_type": "password", "client_id": "app", "username": "ada", "password": password,
        "scope": "read"})
    print(password, answer.status_code, answer.json.get("error", "a token"))
    return answer.status_code, answer.json.get("error")


assert ask("right") == (200, None)
assert ask("wrong") == (400, "invalid_request"), "a wrong password is another error now"
PY
AUTHLIB_INSECURE_TRANSPORT=1 venv/bin/python program.py 2> program.log || { tail -n 5 program.log; exit 1; }
