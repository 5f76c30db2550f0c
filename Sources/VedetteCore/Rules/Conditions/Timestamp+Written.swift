// SPDX-License-Identifier: Apache-2.0

extension Timestamp {
    /// Reads the time in a field for `older`: ISO 8601 as RFC 3339 has it, with a day alone or without a zone (then UTC), or a
    /// number since 1970. Zero is no time: servers write it for "never".
    init?(written value: Value) {
        let text = value.description
        let time =
            Timestamp(rfc3339: text) ?? Timestamp(rfc3339: text + "T00:00:00Z") ?? Timestamp(rfc3339: text + "Z")
            ?? Timestamp(sinceEpoch: text)
        guard let time, time.milliseconds > 0 else { return nil }
        self = time
    }
}
