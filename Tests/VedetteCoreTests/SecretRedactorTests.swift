// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VedetteCore

@Suite("Secrets that a server repeats")
struct SecretRedactorTests {
    private func redacted(_ text: String, _ secrets: String..., credentials: Credentials? = nil)
        throws -> String
    {
        let redactor = try #require(
            SecretRedactor(secrets.map { Secret($0) }, credentials: credentials))
        return redactor.redacted(text)
    }

    @Test(
        "a secret is replaced in each form that a server writes it in",
        arguments: [
            ("token=s3cret/k&y é\"z", "plain"),
            ("token=s3cret%2Fk%26y%20%C3%A9%22z", "percent-encoded"),
            ("token=s3cret%252Fk%2526y%2520%25C3%25A9%2522z", "twice"),
            ("token=s3cret%2Fk%26y+%C3%A9%22z", "form-encoded"),
            (#"token=s3cret/k&y é\"z"#, "JSON"),
            (#"token=s3cret\/k\u0026y\u0020\u00e9\u0022z"#, "JSON with more escapes"),
            ("token=s3cret/k&amp;y é&quot;z", "HTML"),
            ("token=s3cret&#47;k&#x26;y&#32;&#xE9;&#034;z", "HTML with numbers"),
            ("token=czNjcmV0L2smeSDDqSJ6", "Base64"),
        ])
    func forms(text: String, form: String) throws {
        #expect(try redacted(text, "s3cret/k&y é\"z") == "token=[secret]", "\(form)")
    }

    @Test(
        "Base64 of a secret is found without its padding and with the alphabet of URLs, and with the user before it"
    )
    func base64() throws {
        // The bytes give both of the digits that the two alphabets differ in.
        let secret = "\u{7F}\u{7E}~?>??~>~"
        let digits = Base64.encode(secret.utf8)
        #expect(digits.contains("+") || digits.contains("/"))
        #expect(try redacted("a \(digits) b", secret).hasPrefix("a [secret]"))
        let url = String(digits.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
        #expect(try redacted("a \(url) b", secret).hasPrefix("a [secret]"))
        let credentials = Credentials.basic(user: "ann", password: Secret("s3cret-lab"))
        let pair = Base64.encode("ann:s3cret-lab".utf8)
        #expect(
            try redacted("Basic \(pair)", "s3cret-lab", credentials: credentials).hasPrefix(
                "Basic [secret]"))
    }

    @Test(
        "a secret with what looks like an escape is found, written plainly and escaped",
        arguments: [
            ("100%25 sure%20x", #"100%25 sure%20x"#), ("100%25 sure%20x", "100%2525%20sure%2520x"),
            (#"a\\b\u0041c"#, #"a\\b\u0041c"#), (#"a\\b\u0041c"#, #"a\\\\b\\u0041c"#),
            ("fish&amp;chips", "fish&amp;chips"), ("fish&amp;chips", "fish&amp;amp;chips"),
        ])
    func ambiguous(secret: String, text: String) throws {
        #expect(try redacted("<\(text)>", secret) == "<[secret]>")
    }

    @Test(
        "a secret of several lines, such as a key in PEM, is found in JSON",
        arguments: [
            #"{"key":"BEGIN KEY\nMIIE+v/A\r\nEND\tKEY"}"#, #"{"key":"BEGIN KEY\u000aMIIE+v\/A\u000D\nEND\u0009KEY"}"#,
        ])
    func lines(text: String) throws {
        #expect(try redacted(text, "BEGIN KEY\nMIIE+v/A\r\nEND\tKEY") == #"{"key":"[secret]"}"#)
    }

    @Test("what is no secret stays, also beside escapes that are cut or unknown")
    func others() throws {
        for text in [
            "s3cret-lax", "s3cret&", "s3cret\\", "s3cret\\u00", "s3cret%", "s3cret&#x2", "&#;&#x;&;\\",
            "é%C3",
        ] {
            #expect(try redacted(text, "s3cret-lab") == text)
        }
        #expect(SecretRedactor([Secret("short")]) == nil)
    }
}
