// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The values of a query or of the body of a form, in order.
public struct FormValues: Sendable, Hashable {
    private(set) var pairs: [HeaderField]

    /// Decodes `name=value` pairs that are joined by `&`.
    public init(_ text: some StringProtocol) {
        pairs = text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return HeaderField(FormEncoding.decoded(parts[0]), parts.count > 1 ? FormEncoding.decoded(parts[1]) : "")
        }
    }

    /// The first value of a name; nil for none.
    public subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// The names, in order, each once.
    public var names: [String] {
        var seen = Set<String>()
        return pairs.map(\.name).filter { seen.insert($0).inserted }
    }

    /// All values of a name, in order.
    public func all(_ name: String) -> [String] { pairs.filter { $0.name == name }.map(\.value) }
}
