// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Checks and normalises the addresses of a feed.
enum FeedLink {
    /// True for an absolute http or https address that needs no resolving: most links, by far.
    static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count > 8, bytes.starts(with: "http".utf8) else { return false }
        let start = bytes[4] == UInt8(ascii: "s") ? 8 : 7
        guard bytes[4..<start].elementsEqual(start == 8 ? "s://".utf8 : "://".utf8) else { return false }
        if [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: ":")].contains(bytes[start]) {
            return false
        }
        var isHost = true
        for byte in bytes[start...] {
            if byte <= 0x20 || byte == 0x7F || (isHost && byte == UInt8(ascii: "@")) { return false }
            if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { isHost = false }
        }
        return true
    }

    static func isPlain(text: String) -> Bool {
        var text = text
        return text.withUTF8 { isPlain($0) }
    }

    /// Removes line breaks inside an address and encodes spaces, as browsers do (https://url.spec.whatwg.org/#url-parsing).
    static func cleaned(_ text: String) -> String {
        var out = ""
        for scalar in text.trimmed().unicodeScalars {
            switch scalar {
            case "\t", "\n", "\r": continue
            case " ": out += "%20"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }

    /// Returns an address as a key, without tracking and session parameters, which change from poll to poll.
    static func key(_ address: String) -> String {
        guard address.hasPrefix("http"), address.utf8.contains(where: { $0 == 0x3F || $0 == 0x23 || $0 == 0x3B }) else {
            return address
        }
        var parts = address.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if parts.count == 2, isTracking(Substring(parts[1])) { parts.removeLast() }
        let halves = parts[0].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var page = String(halves[0])
        if let session = page.lowercased().firstRange(of: ";jsessionid=") {
            page = String(page.prefix(page.lowercased().distance(from: page.startIndex, to: session.lowerBound)))
        }
        if halves.count == 2 {
            let kept = halves[1].split(separator: "&", omittingEmptySubsequences: false).filter { !isTracking($0) }
            if !kept.isEmpty { page += "?" + kept.joined(separator: "&") }
        }
        return parts.count == 2 ? page + "#" + parts[1] : page
    }

    /// Returns an address without scheme and fragment, which change when a site moves to https or edits an entry.
    static func bare(_ address: String) -> String {
        let address = key(address)
        let bytes = address.utf8
        guard address.hasPrefix("http"),
            let scheme = bytes.indices.first(where: { bytes[$0...].starts(with: "://".utf8) })
        else { return address }
        return String(decoding: bytes[scheme...].dropFirst(3).prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)
    }

    private static func isTracking(_ parameter: Substring) -> Bool {
        let name = parameter.prefix { $0 != "=" }.lowercased()
        return name.hasPrefix("utm_") || tracking.contains(name)
    }

    private static let tracking: Set<String> = [
        "fbclid", "gclid", "dclid", "msclkid", "yclid", "igshid", "mc_cid", "mc_eid", "_hsenc", "_hsmi", "xtor",
        "at_medium", "at_campaign", "wt_mc", "wt.mc_id", "cmpid", "ncid", "ocid", "phpsessid", "jsessionid",
    ]
}
