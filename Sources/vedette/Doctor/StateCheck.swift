// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// Whether a watcher could keep its journal there. Pure.
struct StateCheck {
    /// Below this a commit may fail at any time; a watcher with many sources writes as much in minutes.
    static let leastBytes: UInt64 = 16 << 20
    static let fewBytes: UInt64 = 256 << 20
    static let leastInodes: UInt64 = 16

    let facts: StateFacts

    var findings: [Finding] { directory + room }

    private var directory: [Finding] {
        let path = facts.path
        guard let directory = facts.directory else {
            return [
                facts.isParentWritable
                    ? .ok("state", "\(path) is not there yet; the first run makes it")
                    : .failure(
                        "state", "\(path) is not there and cannot be made",
                        remedy: "make it for this user, or choose another --state")
            ]
        }
        guard directory.isDirectory else {
            return [.failure("state", "\(path) is no directory", remedy: "choose another --state")]
        }
        guard directory.isWritable else {
            let whose = directory.owner == facts.user ? "this user may not write" : "it belongs to another user"
            return [
                .failure(
                    "state", "\(path) cannot be written: \(whose) (mode \(octal(directory.mode)))",
                    remedy: "run as its owner, mend its mode, or choose another --state")
            ]
        }
        return [doubt(directory) ?? .ok("state", "\(path) can be written, and by nobody else")]
    }

    private func doubt(_ directory: StateFacts.Directory) -> Finding? {
        let path = facts.path
        if directory.owner != facts.user {
            return .warning(
                "state", "\(path) belongs to another user, who can change what is in it",
                remedy: "chown it, or choose another --state")
        }
        if directory.mode & 0o077 != 0 {
            return .warning(
                "state", "others can look into \(path) (mode \(octal(directory.mode)))", remedy: "chmod 700 \(path)")
        }
        return nil
    }

    private var room: [Finding] {
        guard let room = facts.room else { return [] }
        var findings: [Finding] = []
        let free = "\(room.bytes >> 20) MiB are free where the journal lies"
        if room.bytes < StateCheck.leastBytes {
            findings.append(.failure("disk", free, remedy: "make room"))
        } else if let inodes = room.inodes, inodes < StateCheck.leastInodes {
            findings.append(
                .failure("disk", "no file can be made where the journal lies: no inodes", remedy: "delete small files"))
        } else if room.bytes < StateCheck.fewBytes {
            findings.append(
                .warning("disk", free, remedy: "make room, or bound the journal with `retain: {size: 100MB}`"))
        } else {
            findings.append(.ok("disk", free))
        }
        if room.isNetwork {
            findings.append(
                .warning(
                    "disk", "the state is on a network file system, where locks and SQLite's log are not safe",
                    remedy: "choose a --state on a local disk"))
        }
        return findings
    }

    private func octal(_ mode: UInt32) -> String { String(mode, radix: 8) }
}
