// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Reads the `Link` header (RFC 8288).
enum LinkHeader {
    /// Returns the target of `rel="next"`, as written.
    static func next(_ headers: ResponseHeaders) -> String? {
        for line in headers.all("Link") {
            var rest = line[...]
            while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
                let target = String(rest[rest.index(after: open)..<close])
                rest = rest[rest.index(after: close)...]
                let parameters = rest[..<(rest.firstIndex(of: "<") ?? rest.endIndex)]
                if isNext(parameters) { return target }
            }
        }
        return nil
    }

    private static func isNext(_ parameters: Substring) -> Bool {
        parameters.split { ";,".contains($0) }.contains { parameter in
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, String(parts[0]).trimmed().lowercased() == "rel" else { return false }
            let relations = String(parts[1]).filter { $0 != "\"" }.lowercased()
            return relations.split(whereSeparator: \.isWhitespace).contains("next")
        }
    }
}
