"""An SMTP server (aiosmtpd) for the tests of `send_email`. It prints its port, and then each message that it accepts as a line of JSON.

Arguments: `plain`, `starttls` or `tls`; the files of a certificate and its key; `login` to require a login as `mail-user` with `secret-password`.
"""

import asyncio
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

MODE, CERTIFICATE, KEY = sys.argv[1:4]
LOGIN = "login" in sys.argv[4:]


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("unknown@"):
            return "550 5.1.1 There is no such mailbox"
        if address.startswith("later@"):
            return "451 4.3.0 Try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        print(
            json.dumps(
                {
                    "from": envelope.mail_from,
                    "to": envelope.rcpt_tos,
                    "content": envelope.content.decode("utf-8"),
                    "encrypted": session.ssl is not None,
                    "login": bool(session.authenticated),
                }
            ),
            flush=True,
        )
        if envelope.rcpt_tos[0].startswith("broken@"):
            server.transport.abort()
        return "250 OK"


def authenticate(server, session, envelope, mechanism, data):
    right = data.login == b"mail-user" and data.password == b"secret-password"
    return AuthResult(success=right, handled=False)


context = None
if MODE != "plain":
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)
options = {}
if MODE == "starttls":
    options = {"tls_context": context, "require_starttls": True}
if LOGIN:
    options |= {"authenticator": authenticate, "auth_required": True, "auth_require_tls": MODE == "starttls"}


async def serve():
    server = await asyncio.get_running_loop().create_server(
        lambda: SMTP(Handler(), enable_SMTPUTF8=True, **options),
        "127.0.0.1",
        0,
        ssl=context if MODE == "tls" else None,
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(serve())
