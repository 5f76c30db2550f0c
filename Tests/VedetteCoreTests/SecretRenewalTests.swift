// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import VedetteCore

@Suite("Secrets that were refused")
struct SecretRenewalTests {
    private static func at(_ seconds: Int64) -> BootTime { BootTime(milliseconds: seconds * 1000) }

    @Test(
        "a refused secret is read once for all that share it, and one that was sent before the last change is not read")
    func steps() {
        var renewal = SecretRenewal()
        #expect(renewal.refused(0, now: Self.at(0)) == .read)
        #expect(renewal.refused(0, now: Self.at(1)) == .wait)
        let goesOn = renewal.ended(hasChanged: true, start: Self.at(0))
        #expect(!goesOn && renewal.version == 1)
        #expect(renewal.refused(0, now: Self.at(1)) == .useNew)
        #expect(renewal.refused(1, now: Self.at(1)) == .read)
    }

    @Test("after a reading that brought nothing new the next one waits: 5 s, doubled each time, at most 5 min")
    func pauses() {
        var renewal = SecretRenewal()
        var start: Int64 = 1000
        /// Ends a reading that is not followed by another.
        func end(hasChanged: Bool) {
            let isReadAgain = renewal.ended(hasChanged: hasChanged, start: Self.at(start))
            #expect(!isReadAgain)
        }
        for pause: Int64 in [5, 10, 20, 40, 80, 160, 300, 300] {
            #expect(renewal.refused(0, now: Self.at(start)) == .read)
            end(hasChanged: false)
            #expect(renewal.refused(0, now: Self.at(start + pause - 1)) == .giveUp)
            start += pause
        }
        #expect(renewal.refused(0, now: Self.at(start)) == .read)
        end(hasChanged: true)
        #expect(renewal.refused(1, now: Self.at(start)) == .read)
        end(hasChanged: false)
        #expect(renewal.refused(1, now: Self.at(start + 4)) == .giveUp)
        renewal.forgetPause()
        #expect(renewal.refused(1, now: Self.at(start + 4)) == .read)
    }

    @Test("a secret that may have changed while it was read is read once more")
    func hint() {
        var renewal = SecretRenewal()
        #expect(renewal.refused(0, now: Self.at(0)) == .read)
        #expect(renewal.mayHaveChanged() == .wait)
        let first = renewal.ended(hasChanged: false, start: Self.at(0))
        #expect(first && renewal.isReading)
        let second = renewal.ended(hasChanged: true, start: Self.at(0))
        #expect(!second && !renewal.isReading)
        #expect(renewal.mayHaveChanged() == .read)
        let third = renewal.ended(hasChanged: false, start: nil)
        #expect(!third && renewal.version == 1)
        #expect(renewal.refused(1, now: Self.at(0)) == .read)
    }

    /// An origin of a secret that answers when the test says so.
    private final class Origin: Sendable {
        private let answers = AsyncStream.makeStream(of: String?.self)
        private let started = AsyncStream.makeStream(of: Void.self)
        private let readings = Mutex(0)

        var count: Int { readings.withLock { $0 } }

        func secret(_ value: String) -> Secret {
            Secret(value) { [self] in
                readings.withLock { $0 += 1 }
                started.continuation.yield()
                for await answer in answers.stream { return answer }
                return nil
            }
        }

        func answer(_ value: String?) { answers.continuation.yield(value) }
        func begin() async { for await _ in started.stream { return } }
    }

    @Test(
        "many that were refused together wait for one reading, and each learns whether the secret is another one",
        arguments: ["new", "old", nil])
    func shared(_ answer: String?) async {
        let origin = Origin()
        let secret = origin.secret("old")
        let asking = (0..<20).map { _ in Task { await secret.renewed(after: 0, now: Self.at(0)) } }
        await origin.begin()
        origin.answer(answer)
        for task in asking { #expect(await task.value == (answer == "new")) }
        #expect(origin.count == 1 && secret.value == answer ?? "old" && secret.version == (answer == "new" ? 1 : 0))
        #expect(secret.values == (answer == "new" ? ["new", "old"] : ["old"]))
    }

    @Test("a wait that is cancelled ends at once; the reading goes on for the others")
    func cancelled() async {
        let origin = Origin()
        let secret = origin.secret("old")
        let first = Task { await secret.renewed(after: 0, now: Self.at(0)) }
        await origin.begin()
        first.cancel()
        #expect(await !first.value)
        let second = Task { await secret.renewed(after: 0, now: Self.at(1)) }
        origin.answer("new")
        #expect(await second.value && origin.count == 1)
    }

    @Test("the wait for several has an end, and one that was read by then is enough")
    func limited() async {
        let origin = Origin()
        let secrets = [origin.secret("a"), Secret("b") { nil }]
        #expect(await !secrets.renewed(after: 0, now: Self.at(0), within: .milliseconds(1)))
        #expect(secrets.map(\.version) == [0, 0])
        let waiting = Task { await secrets.renewed(after: 0, now: Self.at(1), within: .seconds(3600)) }
        await origin.begin()
        origin.answer("new")
        #expect(await waiting.value && origin.count == 1)
    }

    @Test("of several secrets each is read, and one that changed is enough")
    func several() async {
        let secrets = [Secret("a"), Secret("b") { "c" }, Secret("d") { nil }]
        #expect(await secrets.renewed(after: 0, now: Self.at(0)) && secrets.map(\.value) == ["a", "c", "d"])
        #expect(secrets.version == 1)
        #expect(await secrets.renewed(after: 0, now: Self.at(0)))
        #expect(await !secrets.renewed(after: 1, now: Self.at(0)))
        #expect(await ![Secret]().renewed(after: 0, now: Self.at(0)))
    }

    @Test("a response refuses secrets by 401 or 403, from the origin that got them")
    func refusals() {
        let request = Request(url: "https://a.example/x", credentials: .bearer(Secret("t")))
        let header = Request(url: "https://a.example/x", headers: [Header("A", Secret("b"))])
        let plain = Request(url: "https://a.example/x", headers: [Header("A", "b")])
        func refuses(_ status: Int, _ request: Request, at url: String = "https://a.example/y") -> Bool {
            Response(status: status, url: url).refusesSecrets(of: request)
        }
        #expect(refuses(401, request) && refuses(403, request) && refuses(401, header))
        #expect(refuses(401, request, at: "https://a.example:443/") && !refuses(401, plain))
        for status in [200, 304, 400, 404, 407, 429, 500] { #expect(!refuses(status, request)) }
        #expect(!refuses(401, request, at: "https://b.example/x") && !refuses(403, request, at: "http://a.example/x"))
        #expect(request.within(.zero) == nil && request.within(.seconds(3))?.limits.total == .seconds(3))
    }

    @Test("what a server repeats is redacted also when it is the secret before a change")
    func redaction() async throws {
        let secret = Secret("first-secret") { "second-secret" }
        #expect(await secret.refresh())
        let redactor = try #require(SecretRedactor([secret]))
        #expect(redactor.redacted("first-secret, second-secret") == "[secret], [secret]")
        let basic = try #require(SecretRedactor([], credentials: .basic(user: "ann", password: secret)))
        for value in secret.values {
            #expect(basic.redacted("x " + Base64.encode("ann:\(value)".utf8)).hasPrefix("x [secret]"))
        }
    }
}
