// SPDX-License-Identifier: Apache-2.0
import Testing
import VedetteDocument

struct JSONPathTests {
    @Test("names are joined by dots, a literal dot and backslash are escaped, and the text comes back")
    func parses() throws {
        #expect(try JSONPath("nics.0.ip_address").steps == ["nics", "0", "ip_address"])
        #expect(try JSONPath(#"labels.app\.kubernetes\.io/name"#).steps == ["labels", "app.kubernetes.io/name"])
        #expect(try JSONPath("").steps.isEmpty)
        #expect(try JSONPath(#"values.disk\[0\]"#).steps == ["values", "disk[0]"])
        for text in [#"a\.b.c"#, #"disk\[0\].*.b"#, #"a\\b"#, "å.0", "OS-EXT-STS:task_state"] {
            #expect(try JSONPath(text).description == text)
        }
    }

    @Test(
        "the error for a bad path has the place and the remedy",
        arguments: [
            ("a..b", 2, "'\\.'"), (".a", 0, "'\\.'"), ("a.", 2, "'\\.'"), (#"å\n"#, 2, "followed by"),
            ("a[0]", 1, "'items.0'"),
        ])
    func refuses(text: String, offset: Int, remedy: String) {
        do {
            _ = try JSONPath(text)
            Issue.record("'\(text)' was accepted")
        } catch {
            #expect(error.offset == offset)
            #expect(error.description.contains(remedy))
        }
    }
}
