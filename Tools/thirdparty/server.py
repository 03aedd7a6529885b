"""Backends from outside this project: Django with djangorestframework-simplejwt, and two OpenID providers.

Each is set up as its package's guide says. simplejwt has rotation and blacklist. django-oauth-toolkit is the
provider at /o, and django-allauth at the root. Both know the client `notes`, and log `ana` in without a page. It
listens on a free port of the loopback interface and writes the port to a file.

    server.py FOLDER PORTFILE
"""

import os
import socketserver
import sys
import threading
from datetime import timedelta
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import django
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings

folder, port_file = Path(sys.argv[1]), Path(sys.argv[2])

key = (
    rsa.generate_private_key(public_exponent=65537, key_size=2048)
    .private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    .decode()
)

settings.configure(
    SECRET_KEY="for tests on loopback, and nothing else",
    ALLOWED_HOSTS=["127.0.0.1"],
    INSTALLED_APPS=[
        "django.contrib.contenttypes",
        "django.contrib.auth",
        "rest_framework",
        "rest_framework_simplejwt.token_blacklist",
        "django.contrib.sessions",
        "oauth2_provider",
        "allauth",
        "allauth.account",
        "allauth.idp.oidc",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "allauth.account.middleware.AccountMiddleware",
        __name__ + ".as_ana",
    ],
    TEMPLATES=[
        {"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}
    ],
    OAUTH2_PROVIDER={
        "OIDC_ENABLED": True,
        "OIDC_RSA_PRIVATE_KEY": key,
        "OIDC_RP_INITIATED_LOGOUT_ENABLED": True,
        "OIDC_RP_INITIATED_LOGOUT_ALWAYS_PROMPT": False,
        "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
        "SCOPES": {"openid": "who you are"},
        "ALLOWED_REDIRECT_URI_SCHEMES": ["app", "http"],
    },
    IDP_OIDC_PRIVATE_KEY=key,
    # Its device grant has no identity token, so the access token must name the user.
    IDP_OIDC_ACCESS_TOKEN_FORMAT="jwt",
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": folder / "db.sqlite3",
            # A transaction that begins with a read and then writes does not wait: SQLite refuses it at once.
            "OPTIONS": {"timeout": 60, "transaction_mode": "IMMEDIATE"},
        }
    },
    LOGGING={
        "version": 1,
        "disable_existing_loggers": False,
        "handlers": {"stderr": {"class": "logging.StreamHandler"}},
        "root": {"handlers": ["stderr"]},
    },
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    # A fast hasher, because the tests are not about the strength of password hashes.
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    ROOT_URLCONF=__name__,
    USE_TZ=True,
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [
            "rest_framework_simplejwt.authentication.JWTAuthentication"
        ],
    },
    SIMPLE_JWT={
        "ACCESS_TOKEN_LIFETIME": timedelta(minutes=5),
        "REFRESH_TOKEN_LIFETIME": timedelta(days=1),
        "ROTATE_REFRESH_TOKENS": True,
        "BLACKLIST_AFTER_ROTATION": True,
    },
)
django.setup()

from allauth.idp.oidc.models import Client  # noqa: E402
from django.contrib.auth import get_user_model, login  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.http import JsonResponse  # noqa: E402
from django.urls import include, path  # noqa: E402
from oauth2_provider.models import Application  # noqa: E402
from oauth2_provider.urls import metadata_urlpatterns  # noqa: E402
from rest_framework.decorators import api_view, permission_classes  # noqa: E402
from rest_framework.permissions import IsAuthenticated  # noqa: E402
from rest_framework_simplejwt.views import (  # noqa: E402
    TokenBlacklistView,
    TokenObtainPairView,
    TokenRefreshView,
)



def as_ana(get_response):
    """Logs ana in at the pages of both providers, unless the address has `asks`."""

    def respond(request):
        is_page = "authorize" in request.path or request.path.endswith("/device")
        if is_page and "asks" not in request.GET and not request.user.is_authenticated:
            ana = get_user_model().objects.get(username="ana")
            login(request, ana, "django.contrib.auth.backends.ModelBackend")
        return get_response(request)

    return respond


counts: dict[str, int] = {}
lock = threading.Lock()


@api_view(["GET"])
@permission_classes([IsAuthenticated])
def me(request):
    return JsonResponse({"username": request.user.username})


def asked(request):
    """Returns how often each path was requested, for tests that count requests."""
    with lock:
        return JsonResponse(dict(counts))


urlpatterns = [
    path("api/token/", TokenObtainPairView.as_view()),
    path("api/token/refresh/", TokenRefreshView.as_view()),
    path("api/token/blacklist/", TokenBlacklistView.as_view()),
    path("me/", me),
    path("asked/", asked),
    path("o/", include("oauth2_provider.urls")),
    # At the root too, as django-oauth-toolkit's guide says: RFC 8414 puts it before the issuer's path.
    path("", include((metadata_urlpatterns, "metadata"))),
    path("", include("allauth.idp.urls")),
]


def counting(application):
    def serve(environment, start_response):
        place = environment.get("PATH_INFO", "")
        with lock:
            counts[place] = counts.get(place, 0) + 1
        return application(environment, start_response)

    return serve


class Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Handler(WSGIRequestHandler):
    def log_message(self, format, *arguments):
        pass


call_command("migrate", verbosity=0)
get_user_model().objects.create_user("ana", password="correct horse")
Application.objects.create(
    client_id="notes",
    client_type=Application.CLIENT_PUBLIC,
    authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
    redirect_uris="app://login http://127.0.0.1/login",
    post_logout_redirect_uris="app://logout http://127.0.0.1/logout",
    algorithm=Application.RS256_ALGORITHM,
    skip_authorization=True,
)
Client.objects.create(
    id="notes",
    type=Client.Type.PUBLIC,
    scopes="openid\nprofile",
    redirect_uris="app://login",
    grant_types="authorization_code\nrefresh_token\nurn:ietf:params:oauth:grant-type:device_code",
    skip_consent=True,
)
server = make_server("127.0.0.1", 0, counting(get_wsgi_application()), Server, Handler)
written = port_file.with_suffix(".new")
written.write_text(str(server.server_port))
os.replace(written, port_file)
server.serve_forever()
