// SPDX-License-Identifier: Apache-2.0

/// Writes the text of a JSON object (RFC 8259) member by member, with no `JSON` value between: a record is stored after
/// every poll.
struct JSONObjectWriter {
    /// The text so far: an object that lacks its last brace.
    private var text: [UInt8] = []
    private var isEmpty = true

    init() {
        text.reserveCapacity(512)
        text.append(UInt8(ascii: "{"))
    }

    /// Ends the object, and returns its text in one line without white space.
    consuming func finished() -> [UInt8] {
        text.append(UInt8(ascii: "}"))
        return text
    }

    /// Adds a number; nil adds nothing.
    mutating func member(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        begin(name)
        append(value)
    }

    /// Adds a string; nil adds nothing.
    mutating func member(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        begin(name)
        JSON.write(value, to: &text)
    }

    mutating func member(_ name: StaticString, _ value: Bool) {
        begin(name)
        append(value ? "true" : "false")
    }

    /// Adds an object with the members that the closure adds.
    mutating func object(_ name: StaticString, _ members: (inout JSONObjectWriter) -> Void) {
        begin(name)
        text.append(UInt8(ascii: "{"))
        isEmpty = true
        members(&self)
        text.append(UInt8(ascii: "}"))
        isEmpty = false
    }

    /// Adds an object of numbers, in the order of their names.
    mutating func numbers(_ name: StaticString, _ numbers: some Sequence<(key: String, value: Int64)>) {
        object(name) { writer in
            for (key, value) in numbers.sorted(by: { $0.key < $1.key }) {
                writer.separate()
                JSON.write(key, to: &writer.text)
                writer.text.append(UInt8(ascii: ":"))
                writer.append(value)
            }
        }
    }

    /// Adds an object of texts, in the order of their names.
    mutating func texts(_ name: StaticString, _ texts: [String: String]) {
        object(name) { writer in
            for (key, value) in texts.sorted(by: { $0.key < $1.key }) {
                writer.separate()
                JSON.write(key, to: &writer.text)
                writer.text.append(UInt8(ascii: ":"))
                JSON.write(value, to: &writer.text)
            }
        }
    }

    private mutating func begin(_ name: StaticString) {
        separate()
        text.append(UInt8(ascii: "\""))
        append(name)
        text.append(UInt8(ascii: "\""))
        text.append(UInt8(ascii: ":"))
    }

    private mutating func separate() {
        if !isEmpty { text.append(UInt8(ascii: ",")) }
        isEmpty = false
    }

    private mutating func append(_ ascii: StaticString) {
        text.append(contentsOf: UnsafeBufferPointer(start: ascii.utf8Start, count: ascii.utf8CodeUnitCount))
    }

    private mutating func append(_ value: Int64) {
        var left = value.magnitude
        // The digits of the largest number and its sign.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var start = digits.count
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(left % 10)
                left /= 10
            } while left > 0
            if value < 0 {
                start -= 1
                digits[start] = UInt8(ascii: "-")
            }
            text.append(contentsOf: digits[start...])
        }
    }
}
