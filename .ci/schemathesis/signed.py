"""Signs webhook bodies as LINE does: HMAC-SHA256 of the raw body with the channel secret, in base64."""

import base64
import hashlib
import hmac

import requests
import schemathesis

# The demo channel's, as `stamp-rally dev` has it.
CHANNEL_SECRET = b"stand-in-channel-secret"


class Signature(requests.auth.AuthBase):
    def __call__(self, request):
        body = request.body or b""
        body = body.encode() if isinstance(body, str) else body
        digest = hmac.new(CHANNEL_SECRET, body, hashlib.sha256).digest()
        request.headers["x-line-signature"] = base64.b64encode(digest).decode()
        return request


@schemathesis.hook
def before_call(context, case, kwargs):
    # A case without the header, or one that should be refused for it, stays as it is.
    if case.operation.path == "/webhook/{channel}" and case.headers and "x-line-signature" in case.headers:
        if case.meta is None or case.meta.generation.mode.is_positive:
            kwargs["auth"] = Signature()
