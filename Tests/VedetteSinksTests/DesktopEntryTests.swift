// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteTestSupport

@Suite("The desktop entry and icon in contrib")
struct DesktopEntryTests {
    static let contrib = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "contrib")
    static let entry = contrib.appending(path: "vedette.desktop")
    static let validator = URL(filePath: "/usr/bin/desktop-file-validate")

    @Test("the entry names the icon, which is shipped under that name where an icon theme looks for it")
    func icon() throws {
        let lines = try String(contentsOf: DesktopEntryTests.entry, encoding: .utf8).split(separator: "\n")
        #expect(lines.first { !$0.hasPrefix("#") } == "[Desktop Entry]")
        #expect(lines.contains("Icon=vedette"))
        let icon = DesktopEntryTests.contrib.appending(path: "icons/hicolor/scalable/apps/vedette.svg")
        #expect(try String(contentsOf: icon, encoding: .utf8).contains("<svg xmlns=\"http://www.w3.org/2000/svg\""))
    }

    @Test(
        "desktop-file-validate finds nothing wrong with the entry",
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: validator.path), "not installed: desktop-file-utils"))
    func valid() throws {
        let (process, output) = (Process(), Pipe())
        process.executableURL = DesktopEntryTests.validator
        process.arguments = [DesktopEntryTests.entry.path]
        process.standardOutput = output
        try process.runUnblocked()
        #expect(String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) == "")
        #expect(process.waitForEnd() == 0)
    }
}
