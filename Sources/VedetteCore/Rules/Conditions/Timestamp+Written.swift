// SPDX-License-Identifier: Apache-2.0

extension Timestamp {
    /// Reads the time in a field for `older`: RFC 3339, a date, or seconds or milliseconds since 1970.
    init?(written value: Value) {
        let text = value.description
        if let time = Timestamp(rfc3339: text) ?? Timestamp(rfc3339: text + "T00:00:00Z") {
            self = time
        } else if let number = Int64(text), number > 0 {
            self.init(milliseconds: number < 100_000_000_000 ? number * 1000 : number)
        } else {
            return nil
        }
    }
}
