"""An OAuth server whose tokens are bound to keys (RFC 9449), from outside this project: authgent-server.

Beside it the same server has `/me`, which takes bound tokens only and checks them with the server's own code,
`/key` and `/sign`, which are a key of P-256 for the tests, and `/back?by=SECONDS`, which sets the server's clock
back. `/client` registers an app.
It listens on a free port of the loopback interface and writes the port to a file.

    dpop.py FOLDER PORTFILE
"""

import base64
import os
import secrets
import socket
import sys
import time
from email.utils import formatdate
from pathlib import Path

folder, port_file = Path(sys.argv[1]), Path(sys.argv[2])
listener = socket.create_server(("127.0.0.1", 0))
port = listener.getsockname()[1]
os.environ.update(
    AUTHGENT_DATABASE_URL=f"sqlite+aiosqlite:///{folder}/authgent.sqlite3",
    AUTHGENT_SECRET_KEY=secrets.token_hex(32),
    AUTHGENT_SERVER_URL=f"http://127.0.0.1:{port}",
    AUTHGENT_REQUIRE_DPOP="true",
    AUTHGENT_TOKEN_RATE_LIMIT="100000",
)

# The server goes by this clock. PyJWT has one of its own, and refuses a time after that: so it is only set back.
true_time, behind = time.time, 0
time.time = lambda: true_time() - behind

import jwt  # noqa: E402
import uvicorn  # noqa: E402
from authgent_server.app import create_app  # noqa: E402
from authgent_server.config import get_settings  # noqa: E402
from authgent_server.db import get_session_factory  # noqa: E402
from authgent_server.dependencies import (  # noqa: E402
    get_client_service,
    get_dpop_service,
)
from authgent_server.errors import AuthgentError  # noqa: E402
from authgent_server.schemas.client import RegisterRequest  # noqa: E402
from cryptography.hazmat.primitives import hashes  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402
from cryptography.hazmat.primitives.asymmetric.utils import (  # noqa: E402
    decode_dss_signature,
)
from fastapi import Request, Response  # noqa: E402

app = create_app()
key = ec.generate_private_key(ec.SECP256R1())


@app.middleware("http")
async def date(request: Request, call_next):
    response = await call_next(request)
    response.headers["Date"] = formatdate(time.time(), usegmt=True)
    return response


@app.get("/me")
async def me(request: Request):
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme != "DPoP":
        return Response(status_code=403)
    claims = jwt.decode(token, options={"verify_signature": False})
    try:
        get_dpop_service().verify_dpop_proof(
            request.headers.get("DPoP", ""),
            access_token=token,
            http_method=request.method,
            http_uri=str(request.url).split("?")[0],
            expected_jkt=claims["cnf"]["jkt"],
            require_nonce=True,
        )
    except AuthgentError as error:
        fields = {"WWW-Authenticate": f'DPoP error="{error.error_code}"'}
        if hasattr(error, "dpop_nonce"):
            fields["DPoP-Nonce"] = error.dpop_nonce
        return Response(status_code=401, headers=fields)
    return {"sub": claims["sub"]}


@app.get("/key")
async def public_key():
    numbers = key.public_key().public_numbers()
    point = numbers.x.to_bytes(32, "big") + numbers.y.to_bytes(32, "big")
    return Response(base64.b64encode(b"\x04" + point))


@app.post("/sign")
async def sign(request: Request):
    r, s = decode_dss_signature(key.sign(await request.body(), ec.ECDSA(hashes.SHA256())))
    return Response(base64.b64encode(r.to_bytes(32, "big") + s.to_bytes(32, "big")))


@app.get("/client")
async def client():
    wanted = RegisterRequest(
        client_name="notes",
        grant_types=["authorization_code", "refresh_token"],
        redirect_uris=["http://127.0.0.1/login"],
        token_endpoint_auth_method="none",
    )
    async with get_session_factory(get_settings())() as database:
        made = await get_client_service().register_client(database, wanted)
    return Response(base64.b64encode(made.client_id.encode()))


@app.post("/back")
async def back(by: int):
    global behind
    behind += by
    return Response()


written = port_file.with_suffix(".new")
written.write_text(str(port))
os.replace(written, port_file)
settings = uvicorn.Config(app, log_level="warning", date_header=False)
uvicorn.Server(settings).run(sockets=[listener])
