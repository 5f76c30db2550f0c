// SPDX-License-Identifier: Apache-2.0

import CCrypto
import Glibc
public import VedetteCore

/// The properties of an X.509 certificate (RFC 5280) that a person needs before trusting it.
public struct Certificate: Sendable, Hashable {
    /// As `CN=host, O=owner`; untrusted text.
    public var subject: String
    public var issuer: String
    /// The subject alternative names, as `DNS:host, IP Address:127.0.0.1`; untrusted text.
    public var names: String
    public var validFrom: Timestamp
    public var validUntil: Timestamp
    /// SHA-256 of the certificate, as browsers and openssl show it: `AB:CD:…`.
    public var fingerprint: String
    /// SHA-256 of the public key as `tls.pin` takes it: `sha256//…` (RFC 7469 §2.4).
    public var pin: String
    private let pem: String

    /// Nil when the text is not a certificate.
    public init?(pem: String) {
        guard let x509 = OpenCertificate(pem) else { return nil }
        guard let from = x509.time(X509_get0_notBefore(x509.pointer)), let fingerprint = x509.fingerprint,
            let until = x509.time(X509_get0_notAfter(x509.pointer)), let pin = x509.pin
        else { return nil }
        self.pem = pem
        subject = x509.name(X509_get_subject_name(x509.pointer))
        issuer = x509.name(X509_get_issuer_name(x509.pointer))
        names = x509.alternativeNames
        (validFrom, validUntil, self.fingerprint, self.pin) = (from, until, fingerprint, pin)
    }

    /// Whether the certificate is for a host or address (RFC 6125).
    public func isFor(_ host: String) -> Bool { OpenCertificate(pem)?.matches(host) ?? false }

    /// Returns the description that OpenSSL has for a result of verification.
    static func description(ofVerification code: Int) -> String {
        X509_verify_cert_error_string(code).map { String(cString: $0) } ?? "verification error \(code)"
    }
}

/// OpenSSL's certificate, freed with its owner.
private final class OpenCertificate {
    let pointer: OpaquePointer

    init?(_ pem: String) {
        let read = Array(pem.utf8).withUnsafeBytes { bytes in
            // BIO_new_mem_buf does not copy the bytes.
            let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))
            defer { BIO_free(bio) }
            return PEM_read_bio_X509(bio, nil, nil, nil)
        }
        guard let read else { return nil }
        pointer = read
    }

    deinit { X509_free(pointer) }

    func name(_ name: OpaquePointer?) -> String {
        OpenCertificate.printed { bio in _ = cy_print_name(bio, name) }
    }

    var alternativeNames: String {
        let index = X509_get_ext_by_NID(pointer, NID_subject_alt_name, -1)
        guard index >= 0, let found = X509_get_ext(pointer, index) else { return "" }
        return OpenCertificate.printed { bio in _ = X509V3_EXT_print(bio, found, 0, 0) }
    }

    func time(_ time: UnsafePointer<ASN1_TIME>?) -> Timestamp? {
        var civil = tm()
        guard let time, ASN1_TIME_to_tm(time, &civil) == 1 else { return nil }
        return Timestamp(milliseconds: Int64(timegm(&civil)) * 1000)
    }

    var fingerprint: String? {
        var digest = [UInt8](repeating: 0, count: 32)
        guard X509_digest(pointer, EVP_sha256(), &digest, nil) == 1 else { return nil }
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
    }

    /// Of the SubjectPublicKeyInfo in DER, as libcurl compares it.
    var pin: String? {
        var key: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(pointer), &key)
        guard count > 0, let key else { return nil }
        defer { cy_free(key) }
        var digest = [UInt8](repeating: 0, count: 32)
        guard EVP_Digest(key, Int(count), &digest, nil, EVP_sha256(), nil) == 1 else { return nil }
        var text = [UInt8](repeating: 0, count: 45)
        EVP_EncodeBlock(&text, digest, 32)
        return "sha256//" + String(decoding: text.dropLast(), as: UTF8.self)
    }

    func matches(_ host: String) -> Bool {
        X509_check_ip_asc(pointer, host, 0) == 1 || X509_check_host(pointer, host, host.utf8.count, 0, nil) == 1
    }

    private static func printed(_ print: (OpaquePointer) -> Void) -> String {
        guard let bio = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(bio) }
        print(bio)
        // Names of real certificates are shorter.
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = BIO_read(bio, &bytes, Int32(bytes.count))
        return String(decoding: bytes.prefix(Int(max(0, count))), as: UTF8.self)
    }
}
