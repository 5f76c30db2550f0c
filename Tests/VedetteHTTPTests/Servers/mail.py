# SPDX-License-Identifier: Apache-2.0
"""A mail server on loopback (aiosmtpd). What it takes goes into files, raw and as Python's email package reads it.

The recipient's name says how it behaves: grey@ is told to come later the first time, unknown@ and full@ are refused,
spam@ is refused after the content, silent@ never gets a verdict, cut@ is cut off when the content begins, late@ gets the
verdict when a file called `go` stands beside the mails. A file called `judging` says that one of these two has the content. It
ends with its standard input.
"""

import argparse
import asyncio
import email
import email.policy
import json
import pathlib
import ssl
import sys
import threading

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword, syntax


def read(raw):
    """What a reader of mail makes of it, with every defect that he finds."""
    message = email.message_from_bytes(raw, policy=email.policy.default)
    defects = [repr(d) for part in message.walk() for d in part.defects]
    for name, value in message.items():
        defects += [f"{name}: {d!r}" for d in getattr(value, "defects", ())]
    parts = [{"type": p.get_content_type(), "text": p.get_content()} for p in message.walk() if not p.is_multipart()]
    return {"headers": [[n, str(v)] for n, v in message.items()], "type": message.get_content_type(), "parts": parts,
            "defects": defects}


class Handler:
    def __init__(self, folder):
        self.folder, self.count, self.seen = folder, 0, set()

    async def handle_MAIL(self, server, session, envelope, address, options):
        if address.startswith("stranger@"):
            return "550 5.7.1 Not your address"
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, options):
        name = address.split("@")[0]
        if name == "grey" and envelope.mail_from not in self.seen:
            self.seen.add(envelope.mail_from)
            return "451 4.7.1 Greylisted, come again"
        if name == "unknown":
            return "550 5.1.1 No such user"
        if name == "full":
            return "452 4.2.2 Mailbox full"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        names = {address.split("@")[0] for address in envelope.rcpt_tos}
        if names & {"silent", "late"}:
            (self.folder / "judging").touch()
        if "silent" in names:
            await asyncio.Event().wait()
        while "late" in names and not (self.folder / "go").exists():
            await asyncio.sleep(0.01)
        if "spam" in names:
            return "554 5.7.1 <b>\x1b[31mSpam</b> not taken"
        self.count += 1
        verdict = {"from": envelope.mail_from, "to": envelope.rcpt_tos, "tls": server.transport.get_extra_info("ssl_object") is not None,
                   "hello": session.host_name, "user": str(session.auth_data or ""), "raw": envelope.content.decode("latin-1"),
                   **read(envelope.content)}
        (self.folder / f"{self.count}.json").write_text(json.dumps(verdict))
        return "250 2.0.0 Taken"


class Server(SMTP):
    def __init__(self, *arguments, log, **options):
        super().__init__(*arguments, **options)
        self.log = log

    @syntax("DATA")
    async def smtp_DATA(self, arg):
        if any(address.startswith("cut@") for address in self.envelope.rcpt_tos):
            await self.push("354 Go on")
            self.transport.abort()
            return
        await super().smtp_DATA(arg)

    @syntax("QUIT")
    async def smtp_QUIT(self, arg):
        with self.log.open("a") as log:
            log.write("quit\n")
        await super().smtp_QUIT(arg)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    parser.add_argument("--tls", choices=["start", "required", "first", "never"], default="never")
    parser.add_argument("--login", help="USER:PASSWORD that everybody needs, or `later:` for a login that is out of order")
    parser.add_argument("--clear-login", action="store_true", help="offers the login without TLS")
    options = parser.parse_args()
    context = None
    if options.tls != "never":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate, options.key)

    def authenticate(server, session, envelope, mechanism, data):
        if options.login == "later:":
            return AuthResult(success=False, handled=False, message="454 4.7.0 Come again later")
        user, _, password = (options.login or ":").partition(":")
        good = isinstance(data, LoginPassword) and (data.login, data.password) == (user.encode(), password.encode())
        if good:
            return AuthResult(success=True, auth_data=user)
        given = getattr(data, "password", b"").decode()
        return AuthResult(success=False, handled=False, message=f"535 5.7.8 '{given}' is no password of ours")

    handler = Handler(options.folder)

    def server():
        first = options.tls == "first"
        return Server(handler, log=options.folder / "log", hostname="mail.test", ident="test", loop=loop,
                      tls_context=None if first else context, require_starttls=options.tls == "required",
                      authenticator=authenticate, auth_required=bool(options.login),
                      auth_require_tls=not (options.clear_login or first))

    loop = asyncio.new_event_loop()
    listening = loop.run_until_complete(loop.create_server(
        server, "127.0.0.1", 0, ssl=context if options.tls == "first" else None))
    loop.set_exception_handler(lambda *_: None)
    threading.Thread(target=loop.run_forever, daemon=True).start()
    print(json.dumps({"port": listening.sockets[0].getsockname()[1]}), flush=True)
    sys.stdin.read()


main()
