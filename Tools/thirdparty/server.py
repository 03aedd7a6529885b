"""A backend from outside this project: Django with djangorestframework-simplejwt.

It is set up as the package's guide says, with rotation and blacklist. It listens on a free port of the
loopback interface and writes the port to a file.

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
from django.conf import settings

folder, port_file = Path(sys.argv[1]), Path(sys.argv[2])

settings.configure(
    SECRET_KEY="for tests on loopback, and nothing else",
    ALLOWED_HOSTS=["127.0.0.1"],
    INSTALLED_APPS=[
        "django.contrib.contenttypes",
        "django.contrib.auth",
        "rest_framework",
        "rest_framework_simplejwt.token_blacklist",
    ],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": folder / "db.sqlite3",
            "OPTIONS": {"timeout": 60},
        }
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

from django.contrib.auth import get_user_model  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.http import JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402
from rest_framework.decorators import api_view, permission_classes  # noqa: E402
from rest_framework.permissions import IsAuthenticated  # noqa: E402
from rest_framework_simplejwt.views import (  # noqa: E402
    TokenBlacklistView,
    TokenObtainPairView,
    TokenRefreshView,
)

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
server = make_server("127.0.0.1", 0, counting(get_wsgi_application()), Server, Handler)
written = port_file.with_suffix(".new")
written.write_text(str(server.server_port))
os.replace(written, port_file)
server.serve_forever()
