// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteTestSupport

@testable import VedetteCore

@Suite("Where a database is")
struct ConnectionStringTests {
    private func location(_ text: String) throws -> String { try ConnectionString(text).location }

    private func problem(_ text: String) -> String? {
        do throws(ConnectionString.Problem) {
            _ = try ConnectionString(text)
            return nil
        } catch {
            return error.detail
        }
    }

    @Test("keywords and URLs are read as libpq reads them, and a person is shown database, host and port")
    func locations() throws {
        #expect(try location("host=db dbname=vedette") == "PostgreSQL database vedette on db")
        #expect(try location(" host = 'a b' dbname = it\\'s port=6432 ") == "PostgreSQL database it's on a b port 6432")
        #expect(
            try location("postgres://me@db:6432/vedette?sslmode=require")
                == "PostgreSQL database vedette on db port 6432")
        #expect(try location("postgresql:///vedette?host=/run/pg") == "PostgreSQL database vedette on /run/pg")
        #expect(try location("postgres://a:1,[::1]:2/v") == "PostgreSQL database v on a,[::1] port 1,2")
        #expect(try location("service=watch") == "PostgreSQL database service watch")
        #expect(try location("host=db user=me") == "PostgreSQL database me on db")
    }

    @Test(
        "a password is refused wherever it stands, also an empty one",
        arguments: [
            "host=db password=x", "host=db password=", "host=db sslpassword=x", "postgres://me:x@db/v",
            "postgres://me:@db/v", "postgres://db/v?password=x", "postgres://db/v?pass%77ord=x",
        ])
    func passwords(_ text: String) {
        #expect(problem(text)?.hasPrefix("must hold no password; write {journal:") == true)
    }

    @Test(
        "no part of a password that is refused is repeated, whatever characters it has and wherever it is cut",
        .tags(.I9),
        arguments: [
            "postgres://me:qx7/zk9@db/v", "postgres://me:qx7?zk9@db/v", "postgres://me:qx7#zk9@db/v",
            "postgres://me:qx7@zk9@db/v", "postgres://me:qx7/zk9?a&b=@db/v", "postgres://me%3Aqx7/zk9@db/v",
            "postgresql://qx7/zk9@db", "postgres://me:qx7/zk9", "postgres://me:qx7?zk9", "postgres://db/v?qx7&zk9",
            "postgres://db/v?qx7=zk9", "postgres:/me:qx7 zk9@db/v", "host=db password=qx7 zk9", "password=qx7 zk9=a",
            "host=db password=it's qx7 'zk9", "host=db password='qx7 zk9", "host=db pw=qx7 zk9", "host=db port=qx7",
        ])
    func secrecy(_ text: String) throws {
        let detail = try #require(problem(text))
        #expect(!detail.contains("qx7") && !detail.contains("zk9"))
    }

    @Test("an '@' that is no part of a login is written as %40")
    func escapedAt() throws {
        #expect(try location("postgres://db/v?user=me%40corp") == "PostgreSQL database v on db")
        #expect(try location("postgres://me%40corp@db/v") == "PostgreSQL database v on db")
        #expect(problem("postgres://db/v?user=me@corp")?.contains("any other '@' is written as %40") == true)
    }

    @Test("what libpq would refuse later is refused with its place and a remedy")
    func problems() {
        #expect(problem("hots=db") == "has the unknown keyword 'hots'; did you mean 'host'?")
        #expect(problem("db") == "lacks '=' after the keyword in place 1; write \"host=db dbname=vedette\"")
        #expect(problem("host=db dbname='v") == "lacks a closing quote after the keyword in place 2")
        #expect(problem("") == "names no database; write \"host=db dbname=vedette\"")
        #expect(
            problem("postgres://db/v?sslmode")
                == "lacks '=' behind '?' in place 1; write postgres://HOST/DATABASE?KEYWORD=VALUE")
        #expect(problem("postgres://db:54x2/v") == "has a port that is no number from 1 to 65535")
        #expect(problem("host=a\0b") == "must hold no NUL character")
    }
}
