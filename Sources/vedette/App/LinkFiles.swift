// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore
import VedetteSinks
import VedetteSystem

/// The keys of links, and the links that were used, as files of a directory that only its owner reads: `key-DAY` with
/// 32 random bytes, and `used-DAY-SIGNATURE`, where DAY is the one of the key. Each is made in one step, so that several
/// processes can share the directory. What no valid link needs is deleted whenever a file is made.
struct LinkFiles: ActionLinkStore {
    private static let limit = Duration.seconds(5)

    private let directory: String
    private let clock: any VedetteCore.Clock
    private let queue = BlockingQueue()

    /// - Parameter directory: is created when the first key is.
    init(directory: String, clock: any VedetteCore.Clock) { (self.directory, self.clock) = (directory, clock) }

    func sign(_ text: String, day: Int64, makesKey: Bool) async -> [UInt8]? {
        let now = clock.now().wall
        guard ActionLink.isKept(day: day, at: now) else { return nil }
        let key = try? await queue.run(within: Self.limit) { [self] in
            read(day) ?? (makesKey && make(day, at: now) ? read(day) : nil)
        }
        return key.flatMap(\.self).flatMap { MessageAuthentication.code(of: Array(text.utf8), key: $0) }
    }

    func use(_ token: ActionLink.Token) async -> ActionLink.Use {
        let now = clock.now().wall
        let use = try? await queue.run(within: Self.limit) { [self] () -> ActionLink.Use in
            let file = open(path(of: token), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else { return errno == EEXIST ? .again : .failed }
            let isStored = fsync(file) == 0 && syncDirectory()
            close(file)
            if !isStored { unlink(path(of: token)) }
            removeOld(at: now)
            return isStored ? .first : .failed
        }
        return use ?? .failed
    }

    func release(_ token: ActionLink.Token) async {
        _ = try? await queue.run(within: Self.limit) { [self] in unlink(path(of: token)) }
    }

    private func path(of token: ActionLink.Token) -> String {
        "\(directory)/used-\(token.link.day)-\(token.signature)"
    }

    private func read(_ day: Int64) -> [UInt8]? {
        let file = open("\(directory)/key-\(day)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var key = [UInt8](repeating: 0, count: 33)
        let count = Glibc.read(file, &key, key.count)
        return count == 32 ? Array(key.prefix(32)) : nil
    }

    /// - Returns: whether there is a key now; another process may have made it.
    private func make(_ day: Int64, at now: Timestamp) -> Bool {
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else { return false }
        // The standard generator is the system's, which is fit for keys.
        let key = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        let fresh = "\(directory)/fresh-\(day)-\(getpid())"
        guard (try? AtomicFile.write(key, to: fresh, mode: 0o600)) != nil else { return false }
        // Unlike rename(2), it never takes the place of a key with which links were signed.
        let isThere = link(fresh, "\(directory)/key-\(day)") == 0 || errno == EEXIST
        unlink(fresh)
        removeOld(at: now)
        return isThere && syncDirectory()
    }

    /// After a crash of the machine a used link must still be used.
    private func syncDirectory() -> Bool {
        let file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        return fsync(file) == 0
    }

    private func removeOld(at now: Timestamp) {
        guard let entries = opendir(directory) else { return }
        defer { closedir(entries) }
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            let parts = name.split(separator: "-", maxSplits: 2)
            guard parts.count >= 2, ["key", "used", "fresh"].contains(parts[0]), let day = Int64(parts[1]),
                !ActionLink.isKept(day: day, at: now)
            else { continue }
            unlink("\(directory)/\(name)")
        }
    }
}
