#!/usr/bin/env bash
# django-oauth-toolkit 3.4.1: a scope that is named at one refresh narrows the grant permanently.
#
# Seen with Django 5.2.19 and oauthlib 3.3.1, by Django's own test client, with rotation (the default):
# - A login with `read write`, then a refresh with `scope=read`: the new access token has `read`.
# - The next refresh, without a scope, has `read` again, and one with `read write` is a 400 `invalid_scope`.
# RFC 6749 §6 says that a new refresh token has the scope of the one that was sent. So a client must name no scope
# at a refresh if it may want the others again. Only another login gets them.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check \
  django==5.2.19 django-oauth-toolkit==3.4.1 oauthlib==3.3.1

cat > program.py <<'PY'
import django
from django.conf import settings

settings.configure(
    SECRET_KEY="-" * 50, ALLOWED_HOSTS=["*"], ROOT_URLCONF="__main__", USE_TZ=True,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "oauth2_provider"],
    OAUTH2_PROVIDER={"SCOPES": {"read": "r", "write": "w"}})
django.setup()
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import include, path
from oauth2_provider.models import Application

urlpatterns = [path("o/", include("oauth2_provider.urls", namespace="oauth2_provider"))]
call_command("migrate", verbosity=0)
User.objects.create_user("ada", password="a password for ada")
Application.objects.create(
    client_id="app", client_type="public", authorization_grant_type="password")


def ask(**fields):
    answer = Client().post("/o/token/", {"client_id": "app", **fields})
    body = answer.json()
    print(answer.status_code, body.get("scope") or body, "for scope", fields.get("scope"))
    return answer.status_code, body


_, login = ask(grant_type="password", username="ada", password="a password for ada", scope="read write")
_, first = ask(grant_type="refresh_token", refresh_token=login["refresh_token"], scope="read")
_, second = ask(grant_type="refresh_token", refresh_token=first["refresh_token"])
status, third = ask(
    grant_type="refresh_token", refresh_token=second["refresh_token"], scope="read write")
assert (login["scope"], first["scope"]) == ("read write", "read")
assert second["scope"] == "read", "a refresh without a scope has the whole grant now"
assert (status, third) == (400, {"error": "invalid_scope"}), "the whole grant can be asked for now"
PY
venv/bin/python program.py 2> program.log || { tail -n 5 program.log; exit 1; }
