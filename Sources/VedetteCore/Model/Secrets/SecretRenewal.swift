// SPDX-License-Identifier: Apache-2.0

/// Decides whether a secret that a server refused is read again, and counts its versions.
///
/// One reading serves all that wait for it. After a reading that brought nothing new the next one has to wait: a secret may be
/// the output of a program, and many sources may share it.
struct SecretRenewal {
    /// What a refusal leads to.
    enum Step: Hashable {
        /// The secret is another one by now.
        case useNew
        /// The caller reads it.
        case read
        /// Somebody reads it already.
        case wait
        /// It was read a moment ago, and is the one that was refused.
        case giveUp
    }

    /// From a reading that brought nothing new to the next one: doubled each time, up to `longestPause`.
    static let shortestPause = Duration.seconds(5)
    static let longestPause = Duration.seconds(300)

    /// Grows with each new value.
    private(set) var version: UInt64 = 0
    private(set) var isReading = false
    /// Whether it must be read once more, since it may have changed after the reading under way began.
    private var mustReadAgain = false
    private var pause = SecretRenewal.shortestPause
    private var notBefore: BootTime?

    /// Decides what follows when the server refused the secret.
    /// - Parameter refused: the version that was sent.
    mutating func refused(_ refused: UInt64, now: BootTime) -> Step {
        if version != refused { return .useNew }
        if isReading { return .wait }
        if let notBefore, now < notBefore { return .giveUp }
        isReading = true
        return .read
    }

    /// Decides what follows when the secret may be another one, whatever was read before.
    /// - Returns: `read` or `wait`.
    mutating func mayHaveChanged() -> Step {
        forgetPause()
        mustReadAgain = isReading
        if isReading { return .wait }
        isReading = true
        return .read
    }

    /// Lets the next refusal lead to a reading, whatever was read before.
    mutating func forgetPause() { (pause, notBefore) = (SecretRenewal.shortestPause, nil) }

    /// Notes what a reading brought.
    /// - Parameter start: when it began; nil where no refusal led to it.
    /// - Returns: whether it is read once more at once.
    mutating func ended(hasChanged: Bool, start: BootTime?) -> Bool {
        if hasChanged {
            version += 1
            forgetPause()
        } else if let start {
            notBefore = start.advanced(by: pause)
            pause = min(pause * 2, SecretRenewal.longestPause)
        }
        isReading = mustReadAgain
        mustReadAgain = false
        return isReading
    }
}
