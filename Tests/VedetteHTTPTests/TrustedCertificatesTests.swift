// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore
import VedetteTestSupport

@testable import VedetteHTTP

@Suite("The authorities that a policy trusts")
final class TrustedCertificatesTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "vedette-trusted-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func write(_ pem: String, to file: URL) throws {
        try Data(contentsOf: URL(filePath: pem)).write(to: file, options: .atomic)
    }

    @Test("a file is read once for all connections, and again when another one is in its place")
    func once() async throws {
        let certificates = try await Certificates.all.value
        let file = folder.appending(path: "ca.pem")
        try write(certificates.authority, to: file)
        let trusted = TrustedCertificates(file: file.path)
        let first = try #require(trusted.current())
        #expect(trusted.current() == first)
        try write(certificates.selfSigned.certificate, to: file)
        let version = trusted.currentVersion
        try write(certificates.authority, to: file)
        #expect(trusted.currentVersion != version && version != nil)
        try Data("no certificate".utf8).write(to: file, options: .atomic)
        #expect(trusted.current() == nil)
        #expect(TrustedCertificates(file: "/nowhere/ca.pem").current() == nil)
    }

    @Test("a server is trusted as long as its authority is in the file, also by a client that has asked it before")
    func replaced() async throws {
        let certificates = try await Certificates.all.value
        let file = folder.appending(path: "ca.pem")
        let pair = certificates.server
        let server = try ScriptServer("tls.py", ["--certificate", pair.certificate, "--key", pair.key])
        try await withClient { client async throws in
            func failure(_ authority: String?) async throws -> Failure? {
                if let authority { try self.write(authority, to: file) }
                let request = Request(url: server.origin + "/close", tls: TLSPolicy(ca: file.path))
                do throws(FetchError) {
                    _ = try await client.fetch(request)
                    return nil
                } catch {
                    return error.failure
                }
            }
            #expect(try await failure(nil) == .configuration)
            // The second time it resumes its session.
            for _ in 0..<2 {
                #expect(try await failure(certificates.authority) == nil)
                #expect(try await failure(certificates.selfSigned.certificate) == .tlsUntrusted)
            }
        }
    }

    @Test("a kept connection that one file verified is not used where another one counts")
    func connections() async throws {
        let lab = try await Lab.sound.value
        let others = try await Certificates.all.value.authority
        try await withClient { client async throws in
            for _ in 0..<2 {
                let url = lab.faultsTLS + "/json?n=1"
                #expect(try await client.status(Request(url: url, tls: TLSPolicy(ca: lab.certificate))) == 200)
                #expect(await client.failed(Request(url: url, tls: TLSPolicy(ca: others)))?.failure == .tlsUntrusted)
                #expect(await client.failed(Request(url: url))?.failure == .tlsUntrusted)
            }
        }
    }
}
