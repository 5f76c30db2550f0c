// SPDX-License-Identifier: Apache-2.0

import CPCRE2
public import VedetteCore

/// A user's regular expression over PCRE2 (pcre2pattern(3)), Unicode throughout. What a match may cost is bounded, because
/// `(a+)+$` is easily written and takes for ever; reaching a limit is an error, never "no match".
///
/// `@unchecked Sendable`: `code` is set once and read only; PCRE2 promises that a compiled pattern may be used by several
/// threads at the same time once JIT compilation is over, which is before `init` returns (pcre2api(3), "Multithreading").
public final class RegularExpression: Pattern, @unchecked Sendable {
    /// As it was written.
    public let source: String
    private let code: OpaquePointer

    /// Longest pattern that is taken, in bytes.
    static let maximumLength = 8192

    /// - Throws: what is wrong and where; the offset counts Unicode scalars, as the columns of YAML do.
    public init(_ source: String, ignoringCase: Bool = false) throws(PatternError) {
        guard source.utf8.count <= RegularExpression.maximumLength else {
            let bytes = RegularExpression.maximumLength
            throw PatternError("the regular expression is longer than \(bytes) bytes; use several rules", offset: 0)
        }
        self.source = source
        code = try RegularExpression.compile(source, ignoringCase: ignoringCase)
        // JIT needs pages that are writable and executable, which a hardened service does not get: then it fails, and
        // the interpreter matches instead.
        _ = pcre2_jit_compile_8(code, UInt32(PCRE2_JIT_COMPLETE))
    }

    deinit { pcre2_code_free_8(code) }

    public func matches(_ text: String) throws(PatternError) -> Bool {
        var text = text
        var status = text.withUTF8 { match($0, options: 0) }
        // JIT has a stack of 32 KiB; the interpreter has its own, larger limit.
        if status == PCRE2_ERROR_JIT_STACKLIMIT { status = text.withUTF8 { match($0, options: PCRE2_NO_JIT) } }
        if status >= 0 { return true }
        if status == PCRE2_ERROR_NOMATCH { return false }
        throw PatternError(RegularExpression.explain(matchError: status, of: source))
    }

    private func match(_ text: UnsafeBufferPointer<UInt8>, options: UInt32) -> Int32 {
        // One pair of offsets: only "found or not" is asked for.
        guard let data = pcre2_match_data_create_8(1, nil) else { return PCRE2_ERROR_NOMEMORY }
        defer { pcre2_match_data_free_8(data) }
        // A Swift string is valid UTF-8: the library need not check it again.
        let options = options | PCRE2_NO_UTF_CHECK
        return pcre2_match_8(code, text.baseAddress, text.count, 0, options, data, Limits.shared.context)
    }
}

extension RegularExpression {
    private static func compile(_ source: String, ignoringCase: Bool) throws(PatternError) -> OpaquePointer {
        var options = UInt32(PCRE2_UTF) | UInt32(PCRE2_UCP) | UInt32(PCRE2_NEVER_BACKSLASH_C)
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
        case PCRE2_ERROR_MATCHLIMIT, PCRE2_ERROR_DEPTHLIMIT, PCRE2_ERROR_HEAPLIMIT, PCRE2_ERROR_JIT_STACKLIMIT:
            "the regular expression '\(source)' takes too long on this text; avoid repeats inside repeats, as in '(a+)+'"
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

/// What one match may cost.
///
/// `@unchecked Sendable`: the context is filled in `init` and never changed again, so all threads may use it
/// (pcre2api(3), "Context blocks").
private final class Limits: @unchecked Sendable {
    static let shared = Limits()

    /// Nil when memory ran out: then PCRE2's own, larger limits hold.
    let context: OpaquePointer?

    private init() {
        context = pcre2_match_context_create_8(nil)
        guard let context else { return }
        pcre2_set_match_limit_8(context, 100_000)
        pcre2_set_depth_limit_8(context, 1000)
        // In KiB.
        pcre2_set_heap_limit_8(context, 1024)
    }

    deinit { pcre2_match_context_free_8(context) }
}
