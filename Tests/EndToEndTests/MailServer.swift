// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A mail server on loopback (aiosmtpd), which writes each mail that it takes to `folder`.
struct MailServer {
    let port: Int
    private let child: Child
    private let folder: URL

    /// - Parameter options: of Servers/mail.py, such as how it uses TLS.
    init(_ folder: URL, _ options: String...) async throws {
        let script = Program.root.appending(path: "Tests/VedetteHTTPTests/Servers/mail.py").path
        var trouble = ""
        // The first python3 may be one without Debian's packages.
        for python in ["python3", "/usr/bin/python3"] {
            let child = try Child("/usr/bin/env", [python, script, "--folder", folder.path] + options)
            if let line = try? await child.wait(until: { !$0.isEmpty })[0],
                let port = Program.object(line)?["port"] as? Int
            {
                (self.port, self.child, self.folder) = (port, child, folder)
                return
            }
            trouble = child.text(of: .err)
            await child.destroy()
        }
        throw Trouble("no mail server: \(trouble)")
    }

    /// A mail that it took, as Python's email package reads it; nil when there were fewer.
    func mail(_ number: Int) -> [String: Any]? {
        (try? String(contentsOf: folder.appending(path: "\(number).json"), encoding: .utf8)).flatMap(Program.object)
    }

    func end() async { await child.destroy() }
}
