// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A server that signs what it receives once more, with botocore, and answers 403 when the signatures differ. It prints its port
/// and ends with its input.
private let verifier = #"""
    import sys, threading
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    class Verifier(SigV4Auth):
        # Whoever signs chooses the headers that are signed.
        def headers_to_sign(self, request): return request.headers

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def log_message(self, *arguments): pass
        def verify(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            given = dict(part.strip().split("=", 1) for part in self.headers["Authorization"].split(" ", 1)[1].split(","))
            names = given["SignedHeaders"].split(";")
            request = AWSRequest(self.command, "http://" + self.headers["Host"] + self.path, data=body)
            for name in names: request.headers[name] = self.headers[name]
            request.context["timestamp"] = self.headers["X-Amz-Date"]
            auth = Verifier(Credentials("AKIDEXAMPLE", "s3cr3t/key"), "ec2", "eu-central-1")
            canonical = auth.canonical_request(request)
            expected = auth.signature(auth.string_to_sign(request, canonical), request)
            good = expected == given["Signature"] and "host" in names
            answer = b"<r><i id='1'/></r>" if good else canonical.encode()
            self.send_response(200 if good else 403)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
            # In one piece: each request has a thread of its own.
            print(("good" if good else canonical.replace("\n", "|")) + "\n", end="", flush=True)
        do_GET = do_POST = verify

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    """#

@Suite("AWS Signature Version 4, verified by botocore", .timeLimit(.minutes(10)))
struct SignatureTests {
    @Test("a GET with any query, a form and a header of one's own are signed as botocore signs them")
    func signed() async throws {
        let server = try Child("/usr/bin/env", ["python3", "-c", verifier])
        let port = try await server.wait { !$0.isEmpty }[0]
        let home = try Home()
        try home.write(
            """
            servers:
              cloud:
                url: http://127.0.0.1:\(port)
                aws: {region: eu-central-1, service: ec2, key_id: AKIDEXAMPLE, secret_key: {env: AWS_KEY}}
                headers: {X-Amz-Security-Token: {env: AWS_TOKEN}}
            sources:
              plain: {kind: xml, server: cloud, items: //i}
              query: {kind: xml, server: cloud, path: "/?Version=2016-11-15&Action=Describe%20Some&flag", items: //i}
              language: {kind: xml, server: cloud, headers: {Accept-Language: en}, items: //i}
              form: {kind: xml, server: cloud, body: {Action: DescribeInstances, Filter.1.Value.1: "a b"}, items: //i}
              text: {kind: xml, server: cloud, body: <a/>, items: //i}
            """)
        let result = try await home.vedette(
            "run", "--once", environment: ["AWS_KEY": "s3cr3t/key", "AWS_TOKEN": "t0ken=="])
        #expect(result.code == 0, "\(result.err) \(server.text(of: .out))")
        #expect(server.lines(of: .out).dropFirst().allSatisfy { $0 == "good" }, "\(server.text(of: .out))")
        #expect(!result.err.contains("s3cr3t"))
        await server.destroy()
    }
}
