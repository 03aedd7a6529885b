#!/usr/bin/env bash
# dj-rest-auth 7.2.0 with USE_JWT and its other defaults: an app gets no refresh token, and cannot log out.
#
# Seen with Django 5.2.19 and djangorestframework-simplejwt 5.5.1, by Django's own test client:
# - The login is a 200 whose body has a good access token and `"refresh": ""`. No cookie has the refresh token, as
#   JWT_AUTH_REFRESH_COOKIE is not set.
# - Each logout is a 401, "Refresh token was not included in cookie data.", also with the access token.
# With JWT_AUTH_HTTPONLY = False, the refresh token is in the body, and a logout names it there.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check \
  django==5.2.19 djangorestframework==3.18.3 djangorestframework-simplejwt==5.5.1 dj-rest-auth==7.2.0

cat > program.py <<'PY'
import sys

import django
from django.conf import settings

more = {"JWT_AUTH_HTTPONLY": False} if "body" in sys.argv else {}
settings.configure(
    SECRET_KEY="-" * 50, ALLOWED_HOSTS=["*"], ROOT_URLCONF="__main__", USE_TZ=True,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    INSTALLED_APPS=[
        "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions",
        "rest_framework", "rest_framework_simplejwt.token_blacklist", "dj_rest_auth"],
    MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware"],
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": ["dj_rest_auth.jwt_auth.JWTCookieAuthentication"]},
    REST_AUTH={"USE_JWT": True, "TOKEN_MODEL": None, **more})
django.setup()
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import include, path

urlpatterns = [path("auth/", include("dj_rest_auth.urls"))]
call_command("migrate", verbosity=0)
User.objects.create_user("ada", password="a password for ada")
login = Client().post("/auth/login/", {"username": "ada", "password": "a password for ada"})
tokens = login.json()
logout = Client().post(
    "/auth/logout/", {"refresh": tokens["refresh"]} if tokens["refresh"] else {},
    HTTP_AUTHORIZATION=f"Bearer {tokens['access']}")
print(more, login.status_code, "refresh:", "a token" if tokens["refresh"] else repr(tokens["refresh"]),
      "cookies:", list(login.cookies), "logout:", logout.status_code, logout.json())
if more:
    assert tokens["refresh"] and logout.status_code == 200
else:
    assert tokens["access"] and tokens["refresh"] == "", "the body has a refresh token now"
    assert not [name for name in login.cookies if name != "sessionid"], "a cookie has it now"
    assert logout.status_code == 401, "a logout works now"
PY
for where in cookie body; do
  venv/bin/python program.py "$where" 2> program.log || { tail -n 5 program.log; exit 1; }
done
