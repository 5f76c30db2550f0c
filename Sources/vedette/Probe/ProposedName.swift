// SPDX-License-Identifier: Apache-2.0

/// Makes a name for a source from its address: the host without its common parts, and the last word of the path.
enum ProposedName {
    /// Returns a name that is not taken, with a number if necessary.
    static func of(_ address: String, kind: String, besides taken: Set<String>) -> String {
        free(of(address, kind: kind), besides: taken)
    }

    /// Returns a name from a title, or from the address where the title has no letter of a name.
    static func of(title: String, url: String, kind: String, besides taken: Set<String>) -> String {
        let name = slug(title)
        return name.isEmpty ? of(url, kind: kind, besides: taken) : free(name, besides: taken)
    }

    /// Returns the name, with a number where it is taken.
    static func free(_ name: String, besides taken: Set<String>) -> String {
        guard taken.contains(name) else { return name }
        let number = (2...(taken.count + 2)).first { !taken.contains("\(name)-\($0)") } ?? 2
        return "\(name)-\(number)"
    }

    private static func of(_ address: String, kind: String) -> String {
        let isFile = address.hasPrefix("file://")
        let place = (address.split(separator: "://", maxSplits: 1).last ?? "").prefix { !"?#".contains($0) }
        let host = place.prefix { !"/:".contains($0) }
        var labels = host.split(separator: ".").map(String.init)
        if let last = labels.last, Int(last) == nil, labels.count > 1 { labels.removeLast() }
        labels.removeAll { ["www", "api"].contains($0) }
        // An IP address makes no name.
        if !isFile, labels.allSatisfy({ Int($0) != nil }) { labels = [kind] }
        let file = place.dropFirst(host.count).split(separator: "/").last.map { String($0.prefix { $0 != "." }) } ?? ""
        let words = ["index", "feed", "rss", "atom", "api", "json", "xml", "list", "all"]
        let parts = labels + (words.contains(file.lowercased()) ? [] : [file])
        let name = slug(parts.joined(separator: "-"))
        return name.isEmpty ? kind : name
    }

    private static func slug(_ text: String) -> String {
        let words = text.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        return String(words.joined(separator: "-").prefix(50))
    }
}
