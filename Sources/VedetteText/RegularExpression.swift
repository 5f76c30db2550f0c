// SPDX-License-Identifier: Apache-2.0

import CPCRE2
public import VedetteCore

/// A user's regular expression, matched by PCRE2 (pcre2pattern(3)) with Unicode properties.
///
/// The work of one scan is bounded. PCRE2's match limit counts backtracking and starts anew at each start position, so it never
/// sees `[a-z]+\d` walk to the end of a long text from every letter of it. The pattern is therefore compiled with automatic
/// callouts (pcre2callout(3)), and `ScanMeter` counts the steps between them over the whole scan. A scan that reaches the limit
/// throws; it is never reported as "no match".
///
/// `@unchecked Sendable`: `code` is set once and read only; PCRE2 promises that a compiled pattern may be used by several
/// threads at the same time once JIT compilation is over, which is before `init` returns (pcre2api(3), "Multithreading").
public final class RegularExpression: Pattern, @unchecked Sendable {
    /// The expression as the user wrote it.
    public let source: String
    public let groupNames: [String]
    /// The number of each of the named groups.
    private let groupNumbers: [Int]
    private let code: OpaquePointer
    /// The meter that each scan begins with.
    let meter: ScanMeter

    /// Bytes of the longest pattern that is accepted.
    static let maximumLength = 8192

    /// - Throws: what is wrong and where; the offset counts Unicode scalars, as the columns of YAML do.
    public init(_ source: String, ignoringCase: Bool = false) throws(PatternError) {
        guard source.utf8.count <= RegularExpression.maximumLength else {
            let bytes = RegularExpression.maximumLength
            throw PatternError("the regular expression is longer than \(bytes) bytes; use several rules", offset: 0)
        }
        self.source = source
        code = try RegularExpression.compile(source, ignoringCase: ignoringCase)
        meter = ScanMeter(source, code)
        (groupNames, groupNumbers) = RegularExpression.groups(of: code)
        // JIT needs pages that are writable and executable, which a hardened service does not get: then this fails, and
        // the interpreter matches instead.
        _ = pcre2_jit_compile_8(code, UInt32(PCRE2_JIT_COMPLETE))
    }

    deinit { pcre2_code_free_8(code) }

    public func matches(_ text: String) throws(PatternError) -> Bool {
        var meter = meter
        return try matches(text, counting: &meter)
    }

    /// - Parameter meter: counts the steps of this scan.
    func matches(_ text: String, counting meter: inout ScanMeter) throws(PatternError) -> Bool {
        try match(text, counting: &meter) { _, _ in }
    }

    public func groups(inEach texts: [String]) throws(PatternError) -> [[String: String]?] {
        var meter = meter
        meter.limit *= RegularExpression.textsFactor
        var found: [[String: String]?] = []
        found.reserveCapacity(texts.count)
        for text in texts {
            var groups: [String: String] = [:]
            let isMatch = try match(text, counting: &meter) { bytes, offsets in
                for (name, number) in zip(groupNames, groupNumbers) where offsets[2 * number] >= 0 {
                    let range = offsets[2 * number]..<max(offsets[2 * number], offsets[2 * number + 1])
                    groups[name] = String(decoding: bytes[range], as: UTF8.self)
                }
            }
            found.append(isMatch ? groups : nil)
        }
        return found
    }

    /// How many times the steps of one scan all lines of a document may take: about a second.
    private static let textsFactor = 10

    /// - Parameter body: receives the text and the offsets of a match: pairs, the whole first, -1 for a group without a part in
    ///   it.
    private func match(
        _ text: String, counting meter: inout ScanMeter,
        _ body: (UnsafeBufferPointer<UInt8>, UnsafeMutablePointer<Int>) -> Void
    ) throws(PatternError) -> Bool {
        var text = text
        var status = text.withUTF8 { scan($0, &meter, options: 0, body) }
        // JIT has a stack of 32 KiB; the interpreter has its own, larger limit.
        if status == PCRE2_ERROR_JIT_STACKLIMIT {
            status = text.withUTF8 { scan($0, &meter, options: UInt32(PCRE2_NO_JIT), body) }
        }
        if status >= 0 { return true }
        if status == PCRE2_ERROR_NOMATCH { return false }
        throw PatternError(RegularExpression.explain(matchError: status, of: source))
    }

    private func scan(
        _ text: UnsafeBufferPointer<UInt8>, _ meter: inout ScanMeter, options: UInt32,
        _ body: (UnsafeBufferPointer<UInt8>, UnsafeMutablePointer<Int>) -> Void
    ) -> Int32 {
        // Without named groups one pair of offsets suffices: the caller asks whether there is a match, not where.
        let pairs = UInt32((groupNumbers.max() ?? 0) + 1)
        guard let data = pcre2_match_data_create_8(pairs, nil), let context = pcre2_match_context_create_8(nil) else {
            return PCRE2_ERROR_NOMEMORY
        }
        defer {
            pcre2_match_data_free_8(data)
            pcre2_match_context_free_8(context)
        }
        // These bound memory; both count anew at each start position.
        pcre2_set_depth_limit_8(context, 1000)
        pcre2_set_heap_limit_8(context, 1024)  // KiB
        let status = withUnsafeMutablePointer(to: &meter) { meter in
            _ = pcre2_set_callout_8(context, ScanMeter.count, meter)
            // A Swift string is valid UTF-8: the library need not check it again.
            return pcre2_match_8(
                code, text.baseAddress, text.count, 0, options | UInt32(PCRE2_NO_UTF_CHECK), data, context)
        }
        if status >= 0, let offsets = pcre2_get_ovector_pointer_8(data) { body(text, offsets) }
        return status
    }

    public func replacing(
        in text: String, with replacement: String, _ budget: inout MatchBudget
    ) throws(PatternError) -> String {
        var meter = meter
        meter.limit = budget.steps
        defer { budget.steps -= min(budget.steps, meter.steps) }
        var (text, replacement) = (text, replacement)
        var result: String?
        var status = substitute(&text, &replacement, &meter, options: 0, &result)
        if status == PCRE2_ERROR_JIT_STACKLIMIT {
            status = substitute(&text, &replacement, &meter, options: UInt32(PCRE2_NO_JIT), &result)
        }
        if status == PCRE2_ERROR_NOMEMORY {
            throw PatternError(
                "'\(source)' and its replacement make a text more than twice as long; write a shorter one")
        }
        if status < 0 { throw PatternError(RegularExpression.explain(matchError: status, of: source)) }
        return result ?? text
    }

    /// - Parameter result: the text with its replacements; stays nil where nothing matches.
    /// - Returns: the number of replacements, or PCRE2's error.
    private func substitute(
        _ text: inout String, _ replacement: inout String, _ meter: inout ScanMeter, options: UInt32,
        _ result: inout String?
    ) -> Int32 {
        guard let context = pcre2_match_context_create_8(nil) else { return PCRE2_ERROR_NOMEMORY }
        defer { pcre2_match_context_free_8(context) }
        pcre2_set_depth_limit_8(context, 1000)
        pcre2_set_heap_limit_8(context, 1024)  // KiB
        let all =
            options | UInt32(PCRE2_NO_UTF_CHECK) | UInt32(PCRE2_SUBSTITUTE_GLOBAL)
            | UInt32(PCRE2_SUBSTITUTE_UNSET_EMPTY)
        let capacity = 2 * text.utf8.count + 16 * replacement.utf8.count + 1024
        var found: Int32 = 0
        let changed = withUnsafeMutablePointer(to: &meter) { meter in
            _ = pcre2_set_callout_8(context, ScanMeter.count, meter)
            return String(unsafeUninitializedCapacity: capacity) { buffer in
                var length = capacity
                found = text.withUTF8 { text in
                    replacement.withUTF8 { replacement in
                        pcre2_substitute_8(
                            code, text.baseAddress, text.count, 0, all, nil, context, replacement.baseAddress,
                            replacement.count, buffer.baseAddress, &length)
                    }
                }
                return found > 0 ? length : 0
            }
        }
        if found > 0 { result = changed }
        return found
    }

    public func check(replacement: String) throws(PatternError) {
        var count: UInt32 = 0
        pcre2_pattern_info_8(code, UInt32(PCRE2_INFO_CAPTURECOUNT), &count)
        var rest = replacement[...]
        while let sign = rest.firstIndex(of: "$") {
            rest = rest[sign...].dropFirst()
            if rest.first == "$" {
                rest = rest.dropFirst()
                continue
            }
            let hasBraces = rest.first == "{"
            if hasBraces { rest = rest.dropFirst() }
            let isNumber = rest.first.map { ("0"..."9").contains($0) } == true
            let name = rest.prefix { isNumber ? ("0"..."9").contains($0) : $0 == "_" || $0.isLetter || $0.isNumber }
            rest = rest.dropFirst(name.count)
            if name.isEmpty || hasBraces && rest.first != "}" {
                throw PatternError("'$' begins no group in '\(replacement)'; write '$$' for the character itself")
            }
            if hasBraces { rest = rest.dropFirst() }
            let isGroup = isNumber ? Int(name).map({ $0 <= Int(count) }) ?? false : groupNames.contains(String(name))
            guard isGroup else {
                throw PatternError(
                    "'\(source)' has no group '\(name)' for '\(replacement)'; write '$$' for a '$' itself")
            }
        }
    }

    /// Reads the table of names of a compiled pattern: two bytes of a group's number, its name and a NUL (pcre2api(3)).
    private static func groups(of code: OpaquePointer) -> (names: [String], numbers: [Int]) {
        var (count, size) = (UInt32(0), UInt32(0))
        var table: UnsafePointer<UInt8>?
        pcre2_pattern_info_8(code, UInt32(PCRE2_INFO_NAMECOUNT), &count)
        pcre2_pattern_info_8(code, UInt32(PCRE2_INFO_NAMEENTRYSIZE), &size)
        pcre2_pattern_info_8(code, UInt32(PCRE2_INFO_NAMETABLE), &table)
        guard let table else { return ([], []) }
        let groups = (0..<Int(count)).map { index in
            let entry = table + index * Int(size)
            return (name: String(cString: entry + 2), number: Int(entry[0]) << 8 | Int(entry[1]))
        }.sorted { $0.number < $1.number }
        return (groups.map(\.name), groups.map(\.number))
    }
}

/// Counts the steps of one scan and ends it at a limit.
///
/// PCRE2 calls `count` before each item of the pattern. A step is one such call, or one byte that the scan moved forward or
/// back since the last call, so an item that runs over a long text costs its length.
struct ScanMeter {
    /// Steps of one scan. With JIT a scan that reaches them takes about 0.1 s.
    static let limit = 5_000_000

    var limit = ScanMeter.limit
    private(set) var steps = 0
    private var position = 0
    /// Bytes that an item may read before it fails, when no call follows that would show it: the largest number in braces.
    private let hiddenSteps: Int
    /// A back reference compares as many bytes as its group has captured.
    private let hasBackReferences: Bool

    init(_ source: String, _ code: OpaquePointer) {
        let counts = source.split(separator: "{").compactMap { Int($0.prefix { ("0"..."9").contains($0) }) }
        hiddenSteps = counts.max().map { $0 > 64 ? $0 : 0 } ?? 0
        var references: UInt32 = 0
        pcre2_pattern_info_8(code, UInt32(PCRE2_INFO_BACKREFMAX), &references)
        hasBackReferences = references > 0
    }

    private mutating func add(_ block: UnsafeMutablePointer<pcre2_callout_block_8>) -> Bool {
        let now = block.pointee.current_position
        steps += 1 + abs(now - position) + min(hiddenSteps, block.pointee.subject_length)
        position = now
        if hasBackReferences, let offsets = block.pointee.offset_vector {
            for group in 1..<max(1, Int(block.pointee.capture_top)) where offsets[2 * group] >= 0 {
                steps += max(0, offsets[2 * group + 1] - offsets[2 * group])
            }
        }
        return steps <= limit
    }

    static let count: @convention(c) (UnsafeMutablePointer<pcre2_callout_block_8>?, UnsafeMutableRawPointer?) -> Int32 =
        {
            block, meter in
            guard let block, let meter else { return 0 }
            return meter.assumingMemoryBound(to: ScanMeter.self).pointee.add(block) ? 0 : PCRE2_ERROR_CALLOUT
        }
}

extension RegularExpression {
    private static func compile(_ source: String, ignoringCase: Bool) throws(PatternError) -> OpaquePointer {
        var options =
            UInt32(PCRE2_UTF) | UInt32(PCRE2_UCP) | UInt32(PCRE2_NEVER_BACKSLASH_C) | UInt32(PCRE2_AUTO_CALLOUT)
        if ignoringCase { options |= UInt32(PCRE2_CASELESS) }
        var (error, offset, source) = (Int32(0), 0, source)
        let code = source.withUTF8 { pcre2_compile_8($0.baseAddress, $0.count, options, &error, &offset, nil) }
        guard let code else {
            let before = String(decoding: source.utf8.prefix(offset), as: UTF8.self).unicodeScalars.count
            throw PatternError(explain(compileError: error), offset: before)
        }
        return code
    }

    private static func explain(compileError code: Int32) -> String {
        let remedy =
            switch code {
            case PCRE2_ERROR_MISSING_CLOSING_PARENTHESIS: #"close it, or write '\(' for the character itself"#
            case PCRE2_ERROR_UNMATCHED_CLOSING_PARENTHESIS: #"open it, or write '\)' for the character itself"#
            case PCRE2_ERROR_MISSING_SQUARE_BRACKET: #"close it, or write '\[' for the character itself"#
            case PCRE2_ERROR_QUANTIFIER_INVALID: #"write '.*' for anything, '\*' for the character itself"#
            case PCRE2_ERROR_CLASS_RANGE_ORDER: "write the lower end first"
            case PCRE2_ERROR_END_BACKSLASH: #"write '\\' for the character itself"#
            case PCRE2_ERROR_BACKSLASH_C_CALLER_DISABLED: "write '.' for one character"
            default: "see pcre2pattern(3)"
            }
        return "bad regular expression: \(message(code)); \(remedy)"
    }

    private static func explain(matchError code: Int32, of source: String) -> String {
        switch code {
        case PCRE2_ERROR_CALLOUT, PCRE2_ERROR_MATCHLIMIT, PCRE2_ERROR_DEPTHLIMIT, PCRE2_ERROR_HEAPLIMIT,
            PCRE2_ERROR_JIT_STACKLIMIT:
            "the regular expression '\(source)' takes too long on this text; begin it with '^' or a fixed word, and avoid "
                + "repeats inside repeats, as in '(a+)+'"
        default:
            "the regular expression '\(source)' failed: \(message(code))"
        }
    }

    private static func message(_ code: Int32) -> String {
        var text = [UInt8](repeating: 0, count: 256)
        let length = Int(pcre2_get_error_message_8(code, &text, text.count))
        return length < 0 ? "error \(code)" : String(decoding: text.prefix(length), as: UTF8.self)
    }
}
