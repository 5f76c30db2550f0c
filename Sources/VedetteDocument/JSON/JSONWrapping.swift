// SPDX-License-Identifier: Apache-2.0

/// What servers put around JSON, and takes it away.
public enum JSONWrapping {
    /// What keeps a response from being run as a script of another site; the JSON follows it.
    private static let prefixes = [
        ")]}',", ")]}'", ")]}", "while(1);", "while (1);", "for(;;);", "for (;;);", "{}&&", "throw 1;",
    ].map { Array($0.utf8) }

    /// Bytes before the parenthesis of JSONP, at most.
    private static let longestCall = 200

    /// Returns the JSON of a response that is JSON behind such a prefix, or lines of objects in JSON as one array; nil for any
    /// other.
    public static func unwrapped(_ body: [UInt8]) -> [UInt8]? { withoutPrefix(body).map { Array($0) } ?? lines(body) }

    /// Returns what follows a prefix; nil without one.
    static func withoutPrefix(_ body: [UInt8]) -> ArraySlice<UInt8>? {
        let text = body.drop(while: \.isSpace)
        if let json = inComment(text) { return json }
        guard let prefix = prefixes.first(where: { text.starts(with: $0) }) else { return nil }
        let json = text.dropFirst(prefix.count).drop(while: \.isSpace)
        return json.first.map(opens) == true ? json : nil
    }

    /// Returns the JSON in a comment, as `/*{…}*/` and `/*-secure-{…}*/`; nil for anything else.
    private static func inComment(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard text.starts(with: "/*".utf8) else { return nil }
        var text = text.dropFirst(2)
        if text.starts(with: "-secure-".utf8) { text = text.dropFirst(8) }
        while let last = text.last, last.isSpace { text.removeLast() }
        let json = text.dropLast(2).drop(while: \.isSpace)
        return text.suffix(2).elementsEqual("*/".utf8) && json.first.map(opens) == true ? json : nil
    }

    /// Returns lines of objects (https://github.com/ndjson/ndjson-spec) as an array; nil when there are not several, or one is
    /// cut off.
    static func lines(_ body: [UInt8]) -> [UInt8]? {
        var (array, rest, count) = ([UInt8](), body[...], 0)
        while let line = rest.takeLine() {
            guard let first = line.first(where: { !$0.isSpace }) else { continue }
            guard first == UInt8(ascii: "{"), line.last(where: { !$0.isSpace }) == UInt8(ascii: "}") else { return nil }
            if count == 1 { array.reserveCapacity(body.count + 2) }
            array.append(UInt8(ascii: count == 0 ? "[" : ","))
            array += line
            count += 1
        }
        array.append(UInt8(ascii: "]"))
        return count > 1 ? array : nil
    }

    /// Returns the JSON in a call with it, `name(…);`; nil for no such call.
    public static func inCall(_ body: [UInt8]) -> [UInt8]? {
        var text = body[...]
        while let last = text.last, last.isSpace || last == UInt8(ascii: ";") { text.removeLast() }
        guard text.last == UInt8(ascii: ")"), let open = text.prefix(longestCall).firstIndex(of: UInt8(ascii: "(")),
            !text[..<open].contains(where: { opens($0) || "\"<".utf8.contains($0) })
        else { return nil }
        let json = text[(open + 1)...].dropLast().drop(while: \.isSpace)
        return json.first.map(opens) == true ? Array(json) : nil
    }

    private static func opens(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") }
}
