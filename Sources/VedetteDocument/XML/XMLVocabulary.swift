// SPDX-License-Identifier: Apache-2.0

/// A small number for a name, so that a reader compares integers instead of making strings.
public struct XMLToken: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// A name that is not in the vocabulary.
    public static let unknown = XMLToken(rawValue: 0)
}

/// The names of elements and attributes that a kind knows. Names are matched by namespace URI, never by prefix.
public struct XMLVocabulary: Sendable {
    struct Entry: Sendable {
        let local: [UInt8]
        /// nil is any namespace, empty is none.
        let namespace: [UInt8]?
        let token: XMLToken
    }

    /// By the first byte of the name: a search compares few names.
    private var entries = [[Entry]](repeating: [], count: 256)
    private var assumed: [(prefix: [UInt8], namespace: [UInt8])] = []

    public init() {}

    /// Sets what a prefix means in a document that does not declare it.
    public mutating func assume(_ prefix: String, means namespace: String) {
        assumed.append((Array(prefix.utf8), Array(namespace.utf8)))
    }

    /// - Parameter namespaces: each namespace in which this name means the token, `""` for no namespace; nil for any.
    public mutating func add(_ local: String, in namespaces: [String]?, as token: XMLToken) {
        let local = Array(local.utf8)
        let first = Int(local.first ?? 0)
        guard let namespaces else {
            entries[first].append(Entry(local: local, namespace: nil, token: token))
            return
        }
        for namespace in namespaces {
            entries[first].append(Entry(local: local, namespace: Array(namespace.utf8), token: token))
        }
    }

    func token(local: UnsafePointer<UInt8>, namespace: UnsafePointer<UInt8>?) -> XMLToken {
        let found = entries[Int(local.pointee)].first { entry in
            guard Self.equal(entry.local, local) else { return false }
            guard let wanted = entry.namespace else { return true }
            return namespace.map { Self.equal(wanted, $0) } ?? wanted.isEmpty
        }
        return found?.token ?? .unknown
    }

    /// Returns the token of a name whose prefix is not declared. Such a name is not in "no namespace", but a well-known prefix
    /// shows which one was meant.
    func token(local: UnsafePointer<UInt8>, undeclared prefix: UnsafePointer<UInt8>?) -> XMLToken {
        guard let prefix, let meant = assumed.first(where: { Self.equal($0.prefix, prefix) }) else { return .unknown }
        let found = entries[Int(local.pointee)].first { $0.namespace == meant.namespace && Self.equal($0.local, local) }
        return found?.token ?? .unknown
    }

    private static func equal(_ name: [UInt8], _ other: UnsafePointer<UInt8>) -> Bool {
        // The other ends with a zero byte, which no name contains, so the comparison cannot run past it.
        for (index, byte) in name.enumerated() where other[index] != byte { return false }
        return other[name.count] == 0
    }
}

/// Tokens by the addresses of names: libxml2 keeps one copy of each name in a document, so equal names have one address.
struct XMLTokenCache {
    private var slots = [(local: UInt, namespace: UInt, token: XMLToken)](repeating: (0, 0, .unknown), count: 1024)
    private var used = 0

    mutating func token(
        _ local: UnsafePointer<UInt8>, _ namespace: UnsafePointer<UInt8>?, _ vocabulary: XMLVocabulary
    ) -> XMLToken {
        let name = UInt(bitPattern: local)
        let space = UInt(bitPattern: namespace)
        var at = Int(truncatingIfNeeded: ((name ^ (space &* 31)) &* 0x9E37_79B9_7F4A_7C15) >> 54)
        while slots[at].local != 0 {
            if slots[at].local == name, slots[at].namespace == space { return slots[at].token }
            at = (at + 1) & 1023
        }
        let token = vocabulary.token(local: local, namespace: namespace)
        // Beyond 512 names the cache would fill up and each search would grow.
        if used < 512 {
            slots[at] = (name, space, token)
            used += 1
        }
        return token
    }
}
