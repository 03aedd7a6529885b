#!/usr/bin/env bash
# A client library for DPoP makes proofs that only its own server accepts (RFC 9449 §4.2, §8).
#
# Seen with idpyoidc 5.0.0, client side:
# - The claim `ath` is the SHA-256 of the access token in hexadecimal, 64 characters. RFC 9449 has base64url, 43
#   characters. Its server compares the same form, so both agree with each other, and with no other party.
# - A nonce that is given to the function does not get into the proof. So a server that answers `use_dpop_nonce` gets the
#   same proof without a nonce again.
# So a client of another library is refused by its server at each call with a token, but not at the token endpoint,
# where a proof has no `ath`.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check idpyoidc==5.0.0

cat > program.py <<'PY'
import base64
import hashlib
import json
from types import SimpleNamespace

from idpyoidc.client.oauth2.add_on.dpop import dpop_header

client = SimpleNamespace(add_on={"dpop": {"algs_supported": ["ES256"]}}, provider_info={})
made = dpop_header(client, "userinfo_endpoint", "GET", token="sample-token", nonce="sample-nonce",
                   endpoint_url="https://api.example/notes")
body = made["dpop"].split(".")[1]
claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
digest = hashlib.sha256(b"sample-token").digest()
standard = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
print("claims:", ", ".join(sorted(claims)))
print("ath is the form of RFC 9449:", claims["ath"] == standard)
print("ath is hexadecimal:", claims["ath"] == digest.hex())
PY
venv/bin/python program.py | tee seen
diff seen - << 'SEEN'
claims: ath, htm, htu, iat, jti
ath is the form of RFC 9449: False
ath is hexadecimal: True
SEEN
