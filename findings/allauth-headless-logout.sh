#!/usr/bin/env bash
# django-allauth 65.22.1, headless API with JWTs: the answer to a logout does not say whether it worked.
#
# Seen with Django 5.2.8, PyJWT 2.15.1 and cryptography 50.0.2, by Django's own test client:
# - A logout that works is answered 401, `meta.is_authenticated` false. The refresh token is dead afterwards.
# - A logout with an expired access token gets the same answer, byte for byte. Nothing ended: the refresh token
#   still gets new tokens.
# - A refused refresh token is a 400 with the body {"status": 400}: no code, and nothing else says why.
# So a client must refresh an expired access token before it logs out, and then take the 401 for a success.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check \
  django==5.2.8 'django-allauth[headless]==65.22.1' pyjwt==2.15.1 cryptography==50.0.2
openssl genrsa -out key.pem 2048 2> openssl.log

cat > program.py <<'PY'
import time
import cryptography.hazmat.primitives.serialization  # allauth uses it and does not import it
import django
from django.conf import settings

settings.configure(
    SECRET_KEY="-" * 50, ALLOWED_HOSTS=["*"], ROOT_URLCONF="__main__",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    INSTALLED_APPS=[
        "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions",
        "django.contrib.messages", "allauth", "allauth.account", "allauth.headless"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        "allauth.account.middleware.AccountMiddleware"],
    HEADLESS_ONLY=True, HEADLESS_CLIENTS=["app"], ACCOUNT_EMAIL_VERIFICATION="none",
    ACCOUNT_LOGIN_METHODS={"username"}, ACCOUNT_SIGNUP_FIELDS=["username*", "password1*"],
    HEADLESS_TOKEN_STRATEGY="allauth.headless.tokens.strategies.jwt.JWTTokenStrategy",
    HEADLESS_JWT_PRIVATE_KEY=open("key.pem").read(), HEADLESS_JWT_ACCESS_TOKEN_EXPIRES_IN=2,
    HEADLESS_JWT_ROTATE_REFRESH_TOKEN=False)
django.setup()
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import include, path

urlpatterns = [path("_allauth/", include("allauth.headless.urls"))]
call_command("migrate", verbosity=0)
User.objects.create_user("ada", password="a password for ada")
API = "/_allauth/app/v1"


def login():
    body = {"username": "ada", "password": "a password for ada"}
    meta = Client().post(f"{API}/auth/login", body, content_type="application/json").json()["meta"]
    return meta["access_token"], meta["refresh_token"]


def logout(access):
    answer = Client().delete(f"{API}/auth/session", HTTP_AUTHORIZATION=f"Bearer {access}")
    return answer.status_code, answer.content.decode()


def refresh(token):
    answer = Client().post(
        f"{API}/tokens/refresh", {"refresh_token": token}, content_type="application/json")
    text = answer.content.decode() if answer.status_code != 200 else "new tokens"
    return answer.status_code, text


access, token = login()
worked, after = logout(access), refresh(token)
print("logout with a good access token:", worked)
print("refresh after it:", after)
access, token = login()
time.sleep(3)
late, alive = logout(access), refresh(token)
print("logout with an expired access token:", late)
print("refresh after it:", alive)
assert worked[0] == 401 and worked == late, "the two answers differ now"
assert '"is_authenticated": false' in worked[1]
assert after == (400, '{"status": 400}'), "a refused refresh token is answered otherwise now"
assert alive == (200, "new tokens"), "a logout with an expired access token ends the session now"
PY
venv/bin/python program.py 2> program.log || { tail -n 5 program.log; exit 1; }
