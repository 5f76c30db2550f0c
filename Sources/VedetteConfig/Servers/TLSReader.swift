// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteCore

/// Reads how a server's certificate is verified, and which client certificate is sent. The files are checked when the
/// configuration is read: libcurl reports a bad file only when it connects, and cannot name the line.
struct TLSReader {
    let values: ValueReader

    private var findings: Findings { values.findings }
    /// Whether files are read; else each counts as good.
    private var reads: Bool { values.secrets.reads }

    func policy(_ node: YAMLNode) -> TLSPolicy {
        var policy = TLSPolicy()
        guard let map = MapReader(node, "'tls'", keys: ConfigurationKeys.tls, values) else { return policy }
        policy.ca = file("ca", of: map, holds: .certificate)?.path
        policy.pin = pin(map)
        policy.insecure = map.flag("insecure") == true
        policy.minimum = map.choice("minimum") ?? policy.minimum
        clientCertificate(map, &policy)
        if policy.pin != nil, map.has("ca") {
            findings.error(
                map.key("ca"), "'ca' has no effect beside 'pin', which alone verifies the certificate; remove one")
        }
        if policy.insecure, map.has("ca") || map.has("pin") {
            findings.error(map.key("insecure"), "'insecure' switches every check off; remove it, or 'ca' and 'pin'")
        }
        return policy
    }

    /// Reads the client certificate, with its key in the same file or in another one.
    private func clientCertificate(_ map: MapReader, _ policy: inout TLSPolicy) {
        let certificate = file("certificate", of: map, holds: .certificate)
        policy.certificate = certificate?.path
        if map.has("key") {
            if !map.has("certificate") { findings.error(map.key("key"), "'key' needs 'certificate' beside it") }
            guard let key = file("key", of: map, holds: .key) else { return }
            policy.key = key.path
            checkKey(key, "key", of: map)
        } else if let certificate {
            guard !reads || PEM.key.isIn(certificate.text) else {
                map.refuse(
                    "certificate",
                    "'certificate' names '\(certificate.path)', which holds no key; write 'key: FILE' beside it")
                return
            }
            checkKey(certificate, "certificate", of: map)
        }
    }

    private func checkKey(_ file: Read, _ name: String, of map: MapReader) {
        if file.mode & 0o077 != 0 {
            map.refuse(
                name, "'\(name)' names '\(file.path)', a key that others can read; write 'chmod 600 \(file.path)'")
        }
        if file.text.contains("ENCRYPTED") {
            map.refuse(
                name,
                "'\(name)' names '\(file.path)', a key with a passphrase, which the watcher cannot enter; "
                    + "remove it with openssl pkey")
        }
    }

    private struct Read {
        var path: String
        var text: String
        var mode: UInt32
    }

    private enum PEM {
        case certificate, key

        func isIn(_ text: String) -> Bool {
            text.split(whereSeparator: \.isNewline).contains {
                $0.hasPrefix("-----BEGIN ")
                    && (self == .key ? $0.contains("PRIVATE KEY-----") : $0.contains("CERTIFICATE-----"))
            }
        }

        var noun: String {
            self == .key
                ? "no PEM key; convert it with openssl pkey" : "no PEM certificate; convert it with openssl x509"
        }
    }

    private func file(_ name: String, of map: MapReader, holds wanted: PEM) -> Read? {
        guard let path = map.path(name) else { return nil }
        guard reads else { return Read(path: path, text: "", mode: 0) }
        switch BoundedFile.read(path, most: 16 << 20) {
        case .failure(let problem):
            map.refuse(name, "'\(name)' names '\(path)', but \(problem.detail)")
            return nil
        case .success(let file):
            let text = String(decoding: file.bytes, as: UTF8.self)
            guard wanted.isIn(text) else {
                map.refuse(name, "'\(name)' names '\(path)', which holds \(wanted.noun)")
                return nil
            }
            return Read(path: path, text: text, mode: file.mode)
        }
    }

    /// Reads a pin. libcurl takes a malformed pin for a file name, and reports it only when it connects.
    private func pin(_ map: MapReader) -> String? {
        guard let text = map.text("pin") else { return nil }
        for part in text.split(separator: ";", omittingEmptySubsequences: false) where !TLSReader.isPin(part) {
            map.refuse("pin", "'pin' must be 'sha256//' and 44 base64 characters (of 32 bytes), several with ';'")
            return nil
        }
        return text
    }

    private static func isPin(_ text: Substring) -> Bool {
        guard text.hasPrefix("sha256//") else { return false }
        let code = String(text.dropFirst(8))
        return code.utf8.count == 44 && Data(base64Encoded: code)?.count == 32
    }
}
