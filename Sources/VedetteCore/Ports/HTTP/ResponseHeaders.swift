// SPDX-License-Identifier: Apache-2.0

/// The header lines of a response as received. A value is searched for only when it is read.
public struct ResponseHeaders: Sendable, Hashable {
    private var lines: [UInt8]

    /// - Parameter lines: `Name: value` lines, each ended by LF or CR LF.
    public init(lines: [UInt8] = []) { self.lines = lines }

    public init(_ pairs: [(String, String)]) {
        lines = pairs.flatMap { Array("\($0): \($1)\n".utf8) }
    }

    /// Returns the first value of a name, without regard to case and without surrounding white space.
    public subscript(name: String) -> String? {
        var value: String?
        visit(name) {
            value = $0
            return false
        }
        return value
    }

    /// Returns all values of a name, in the order received.
    public func all(_ name: String) -> [String] {
        var values: [String] = []
        visit(name) {
            values.append($0)
            return true
        }
        return values
    }

    /// Searches the bytes without splitting them: this runs several times in every poll.
    /// - Parameter take: takes a value; returns whether the search goes on.
    private func visit(_ name: String, _ take: (String) -> Bool) {
        var name = name
        name.withUTF8 { wanted in
            lines.withUnsafeBufferPointer { bytes in
                var start = 0
                while start < bytes.count {
                    var end = start
                    while end < bytes.count, bytes[end] != 10 { end += 1 }
                    if ResponseHeaders.hasName(wanted, bytes, start, end) {
                        let value = ResponseHeaders.trimmed(bytes, start + wanted.count + 1, end)
                        guard take(String(decoding: value, as: UTF8.self)) else { return }
                    }
                    start = end + 1
                }
            }
        }
    }

    /// Whether the line from `start` to `end`, its line feed left out, has that name.
    private static func hasName(
        _ wanted: UnsafeBufferPointer<UInt8>, _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int
    ) -> Bool {
        guard end - start > wanted.count, bytes[start + wanted.count] == 58 else { return false }
        for i in 0..<wanted.count where bytes[start + i] | 0x20 != wanted[i] | 0x20 { return false }
        return true
    }

    private static func trimmed(
        _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int
    ) -> Slice<UnsafeBufferPointer<UInt8>> {
        var (start, end) = (start, end)
        while end > start, bytes[end - 1] <= 32 { end -= 1 }
        while start < end, bytes[start] <= 32 { start += 1 }
        return bytes[start..<end]
    }

    /// `type/subtype` in lower case, without parameters.
    public var mediaType: String? {
        self["Content-Type"]?.split(separator: ";").first.map { $0.lowercased().trimmed() }
    }

    /// The `charset` parameter of Content-Type, unquoted.
    public var charset: String? {
        guard let type = self["Content-Type"] else { return nil }
        for parameter in type.split(separator: ";").dropFirst() {
            let text = String(parameter).trimmed()
            guard text.lowercased().hasPrefix("charset=") else { continue }
            return String(text.dropFirst(8).filter { $0 != "\"" }).trimmed()
        }
        return nil
    }
}

extension ResponseHeaders {
    /// How long the response stays fresh: `max-age` of Cache-Control minus `Age` (RFC 9111 §4.2). Nil also for one that must be
    /// asked for each time (§5.2.2.4), or not be stored.
    public var freshFor: Duration? {
        let directives = all("Cache-Control").joined(separator: ",").lowercased().split(separator: ",")
            .map { $0.trimmed() }
        guard !directives.contains("no-cache"), !directives.contains("no-store") else { return nil }
        for directive in directives {
            let parts = directive.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmed() == "max-age", let age = Int64(parts[1].trimmed()), age > 0
            else { continue }
            let spent = self["Age"].flatMap { Int64($0) } ?? 0
            return .seconds(max(0, min(age, 1 << 31) - min(max(spent, 0), 1 << 31)))
        }
        return nil
    }

    /// The target of the `Link` with the relation `next`, as written (RFC 8288); nil for none.
    public var nextLink: String? {
        for line in all("Link") {
            var rest = line[...]
            while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
                let target = String(rest[rest.index(after: open)..<close])
                let parameters = ResponseHeaders.upTo(",", in: rest[rest.index(after: close)...])
                rest = rest[parameters.endIndex...]
                if ResponseHeaders.isNext(parameters) { return target }
            }
        }
        return nil
    }

    /// The first `rel` counts alone (RFC 8288 §3.3).
    private static func isNext(_ parameters: Substring) -> Bool {
        var rest = parameters
        while !rest.isEmpty {
            let parameter = upTo(";", in: rest)
            rest = rest[parameter.endIndex...].dropFirst()
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmed().lowercased() == "rel" else { continue }
            let relations = parts[1].filter { $0 != "\"" }.lowercased()
            return relations.split(whereSeparator: \.isWhitespace).contains("next")
        }
        return false
    }

    /// Returns what stands before a separator outside quoted strings (RFC 9110 §5.6.4); the whole text where there is none.
    private static func upTo(_ separator: Character, in text: Substring) -> Substring {
        var (isQuoted, isEscaped) = (false, false)
        for (index, character) in zip(text.indices, text) {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if !isQuoted, character == separator {
                return text[..<index]
            }
        }
        return text
    }
}
