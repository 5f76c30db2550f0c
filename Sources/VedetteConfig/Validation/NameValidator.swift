// SPDX-License-Identifier: Apache-2.0

/// Validates names of servers, sources, sinks and rules, which are used in URIs, on command lines and in globs.
enum NameValidator {
    /// Characters of the longest name.
    private static let longest = 100
    /// What a path of an address cannot have as a segment.
    private static let relative: Set<String> = [".", ".."]

    static func check(_ name: String, _ noun: String, at place: Place, _ findings: Findings) -> String? {
        let isGood =
            !name.isEmpty && name.count <= longest && !name.hasPrefix("-") && !relative.contains(name)
            && name.unicodeScalars.allSatisfy { scalar in
                // Most are ASCII, for which the tables of Unicode need not be read.
                if ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar) { return true }
                let isWord = scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                return isWord || scalar.properties.generalCategory == .nonspacingMark
                    || "-_.:+@".unicodeScalars.contains(scalar)
            }
        if isGood { return name }
        guard !relative.contains(name) else {
            findings.error(place, "'\(name)' cannot name a \(noun): in an address it would be a relative path")
            return nil
        }
        findings.error(
            place,
            name.count > longest
                ? "'\(name.prefix(longest))…' cannot name a \(noun): it has \(name.count) characters; take at most \(longest)"
                : "'\(name)' cannot name a \(noun); take letters, digits and - _ . : + @, not beginning with '-'")
        return nil
    }
}
