// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The kernel's table of mounted file systems (proc_pid_mountinfo(5)).
public enum MountTable {
    /// The types of file systems that other machines share, as `mount` prints them.
    private static let networks: Set = [
        "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "coda", "lustre", "gpfs", "beegfs", "orangefs",
        "fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.gcsfuse", "fuse.glusterfs", "fuse.ceph-fuse", "fuse.juicefs",
        "fuse.curlftpfs", "fuse.gvfsd-fuse", "fuse.mfs",
    ]

    /// Returns the type of the network file system on which a path is; nil on any other, and where that is unknown.
    public static func network(at path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return network(of: String(cString: resolved), in: current)
    }

    /// Returns the type of the network file system on which an absolute path is, by the text of a table.
    package static func network(of path: String, in table: String) -> String? {
        guard let kind = kind(of: path, in: table), networks.contains(kind) else { return nil }
        return kind
    }

    /// Returns the type of the last mount on the longest prefix of an absolute path.
    private static func kind(of path: String, in table: String) -> String? {
        var best: (length: Int, kind: String)?
        for line in table.split(separator: "\n") {
            let words = line.split(separator: " ")
            // Optional fields end with a dash; the type follows it.
            guard words.count > 6, let dash = words.firstIndex(of: "-"), dash + 1 < words.count else { continue }
            let point = words[4] == "/" ? "" : unescaped(words[4])
            guard path == point || path.hasPrefix(point + "/") else { continue }
            if point.utf8.count >= best?.length ?? 0 { best = (point.utf8.count, String(words[dash + 1])) }
        }
        return best?.kind
    }

    /// Decodes `\040`: spaces, tabs, line ends and backslashes of a path are three octal digits.
    private static func unescaped(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8) {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Empty where it cannot be read.
    private static var current: String {
        let file = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 16_384))
        while case let count = read(file, &buffer, buffer.count), count > 0 { bytes += buffer.prefix(count) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
