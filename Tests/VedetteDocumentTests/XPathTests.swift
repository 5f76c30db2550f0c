// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import VedetteDocument

@Suite("XPath expressions")
struct XPathTests {
    @Test(
        "the type of the result is known from the text",
        arguments: [
            ("//a/@href", XPath.Result.nodes), ("string(//a)", .text), ("count(//a)", .number), ("//a = 'x'", .boolean),
            ("a | b", .nodes), ("not(//form)", .boolean), ("1 div 2", .number), ("concat(@a, '-', @b)", .text),
            (".", .nodes),
            ("//div[@class='a or b' and (position() mod 2) = 1]/following-sibling::*[1]", .nodes), ("/", .nodes),
            ("self::and", .nodes), ("div div div", .number), ("* * *", .number), ("(//a)[last()]/text()", .nodes),
        ])
    func types(text: String, result: XPath.Result) throws {
        #expect(try XPath(text).result == result)
    }

    @Test(
        "a wrong expression is refused when it is created",
        arguments: [
            ("", "it is empty"),
            ("//a[", "a '[' is not closed"),
            ("count(//a", "a '(' is not closed"),
            ("//a[]", "it breaks the grammar of XPath 1.0"),
            ("//a[@b='x]", "a text that begins with ' does not end"),
            ("//a]", "a ']' closes nothing"),
            ("//a[(b])", "a ']' closes nothing"),
            ("//atom:entry", "the prefix 'atom' is not declared; declare it in 'namespaces'"),
            ("//*[@x:y]", "the prefix 'x' is not declared; declare it in 'namespaces'"),
            ("/x:*", "the prefix 'x' is not declared; declare it in 'namespaces'"),
            ("matches(a, 'b')", "it calls 'matches', which is no function of XPath 1.0"),
            ("a[ends-with(@b, 'c')]", "it calls 'ends-with', which is no function of XPath 1.0"),
            ("document('file:///etc/passwd')", "it calls 'document', which is no function of XPath 1.0"),
            ("fn:escape-uri('a', true())", "it calls 'fn:escape-uri', which is no function of XPath 1.0"),
            ("a[contains(@b)]", "it calls 'contains' with 1 argument"),
            ("a[position(1)]", "it calls 'position' with 1 argument"),
            ("a[count()]", "it calls 'count' with 0 arguments"),
            ("id('a')", "it calls 'id'; write //*[@id = '…'] instead"),
            ("$x", "it uses the variable '$x', and there are none"),
            ("count('a')", "a value has the wrong type there; a path was expected"),
            ("'a'/b", "a value has the wrong type there; a path was expected"),
            ("nowhere::a", "it breaks the grammar of XPath 1.0"),
            ("//", "it breaks the grammar of XPath 1.0"),
            ("a b", "it breaks the grammar of XPath 1.0"),
        ])
    func invalid(text: String, reason: String) {
        let error = #expect(throws: XPath.Invalid.self) { try XPath(text) }
        #expect(error?.reason.hasPrefix(reason) == true, "\(error?.reason ?? "")")
        #expect(error?.subject == text)
    }

    @Test("the place of an error is given in characters")
    func place() {
        let error = #expect(throws: XPath.Invalid.self) { try XPath("//é/a b") }
        #expect(error?.reason == "it breaks the grammar of XPath 1.0, at or before character 7")
    }

    @Test("length and nesting are bounded")
    func bounds() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "(", count: depth) + "a" + String(repeating: ")", count: depth)
        }
        _ = try XPath(nested(32))
        #expect(throws: XPath.Invalid.self) { try XPath(nested(33)) }
        #expect(throws: XPath.Invalid.self) {
            try XPath(String(repeating: "a[", count: 33) + String(repeating: "]", count: 33))
        }
        #expect(throws: XPath.Invalid.self) { try XPath(String(repeating: "a/", count: 1024) + "b") }
        for text in [
            String(repeating: "a/", count: 1000) + "b", String(repeating: "a|", count: 1000) + "b",
            String(repeating: "-", count: 2000) + "1", String(repeating: "1+", count: 1000) + "1",
            "a" + String(repeating: "[b]", count: 600),
            String(repeating: "not(", count: 32) + "a" + String(repeating: ")", count: 32),
        ] {
            let path = try XPath(text)
            _ = try xmlTree("<a><b/></a>").texts(path, at: xmlTree("<a/>").root)
        }
    }

    @Test("a prefix needs a name and a namespace")
    func prefixes() {
        for pair in [("1a", "u"), ("a b", "u"), ("", "u"), ("xmlns", "u"), ("a", ""), ("a:b", "u")] {
            #expect(throws: XPath.Invalid.self) { try XPathNamespaces([(prefix: pair.0, uri: pair.1)]) }
        }
    }

    @Test("namespaces are reached by the expression's prefixes, whatever the document's are")
    func namespaces() throws {
        let tree = try xmlTree(
            "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:x='urn:t'><entry x:id='7' id='8'><x:title>t</x:title></entry></feed>"
        )
        let map = [("a", "http://www.w3.org/2005/Atom"), ("t", "urn:t")]
        #expect(try tree.ask("//a:entry/@t:id", map) == ["7"])
        #expect(try tree.ask("//a:entry/@id", map) == ["8"])
        #expect(try tree.ask("//t:title", map) == ["t"])
        #expect(try tree.ask("//entry").isEmpty)
        #expect(try tree.ask("//*[local-name() = 'entry']/@id") == ["8"])
        #expect(try tree.ask("//a:entry/@id", [("a", "urn:t")]).isEmpty)
        #expect(tree.rootNamespace == "http://www.w3.org/2005/Atom")
    }

    @Test("one expression serves many threads, each with its own documents")
    func concurrent() async throws {
        let path = try XPath("concat(normalize-space(//b[last()]), '-', count(//b[contains(., '1')]))")
        await withTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<200).allSatisfy { round in
                        let tree = try? xmlTree("<a><b>1</b><b> \(task)x\(round) </b></a>")
                        let count = "\(task)x\(round)".contains("1") ? 2 : 1
                        return (try? tree?.texts(path, at: tree!.root)) == ["\(task)x\(round)-\(count)"]
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    @Test(
        "where no comparison of nodes is left, an expression that joins node sets is refused, and others are evaluated")
    func exhausted() throws {
        var limits = DOMLimits()
        limits.comparisons = 0
        let tree = try xmlTree("<r><a/></r>", limits: limits)
        #expect(failure { _ = try tree.ask("count(//a/..)") } == .tooLarge)
        #expect(try tree.ask("count(//a)") == ["1"])
    }

    @Test("the steps of an evaluation are those since it began, also where libxml2 counts anew for each one")
    func steps() {
        #expect(XPathEngine.steps(from: 10, to: 25) == 15)
        #expect(XPathEngine.steps(from: 10, to: 4) == 4)
    }
}
