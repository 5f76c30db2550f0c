// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore
import VedetteSystem

/// A directory that only its owner reads: `key-DAY` with 32 random bytes, and `used-DAY-SIGNATURE`, where DAY is the one of the
/// key. Each is made in one step, so that several processes can share the directory. What no valid link needs is deleted
/// whenever a file is made. All calls block.
struct LinkDirectory: Sendable {
    /// Why a file could not be read or written.
    struct Problem: Error, Hashable {
        var detail: String

        init(detail: String) { self.detail = detail }

        init(_ path: String, _ code: Int32) { detail = "\(path): \(String(cString: strerror(code)))" }
    }

    enum Key: Hashable {
        case good([UInt8])
        case missing
        /// Links must not be signed with it, and none that was is believed.
        case unfit(reason: String)
    }

    struct MadeKey: Hashable {
        var key: [UInt8]
        /// Why the key before was replaced; nil where none was.
        var replaced: String?
    }

    private static let keyLength = 32

    let path: String

    /// Reads the key of a day.
    func key(_ day: Int64) throws(Problem) -> Key {
        let path = keyPath(day)
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return .missing }
            throw Problem(path, errno)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Problem(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Problem(detail: "\(path) is no file; remove it") }
        guard status.st_mode & 0o077 == 0 else {
            return .unfit(reason: "others can read \(path) (mode \(String(status.st_mode & 0o777, radix: 8)))")
        }
        var key = [UInt8](repeating: 0, count: Self.keyLength + 1)
        let count = Glibc.read(file, &key, key.count)
        guard count >= 0 else { throw Problem(path, errno) }
        guard count == Self.keyLength else { return .unfit(reason: "\(path) has not \(Self.keyLength) bytes") }
        return .good(Array(key.prefix(count)))
    }

    /// Returns the key of a day, which is made where there is none that is fit.
    func makeKey(_ day: Int64, at now: Timestamp) throws(Problem) -> MadeKey {
        var replaced: String?
        switch try key(day) {
        case .good(let key): return MadeKey(key: key)
        case .missing: break
        case .unfit(let reason):
            replaced = reason
            unlink(keyPath(day))
        }
        try createKey(day)
        removeOld(at: now)
        switch try key(day) {
        case .good(let key): return MadeKey(key: key, replaced: replaced)
        case .missing: throw Problem(keyPath(day), ENOENT)
        case .unfit(let reason): throw Problem(detail: reason)
        }
    }

    /// Notes that a link is used.
    /// - Returns: whether it was not before.
    func note(_ token: ActionLink.Token) throws(Problem) -> Bool {
        let path = path(of: token)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            if errno == EEXIST { return false }
            throw Problem(path, errno)
        }
        let code = fsync(file) == 0 ? syncDirectory() : errno
        close(file)
        guard code == 0 else {
            unlink(path)
            throw Problem(path, code)
        }
        return true
    }

    /// Takes a note back.
    func remove(_ token: ActionLink.Token) { unlink(path(of: token)) }

    /// Deletes what no valid link needs.
    func removeOld(at now: Timestamp) {
        // `fresh`, `key`, `used`: a link whose note is deleted must have no key. It could be used once more where the clock is
        // set back.
        for name in names().filter({ Self.isOld($0, at: now) }).sorted() {
            guard unlink("\(path)/\(name)") == 0 || errno == ENOENT else { return }
        }
    }

    private static func isOld(_ name: String, at now: Timestamp) -> Bool {
        let parts = name.split(separator: "-", maxSplits: 2)
        guard parts.count >= 2, ["fresh", "key", "used"].contains(parts[0]), let day = Int64(parts[1]) else {
            return false
        }
        return !ActionLink.isKept(day: day, at: now)
    }

    private func keyPath(_ day: Int64) -> String { "\(path)/key-\(day)" }

    /// The signature is base64url, so no name in a link makes a part of the path.
    private func path(of token: ActionLink.Token) -> String { "\(path)/used-\(token.link.day)-\(token.signature)" }

    private func createKey(_ day: Int64) throws(Problem) {
        try Self.createDirectory(path)
        // The standard generator is the system's, which is fit for keys.
        let key = (0..<Self.keyLength).map { _ in UInt8.random(in: .min ... .max) }
        let fresh = "\(path)/fresh-\(day)-\(UInt64.random(in: .min ... .max))"
        do throws(AtomicFile.Failure) {
            try AtomicFile.write(key, to: fresh, mode: 0o600)
        } catch {
            throw Problem(keyPath(day), error.code)
        }
        // Unlike rename(2), it never takes the place of a key with which links were signed: another process may have made it.
        let code = link(fresh, keyPath(day)) == 0 || errno == EEXIST ? 0 : errno
        unlink(fresh)
        guard code == 0 else { throw Problem(keyPath(day), code) }
        let synced = syncDirectory()
        guard synced == 0 else { throw Problem(path, synced) }
    }

    /// Creates a directory, and those around it: with a journal in a database there may be no state directory.
    private static func createDirectory(_ path: String) throws(Problem) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            throw Problem(path, errno)
        }
        try createDirectory(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Problem(path, errno) }
    }

    /// After a crash of the machine a used link must still be used.
    /// - Returns: the errno; 0 for none.
    private func syncDirectory() -> Int32 {
        let file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { return errno }
        defer { close(file) }
        return fsync(file) == 0 ? 0 : errno
    }

    private func names() -> [String] {
        guard let entries = opendir(path) else { return [] }
        defer { closedir(entries) }
        var names: [String] = []
        while let entry = readdir(entries) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { name in
                    name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names
    }
}
