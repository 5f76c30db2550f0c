// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@Suite("A journal that cannot be written")
struct JournalAlarmTests {
    private let full = JournalError(.full, "the disk is full")
    private func boot(_ seconds: Int64) -> BootTime { BootTime(milliseconds: seconds * 1000) }

    @Test("is announced once, again every hour, and once when it is over")
    func announcements() {
        var alarm = JournalAlarm()
        #expect(alarm.succeeded(at: boot(0)) == nil)
        #expect(alarm.failed(full, at: boot(10)) == .failing(full))
        var told = 0
        for second in stride(from: Int64(15), to: 3600 * 5, by: 5) {
            if alarm.failed(full, at: boot(second)) != nil { told += 1 }
            if alarm.reminder(at: boot(second)) != nil { told += 1 }
        }
        #expect(told == 4)
        #expect(alarm.succeeded(at: boot(5 * 3600)) == nil, "small writes may succeed in between")
        #expect(alarm.succeeded(at: boot(5 * 3600 + 60)) == .recovered(full))
        #expect(alarm.succeeded(at: boot(5 * 3600 + 120)) == nil && alarm.reminder(at: boot(9 * 3600)) == nil)
        #expect(alarm.failed(full, at: boot(6 * 3600)) == .failing(full), "a new problem is told at once")
    }

    @Test("a record that the journal refuses is no problem of the journal")
    func refused() {
        var alarm = JournalAlarm()
        #expect(alarm.failed(JournalError(.refused, "twice"), at: boot(0)) == nil)
        #expect(alarm.reminder(at: boot(9999)) == nil)
    }

    @Test("a lock is announced when nothing could be written for half a minute, since it may be the lock of one source")
    func locked() {
        let busy = JournalError(.busy, "stays locked")
        var alarm = JournalAlarm()
        for second in stride(from: Int64(0), to: 600, by: 20) {
            #expect(alarm.failed(busy, at: boot(second)) == nil)
            #expect(alarm.succeeded(at: boot(second + 1)) == nil, "another source is stored")
        }
        #expect(alarm.failed(busy, at: boot(700)) == nil && alarm.failed(busy, at: boot(729)) == nil)
        #expect(alarm.reminder(at: boot(729)) == nil)
        #expect(alarm.failed(busy, at: boot(730)) == .failing(busy))
        #expect(alarm.failed(full, at: boot(731)) == nil && alarm.succeeded(at: boot(791)) == .recovered(full))
        #expect(alarm.failed(full, at: boot(800)) == .failing(full), "anything else is announced at once")
    }

    @Test("status tells from the journal alone that a watcher stores nothing")
    func stall() {
        func at(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1000) }
        var (a, b) = (SourceRecord(name: "a"), SourceRecord(name: "b"))
        (a.due, a.health.lastPollAt, b.due, b.health.lastPollAt) = (at(1060), at(1000), at(9000), at(900))
        func since(_ now: Int64, age: Duration? = .seconds(3600)) -> Timestamp? {
            JournalStall.since([a, b], watcherAge: age, now: at(now))
        }
        #expect(since(1360) == nil)
        #expect(since(1361) == at(1000))
        #expect(since(1361, age: nil) == nil && since(1361, age: .seconds(300)) == nil)
        b.health.lastPollAt = at(1100)
        #expect(since(1361) == nil, "another source was stored lately")
        (a.notBefore, b.health.lastPollAt) = (at(5000), nil)
        #expect(since(4000) == nil, "the server wants no request before")
    }
}
