// SPDX-License-Identifier: Apache-2.0

import VedetteCore

extension Timestamp {
    /// Reads the times of JSON and XML: ISO 8601 as RFC 3339 has it, with a day alone or without a zone (then UTC); the dates of RFC 2822;
    /// or a number since 1970, whose size tells its unit.
    init?(anyForm text: String) {
        if let time = Timestamp(rfc3339: text) {
            self = time
        } else if let time = Timestamp(sinceEpoch: text) {
            self = time
        } else if let time = FeedDate.parse(text) {
            self = time
        } else {
            return nil
        }
    }

    /// Reads milliseconds since 1970 as a server writes them; nil for anything else and for a time beyond the year 9999.
    init?(milliseconds text: String?) {
        guard let text, let number = Int64(text), number.magnitude < 253_402_300_800_000 else { return nil }
        self.init(milliseconds: number)
    }
}
