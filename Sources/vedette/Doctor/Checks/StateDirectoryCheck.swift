// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import VedetteCore
import VedetteSystem

/// The state directory as the system describes it.
struct StateFacts: Sendable, Hashable {
    struct Directory: Sendable, Hashable {
        var isDirectory = true
        var isWritable = true
        var owner: UInt32 = 0
        var mode: UInt32 = 0o700
    }

    /// Free space of the file system that holds the directory, or will hold it.
    struct FreeSpace: Sendable, Hashable {
        var bytes: UInt64
        /// Nil for a file system that does not count inodes.
        var inodes: UInt64?
        /// The type of a network file system; nil for any other.
        var network: String?
    }

    var path: String
    /// Nil when there is none yet.
    var directory: Directory?
    /// Whether the nearest existing parent lets this user create a directory.
    var isParentWritable = true
    var space: FreeSpace?
    /// The user id of this process.
    var user: UInt32 = 0
}

/// Checks whether a watcher can keep its journal in the state directory. Pure.
struct StateDirectoryCheck {
    /// Below this a commit may fail at any time: a watcher with many sources writes as much in minutes.
    static let minimumBytes: UInt64 = 16 << 20
    static let lowBytes: UInt64 = 256 << 20
    static let minimumInodes: UInt64 = 16

    let facts: StateFacts

    @Findings var findings: [Finding] {
        if let directory = facts.directory {
            state(directory)
        } else if facts.isParentWritable {
            .ok("state", "\(facts.path) does not exist yet; the first run creates it")
        } else {
            .failure(
                "state", "\(facts.path) does not exist and cannot be created",
                remedy: "create it for this user, or choose another --state")
        }
        if let space = facts.space { disk(space) }
    }

    private func state(_ directory: StateFacts.Directory) -> Finding {
        let (path, mode) = (facts.path, String(directory.mode, radix: 8))
        let isOwn = directory.owner == facts.user
        if !directory.isDirectory {
            return .failure("state", "\(path) is not a directory", remedy: "choose another --state")
        }
        if !directory.isWritable {
            let cause = isOwn ? "this user may not write" : "it belongs to another user"
            return .failure(
                "state", "\(path) cannot be written: \(cause) (mode \(mode))",
                remedy: "run as its owner, correct its mode, or choose another --state")
        }
        if !isOwn {
            return .warning(
                "state", "\(path) belongs to another user, who can change its files",
                remedy: "chown it, or choose another --state")
        }
        if directory.mode & 0o077 != 0 {
            return .warning("state", "others can read \(path) (mode \(mode))", remedy: "chmod 700 \(path)")
        }
        return .ok("state", "\(path) can be written by this user only")
    }

    @Findings private func disk(_ space: StateFacts.FreeSpace) -> [Finding] {
        let free = "the journal's file system has \(space.bytes >> 20) MiB free"
        if space.bytes < Self.minimumBytes {
            .failure("disk", free, remedy: "free some space")
        } else if space.inodes ?? .max < Self.minimumInodes {
            .failure("disk", "the journal's file system has no inodes left for new files", remedy: "delete small files")
        } else if space.bytes < Self.lowBytes {
            .warning("disk", free, remedy: "free some space, or limit the journal with `retain: {size: 100MB}`")
        } else {
            .ok("disk", free)
        }
        if let network = space.network {
            .failure(
                "disk", "the state is on a network file system (\(network)), where a journal is not safe",
                remedy: "choose a --state on a local disk")
        }
    }
}

extension StateFacts {
    static func read(_ path: String) -> StateFacts {
        var facts = StateFacts(path: path)
        facts.user = geteuid()
        var status = stat()
        if stat(path, &status) == 0 {
            facts.directory = Directory(
                isDirectory: status.st_mode & S_IFMT == S_IFDIR, isWritable: access(path, W_OK | X_OK) == 0,
                owner: status.st_uid, mode: status.st_mode & 0o777)
        }
        var parent = URL(filePath: path)
        while access(parent.path, F_OK) != 0, parent.path != "/" { parent.deleteLastPathComponent() }
        facts.isParentWritable = access(parent.path, W_OK | X_OK) == 0
        var space = statvfs()
        if statvfs(parent.path, &space) == 0 {
            facts.space = FreeSpace(
                bytes: UInt64(space.f_bavail) * UInt64(space.f_frsize),
                inodes: space.f_files > 0 ? UInt64(space.f_favail) : nil, network: MountTable.network(at: parent.path))
        }
        return facts
    }
}

/// Returns the text of a file under /proc, empty when it cannot be read.
func processFile(_ path: String) -> String {
    String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
}
