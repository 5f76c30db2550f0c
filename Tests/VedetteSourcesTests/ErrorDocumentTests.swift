// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteSources

@Suite("What a server says when it refuses a request")
struct ErrorDocumentTests {
    private func refusal(
        _ kind: String, _ body: [UInt8], type: String? = nil
    ) throws -> String? {
        let options = KindSample.of(kind)?.options ?? [:]
        let headers = ResponseHeaders(type.map { [("Content-Type", $0)] } ?? [])
        return try Fixture.kind(kind, options).refusal(
            in: PageBody(bytes: body, headers: headers, url: "https://host.example.org/list"))
    }

    @Test("each kind reads the error document of its protocol")
    func documents() throws {
        let message = "The requested virtual system does not exist."
        #expect(try refusal("cloudburst", Fixture.bytes("cloudburst-error-404.json")) == message)
        #expect(
            try refusal("connections", Fixture.bytes("connections-error-400.xml"))
                == "Identifier: LC0123456789ABCDEF\nThe value of the since parameter is not a date.")
        let abdera = """
            <a:error xmlns:a="http://abdera.apache.org"><a:code>404</a:code><a:message> No such feed </a:message></a:error>
            """
        let td = """
            <?xml version="1.0"?><td:error xmlns:td="urn:ibm.com/td"><td:errorCode>ItemNotFound</td:errorCode>\
            <td:errorMessage>No such file.</td:errorMessage></td:error>
            """
        let ogc = """
            <ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows/1.1"><ows:Exception exceptionCode="NoApplicableCode">\
            <ows:ExceptionText>No such layer.</ows:ExceptionText></ows:Exception></ows:ExceptionReport>
            """
        let sn = """
            <error xmlns="http://www.ibm.com/xmlns/prod/sn"><message>EJPVJ9</message><displaymessage>Not for you.</displaymessage>\
            </error>
            """
        for kind in ["connections", "feed", "xml"] {
            #expect(try refusal(kind, Array(abdera.utf8)) == "No such feed")
            #expect(try refusal(kind, Array(td.utf8)) == "No such file.")
            #expect(try refusal(kind, Array(ogc.utf8)) == "No such layer.")
            #expect(try refusal(kind, Array(sn.utf8)) == "Not for you.")
        }
        for (body, words) in [
            (#"{"message": "Not Found", "status": 404}"#, "Not Found"),
            (#"{"error": {"code": 7, "message": "no quota"}}"#, "no quota"),
            (#"{"error": "invalid_token", "error_description": "it has expired"}"#, "it has expired"),
            (#"{"error": "no such run"}"#, "no such run"), (#"{"errors": [{"message": "first"}, 2]}"#, "first"),
            (#"{"errors": ["bad"]}"#, "bad"),
            (#"{"detail": "Authentication credentials were not provided."}"#, "Auth…"),
        ] {
            let found = try refusal("json", Array(body.utf8))
            #expect(words.hasSuffix("…") ? found?.hasPrefix(words.dropLast()) == true : found == words, "\(body)")
        }
    }

    @Test("every kind that reads bodies reads problem details (RFC 9457)", arguments: KindContractTests.names)
    func problemDetails(kind: String) throws {
        let body =
            #"{"type": "https://example.com/out", "title": "Out of credit", "detail": "It costs 50.", "status": 403}"#
        let words = try refusal(kind, Array(body.utf8), type: "application/problem+json; charset=utf-8")
        // A refusal is a state of the response that this kind observes.
        #expect(words == (kind == "http" ? nil : "Out of credit: It costs 50."))
    }

    @Test("a body that is no error document says nothing", arguments: KindContractTests.names)
    func others(kind: String) throws {
        let bodies = [
            try Fixture.bytes("connections-error-403.html"), try Fixture.bytes("cloudburst-error-401.html"),
            try Fixture.bytes("connections-public-1.xml"), try Fixture.bytes("cloudburst-virtualSystems-1.json"),
            Array("{}".utf8), Array(#"{"message": " ", "error": 7}"#.utf8), Array("<error/>".utf8),
            Array("<error><message>cut".utf8), Array("not found".utf8), [],
            Array(#"{"message": ""#.utf8) + [UInt8](repeating: 0x78, count: 70_000) + Array("\"}".utf8),
        ]
        for body in bodies { #expect(try refusal(kind, body) == nil) }
        #expect(try refusal(kind, Array("[]".utf8), type: "application/problem+json") == nil)
    }
}
