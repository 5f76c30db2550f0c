// SPDX-License-Identifier: Apache-2.0

public import VedetteCore
import VedetteDocument

/// Checks a body for strict JSON (RFC 8259) with an array or object at the root, because jq accepts less: two values in a row, or
/// nothing at all.
public enum JSONBody {
    public static func check(_ body: inout [UInt8]) throws(ReadError) {
        do {
            _ = try JSONReader(items: nil, columns: []).read(&body) { _ in }
        } catch {
            throw ReadError(any: error)
        }
    }
}
