// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Files behind a web server.
final class Site: Sendable {
    let url: String
    private let child: Child
    private let directory: URL

    init(_ files: [String: String]) async throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "vedette-site-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for (name, text) in files {
            let file = directory.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        child = try Child(
            "/usr/bin/env",
            ["python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", directory.path])
        let line = try await child.wait { !$0.isEmpty }[0]
        guard let port = line.split(separator: " ").compactMap({ Int($0) }).first else {
            throw Trouble("the web server said: \(line)")
        }
        url = "http://127.0.0.1:\(port)"
    }

    func end() async {
        await child.destroy()
        try? FileManager.default.removeItem(at: directory)
    }
}
