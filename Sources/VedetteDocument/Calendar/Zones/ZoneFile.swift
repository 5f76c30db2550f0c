// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A zone of the system's table: a file in the format TZif (RFC 8536).
enum ZoneFile {
    private static let folder = "/usr/share/zoneinfo/"
    private static let maximumBytes = 64 << 10
    /// To open a file and to read it takes as long as so many steps.
    private static let stepsOfFile = 1000

    /// Returns the clock of a zone; nil when the table has none by this name, and when the budget is exhausted.
    static func clock(_ name: String, _ budget: ICalendarBudget) -> ICalendarClock? {
        guard !name.split(separator: "/", omittingEmptySubsequences: false).contains(where: { $0.first ?? "." == "." }),
            name.utf8.allSatisfy({ $0.isLetter || $0.isDigit || "/_+-".utf8.contains($0) }),
            budget.take(stepsOfFile),
            let bytes = bytes(of: folder + name)
        else { return nil }
        return clock(name, bytes[...], budget)
    }

    private static func bytes(of path: String) -> [UInt8]? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: maximumBytes) { buffer, count in
            count = fread(buffer.baseAddress, 1, buffer.count, file)
        }
        return bytes.count < maximumBytes ? bytes : nil
    }

    private static func clock(_ name: String, _ bytes: ArraySlice<UInt8>, _ budget: ICalendarBudget) -> ICalendarClock?
    {
        var bytes = bytes
        // The first block is for readers of 32 bits.
        guard let old = Counts(&bytes), old.version >= UInt8(ascii: "2"), bytes.count >= old.size(ofTime: 4) else {
            return nil
        }
        bytes.removeFirst(old.size(ofTime: 4))
        guard let counts = Counts(&bytes), counts.leaps == 0, counts.types > 0, bytes.count > counts.size(ofTime: 8)
        else { return nil }
        let times = (0..<counts.times).map { _ in take(8, &bytes) }
        let kinds = (0..<counts.times).map { _ in take(1, &bytes) }
        let types = (0..<counts.types).map { _ in
            let offset = take(4, &bytes)
            bytes.removeFirst(2)
            return offset
        }
        guard kinds.allSatisfy({ types.indices.contains($0) }), zip(times, times.dropFirst()).allSatisfy({ $0 < $1 })
        else { return nil }
        bytes.removeFirst(counts.characters + counts.indicators)
        let footer = bytes.dropFirst().prefix { $0 != 10 }
        let changes = zip(times, kinds).map { ($0, types[$1]) }
        let rules = ZoneRules(String(decoding: footer, as: UTF8.self))
        return ICalendarClock(
            name, initial: types[0], changes: changes,
            rules?.observances(after: times.last ?? 0, budget) ?? [])
    }

    /// Takes a signed number, the highest byte first.
    private static func take(_ count: Int, _ bytes: inout ArraySlice<UInt8>) -> Int {
        let unsigned = bytes.prefix(count).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        bytes.removeFirst(count)
        let unused = UInt64(64 - 8 * count)
        return count == 1 ? Int(unsigned) : Int(Int64(bitPattern: unsigned << unused) >> Int64(unused))
    }

    /// The numbers in the head of a block.
    private struct Counts {
        let version: UInt8
        let indicators: Int
        let leaps: Int
        let times: Int
        let types: Int
        let characters: Int

        init?(_ bytes: inout ArraySlice<UInt8>) {
            guard bytes.count >= 44, bytes.prefix(4).elementsEqual("TZif".utf8) else { return nil }
            version = bytes[bytes.startIndex + 4]
            bytes.removeFirst(20)
            let numbers = (0..<6).map { _ in take(4, &bytes) }
            guard numbers.allSatisfy({ (0...maximumBytes).contains($0) }) else { return nil }
            indicators = numbers[0] + numbers[1]
            (leaps, times, types, characters) = (numbers[2], numbers[3], numbers[4], numbers[5])
        }

        func size(ofTime width: Int) -> Int {
            times * (width + 1) + types * 6 + characters + leaps * (width + 4) + indicators
        }
    }
}
