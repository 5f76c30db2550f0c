// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore

/// Programs and files of this machine that a sink, a source or a button needs.
struct LocalCheck {
    var environment: [String: String]

    /// Where a program is: a path as it stands, a name as `$PATH` has it.
    /// - Parameter directory: where a path that does not begin with `/` begins.
    func find(_ program: String, in directory: String? = nil) -> String? {
        if program.contains("/") {
            let path = program.hasPrefix("/") ? program : (directory.map { $0 + "/" } ?? "") + program
            return isProgram(path) ? path : nil
        }
        let path = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        return path.split(separator: ":").lazy.map { "\($0)/\(program)" }.first(where: isProgram)
    }

    private func isProgram(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }

    func findings(_ sink: SinkConfigurationProbe) -> [Finding] {
        switch sink.kind.name {
        case "command": command(sink)
        case "file": file(sink)
        default: []
        }
    }

    private func command(_ sink: SinkConfigurationProbe) -> [Finding] {
        let subject = "sink \(sink.name)"
        let program = sink.options.texts("command").first ?? ""
        if let directory = sink.options.text("directory"), access(directory, X_OK) != 0 {
            return [
                .failure(subject, "its directory \(directory) cannot be entered: \(words(errno))", remedy: "make it")
            ]
        }
        var local = self
        if let path = sink.options.map("environment").last(where: { $0.name == "PATH" }) {
            local.environment["PATH"] = path.value
        }
        guard let found = local.find(program, in: sink.options.text("directory")) else {
            return [
                .failure(
                    subject, "the program \(program) is not there, or may not be run",
                    remedy: "install it, mend its mode (chmod +x), or write its whole path")
            ]
        }
        return [.ok(subject, "\(found) can be run")]
    }

    private func file(_ sink: SinkConfigurationProbe) -> [Finding] {
        let subject = "sink \(sink.name)"
        let path = sink.options.text("path") ?? ""
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT != S_IFDIR else {
                return [.failure(subject, "\(path) is a directory", remedy: "name a file in it")]
            }
            return [
                access(path, W_OK) == 0
                    ? .ok(subject, "\(path) can be written")
                    : .failure(subject, "\(path) cannot be written: \(words(errno))", remedy: "mend its owner or mode")
            ]
        }
        let directory = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        let place = directory.isEmpty ? "/" : String(directory)
        guard access(place, W_OK | X_OK) == 0 else {
            return [
                .failure(
                    subject, "no file can be made in \(place): \(words(errno))",
                    remedy: "make that directory, or mend its mode")
            ]
        }
        return [.ok(subject, "\(path) is not there yet and can be made")]
    }

    private func words(_ code: CInt) -> String { String(cString: strerror(code)) }
}
