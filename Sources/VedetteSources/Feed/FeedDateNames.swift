// SPDX-License-Identifier: Apache-2.0

/// The words of dates: months, zones, halves of the day. A short word is packed into a number, so that most need no string.
enum FeedDateNames {
    static let t = packed("t")
    static let monthSign = packed("月")
    static let monthSignKorean = packed("월")
    /// The first characters of Japanese eras: Reiwa, Heisei, Shōwa.
    static let eras: Set<UInt64> = [packed("令"), packed("平"), packed("昭")]

    static let halves = ["am": 0, "pm": 12].packedKeys

    /// Minutes east of UTC. RFC 822 §5.1 names the American zones; the rest are those that people write. Where several
    /// zones share a name, it is the one that feeds use most: `BST` is British, `IST` Indian, `CST` American. A single
    /// letter has no meaning (RFC 2822 §4.3).
    static let zones = [
        "z": 0, "gmt": 0, "ut": 0, "utc": 0, "wet": 0, "est": -300, "edt": -240, "cst": -360, "cdt": -300,
        "mst": -420, "mdt": -360, "pst": -480, "pdt": -420, "ast": -240, "adt": -180, "akst": -540, "akdt": -480,
        "hst": -600, "nst": -210, "ndt": -150, "brt": -180, "art": -180, "bst": 60, "west": 60, "cet": 60,
        "cest": 120, "met": 60, "mest": 120, "mez": 60, "mesz": 120, "eet": 120, "eest": 180, "sast": 120,
        "msk": 180, "msd": 240, "pkt": 300, "ist": 330, "ict": 420, "wib": 420, "sgt": 480, "hkt": 480, "pht": 480,
        "awst": 480, "jst": 540, "kst": 540, "acst": 570, "acdt": 630, "aest": 600, "aedt": 660, "nzst": 720,
        "nzdt": 780,
    ].packedKeys

    /// Returns 1 to 12, by the first three letters in English, else by the beginning in another language.
    static func month(_ word: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        guard word.count >= 3 else { return nil }
        let first = word.prefix(3).reduce(UInt64(0)) { $0 << 8 | UInt64($1 < 0x80 ? $1 | 0x20 : $1) }
        if let month = english[first] { return month }
        // Most words before a date are these. No month of the languages below begins so.
        if weekdays.contains(first) { return nil }
        let text = String(decoding: word, as: UTF8.self).lowercased()
        return foreign.first { text.hasPrefix($0.beginning) }?.month
    }

    private static let english = [
        "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11,
        "dec": 12,
    ].packedKeys

    private static let weekdays = Set(["sun", "mon", "tue", "wed", "thu", "fri", "sat"].map(packed))

    /// German, French, Italian, Spanish, Portuguese, Dutch, Swedish, Polish and Russian, where the English beginnings do not match.
    private static let foreign: [(beginning: String, month: Int)] = [
        ("jän", 1), ("ene", 1), ("gen", 1), ("sty", 1), ("янв", 1), ("fév", 2), ("fev", 2), ("lut", 2), ("фев", 2),
        ("mär", 3), ("mrt", 3), ("maa", 3), ("мар", 3), ("avr", 4), ("abr", 4), ("kwi", 4), ("апр", 4), ("mai", 5),
        ("mei", 5), ("maj", 5), ("mag", 5), ("мая", 5), ("май", 5), ("juin", 6), ("giu", 6), ("cze", 6), ("июн", 6),
        ("juil", 7), ("lug", 7), ("lip", 7), ("июл", 7), ("aoû", 8), ("aou", 8), ("ago", 8), ("sie", 8), ("авг", 8),
        ("set", 9), ("wrz", 9), ("сен", 9), ("okt", 10), ("ott", 10), ("out", 10), ("paź", 10), ("окт", 10),
        ("lis", 11), ("ноя", 11), ("déc", 12), ("dez", 12), ("dic", 12), ("gru", 12), ("дек", 12),
    ]

    private static func packed(_ text: String) -> UInt64 { text.utf8.reduce(0) { $0 << 8 | UInt64($1) } }
}

extension [String: Int] {
    fileprivate var packedKeys: [UInt64: Int] {
        [UInt64: Int](uniqueKeysWithValues: map { ($0.key.utf8.reduce(0) { $0 << 8 | UInt64($1) }, $0.value) })
    }
}
