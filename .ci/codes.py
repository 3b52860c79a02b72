"""Codes as docs and posters have them, made by other hands than the program's: its golden tests hold the same texts.

With the address of a served rally and an ID token, also reads the code that it makes for a participant.
"""

import hashlib
import hmac
import json
import sys
import urllib.request

DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def base32(number, width):
    return "".join(DIGITS[number >> 5 * place & 31] for place in reversed(range(width)))


def signature(key, context):
    return hmac.new(key, b"stamp-rally/1#" + context.encode(), hashlib.sha256)


def mac(key, context):
    return base32(int.from_bytes(signature(key, context).digest()[:10], "big"), 16)


def tag(event, stamp):
    return base32(int.from_bytes(hashlib.sha256(f"{event}#{stamp}".encode()).digest()[:5], "big"), 8)


def printed(key, event, stamp, generation):
    return f"S{tag(event, stamp)}{base32(generation, 2)}" + mac(key, f"qr_static#{event}#{stamp}#{generation}")


def shown(key, event, stamp, generation, step):
    code = f"R{tag(event, stamp)}{base32(generation, 2)}{base32(step, 6)}"
    return code + mac(key, f"qr_rotating#{event}#{stamp}#{generation}#{step}")


def person(key, event, user, step):
    return f"P{base32(int(user[1:], 16), 26)}{base32(step, 6)}" + mac(key, f"person#{event}#{user}#{step}")


KEY, EVENT, STAMP = bytes(range(32)), "stamp-rally-202606", "001"
HANAKO = "U00000000000000000000000000000001"

assert printed(KEY, EVENT, STAMP, 1) == "SBJV9RZ43010QG3PKWJFQE5FNBP"
assert shown(KEY, EVENT, STAMP, 1, 59317860) == "RBJV9RZ43011RJ7K488PT7SYYVCRJBQCG"
assert person(KEY, EVENT, HANAKO, 29658930) == "P000000000000000000000000010W93SJ8E4MRR67J5BAKYFC"
hashed = signature(KEY, f"passcode#{EVENT}#{STAMP}#himitsu").hexdigest()
assert hashed == "40aac5eb08a187f045c8eb7e5c6313910498b01029cb8cd732a0c5e6c447a100"

if len(sys.argv) == 3:
    rally, token = sys.argv[1:]
    request = urllib.request.Request(
        f"{rally}/api/events/{EVENT}/me/code", headers={"Authorization": f"Bearer {token}"}
    )
    code = json.load(urllib.request.urlopen(request))["code"]
    step = int("".join(f"{DIGITS.index(digit):05b}" for digit in code[27:33]), 2)
    assert code == person(b"stamp-rally demo key: no secret!", EVENT, HANAKO, step), code
print("the codes are the same")
