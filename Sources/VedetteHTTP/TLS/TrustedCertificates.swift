// SPDX-License-Identifier: Apache-2.0

import CCrypto
import CCurl
import Glibc
import VedetteCore

/// The authorities that a policy trusts, read once for all connections.
///
/// libcurl reads them for each connection, and keeps them as long: 140 authorities of a system take 30 ms and 1 MB. Its own
/// cache (CURLOPT_CA_CACHE_TIMEOUT(3)) is not used where a directory is searched, as Debian's libcurl does.
///
/// By the thread of one client alone.
final class TrustedCertificates {
    /// The file of `tls.ca`; nil for the system's.
    private let file: String?
    private var store: OpaquePointer?
    private var version = Version()

    /// What tells that certificates were added, removed or replaced.
    struct Version: Equatable {
        fileprivate var file: FileState?
        fileprivate var directory: FileState?
    }

    init(file: String?) { self.file = file }

    deinit { X509_STORE_free(store) }

    /// Whether libcurl is linked with the OpenSSL of this program, whose stores it can take.
    static let isUsable: Bool = {
        guard let name = cc_version()?.pointee.ssl_version else { return false }
        return String(cString: name).hasPrefix("OpenSSL/3.") && OPENSSL_version_major() == 3
    }()

    /// Has a handle verify certificates by these. The handle must not be used any more when this is freed.
    /// - Returns: false when libcurl refused an option.
    func attach(to easy: UnsafeMutableRawPointer) -> Bool {
        let user = Unmanaged.passUnretained(self).toOpaque()
        // libcurl reads no file. A connection that another file verified is not used: it is in the cache of another policy.
        return TLSPolicy.setOnlyAuthorities(nil, on: easy)
            && cc_set_pointer(easy, CURLOPT_SSL_CTX_DATA, user) == CURLE_OK
            && cc_set_ssl_context(easy, TrustedCertificates.onContext) == CURLE_OK
    }

    /// Called for each new connection (CURLOPT_SSL_CTX_FUNCTION(3)).
    private static let onContext: cc_ssl_context_function = { _, context, user in
        guard let context, let user else { return CURLE_SSL_CACERT_BADFILE }
        let trusted = Unmanaged<TrustedCertificates>.fromOpaque(user).takeUnretainedValue()
        guard let store = trusted.current() else { return CURLE_SSL_CACERT_BADFILE }
        SSL_CTX_set1_cert_store(OpaquePointer(context), store)
        return CURLE_OK
    }

    /// Returns the store, read again where its file was changed; nil when it cannot be read.
    func current() -> OpaquePointer? {
        let version = versionOnDisk
        if let store, version == self.version { return store }
        guard let new = read() else { return nil }
        X509_STORE_free(store)
        (store, self.version) = (new, version)
        return new
    }

    /// What is read now.
    var currentVersion: Version? { current() == nil ? nil : version }

    private var versionOnDisk: Version {
        if let file { return Version(file: FileState(of: file)) }
        return Version(
            file: TrustedCertificates.systemFile.flatMap(FileState.init),
            directory: TrustedCertificates.systemDirectory.flatMap(FileState.init))
    }

    private func read() -> OpaquePointer? {
        defer { ERR_clear_error() }
        guard let store = X509_STORE_new() else { return nil }
        let isRead = file.map { X509_STORE_load_file(store, $0) == 1 } ?? TrustedCertificates.readSystem(into: store)
        guard isRead else {
            X509_STORE_free(store)
            return nil
        }
        // As libcurl has them: an authority of the store comes before what the server sends, and need not be self-signed.
        X509_STORE_set_flags(store, UInt(X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN))
        return store
    }

    // MARK: The system's

    private static let systemFile = path(cc_version()?.pointee.cainfo)
    private static let systemDirectory = path(cc_version()?.pointee.capath)

    private static func path(_ name: UnsafePointer<CChar>?) -> String? { name.map { String(cString: $0) } }

    /// Reads the file, and has the directory searched when a certificate is verified. One of them suffices.
    private static func readSystem(into store: OpaquePointer) -> Bool {
        guard systemFile != nil || systemDirectory != nil else { return X509_STORE_set_default_paths(store) == 1 }
        let hasFile = systemFile.map { X509_STORE_load_file(store, $0) == 1 } ?? false
        let hasDirectory =
            systemDirectory.map { access($0, R_OK) == 0 && X509_STORE_load_path(store, $0) == 1 } ?? false
        return hasFile || hasDirectory
    }
}

/// The authorities of each policy that was used.
///
/// By the thread of one client alone.
final class TrustedCertificateCache {
    /// Files whose certificates are kept (I8).
    private static let maximumFiles = 64

    private lazy var ofSystem = TrustedCertificates(file: nil)
    private var ofFiles: [String: TrustedCertificates] = [:]

    /// Returns what a policy trusts; nil where libcurl must read it.
    func trusted(by tls: TLSPolicy) -> TrustedCertificates? {
        guard tls.verifiesChain, TrustedCertificates.isUsable else { return nil }
        guard let file = tls.ca else { return ofSystem }
        if let known = ofFiles[file] { return known }
        if ofFiles.count >= Self.maximumFiles { ofFiles = [:] }
        let trusted = TrustedCertificates(file: file)
        ofFiles[file] = trusted
        return trusted
    }
}
