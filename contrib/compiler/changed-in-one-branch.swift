// SPDX-License-Identifier: Apache-2.0
//
// Swift 6.3.1 with `-O` writes `answer` straight into the result of `wrapped` and ends its old array twice or never, since the
// pass TempLValueElimination moves the address of the result before a branch. It prints 250; without
// `-Xllvm -sil-disable-pass=temp-lvalue-elimination` it ends with SIGSEGV or SIGILL. What it takes: an async function, a value
// that is kept in memory because it has an existential (`Any`, `any Error`), and a change in one branch. Typed throws, default
// values and a synchronous function that is inlined change nothing.

struct Answer {
    var body: [UInt8]
    var extra: Any?
}

func fetch(_ known: Int) async -> Answer {
    let body = Array("hello".utf8)
    var answer = Answer(body: [])
    if body.count != known { answer.body = body }
    return answer
}

@inline(never)
func wrapped(_ known: Int) async -> Answer? {
    .some(await fetch(known))
}

@main struct Main {
    static func main() async {
        var kept: [Answer?] = []
        for number in 0..<100 { kept.append(await wrapped(number % 2 == 0 ? 5 : 4)) }
        print(kept.map { $0!.body.count }.reduce(0, +))
    }
}
