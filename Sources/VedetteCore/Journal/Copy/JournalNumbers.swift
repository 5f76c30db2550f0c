// SPDX-License-Identifier: Apache-2.0

/// The last numbers that a journal gave: the rows that had them may be gone.
public struct JournalNumbers: Sendable, Hashable {
    public var seq: Int64 = 0
    public var delivery: Int64 = 0
    public var request: Int64 = 0
    public var silence: Int64 = 0

    /// Those of a journal that gave none.
    public init() {}

    /// A digest of them, each as a row.
    var digest: TableDigest {
        var digest = TableDigest()
        for (index, number) in [seq, delivery, request, silence].enumerated() {
            digest.add([.integer(Int64(index)), .integer(number)])
        }
        return digest
    }
}
