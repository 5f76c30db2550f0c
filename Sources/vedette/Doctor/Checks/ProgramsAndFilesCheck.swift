// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import VedetteCore

/// Checks the programs and files of this machine that a source or a sink needs.
struct ProgramsAndFilesCheck {
    var environment: [String: String]

    /// Reports `file:` sources that cannot be read, programs of sources that cannot be run and `jq` programs that do not
    /// compile. Blocks while these are compiled.
    @Findings func findings(_ sources: [Source], _ transformer: JQTransformer) -> [Finding] {
        let programs = Set(sources.compactMap(\.kind.jqProgram))
        let problems = transformer.problems(of: sources)
        sources.filter { !isReadable($0.url) }.map {
            .failure("source \($0.name)", "\($0.url) cannot be read", remedy: "check path, owner and mode")
        }
        sources.compactMap { missingProgram(of: $0) }.bounded(to: 5, "sources", remedy: "correct these first")
        problems.map { Finding.failure("jq", $0) }.bounded(to: 5, "jq", remedy: "correct these first")
        if !programs.isEmpty, problems.isEmpty {
            .ok("jq", "\(counted(programs.count, "program")) of the sources can be run")
        }
    }

    private func isReadable(_ address: String) -> Bool {
        guard address.hasPrefix("file://"), let path = URL(string: address)?.path else { return true }
        return FileManager.default.isReadableFile(atPath: path)
    }

    func findings(_ sink: SinkConfigurationProbe) -> [Finding] {
        switch sink.kind.name {
        case "command": command(sink, "sink \(sink.name)")
        case "file": file(sink.options.text("path") ?? "", "sink \(sink.name)")
        default: []
        }
    }

    @Findings private func command(_ sink: SinkConfigurationProbe, _ subject: String) -> [Finding] {
        let program = sink.options.texts("command").first ?? ""
        let directory = sink.options.text("directory")
        let path = sink.options.map("environment").last { $0.name == "PATH" }?.value
        if let directory, access(directory, X_OK) != 0 {
            .failure(subject, "its directory \(directory) cannot be entered: \(reason(errno))", remedy: "create it")
        } else if let found = find(program, path: path, directory: directory) {
            .ok(subject, "\(found) can be run")
        } else {
            missing(program, subject)
        }
    }

    private func missing(_ program: String, _ subject: String) -> Finding {
        .failure(
            subject, "the program \(program) is missing, or may not be run",
            remedy: "install it, set its mode (chmod +x), or write its whole path")
    }

    private func missingProgram(of source: Source) -> Finding? {
        guard let program = CommandURL.arguments(source.url)?.first, find(program) == nil else { return nil }
        return missing(program, "source \(source.name)")
    }

    /// Finds a program: a name in `$PATH`, or a path as it is written.
    /// - Parameter directory: where a relative path starts.
    func find(_ program: String, path: String? = nil, directory: String? = nil) -> String? {
        if program.contains("/") {
            let file = program.hasPrefix("/") ? program : (directory.map { $0 + "/" } ?? "") + program
            return isProgram(file) ? file : nil
        }
        let path = path ?? environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        return path.split(separator: ":").lazy.map { "\($0)/\(program)" }.first(where: isProgram)
    }

    private func isProgram(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }

    @Findings private func file(_ path: String, _ subject: String) -> [Finding] {
        let directory = path.lastIndex(of: "/").map { path[..<$0] }.flatMap { $0.isEmpty ? nil : String($0) } ?? "/"
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) {
            if isDirectory.boolValue {
                .failure(subject, "\(path) is a directory", remedy: "name a file in it")
            } else if access(path, W_OK) == 0 {
                .ok(subject, "\(path) can be written")
            } else {
                .failure(subject, "\(path) cannot be written: \(reason(errno))", remedy: "correct its owner or mode")
            }
        } else if access(directory, W_OK | X_OK) == 0 {
            .ok(subject, "\(path) does not exist yet and can be created")
        } else {
            .failure(
                subject, "no file can be created in \(directory): \(reason(errno))",
                remedy: "create that directory, or correct its mode")
        }
    }

    private func reason(_ code: CInt) -> String { String(cString: strerror(code)) }
}
