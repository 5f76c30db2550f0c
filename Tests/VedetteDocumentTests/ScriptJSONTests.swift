// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteDocument

@Suite("JSON in the scripts of pages")
struct ScriptJSONTests {
    private func corrected(_ text: String) -> String {
        String(decoding: ScriptJSON.corrected(Array(text.utf8)), as: UTF8.self).trimmingPrefix { $0.isWhitespace }
            .description
    }

    @Test(
        "what readers of structured data accept becomes strict JSON",
        arguments: [
            (#"<!-- {"a":1} -->"#, #"{"a":1} "#), ("// <![CDATA[\n{\"a\":1}\n// ]]>", "{\"a\":1}\n"),
            ("//<![CDATA[ {\"a\":1} //]]>", #"{"a":1} "#), ("/*<![CDATA[*/{\"a\":1}/*]]>*/", #"{"a":1}"#),
            ("{\"a\":1}\n// ]]&gt;", "{\"a\":1}\n"), (#"{"a":[1,2,],}"#, #"{"a":[1,2]}"#),
            ("{\"a\":1, // one\n\"b\":2,\n}", "{\"a\":1, \n\"b\":2\n}"), (#"{"a":1};"#, #"{"a":1}"#),
            ("{\"a\":\"x\ny\tz\"}", #"{"a":"x\ny\tz"}"#),
            ("{&quot;a&quot;:&quot;R&amp;amp;D&quot;}", #"{"a":"R&amp;D"}"#),
            (#"window.__STATE__ = {"a":1}; (function(){ return "x" })()"#, #"{"a":1}"#),
        ])
    func accepted(text: String, json: String) { #expect(corrected(text) == json) }

    @Test(
        "what stands in a string stays, whatever it looks like",
        arguments: [
            #"{"a":"https://h/x"}"#, #"{"a":"/* no */ <!-- no --> ,} ]]> ;"}"#, #"{"a":"\\","b":"\","}"#,
            #"{"a":"x=1"}"#, #"{"a":"&quot;"}"#, #"[[1]]"#, "",
        ])
    func kept(text: String) { #expect(corrected(text) == text) }

    @Test(
        "what is cut or wrong otherwise stays wrong", arguments: [#"{"a":"#, #"{"a":"x"#, #"{a:1}"#, "{'a':1}", "/*"])
    func refused(text: String) {
        var bytes = ScriptJSON.corrected(Array(text.utf8))
        #expect(throws: DocumentError.self) { _ = try JSONReader(items: nil, columns: []).read(&bytes) { _ in } }
    }
}
