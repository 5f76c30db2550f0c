# SPDX-License-Identifier: Apache-2.0
"""A fresh self-signed certificate for 127.0.0.1 and localhost, made by the openssl program."""
from __future__ import annotations

import base64
import hashlib
import os
import ssl
import subprocess


class Certificate:
    """`path` is the certificate (PEM), `pin` its curl-style public key pin, `context` a server's TLS settings."""

    def __init__(self, directory, expired=False):
        self.path, key = os.path.join(directory, "lab.pem"), os.path.join(directory, "lab.key")
        request = os.path.join(directory, "lab.csr")
        openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
                "-out", request, "-subj", "/CN=127.0.0.1/O=Vedette lab", "-addext",
                "subjectAltName=IP:127.0.0.1,DNS:localhost")
        # `req -x509` refuses to make an expired certificate; `x509 -req` does as it is told.
        openssl("x509", "-req", "-in", request, "-signkey", key, "-days", "-1" if expired else "30",
                "-copy_extensions", "copyall", "-out", self.path)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.path, key)
        os.unlink(key)
        os.unlink(request)
        self.pin = pin(self.path)


def pin(path):
    public = openssl("x509", "-in", path, "-noout", "-pubkey").decode()
    der = base64.b64decode("".join(line for line in public.splitlines() if "-----" not in line))
    return "sha256//" + base64.b64encode(hashlib.sha256(der).digest()).decode()


def openssl(*arguments):
    done = subprocess.run(["openssl"] + list(arguments), stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        raise RuntimeError("openssl %s failed: %s" % (arguments[0], done.stderr.decode().strip()))
    return done.stdout
