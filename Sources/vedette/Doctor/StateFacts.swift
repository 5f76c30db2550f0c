// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore

/// What the system says of the state directory.
struct StateFacts: Sendable, Hashable {
    struct Directory: Sendable, Hashable {
        var isDirectory = true
        var isWritable = true
        var owner: UInt32 = 0
        var mode: UInt32 = 0o700
    }

    /// Of the file system that it is on, or will be.
    struct FreeSpace: Sendable, Hashable {
        var bytes: UInt64
        /// Nil for a file system that counts none.
        var inodes: UInt64?
        var isNetwork = false
    }

    var path: String
    /// Nil when there is none yet.
    var directory: Directory?
    /// The nearest directory above that exists, where the missing ones are made.
    var isParentWritable = true
    var room: FreeSpace?
    /// Who asks.
    var user: UInt32 = 0
    /// The process that watches.
    var holder: Int32?

    init(path: String) { self.path = path }

    static func of(_ path: String) -> StateFacts {
        var facts = StateFacts(path: path)
        facts.user = geteuid()
        facts.directory = directory(path)
        let nearest = nearest(to: path)
        facts.isParentWritable = access(nearest, W_OK | X_OK) == 0
        facts.room = room(nearest)
        return facts
    }

    private static func directory(_ path: String) -> Directory? {
        guard let status = status(path) else { return nil }
        return Directory(
            isDirectory: status.st_mode & S_IFMT == S_IFDIR, isWritable: access(path, W_OK | X_OK) == 0,
            owner: status.st_uid, mode: status.st_mode & 0o777)
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    private static func nearest(to path: String) -> String {
        var rest = path[...]
        while !rest.isEmpty, access(String(rest), F_OK) != 0 {
            rest = rest[..<(rest.lastIndex(of: "/") ?? rest.startIndex)]
        }
        return rest.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : String(rest)
    }

    private static func room(_ path: String) -> FreeSpace? {
        var room = statvfs()
        guard statvfs(path, &room) == 0 else { return nil }
        return FreeSpace(
            bytes: UInt64(room.f_bavail) * UInt64(room.f_frsize),
            inodes: room.f_files > 0 ? UInt64(room.f_favail) : nil,
            isNetwork: Mounts.kind(of: path).map(Mounts.networks.contains) ?? false)
    }
}

/// What the kernel says of mounted file systems (proc_pid_mountinfo(5)).
enum Mounts {
    static let networks: Set = ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afs", "ceph"]

    static func kind(of path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return kind(of: String(cString: resolved), ProcessFile.text("/proc/self/mountinfo"))
    }

    /// The type of the last mount on the longest prefix of an absolute path.
    static func kind(of path: String, _ table: String) -> String? {
        var best: (length: Int, kind: String)?
        for line in table.split(separator: "\n") {
            let words = line.split(separator: " ")
            // Optional fields end with a dash, behind which the type stands.
            guard words.count > 6, let dash = words.firstIndex(of: "-"), dash + 1 < words.count else { continue }
            let point = words[4] == "/" ? "" : words[4].replacing("\\040", with: " ")
            guard path == point || path.hasPrefix(point + "/") else { continue }
            if point.count >= best?.length ?? 0 { best = (point.count, String(words[dash + 1])) }
        }
        return best?.kind
    }
}

enum ProcessFile {
    /// What /proc holds at a path, up to a mebibyte; empty when it cannot be read.
    static func text(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while bytes.count < 1 << 20 {
            let count = read(file, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
