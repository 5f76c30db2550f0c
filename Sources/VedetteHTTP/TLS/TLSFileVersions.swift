// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc
import VedetteCore

/// The files of a policy as they are at one time. A connection or a session that others verified or opened must not be used: a
/// server goes on to know the client by the certificate of the first handshake, also in those that resume it (RFC 8446 §4.6.2).
struct TLSFileVersions: Equatable {
    /// Of the authorities that the policy trusts.
    private var authorities: TrustedCertificates.Version?
    private var certificate: FileState?
    private var key: FileState?

    /// Of a policy without files.
    init() {}

    init(of tls: TLSPolicy, _ cache: TrustedCertificateCache) {
        authorities = cache.trusted(by: tls)?.currentVersion
        certificate = tls.certificate.flatMap(FileState.init)
        key = tls.key.flatMap(FileState.init)
    }
}

/// What tells that a file was changed or replaced.
struct FileState: Equatable {
    private var inode: ino_t
    private var size: off_t
    private var seconds: Int
    private var nanoseconds: Int

    /// Nil for a file that cannot be found.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (inode, size) = (status.st_ino, status.st_size)
        (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
}
