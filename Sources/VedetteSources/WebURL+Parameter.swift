// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension WebURL {
    /// Returns the first value of a parameter in the query.
    func parameter(_ name: String) -> String? {
        for pair in (query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if FormEncoding.decoded(parts[0]) == name { return parts.count > 1 ? FormEncoding.decoded(parts[1]) : "" }
        }
        return nil
    }
}
