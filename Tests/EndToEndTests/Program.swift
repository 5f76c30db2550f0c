// SPDX-License-Identifier: Apache-2.0

import Foundation

struct Trouble: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}

/// The real program, as a user starts it.
enum Program {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The program that `VEDETTE` names, such as a release binary; without it the one beside the test bundle, where the build puts
    /// it.
    static let path: String = {
        if let given = ProcessInfo.processInfo.environment["VEDETTE"] {
            return given.hasPrefix("/") ? given : FileManager.default.currentDirectoryPath + "/" + given
        }
        let beside = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "vedette").path
        return FileManager.default.isExecutableFile(atPath: beside)
            ? beside : root.appending(path: ".build/debug/vedette").path
    }()

    /// What time limits are multiplied by: `VEDETTE_SLOWNESS`, where the program runs under valgrind.
    static let slowness = ProcessInfo.processInfo.environment["VEDETTE_SLOWNESS"].flatMap(Int.init) ?? 1

    struct Result: Sendable {
        var code: Int32
        var out: String
        var err: String

        var lines: [String] { out.split(separator: "\n").map(String.init) }
        var json: [[String: Any]] { out.split(separator: "\n").compactMap { Program.object(String($0)) } }
    }

    static func object(_ line: String) -> [String: Any]? {
        (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any]
    }

    /// Runs to the end; what takes longer than `limit` seconds, times `slowness`, is killed and its code is 137.
    @discardableResult
    static func run(_ arguments: [String], environment: [String: String] = [:], limit: Int = 120) async throws -> Result
    {
        let child = try Child(path, arguments, environment: environment)
        let code = await child.end(within: limit)
        return Result(code: code, out: child.text(of: .out), err: child.text(of: .err))
    }
}
