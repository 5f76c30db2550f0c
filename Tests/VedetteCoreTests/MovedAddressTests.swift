// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("The address to which a source was moved")
struct MovedAddressTests {
    private func text(_ target: String, asked: String = "https://a.example/x", configured: String? = nil) -> String? {
        MovedAddress.text(target, asked: asked, configured: configured ?? asked)
    }

    @Test("it is the target of the redirects, with the configured query where the server kept the query of the request")
    func query() {
        #expect(text("https://b.example/new?x=1#part") == "https://b.example/new?x=1")
        #expect(
            text(
                "https://b.example/x?ps=5&since=1", asked: "https://a.example/x?ps=5&since=1",
                configured: "https://a.example/x?ps=5") == "https://b.example/x?ps=5")
        #expect(
            text("https://b.example/x?since=1", asked: "https://a.example/x?since=1", configured: "https://a.example/x")
                == "https://b.example/x")
    }

    @Test("values that may be credentials are not in it, and an address that is too long is not shown")
    func secrets() {
        #expect(
            text("https://b.example/?X-Amz-Security-Token=abc&sig=def&%6Bey=g&page=2")
                == "https://b.example/?X-Amz-Security-Token=[secret]&sig=[secret]&%6Bey=[secret]&page=2")
        #expect(text("https://b.example/" + String(repeating: "x", count: 2000)) == nil)
        #expect(text("https://user:pw@b.example/") == nil)
    }
}
