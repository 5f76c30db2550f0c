// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tells whether a file was opened by anybody: the kernel's own word (inotify), which is there as soon as the opening is.
private final class OpenedFile {
    let url: URL
    private let queue = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))

    init(_ url: URL, _ text: String) throws {
        self.url = url
        try text.write(to: url, atomically: false, encoding: .utf8)
        guard inotify_add_watch(queue, url.path, UInt32(IN_OPEN) | UInt32(IN_ACCESS)) >= 0 else {
            throw Trouble("no watch on \(url.path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(queue) }

    /// Since it was last asked.
    func wasOpened() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        return read(queue, &buffer, buffer.count) > 0
    }
}

/// A port of loopback that tells whether anybody has connected.
private final class Listener {
    private let descriptor = socket(
        AF_INET,
        Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    let port: UInt16

    init() throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) | listen(descriptor, 8)
                    | getsockname(descriptor, address, &length)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard code == 0 else {
            throw Trouble("no port to listen on: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Since it was last asked. A connection waits in the kernel's queue, whether anybody accepts it or not.
    func wasAsked() -> Bool {
        let one = accept(descriptor, nil, nil)
        if one >= 0 { close(one) }
        return one >= 0
    }
}

@Suite("Documents open nothing", .timeLimit(.minutes(10)))
struct NothingOpenedTests {
    /// Everything in a document that could make its reader open a file or ask a server.
    private func temptations(_ document: Document, _ address: String) -> [String] {
        let include =
            "<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='\(address)' parse='text'/>"
        let root = document.text.dropFirst().prefix { $0.isLetter }
        return [
            "<!DOCTYPE \(root) SYSTEM '\(address)'>" + document.good,
            "<!DOCTYPE \(root) PUBLIC '-//x//y' '\(address)'>" + document.with("&nbsp;"),
            "<!DOCTYPE \(root) [<!ENTITY x SYSTEM '\(address)'>]>" + document.with("&x;"),
            "<!DOCTYPE \(root) [<!ENTITY % p SYSTEM '\(address)'> %p;]>" + document.good,
            document.with(include),
            "<?xml-stylesheet type='text/xsl' href='\(address)'?>" + document.good,
            document.with(
                "<img src='\(address)'/><script src='\(address)'></script><link href='\(address)'/>"),
            document.good.replacingOccurrences(
                of: "<\(root)",
                with: "<\(root) xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' "
                    + "xsi:noNamespaceSchemaLocation='\(address)'"),
        ]
    }

    @Test(
        "case 8: no entity, DTD, XInclude, schema or stylesheet of a document opens a file or asks a server"
    )
    func nothing() async throws {
        let home = try Home()
        let file = try OpenedFile(
            home.directory.appending(path: "kept.dtd"), "<!ENTITY x 'kept-words'>")
        let listener = try Listener()
        for document in Document.xml + [Document.html] {
            for address in [
                file.url.absoluteString, file.url.path, "http://127.0.0.1:\(listener.port)/kept.dtd",
            ] {
                let bodies = temptations(document, address).map { Data($0.utf8) }
                let seen = try await Replayed.of(
                    document.kind, document.options, [Data(document.good.utf8)] + bodies)
                #expect(!seen.said.contains("kept-words") && seen.code != 137)
                // Those with entities of their own are refused, two of each; the others are read without what they name.
                #expect(seen.said.contains("poll 4: malformed: ") || document.kind == "html", "\(seen)")
                #expect(!file.wasOpened() && !listener.wasAsked(), "\(document.kind): \(address)")
            }
        }
        // The witnesses can see: a file that is read and a port that is asked are noticed.
        _ = try String(contentsOf: file.url, encoding: .utf8)
        #expect(file.wasOpened())
        _ = try await Program.run(
            ["list", "http://127.0.0.1:\(listener.port)/", "--kind", "json"], limit: 2)
        #expect(listener.wasAsked())
    }
}
