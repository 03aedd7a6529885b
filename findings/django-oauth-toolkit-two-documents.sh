#!/usr/bin/env bash
# django-oauth-toolkit 3.4.1 has two metadata documents, and a client that reads the first one cannot log out.
#
# Seen with Django 5.2.8 and the device grant installed, by Django's own test client:
# - `/.well-known/openid-configuration` has no `revocation_endpoint`. `/.well-known/oauth-authorization-server` has it.
# - Neither has a `device_authorization_endpoint`, although the server has that endpoint.
# - Neither lists `none` as a client authentication method at the token endpoint, and public clients are served.
# So a client that finds no revocation in the first document must ask for the second one, and must write the device
# endpoint by hand.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check django==5.2.8 django-oauth-toolkit==3.4.1
openssl genrsa -out key.pem 2048 2> openssl.log

cat > program.py <<'PY'
import django
from django.conf import settings

settings.configure(
    SECRET_KEY="-" * 50, ALLOWED_HOSTS=["*"], ROOT_URLCONF="__main__",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    INSTALLED_APPS=[
        "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "oauth2_provider"],
    OAUTH2_PROVIDER={"OIDC_ENABLED": True, "OIDC_RSA_PRIVATE_KEY": open("key.pem").read()})
django.setup()
from django.test import Client
from django.urls import include, path, reverse

urlpatterns = [path("", include("oauth2_provider.urls", namespace="oauth2_provider"))]
for name in ("openid-configuration", "oauth-authorization-server"):
    answer = Client().get(f"/.well-known/{name}")
    document = answer.json() if answer.status_code == 200 else {}
    methods = document.get("token_endpoint_auth_methods_supported")
    print(name, answer.status_code, *(member in document for member in (
        "token_endpoint", "revocation_endpoint", "device_authorization_endpoint")), methods)
print("revocation at", reverse("oauth2_provider:revoke-token"))
print("device at", reverse("oauth2_provider:device-authorization"))
PY
venv/bin/python program.py 2> errors.log | tee output.txt || { cat errors.log; exit 1; }
diff output.txt - <<'SEEN'
openid-configuration 200 True False False ['client_secret_post', 'client_secret_basic']
oauth-authorization-server 200 True True False ['client_secret_post', 'client_secret_basic']
revocation at /revoke_token/
device at /device-authorization/
SEEN
echo "as seen"
